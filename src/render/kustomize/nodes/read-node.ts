import { readInput } from '../../../yaml/read/input.ts'
import type { YamlNode } from '../../../yaml/node.ts'
import { Parser } from '../../../yaml/read/parser.ts'

/** Reads the first YAML document with kustomize's resolver. Returns undefined for a text without a document. */
export function readFirstNode(text: string): YamlNode | undefined {
  const reading = {
    resolver: '1.2' as const,
    file: undefined,
    maxDepth: 1000,
    maxNodes: 10_000_000,
    maxAliases: 100_000,
  }
  return new Parser(readInput(text), reading).nextDocument()
}
