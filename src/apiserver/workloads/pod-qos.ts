import type { JsonObject } from '../../core/json.ts'
import { itemsAt, mapAt, textAt } from '../../kinds/builtin/read-path.ts'

/** Guaranteed when the limits of every container equal its requests, BestEffort when no container sets either. */
export function computeQosClass(spec: JsonObject): string {
  const containers = [...itemsAt(spec, 'containers'), ...itemsAt(spec, 'initContainers')]
  const isSilent = containers.every(
    (container) =>
      Object.keys(mapAt(container, 'resources.requests')).length === 0 &&
      Object.keys(mapAt(container, 'resources.limits')).length === 0,
  )
  if (isSilent) return 'BestEffort'
  const isEqual = containers.every((container) =>
    ['cpu', 'memory'].every((name) => {
      const limit = textAt(container, `resources.limits.${name}`)
      return limit !== '' && textAt(container, `resources.requests.${name}`, limit) === limit
    }),
  )
  return isEqual ? 'Guaranteed' : 'Burstable'
}
