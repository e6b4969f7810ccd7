/** YAML as Argo CD reads it: version 1.1, through JSON, where every number is a float64. */
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../yaml/yaml.ts'
import { ApplicationSetError } from './applicationset-error.ts'

/** The first document as Go's values: maps are Maps. */
export function readYamlText(text: string | Uint8Array): unknown {
  return readYamlAs(text, 'map')
}

/** The first document as plain JSON. */
export function readYamlJson(text: string | Uint8Array): unknown {
  return readYamlAs(text, 'object')
}

function readYamlAs(text: string | Uint8Array, mappings: 'map' | 'object'): unknown {
  try {
    const { value } = readFirstYaml(text, { resolver: '1.1', duplicateKeys: 'last', mappings })
    checkNumbers(value)
    return value
  } catch (caught) {
    if (!(caught instanceof YamlError)) throw caught
    throw new ApplicationSetError(`error converting YAML to JSON: ${caught.goMessage}`)
  }
}

/** JSON has no number for `.inf` and `.nan`. */
export function checkNumbers(value: unknown): void {
  if (typeof value === 'number' && !Number.isFinite(value)) {
    throw new ApplicationSetError(
      `json: unsupported value: ${Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf'}`,
    )
  }
  if (value instanceof Map) for (const item of value.values()) checkNumbers(item)
  else if (Array.isArray(value)) for (const item of value) checkNumbers(item)
  else if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) checkNumbers(item)
}
