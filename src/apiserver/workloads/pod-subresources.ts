import { isObject, jsonClone, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { itemsAt, mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { forbidden, invalid } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import { computeQosClass } from './pod-qos.ts'

/**
 * Parts of a pod that only change at an address of their own: `kubectl debug` adds containers, a resize changes
 * resources.
 */

/** A part with an address of its own. */
export type PodSubresource = 'ephemeralcontainers' | 'resize'

/** Whether a subresource is one of these parts of a pod. */
export function isPodSubresource(subresource: string | undefined): subresource is PodSubresource {
  return subresource === 'ephemeralcontainers' || subresource === 'resize'
}

/** What a write at a part's address makes of a pod: that part and nothing else. */
export function applyPodSubresource(old: UnknownObject, wanted: UnknownObject, part: PodSubresource): UnknownObject {
  const next = jsonClone(old)
  if (!isObject(next['spec'])) next['spec'] = {}
  const spec = next['spec'] as JsonObject
  if (part === 'ephemeralcontainers') {
    const containers = itemsAt(wanted, 'spec.ephemeralContainers')
    if (containers.length > 0) spec['ephemeralContainers'] = containers
    else delete spec['ephemeralContainers']
  } else {
    for (const list of ['containers', 'initContainers']) {
      for (const container of itemsAt(spec, list)) resize(container, itemsAt(wanted, `spec.${list}`))
    }
  }
  // Ownership of what changes here is recorded through this address, too.
  if (wanted.metadata.managedFields) next.metadata.managedFields = wanted.metadata.managedFields
  return next
}

function resize(container: JsonObject, wanted: readonly JsonObject[]): void {
  const same = wanted.find(({ name }) => name === container['name'])
  for (const field of ['resources', 'resizePolicy']) {
    if (same?.[field] !== undefined) container[field] = same[field]
    else if (same) delete container[field]
  }
}

/** Why a part cannot become so: what runs for debugging stays as it is, and a pod stays in its class. */
export function podSubresourceErrors(next: UnknownObject, old: UnknownObject, part: PodSubresource): FieldError[] {
  if (part === 'resize') {
    const [before, after] = [old, next].map((pod) => computeQosClass(mapAt(pod, 'spec')))
    if (before === after) return []
    return [invalid('spec', before, 'Pod QOS Class may not change as a result of resizing')]
  }
  const now = itemsAt(next, 'spec.ephemeralContainers')
  return itemsAt(old, 'spec.ephemeralContainers').flatMap((container) => {
    const same = now.find(({ name }) => name === container['name'])
    if (same && jsonEqual(same, container)) return []
    const what = same ? 'changed' : 'removed'
    const why = `existing ephemeral containers ${JSON.stringify(textAt(container, 'name'))} may not be ${what}\n`
    return [forbidden('spec.ephemeralContainers', why)]
  })
}
