// Tested by src/dialects/flux/recorded.contract.test.ts.
/** SOPS files as YAML: documents of mappings, with their comments. */
import { makeNode, tagOf } from '../../../yaml/node.ts'
import type { YamlNode } from '../../../yaml/node.ts'
import { nodeValue, readFirstNode, readNodes } from '../../../yaml/read/read-yaml.ts'
import { parseTimestamp } from '../../../yaml/timestamp.ts'
import { writeNodes, writeYaml } from '../../../yaml/write/write-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { SopsError } from '../sops-error.ts'
import { SopsBranch, SopsComment, SopsTime } from '../sops-tree.ts'
import type { SopsFile, SopsItem, SopsLeaf, SopsValue } from '../sops-tree.ts'

const READING = { resolver: '1.2', duplicateKeys: 'last', integers: 'bigint' } as const
const LIMITS = { maxDepth: 500, maxNodes: 500_000, maxAliases: 1_000 }

/** Reads a file; throws SopsError. */
export function readYamlBranches(text: string): SopsFile {
  const nodes = explained(() => readNodes(text, { ...READING, limits: LIMITS }))
  const reader = new TreeReader()
  const branches = nodes.map((node) => {
    const branch = new SopsBranch()
    reader.appendTo(branch, node, false)
    return branch
  })
  const [metadata] = branches.map((branch) => branch.take('sops'))
  if (!(metadata instanceof SopsBranch)) throw new SopsError('sops metadata not found')
  return { branches, metadata }
}

function explained<T>(step: () => T): T {
  try {
    return step()
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    // The message has no text of the file.
    throw new SopsError(`the text is not YAML: line ${caught.position.line}`)
  }
}

function commentsIn(text: string): SopsComment[] {
  if (text === '') return []
  return text.split('\n').map((line) => new SopsComment(line.replace(/^#/, '')))
}

/** Makes trees of nodes, as SOPS does; aliases become copies. */
class TreeReader {
  #count = 0

  appendTo(branch: SopsBranch, node: YamlNode, handled: boolean): void {
    const add = (text: string): void =>
      void branch.items.push(...commentsIn(text).map((comment): SopsItem => ({ comment })))
    if (!handled) {
      add(node.headComment)
      add(node.lineComment)
    }
    switch (node.kind) {
      case 'document':
        for (const item of node.content) this.appendTo(branch, item, false)
        break
      case 'alias':
        this.appendTo(branch, node.alias!, false)
        break
      case 'sequence':
        throw new SopsError('YAML documents that are sequences are not supported')
      case 'scalar':
        if (tagOf(node) !== '!!null') throw new SopsError('YAML documents that are values are not supported')
        break
      case 'mapping':
        this.#appendMapping(branch, node, add)
    }
    if (!handled) add(node.footComment)
  }

  #appendMapping(branch: SopsBranch, { content }: YamlNode, add: (comment: string) => void): void {
    for (let at = 0; at + 1 < content.length; at += 2) {
      const [key, value] = [content[at]!, content[at + 1]!]
      const own = value.kind === 'scalar' || value.kind === 'alias'
      const before = own ? [key, value] : [key]
      for (const node of before) {
        add(node.headComment)
        add(node.lineComment)
      }
      branch.items.push({ key: keyText(key), value: this.#value(value, own) })
      if (own) add(value.footComment)
      add(key.footComment)
    }
  }

  #value(node: YamlNode, handled: boolean): SopsValue {
    this.#count += 1
    if (this.#count > LIMITS.maxNodes) throw new SopsError(`the file has more than ${LIMITS.maxNodes} values`)
    if (node.kind === 'alias') return this.#value(node.alias!, false)
    if (node.kind === 'scalar') return leafOf(node)
    if (node.kind !== 'sequence') {
      const branch = new SopsBranch()
      this.appendTo(branch, node, false)
      return branch
    }
    const items = node.content.flatMap((item): SopsValue[] => [
      ...commentsIn(item.headComment),
      ...commentsIn(item.lineComment),
      this.#value(item, true),
      ...commentsIn(item.footComment),
    ])
    if (handled) return items
    return [...commentsIn(node.headComment), ...commentsIn(node.lineComment), ...items, ...commentsIn(node.footComment)]
  }
}

function keyText(key: YamlNode): string {
  if (key.kind === 'scalar' && tagOf(key) === '!!str') return key.value
  throw new SopsError(`only text is supported as a key: line ${key.line}`)
}

function leafOf(node: YamlNode): SopsLeaf {
  if (tagOf(node) === '!!timestamp') {
    const time = parseTimestamp(node.value)
    if (time) return new SopsTime(node.value, time)
  }
  const value = explained(() => nodeValue(node, READING))
  if (typeof value === 'number' && tagOf(node) === '!!int') return BigInt(value)
  return typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    typeof value === 'bigint'
    ? value
    : null
}

/** Writes the documents with four spaces per level. */
export function writeYamlBranches(branches: readonly SopsBranch[]): string {
  const nodes = branches.map((branch) => makeNode('document', { content: [mappingOf(branch)] }))
  return writeNodes(nodes, { indent: 4, sequences: 'wide' })
}

function mappingOf({ items }: SopsBranch): YamlNode {
  const mapping = makeNode('mapping', { tag: '!!map' })
  let comments: string[] = []
  for (const item of items) {
    if (item.key === undefined) {
      comments.push(item.comment.text)
      continue
    }
    const key = scalarOf(item.key)
    key.headComment = commentText(comments)
    comments = []
    mapping.content.push(key, nodeOf(item.value))
  }
  if (comments.length > 0) mapping.footComment = commentText(comments)
  return mapping
}

function nodeOf(value: SopsValue): YamlNode {
  if (value instanceof SopsBranch) return mappingOf(value)
  if (!Array.isArray(value)) return scalarOf(value)
  const sequence = makeNode('sequence', { tag: '!!seq' })
  let comments: string[] = []
  for (const item of value) {
    if (item instanceof SopsComment) {
      comments.push(item.text)
      continue
    }
    const node = nodeOf(item)
    node.headComment = commentText(comments)
    comments = []
    sequence.content.push(node)
  }
  if (comments.length > 0) sequence.footComment = commentText(comments)
  return sequence
}

function commentText(comments: readonly string[]): string {
  return comments.map((comment) => `#${comment}`).join('\n')
}

function scalarOf(value: SopsLeaf): YamlNode {
  const plain =
    value instanceof SopsTime || value instanceof SopsComment
      ? value.text
      : value instanceof Uint8Array
        ? new TextDecoder().decode(value)
        : value
  // As in Go, the value is written and read again, which gives it its style.
  const [node] = readFirstNode(writeYaml(plain, { style: 'v3' }), { resolver: '1.2' })?.content ?? []
  if (!node) throw new SopsError('a value cannot be written as YAML')
  if (value instanceof SopsTime) Object.assign(node, { tag: '!!timestamp', style: 0 })
  return node
}
