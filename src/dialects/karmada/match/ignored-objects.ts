/** Objects that Karmada never propagates. */
import type { SelectableObject } from '../resource-selector.ts'
import { groupOf } from '../../../plan/objects/object-id.ts'

/** Groups of Karmada's own kinds, and of events. */
const GROUPS: ReadonlySet<string> = new Set([
  'apps.karmada.io',
  'autoscaling.karmada.io',
  'cluster.karmada.io',
  'config.karmada.io',
  'events.k8s.io',
  'networking.karmada.io',
  'policy.karmada.io',
  'remedy.karmada.io',
  'work.karmada.io',
])

/** Why an object is never looked at: its kind, or its namespace; undefined for every other object. */
export function whyIgnored({ apiVersion, kind, metadata }: SelectableObject): 'api' | 'namespace' | undefined {
  if (
    GROUPS.has(groupOf({ apiVersion })) ||
    apiVersion === 'coordination.k8s.io/v1' ||
    (apiVersion === 'v1' && kind === 'Event')
  ) {
    return 'api'
  }
  const namespace = metadata.namespace ?? ''
  const isReserved = namespace === 'karmada-system' || namespace === 'karmada-cluster'
  return isReserved || namespace.startsWith('karmada-es-') || namespace.startsWith('kube-') ? 'namespace' : undefined
}
