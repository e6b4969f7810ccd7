/** Changes that apply to every object after its style was rendered: namespaces, labels, images, patches. */
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { builtInScope } from '../builtin-scope.ts'
import type { ImageRewrite, LayerOptions, ObjectPatch } from './recipe.ts'
import { RenderFailure } from './render-failure.ts'

/** The namespace of built-in namespaced objects without a namespace, as in kubectl. */
const DEFAULT_NAMESPACE = 'default'

/** Applies the options of the layers to all objects. */
export function finishObjects(objects: readonly UnknownObject[], options: LayerOptions): UnknownObject[] {
  const patched = applyPatches(objects, options.patches ?? [])
  return patched.map((object) => {
    const placed = withNamespace(object, options)
    const labelled = withLabels(placed, options.labels ?? {})
    return (options.images ?? []).length === 0 ? labelled : (withImages(labelled, options.images!) as UnknownObject)
  })
}

function withNamespace(object: UnknownObject, { targetNamespace, defaultNamespace }: LayerOptions): UnknownObject {
  const scope = builtInScope(object.apiVersion, object.kind)
  if (targetNamespace !== undefined) {
    if (scope === 'Cluster') {
      throw new RenderFailure(
        `${object.kind} ${object.metadata.name} has no namespace, and spec.targetNamespace puts everything into ${targetNamespace}; use spec.defaultNamespace, or take it out`,
      )
    }
    return { ...object, metadata: { ...object.metadata, namespace: targetNamespace } }
  }
  if (object.metadata.namespace || scope === 'Cluster') return object
  // Only the cluster knows whether a kind of a CRD is namespaced; a configured default namespace applies to these kinds
  // too.
  const namespace = defaultNamespace ?? (scope === 'Namespaced' ? DEFAULT_NAMESPACE : undefined)
  return namespace === undefined ? object : { ...object, metadata: { ...object.metadata, namespace } }
}

function withLabels(object: UnknownObject, labels: Readonly<Record<string, string>>): UnknownObject {
  if (Object.keys(labels).length === 0) return object
  return { ...object, metadata: { ...object.metadata, labels: { ...object.metadata.labels, ...labels } } }
}

const CONTAINERS: ReadonlySet<string> = new Set(['containers', 'initContainers', 'ephemeralContainers'])

function withImages(value: unknown, rewrites: readonly ImageRewrite[]): unknown {
  if (Array.isArray(value)) return value.map((item) => withImages(item, rewrites))
  if (!isObject(value)) return value
  const out: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    out[key] =
      CONTAINERS.has(key) && Array.isArray(item)
        ? item.map((container) =>
            isObject(container) && typeof container['image'] === 'string'
              ? { ...container, image: rewriteImage(container['image'], rewrites) }
              : container,
          )
        : withImages(item, rewrites)
  }
  return out
}

/**
 * Replaces the registry of an image by the first matching rule. Short names are completed as a container runtime does.
 */
function rewriteImage(image: string, rewrites: readonly ImageRewrite[]): string {
  const whole = wholeImageName(image)
  for (const { from, to } of rewrites) {
    const prefix = from.endsWith('/') ? from : `${from}/`
    for (const name of [whole, image]) {
      if (name.startsWith(prefix)) return `${to.replace(/\/$/, '')}/${name.slice(prefix.length)}`
    }
  }
  return image
}

function wholeImageName(image: string): string {
  const [first = '', ...rest] = image.split('/')
  if (rest.length === 0) return `docker.io/library/${image}`
  const isHost = first.includes('.') || first.includes(':') || first === 'localhost'
  return isHost ? image : `docker.io/${image}`
}

function applyPatches(objects: readonly UnknownObject[], patches: readonly ObjectPatch[]): UnknownObject[] {
  let all: readonly UnknownObject[] = objects
  for (const { kind, name, namespace, patch } of patches) {
    let found = false
    all = all.flatMap((object) => {
      const isTarget =
        object.kind === kind &&
        object.metadata.name === name &&
        (namespace === undefined || object.metadata.namespace === namespace)
      if (!isTarget) return [object]
      found = true
      // `$patch: delete` is the form that Kustomize users know.
      if (patch['$patch'] === 'delete') return []
      return [mergePatch(object, patch)]
    })
    if (!found) throw new RenderFailure(`a patch is for ${kind} ${name}, and there is no such object`)
  }
  return [...all]
}

/** JSON merge patch (RFC 7386). */
export function mergePatch<T>(target: T, patch: unknown): T {
  if (!isObject(patch)) return patch as T
  const out: JsonObject = isObject(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete out[key]
    else out[key] = mergePatch(out[key], value)
  }
  return out as T
}
