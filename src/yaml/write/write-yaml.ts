/** Writes plain values and trees as the YAML that Go's libraries print. */
import { encodeNode } from './encode-node.ts'
import { encodeSigs } from './encode-sigs.ts'
import { encodeV3 } from './encode-v3.ts'
import { Emitter } from './emitter.ts'
import type { Unwrap } from '../go-json.ts'
import type { YamlNode } from '../node.ts'

/** How to write. */
export interface WriteOptions {
  /**
   * `sigs` (default) as `kubectl -o yaml`, Helm's toYaml and Kustomize print: by way of JSON, lines folded at 80, lists
   * not indented under their key. `v3` as programs that use yaml.v3 themselves, like Helm's toYamlPretty: a number
   * is a float64 and a bigint an integer, lines are never folded, lists are indented.
   */
  readonly style?: 'sigs' | 'v3'
  /** Turns what a caller's own classes stand for into plain values; gives back whatever it does not know. */
  readonly unwrap?: Unwrap
}

/** How to write trees. */
export interface NodeWriteOptions {
  /** Spaces per level; 2 unless told, as Kustomize has it. */
  readonly indent?: number
  /** Whether lists stand right under their key (default, as Kustomize has it) or are indented. */
  readonly sequences?: 'compact' | 'wide'
}

const INFINITE_WIDTH = 2 ** 31 - 1

/** The YAML text of a plain value: JSON, with bigints for integers and Maps for mappings if need be. */
export function writeYaml(value: unknown, { style = 'sigs', unwrap = (plain) => plain }: WriteOptions = {}): string {
  if (style === 'sigs') return encodeSigs(value, unwrap)
  const emitter = new Emitter({ v3: true, indent: 2, width: INFINITE_WIDTH, compactSequences: false })
  emitter.startDocument()
  encodeV3(emitter, value, unwrap)
  emitter.endDocument()
  return emitter.text
}

/** The text of trees as yaml.v3's encoder prints them, with their comments and styles, one document each. */
export function writeNodes(nodes: readonly YamlNode[], options: NodeWriteOptions = {}): string {
  const { indent = 2, sequences = 'compact' } = options
  const emitter = new Emitter({ v3: true, indent, width: INFINITE_WIDTH, compactSequences: sequences === 'compact' })
  for (const node of nodes) encodeNode(emitter, node)
  return emitter.text
}

/** The text of a tree. */
export function writeNode(node: YamlNode, options: NodeWriteOptions = {}): string {
  return writeNodes([node], options)
}
