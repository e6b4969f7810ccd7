/**
 * Layers: the bundle, then its variants, then Overrides. A cluster gets the merge of its layers, and each value records
 * its layer.
 */
import { compact } from '../../core/compact.ts'
import { canonicalJson, isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { matchesSelector } from '../../core/text/label-selector.ts'
import type { BundleRecipe, ClusterValues, Layer, LayerClusters, LayerOptions } from './recipe.ts'
import type { TrackedInputs } from './track-reads.ts'

/** The layers of a cluster, in order. `skip` names the layer that excludes the cluster from the bundle. */
export interface AppliedLayers {
  readonly layers: readonly { readonly name: string; readonly options: LayerOptions }[]
  readonly skip?: string
  /** The names of the matching variants. */
  readonly variants: readonly string[]
}

/** Finds the layers of a cluster. Labels that selectors read count as reads. */
export function layersFor(recipe: BundleRecipe, cluster: TrackedInputs, name: () => string): AppliedLayers {
  const isOf = (clusters: LayerClusters): boolean =>
    (clusters.clusters === undefined || clusters.clusters.includes(name())) && fitsSelector(clusters, cluster)
  const fits = (layer: Layer): boolean => isOf(layer) && (layer.anyOf === undefined || layer.anyOf.some(isOf))
  const variants = (recipe.variants ?? []).filter(fits)
  const chosen = recipe.firstVariantOnly ? variants.slice(0, 1) : variants
  const overrides = (recipe.overrides ?? []).filter(fits)
  const skipping = [...chosen, ...overrides].find(({ skip }) => skip)
  return compact({
    layers: [
      { name: 'bundle', options: recipe },
      ...chosen.map((layer) => ({ name: `variant ${layer.name}`, options: layer })),
      ...overrides.map((layer) => ({ name: `override ${layer.name}`, options: layer })),
    ],
    variants: chosen.map((layer) => layer.name),
    skip: skipping?.name,
  })
}

function fitsSelector({ clusterSelector }: LayerClusters, cluster: TrackedInputs): boolean {
  if (clusterSelector === undefined) return true
  const keys = new Set([
    ...Object.keys(clusterSelector.matchLabels ?? {}),
    ...(clusterSelector.matchExpressions ?? []).map(({ key }) => key),
  ])
  const labels: Record<string, string> = {}
  for (const key of keys) {
    const value = cluster.label(key)
    if (value !== undefined) labels[key] = value
  }
  return matchesSelector(labels, clusterSelector)
}

/** Merges layers; later layers win. */
export function mergeLayers(layers: AppliedLayers['layers']): LayerOptions {
  return layers.reduce<LayerOptions>((sum, { options }) => mergeOptions(sum, options), {})
}

function mergeOptions(base: LayerOptions, over: LayerOptions): LayerOptions {
  return {
    helm: {
      chart: over.helm?.chart ?? base.helm?.chart,
      releaseName: over.helm?.releaseName ?? base.helm?.releaseName,
      values: mergeValues(base.helm?.values ?? {}, over.helm?.values ?? {}),
      valuesFiles: [...(base.helm?.valuesFiles ?? []), ...(over.helm?.valuesFiles ?? [])],
      valuesTemplating: over.helm?.valuesTemplating ?? base.helm?.valuesTemplating,
      templateValues: { ...base.helm?.templateValues, ...over.helm?.templateValues },
      namespace: over.helm?.namespace ?? base.helm?.namespace,
      skipCrds: over.helm?.skipCrds ?? base.helm?.skipCrds,
      skipSchemaValidation: over.helm?.skipSchemaValidation ?? base.helm?.skipSchemaValidation,
      kubeVersion: over.helm?.kubeVersion ?? base.helm?.kubeVersion,
      apiVersions: [...(base.helm?.apiVersions ?? []), ...(over.helm?.apiVersions ?? [])],
      valuesFrom: addedUp(base.helm?.valuesFrom, over.helm?.valuesFrom),
    },
    kustomize: { dir: over.kustomize?.dir ?? base.kustomize?.dir },
    defaultNamespace: over.defaultNamespace ?? base.defaultNamespace,
    targetNamespace: over.targetNamespace ?? base.targetNamespace,
    labels: { ...base.labels, ...over.labels },
    // The most specific layer is searched first.
    images: [...(over.images ?? []), ...(base.images ?? [])],
    patches: [...(base.patches ?? []), ...(over.patches ?? [])],
    overlays: base.overlays || over.overlays ? [...(base.overlays ?? []), ...(over.overlays ?? [])] : undefined,
  }
}

/** An entry that a later layer names again keeps its position and takes the later content. */
function addedUp(
  base: readonly ClusterValues[] | undefined,
  over: readonly ClusterValues[] | undefined,
): readonly ClusterValues[] | undefined {
  if (!base || !over) return over ?? base
  const keyed = (all: readonly ClusterValues[]) =>
    all.map((one) => [canonicalJson([one.kind, one.namespace ?? null, one.name, one.key ?? null]), one] as const)
  return [...new Map([...keyed(base), ...keyed(over)]).values()]
}

/**
 * Merges the values of two layers: objects are merged, the remaining types are replaced. null stays, because Helm
 * removes a default with it.
 */
export function mergeValues(base: JsonObject, over: JsonObject): JsonObject {
  const merged: JsonObject = { ...base }
  for (const [key, value] of Object.entries(over)) {
    const before = Object.hasOwn(base, key) ? base[key] : undefined
    merged[key] = isObject(before) && isObject(value) ? mergeValues(before, value) : value
  }
  return merged
}

/** Finds the layer that a merged value comes from, by path. */
export function originsOf(layers: AppliedLayers['layers']): Map<string, string> {
  const origins = new Map<string, string>()
  const walk = (value: unknown, path: string, name: string): void => {
    if (!isObject(value)) return void origins.set(path, name)
    for (const [key, item] of Object.entries(value)) walk(item, path === '' ? key : `${path}.${key}`, name)
  }
  for (const { name, options } of layers) walk(options.helm?.values ?? {}, '', name)
  for (const { name, options } of layers) {
    for (const { kind, name: object, namespace, key = 'values.yaml', targetPath } of options.helm?.valuesFrom ?? []) {
      const where = `${kind} ${namespace === undefined ? '' : `${namespace}/`}${object}, key ${key}`
      origins.set(targetPath ?? `(all of ${where})`, `${where}, read in the cluster, which ${name} names`)
    }
  }
  return origins
}
