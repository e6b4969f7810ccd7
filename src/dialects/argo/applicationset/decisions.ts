// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** The clusterDecisionResource generator: clusters that another controller chose, like a PlacementDecision. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { formatValue } from '../../../render/gotemplate/format.ts'
import { goInt64 } from '../../../render/gotemplate/value.ts'
import { ApplicationSetError } from './applicationset-error.ts'
import { LOCAL_NAME, LOCAL_SERVER } from './clusters.ts'
import type { GenerateInputs } from './generate-inputs.ts'
import type { GeneratorScene } from './generators.ts'
import { stringMap } from './parameters.ts'
import type { Parameters } from './render-text.ts'
import { compileSelector } from './selectors.ts'
import type { Selector } from './selectors.ts'
import { textField } from '../types/shape.ts'

/** Parameter sets of decisions. */
export function generateFromDecisions(generator: JsonObject, { inputs, renderer }: GeneratorScene): Parameters[] {
  const settings = configMap(textField(generator, 'configMapRef'), inputs)
  const { apiVersion = '', kind = '', statusListKey = '', matchKey = '' } = settings
  if (kind === '' || apiVersion.indexOf('/') < 1) {
    throw new ApplicationSetError('there is a problem with the apiVersion, kind or resourceName provided')
  }
  const resources = chosenResources(generator, { apiVersion, kind, inputs })
  if (resources.length === 0) throw new ApplicationSetError('no clusterDecisionResources found')
  if (matchKey === '') return []
  const decisions = resources.flatMap((resource) => decisionsOf(resource, statusListKey || 'clusters'))
  const clusters = knownClusters(inputs)
  return decisions.flatMap((decision): Parameters[] => {
    const wanted = decision[matchKey]
    const name = wanted === undefined || wanted === null ? '' : decisionText(wanted)
    const cluster = name === '' ? undefined : clusters.find((one) => one.name === name)
    if (!cluster) return []
    const set: Parameters = new Map<string, unknown>([
      ['name', cluster.name],
      ['server', cluster.server],
    ])
    for (const [key, value] of Object.entries(decision)) set.set(key, decisionText(value))
    const values = Object.entries((generator['values'] ?? {}) as Record<string, string>)
    if (values.length > 0 && renderer.isGo) set.set('values', stringMap(Object.fromEntries(values)))
    else for (const [key, value] of values) set.set(`values.${key}`, value)
    return [set]
  })
}

function metadataOf(object: JsonObject): JsonObject {
  return isObject(object['metadata']) ? object['metadata'] : {}
}

function configMap(name: string, { objects, namespace }: GenerateInputs): Readonly<Record<string, string>> {
  const found = objects.find((object) => {
    const metadata = metadataOf(object)
    return object['kind'] === 'ConfigMap' && metadata['name'] === name && metadata['namespace'] === namespace
  })
  if (!found) throw new ApplicationSetError(`error reading configMapRef: configmaps ${JSON.stringify(name)} not found`)
  return (isObject(found['data']) ? found['data'] : {}) as Record<string, string>
}

function chosenResources(
  generator: JsonObject,
  { apiVersion, kind, inputs }: { readonly apiVersion: string; readonly kind: string; readonly inputs: GenerateInputs },
): JsonObject[] {
  const name = textField(generator, 'name')
  const selector = (generator['labelSelector'] ?? {}) as Selector
  const isSelective = selector.matchLabels !== undefined || selector.matchExpressions !== undefined
  if (isSelective === (name !== '')) {
    throw new ApplicationSetError('there is a problem with the definition of the ClusterDecisionResource generator')
  }
  const matches = compileSelector(selector, true)
  return inputs.objects
    .filter((object) => {
      const { name: own, namespace, labels } = metadataOf(object)
      if (object['apiVersion'] !== apiVersion || pluralOf(String(object['kind'])) !== kind) return false
      if (namespace !== inputs.namespace) return false
      if (name !== '') return own === name
      return matches(new Map(Object.entries(isObject(labels) ? (labels as Record<string, string>) : {})))
    })
    .toSorted((a, b) => (String(metadataOf(a)['name']) < String(metadataOf(b)['name']) ? -1 : 1))
}

/** The resource of a kind, as clients guess it. */
function pluralOf(kind: string): string {
  const lower = kind.toLowerCase()
  if (lower.endsWith('s')) return `${lower}es`
  return lower.endsWith('y') ? `${lower.slice(0, -1)}ies` : `${lower}s`
}

function decisionsOf(resource: JsonObject, listKey: string): JsonObject[] {
  const { status } = resource
  if (!isObject(status) || Object.keys(status).length === 0) return []
  const decisions = status[listKey]
  if (!Array.isArray(decisions) || !decisions.every(isObject)) {
    throw new ApplicationSetError(`clusterDecisionResource: status.${listKey} must be a list of maps`)
  }
  return decisions
}

function knownClusters({ clusters }: GenerateInputs): { readonly name: string; readonly server: string }[] {
  const known = clusters
    .filter(({ labels }) => labels['argocd.argoproj.io/secret-type'] === 'cluster')
    .map(({ name, server }) => ({ name, server: server.replace(/\/+$/, '') }))
  if (known.some(({ server }) => server === LOCAL_SERVER)) return known
  return [...known, { name: LOCAL_NAME, server: LOCAL_SERVER }]
}

/** `%v` of a value of an object, in which whole numbers are int64. */
function decisionText(value: unknown): string {
  return formatValue(objectValue(value))
}

function objectValue(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return goInt64(value)
  if (Array.isArray(value)) return value.map(objectValue)
  if (isObject(value)) return new Map(Object.entries(value).map(([key, item]) => [key, objectValue(item)]))
  return value ?? null
}
