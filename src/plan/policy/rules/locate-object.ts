// Tested by src/plan/policy/rules/content-rules.test.ts
/** The place of an object in the files that it was rendered from. */
import { isObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import type { YamlDocument } from '../../../yaml/yaml.ts'

/** The line of an object in a text, from 1. Undefined if the text has no such object, for example in a template. */
export function lineOfObject(text: string | Uint8Array, object: UnknownObject): number | undefined {
  for (const document of documentsIn(text)) {
    const { value } = document
    const items =
      isObject(value) && value['kind'] === 'List' && Array.isArray(value['items']) ? value['items'] : [value]
    const index = items.findIndex((item) => isSame(item, object))
    if (index >= 0) return document.positionOf(items.length === 1 && items[0] === value ? [] : ['items', index]).line
  }
  return undefined
}

function documentsIn(text: string | Uint8Array): readonly YamlDocument[] {
  try {
    return readYaml(text, { resolver: '1.1' })
  } catch (caught) {
    // A template is often no YAML.
    if (caught instanceof YamlError) return []
    throw caught
  }
}

function isSame(value: unknown, { kind, metadata }: UnknownObject): boolean {
  if (!isObject(value) || value['kind'] !== kind || !isObject(value['metadata'])) return false
  const { name, namespace } = value['metadata']
  return name === metadata.name && (namespace === undefined || namespace === metadata.namespace)
}
