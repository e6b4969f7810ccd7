// Tested by src/dialects/flux/recorded.contract.test.ts.
/** SOPS files in the form `KEY=value`. */
import { SopsError } from '../sops-error.ts'
import { SopsBranch, SopsComment } from '../sops-tree.ts'
import type { SopsFile, SopsItem } from '../sops-tree.ts'
import { nestedMetadata } from './flat-metadata.ts'
import { leafText } from './leaf-text.ts'

const PREFIX = 'sops_'

/** Reads a file; throws SopsError. */
export function readDotenv(text: string): SopsFile {
  const items: SopsItem[] = []
  const metadata: [string, string][] = []
  for (const [at, line] of text.split('\n').entries()) {
    if (line === '') continue
    if (line.startsWith('#')) {
      items.push({ comment: new SopsComment(line.slice(1)) })
      continue
    }
    const end = line.indexOf('=')
    // The line is not repeated: it may hold a value.
    if (end < 0) throw new SopsError(`invalid dotenv input line ${at + 1}: it has no "="`)
    const [key, value] = [line.slice(0, end), line.slice(end + 1)]
    if (key.startsWith(PREFIX)) metadata.push([key.slice(PREFIX.length), value])
    else items.push({ key, value: value.replaceAll('\\n', '\n') })
  }
  return { branches: [new SopsBranch(items)], metadata: nestedMetadata(metadata) }
}

/** Writes a file; throws SopsError. */
export function writeDotenv([branch = new SopsBranch()]: readonly SopsBranch[]): string {
  const lines = branch.items.map((item) => {
    if (item.key === undefined) return `#${item.comment.text}\n`
    const text = leafText(item.value)
    if (text === undefined) throw new SopsError(`cannot use complex value in dotenv file; offending key ${item.key}`)
    return `${item.key}=${text.replaceAll('\n', '\\n')}\n`
  })
  return lines.join('')
}
