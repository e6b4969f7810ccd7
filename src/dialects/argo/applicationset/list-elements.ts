/** The list generator: elements, and elements in a YAML text. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { ApplicationSetError, withContext } from './applicationset-error.ts'
import type { GeneratorScene } from './generators.ts'
import { toGo } from './parameters.ts'
import { readYamlText } from './read-yaml-text.ts'
import type { Parameters } from './render-text.ts'

/** Parameter sets of a list. */
export function generateFromList(list: JsonObject, { renderer }: GeneratorScene): Parameters[] {
  const elements = (list['elements'] ?? []) as unknown[]
  const sets = elements.map((element) => (renderer.isGo ? nestedElement(element) : flatElement(element)))
  const text = list['elementsYaml']
  if (typeof text !== 'string' || text === '') return sets
  const more = withContext('error unmarshling decoded ElementsYaml', () => readYamlText(text))
  return [...sets, ...yamlElements(more)]
}

function nestedElement(element: unknown): Parameters {
  if (element === undefined)
    throw new ApplicationSetError('error unmarshling list element: unexpected end of JSON input')
  if (element === null) return new Map()
  if (!isObject(element)) {
    throw new ApplicationSetError(`error unmarshling list element: must be a map, found ${JSON.stringify(element)}`)
  }
  return toGo(element) as Parameters
}

/** Without Go templates values are text, and `values` is a map of text. */
function flatElement(element: unknown): Parameters {
  const out: Parameters = new Map()
  for (const [key, value] of nestedElement(element)) {
    if (key !== 'values') out.set(key, asText(key, value))
    else if (value instanceof Map) {
      for (const [name, item] of value as Parameters) out.set(`values.${name}`, asText(name, item))
    } else throw new ApplicationSetError('error parsing values map')
  }
  return out
}

function asText(key: string, value: unknown): string {
  if (typeof value === 'string') return value
  throw new ApplicationSetError(`error parsing value as string: ${key}; quote it, or use goTemplate: true`)
}

function yamlElements(value: unknown): Parameters[] {
  if (value === null || value === undefined) return []
  const fail = (): never => {
    throw new ApplicationSetError(
      'error unmarshling decoded ElementsYaml: json: cannot unmarshal, it must be a list of maps',
    )
  }
  if (!Array.isArray(value)) return fail()
  return value.map((item): Parameters => {
    if (item === null) return new Map()
    return item instanceof Map ? (item as Parameters) : fail()
  })
}
