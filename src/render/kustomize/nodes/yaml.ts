/** What of the yaml room this engine uses, in one place. */
import { readInput } from '../../../yaml/read/input.ts'
import type { YamlNode } from '../../../yaml/node.ts'
import { Parser } from '../../../yaml/read/parser.ts'

export { DOUBLE_QUOTED, LITERAL, PLAIN, SINGLE_QUOTED, makeNode } from '../../../yaml/node.ts'
export type { NodeKind, YamlNode } from '../../../yaml/node.ts'
export { nodeValue, readFirstYaml, readNodes } from '../../../yaml/read/read-yaml.ts'
export { writeNode, writeYaml } from '../../../yaml/write/write-yaml.ts'
export { goFloat } from '../../../yaml/go-text.ts'
export { isYaml11Boolean as isOldBoolean, resolvePlain } from '../../../yaml/resolve-scalar.ts'
export { goJson } from '../../../yaml/go-json.ts'
export { YamlError } from '../../../yaml/yaml.ts'

/** The tree of the first document, with kustomize's resolver; nothing for an empty text. */
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
