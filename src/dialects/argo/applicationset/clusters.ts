// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** The clusters generator: a parameter set for each cluster Secret that fits, and the cluster Argo CD runs in. */
import type { JsonObject } from '../../../core/json.ts'
import { nilSlice, typed } from '../../../render/gotemplate/value.ts'
import { withContext } from './applicationset-error.ts'
import type { ArgoCluster } from './generate-inputs.ts'
import type { GeneratorScene } from './generators.ts'
import { normalizeName } from './names.ts'
import { addValues, stringMap } from './parameters.ts'
import type { Parameters, TextRenderer } from './render-text.ts'
import { compileSelector } from './selectors.ts'
import type { Selector } from './selectors.ts'

/** The address of the cluster that Argo CD runs in. */
export const LOCAL_SERVER = 'https://kubernetes.default.svc'
/** The name of the cluster that Argo CD runs in. */
export const LOCAL_NAME = 'in-cluster'

const SECRET_TYPE = 'argocd.argoproj.io/secret-type'

/** Parameter sets of clusters. */
export function generateFromClusters(clusters: JsonObject, { inputs, renderer }: GeneratorScene): Parameters[] {
  if (inputs.clusterSets) return inputs.clusterSets(clusters, renderer)
  const { matchLabels, matchExpressions } = (clusters['selector'] ?? {}) as Selector
  const selector: Selector = {
    matchLabels: { ...matchLabels, [SECRET_TYPE]: 'cluster' },
    ...(matchExpressions && { matchExpressions }),
  }
  const matches = withContext('error getting cluster secrets: error converting label selector', () =>
    compileSelector(selector, true),
  )
  const found = new Map<string, ArgoCluster>()
  for (const cluster of inputs.clusters) {
    const labels = new Map(Object.entries(cluster.labels))
    if (matches(labels)) found.set(cluster.name, cluster)
  }
  inputs.onClusters?.([...found.values()])
  const values = clusters['values'] as Readonly<Record<string, string>> | undefined
  const sets = [...found.values()].map((cluster) => clusterParameters(cluster, renderer))
  for (const set of sets)
    withContext('error appending templated values for cluster', () => addValues(values, set, renderer))
  const isSelective = Object.keys(matchLabels ?? {}).length > 0 || (matchExpressions ?? []).length > 0
  if (
    !isSelective &&
    inputs.hasLocalCluster !== false &&
    ![...found.values()].some(({ server }) => server === LOCAL_SERVER)
  ) {
    const local: Parameters = new Map([
      ['name', LOCAL_NAME],
      ['nameNormalized', LOCAL_NAME],
      ['server', LOCAL_SERVER],
      ['project', ''],
    ])
    withContext('error appending templated values for local cluster', () => addValues(values, local, renderer))
    sets.push(local)
  }
  return clusters['flatList'] === true ? [new Map([['clusters', flatList(sets)]])] : sets
}

function flatList(sets: readonly Parameters[]): unknown[] {
  const type = '[]map[string]interface {}'
  return sets.length === 0 ? nilSlice(type) : typed([...sets], { type })
}

function clusterParameters(
  { name, server, project = '', labels, annotations }: ArgoCluster,
  { isGo }: TextRenderer,
): Parameters {
  const set: Parameters = new Map([
    ['name', name],
    ['nameNormalized', normalizeName(name)],
    ['server', server],
    ['project', project],
  ])
  const maps = Object.entries({ annotations, labels })
  if (isGo) {
    const present = maps.filter(([, entries]) => Object.keys(entries).length > 0)
    set.set('metadata', new Map(present.map(([key, entries]) => [key, stringMap(entries)])))
  } else {
    for (const [map, entries] of maps) {
      for (const [key, value] of Object.entries(entries)) set.set(`metadata.${map}.${key}`, value)
    }
  }
  return set
}
