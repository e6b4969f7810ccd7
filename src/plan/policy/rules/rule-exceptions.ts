// Tested by src/plan/policy/rules/content-rules.test.ts
/** Exceptions of rules: Overrides with `spec.policy`. */
import { matchesSelector } from '../../../core/text/label-selector.ts'
import type { LabelSelector } from '../../../core/text/label-selector.ts'
import { parseTime } from '../../../core/time/time.ts'
import type { Override } from '../../../kinds/native/override.ts'
import type { ReadCluster } from './content-facts.ts'

/** Whether an Override is an exception of a rule. Such an Override changes no content. */
export function isRuleException({ spec }: Pick<Override, 'spec'>): boolean {
  return spec.policy !== undefined
}

/** The exceptions that are not over, in order of their names. */
export function exceptionsInForce(overrides: readonly Override[], now: number): Override[] {
  return overrides
    .filter((one) => isRuleException(one) && (parseTime(one.spec.expiresAt ?? '') ?? 0) > now)
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

/** The first exception for a control of a policy on a cluster. What it asks of the cluster counts as read. */
export function exceptionFor(
  exceptions: readonly Override[],
  { policy, controls }: { readonly policy: string; readonly controls: readonly string[] },
  cluster: ReadCluster,
): Override | undefined {
  return exceptions.find(
    ({ spec }) =>
      spec.policy === policy &&
      (spec.control === undefined || controls.includes(spec.control)) &&
      isOn(spec, cluster) &&
      (spec.anyOf === undefined || spec.anyOf.some((one) => isOn(one, cluster))),
  )
}

interface OnClusters {
  readonly clusters?: readonly string[]
  readonly clusterSelector?: LabelSelector
}

function isOn({ clusters, clusterSelector }: OnClusters, cluster: ReadCluster): boolean {
  if (clusters && !clusters.includes(cluster.read('name') ?? '')) return false
  if (!clusterSelector) return true
  const keys = [
    ...Object.keys(clusterSelector.matchLabels ?? {}),
    ...(clusterSelector.matchExpressions ?? []).map(({ key }) => key),
  ]
  const labels = keys.flatMap((key) => {
    const value = cluster.read(`labels.${key}`)
    return value === null ? [] : [[key, value] as const]
  })
  return matchesSelector(Object.fromEntries(labels), clusterSelector)
}
