/** The suffix that generated names get: it changes with the content. */
import { hex, sha256 } from '../../../core/bytes.ts'
import { NEEDS_HASH } from '../resources/build-annotations.ts'
import { fieldOf } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { plainValue } from '../nodes/plain-value.ts'
import type { Resource } from '../resources/resource.ts'
import { goJson } from '../../../yaml/go-json.ts'

/** Adds the hash to the names of all objects that need a hash. */
export function addHashes(resources: readonly Resource[]): void {
  for (const resource of resources) {
    if (!resource.isEnabled(NEEDS_HASH)) continue
    const hash = contentHash(resource)
    resource.rememberId()
    resource.setName(`${resource.name}-${hash}`)
  }
}

const LETTERS: Readonly<Record<string, string>> = { '0': 'g', '1': 'h', '3': 'k', a: 'm', e: 't' }

/** Ten characters of an alphabet that forms no words. */
function contentHash(resource: Resource): string {
  const digits = hex(sha256(hashedText(resource))).slice(0, 10)
  return digits.replace(/[013ae]/g, (digit) => LETTERS[digit]!)
}

function hashedText({ kind, node }: Resource): string {
  // The name is always empty: the original looks for a field called `metadata/name`.
  const field = (name: string): unknown => fieldJson(fieldOf(node, name))
  if (kind === 'ConfigMap') return goJson(withMap({ data: field('data'), kind, name: '' }, 'binaryData', field))
  if (kind === 'Secret') {
    return goJson(withMap({ data: field('data'), kind, name: '', type: field('type') }, 'stringData', field))
  }
  return nodeJson(node)
}

function withMap(
  fields: Record<string, unknown>,
  name: string,
  field: (name: string) => unknown,
): Record<string, unknown> {
  const value = field(name)
  return value instanceof Map ? { ...fields, [name]: value } : fields
}

function fieldJson(node: YamlNode | undefined): unknown {
  if (!node) return ''
  return node.kind === 'scalar' ? node.value : floats(plainValue(node))
}

function floats(value: unknown): unknown {
  if (value instanceof Map) return new Map([...value].map(([key, item]) => [key, floats(item)]))
  if (Array.isArray(value)) return null
  return typeof value === 'bigint' ? Number(value) : value
}

const KINDS = { document: 1, sequence: 2, mapping: 4, scalar: 8, alias: 16 } as const

// For the remaining kinds the original hashes its own tree, with comments and positions.
function nodeJson(node: YamlNode | undefined): string {
  if (!node) return 'null'
  const text = (value: string): string => goJson(value)
  const content = node.content.length === 0 ? 'null' : `[${node.content.map(nodeJson).join(',')}]`
  return (
    `{"Kind":${KINDS[node.kind]},"Style":${node.style},"Tag":${text(node.tag)},"Value":${text(node.value)},` +
    `"Anchor":${text(node.anchor)},"Alias":null,"Content":${content},"HeadComment":${text(node.headComment)},` +
    `"LineComment":${text(node.lineComment)},"FootComment":${text(node.footComment)},"Line":${node.line},"Column":${node.column}}`
  )
}
