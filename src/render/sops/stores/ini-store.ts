// Tested by src/dialects/flux/recorded.contract.test.ts.
/** SOPS files in the form of INI files, as the Go package ini reads and writes them. */
import { SopsError } from '../sops-error.ts'
import { SopsBranch, SopsComment } from '../sops-tree.ts'
import type { SopsFile, SopsItem } from '../sops-tree.ts'
import { nestedMetadata } from './flat-metadata.ts'
import { leafText } from './leaf-text.ts'

/** The section of keys before the first header. */
const DEFAULT = 'DEFAULT'
const METADATA = 'sops'

/** Reads a file; throws SopsError. */
export function readIni(text: string): SopsFile {
  const sections = readSections(text)
  const own = sections.filter(({ name }) => name !== METADATA)
  const metadata = sections.find(({ name }) => name === METADATA)?.items ?? []
  const flat = metadata.flatMap((item) =>
    item.key === undefined ? [] : [[item.key, leafText(item.value) ?? ''] as const],
  )
  const items = own.map(({ name, items: entries }) => ({ key: name, value: new SopsBranch(entries) }))
  return { branches: [new SopsBranch(items)], metadata: nestedMetadata(flat) }
}

interface Section {
  readonly name: string
  readonly items: SopsItem[]
}

function readSections(text: string): Section[] {
  const sections: Section[] = []
  let items: SopsItem[] = []
  let comments: SopsItem[] = []
  const lines = text.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at]!.trim()
    if (line === '') continue
    const comment = /^[;#]\s*(.*)$/.exec(line)?.[1]
    if (comment !== undefined) {
      comments.push({ comment: new SopsComment(comment) })
      continue
    }
    const name = /^\[(.*)\]\s*(?:[;#].*)?$/.exec(line)?.[1]
    if (name !== undefined) {
      items = [...comments]
      sections.push({ name, items })
      comments = []
      continue
    }
    if (sections.length === 0) {
      items = []
      sections.push({ name: DEFAULT, items })
    }
    const { key, rest } = readKey(line, at)
    const { value, next } = readValue(rest, lines, at)
    items.push(...comments, { key, value })
    comments = []
    at = next
  }
  return sections
}

function readKey(line: string, at: number): { readonly key: string; readonly rest: string } {
  const [whole, quoted, plain] = /^(?:(?:`([^`]*)`|([^=:]*?))\s*[=:])/.exec(line) ?? []
  // The line is not repeated: it may hold a value.
  if (whole === undefined) throw new SopsError(`key-value delimiter not found: line ${at + 1}`)
  return { key: quoted ?? plain!.trim(), rest: line.slice(whole.length).trim() }
}

function readValue(
  rest: string,
  lines: readonly string[],
  at: number,
): { readonly value: string; readonly next: number } {
  const open = ['"""', '`'].find((quote) => rest.startsWith(quote))
  if (open !== undefined) {
    let [value, next] = [rest.slice(open.length), at]
    while (!value.includes(open) && next + 1 < lines.length) {
      next += 1
      value += `\n${lines[next]!}`
    }
    return { value: value.slice(0, Math.max(0, value.indexOf(open))), next }
  }
  const plain = rest.replace(/[#;].*$/, '').trim()
  const quoted = /^"(.*)"$/.exec(plain) ?? /^'(.*)'$/.exec(plain)
  return { value: quoted?.[1] ?? plain, next: at }
}

/** Writes a file; throws SopsError. */
export function writeIni(branches: readonly SopsBranch[]): string {
  const sections = branches.flatMap(({ items }) =>
    items.flatMap((item) => {
      if (item.key === undefined) return []
      if (!(item.value instanceof SopsBranch)) {
        throw new SopsError('Error encoding section: Section values should always be TreeBranch')
      }
      return [sectionText(item.key, item.value)]
    }),
  )
  return sections.join('\n')
}

function sectionText(name: string, { items }: SopsBranch): string {
  const width = Math.max(0, ...items.map(({ key }) => (key === undefined ? 0 : keyText(key).length)))
  const start = items.findIndex(({ key }) => key !== undefined)
  const above = items.slice(0, Math.max(0, start)).map(commentText)
  const lines = items.slice(above.length).map((item) => {
    if (item.key === undefined) return commentText(item)
    const text = leafText(item.value)
    if (text === undefined) throw new SopsError(`cannot use complex value in INI file; offending key ${item.key}`)
    return `${keyText(item.key).padEnd(width)} = ${valueText(text)}`.trimEnd()
  })
  const header = name === DEFAULT ? [] : [`[${name}]`]
  return `${[...above, ...header, ...lines].join('\n')}\n`
}

function commentText({ comment }: SopsItem & { readonly comment?: SopsComment }): string {
  return `; ${comment?.text ?? ''}`
}

function keyText(key: string): string {
  if (/["=:]/.test(key)) return `\`${key}\``
  return key.includes('`') ? `"""${key}"""` : key
}

function valueText(text: string): string {
  if (/[\n`]/.test(text)) return `"""${text}"""`
  if (/[#;]/.test(text)) return `\`${text}\``
  return text.trim() === text ? text : `"${text}"`
}
