/** Reads YAML text into plain JSON values that know where they stand, or into trees. */
import { ConstructorV2 } from './construct-v2.ts'
import { ConstructorV3 } from './construct-v3.ts'
import { readInput } from './input.ts'
import type { Input } from './input.ts'
import type { YamlNode } from '../node.ts'
import { Parser } from './parser.ts'
import { readFastPath } from './fast-path.ts'
import type { Reading } from './text-cursor.ts'
import { YamlError } from '../yaml.ts'
import type { Position, ReadLimits, ReadOptions, YamlDocument } from '../yaml.ts'

const DEFAULT_LIMITS: Required<ReadLimits> = {
  maxBytes: 64 * 1024 * 1024,
  maxDepth: 1_000,
  maxNodes: 10_000_000,
  maxAliases: 100_000,
}

const START: Position = { line: 1, column: 1 }

/** Every document of a stream; an empty stream has none. */
export function readYaml(text: string | Uint8Array, options: ReadOptions = {}): YamlDocument[] {
  const reading = readingOf(options)
  return readNodes(text, options).map((node) => new NodeDocument(node, reading, options))
}

/** The first document, as Go's Unmarshal reads it: what follows is not looked at; an empty text is null. */
export function readFirstYaml(text: string | Uint8Array, options: ReadOptions = {}): YamlDocument {
  const { resolver = '1.1', duplicateKeys, limits } = options
  if (resolver === '1.1' && duplicateKeys === 'last' && !limits && text.length <= DEFAULT_LIMITS.maxBytes) {
    const input = readInput(text)
    const quick = input.problem ? undefined : readFastPath(input.text, options)
    if (quick) return new QuickDocument(quick.value, input, options)
    return firstDocument(input, options)
  }
  return firstDocument(inputOf(text, options), options)
}

function firstDocument(input: Input, options: ReadOptions): YamlDocument {
  const reading = readingOf(options)
  const node = new Parser(input, reading).nextDocument()
  return node ? new NodeDocument(node, reading, options) : NO_DOCUMENT
}

/** The only document of a text; an empty text is null, a second document is an error. */
export function readYamlDocument(text: string | Uint8Array, options: ReadOptions = {}): YamlDocument {
  const [first, second] = readYaml(text, options)
  if (second) throw new YamlError('expected one document, found another one here', second.start, options.file)
  return first ?? NO_DOCUMENT
}

/** The tree of every document of a stream, as document nodes; with resolver 1.2 they have their comments. */
export function readNodes(text: string | Uint8Array, options: ReadOptions = {}): YamlNode[] {
  const parser = parserOf(text, options)
  const documents: YamlNode[] = []
  for (let node = parser.nextDocument(); node; node = parser.nextDocument()) documents.push(node)
  return documents
}

/** The tree of the first document, as Go's Unmarshal reads it into a Node; undefined for an empty text. */
export function readFirstNode(text: string | Uint8Array, options: ReadOptions = {}): YamlNode | undefined {
  return parserOf(text, options).nextDocument()
}

/** The plain value of a tree, with the same options as when reading text. */
export function nodeValue(node: YamlNode, options: ReadOptions = {}): unknown {
  const document = node.kind === 'document' ? node : { ...node, kind: 'document' as const, content: [node] }
  return construct(document, readingOf(options), options)
}

function construct(document: YamlNode, reading: Reading, options: ReadOptions): unknown {
  const constructor =
    reading.resolver === '1.2' ? new ConstructorV3(reading, options) : new ConstructorV2(reading, options)
  return constructor.document(document)
}

function readingOf({ resolver = '1.1', limits, file }: ReadOptions): Reading {
  return { resolver, file, ...DEFAULT_LIMITS, ...limits }
}

function parserOf(text: string | Uint8Array, options: ReadOptions): Parser {
  return new Parser(inputOf(text, options), readingOf(options))
}

function inputOf(text: string | Uint8Array, options: ReadOptions): Input {
  const maxBytes = options.limits?.maxBytes ?? DEFAULT_LIMITS.maxBytes
  // A string never has more units than its UTF-8 has bytes, so the cheap check serves both.
  if (text.length > maxBytes) throw new YamlError(`the text is larger than ${maxBytes} bytes`, START, options.file)
  return readInput(text)
}

const NO_DOCUMENT: YamlDocument = { value: null, start: START, positionOf: () => START }

/** A document that was read without a tree; the tree is built when positions are requested. */
class QuickDocument implements YamlDocument {
  readonly value: unknown
  readonly #input: Input
  readonly #options: ReadOptions

  constructor(value: unknown, input: Input, options: ReadOptions) {
    this.value = value
    this.#input = input
    this.#options = options
  }

  get start(): Position {
    return firstDocument(this.#input, this.#options).start
  }

  positionOf(path: readonly (string | number)[]): Position {
    return firstDocument(this.#input, this.#options).positionOf(path)
  }
}

/** A document that finds positions in its tree when asked. */
class NodeDocument implements YamlDocument {
  readonly value: unknown
  readonly start: Position
  readonly #root: YamlNode | undefined

  constructor(document: YamlNode, reading: Reading, options: ReadOptions) {
    this.value = construct(document, reading, options)
    this.#root = document.content[0]
    const { line, column } = this.#root ?? document
    this.start = { line, column }
  }

  positionOf(path: readonly (string | number)[]): Position {
    let node = this.#root
    let position = this.start
    for (const step of path) {
      const found = node ? entryOf(node, step) : undefined
      if (!found) break
      position = { line: found.at.line, column: found.at.column }
      node = found.node
    }
    return position
  }
}

/** Where an entry stands (its key, or the item itself), and what it holds. */
function entryOf(node: YamlNode, step: string | number): { at: YamlNode; node: YamlNode } | undefined {
  if (node.kind === 'alias') return node.alias ? entryOf(node.alias, step) : undefined
  if (node.kind === 'sequence') {
    const item = node.content[Number(step)]
    return item ? { at: item, node: item } : undefined
  }
  // The last of equal keys is the one that counts; a merge only for what no key says.
  let merged: { at: YamlNode; node: YamlNode } | undefined
  for (let i = node.content.length - 2; i >= 0; i -= 2) {
    const key = node.content[i]!
    const value = node.content[i + 1]!
    if (keyText(key) === String(step)) return { at: key, node: value }
    if (key.value !== '<<') continue
    for (const source of value.kind === 'sequence' ? value.content : [value]) merged ??= entryOf(source, step)
  }
  return merged
}

function keyText(key: YamlNode): string | undefined {
  if (key.kind === 'alias') return key.alias ? keyText(key.alias) : undefined
  return key.kind === 'scalar' ? key.value : undefined
}
