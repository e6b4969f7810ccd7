// Tested by src/dialects/karmada/served/compile-binding.test.ts
/** What a binding shows of its clusters, from the reports of their agents. Pure. */
import { compact } from '../../../core/compact.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { clusterStatus } from '../templates/template-status.ts'
import type { ClusterStatus, ReportedValues } from '../templates/template-status.ts'
import type { Template } from '../templates/template-kinds.ts'
import type { AggregatedItem } from './kinds.ts'

/** A cluster of a binding, as the hub knows it. */
export interface SeenTarget {
  readonly cluster: string
  readonly report: ClusterReport | undefined
  readonly isUnreachable: boolean
  /** The content that the cluster should have. */
  readonly wanted: { readonly generation: number; readonly set: string } | undefined
  /** Why the hub has nothing to deliver to the cluster, or does not deliver it. */
  readonly problem?: string | undefined
}

/** What is shown about a cluster. */
export interface ShownTarget {
  readonly item: AggregatedItem
  readonly status: ClusterStatus
}

/** The status on a cluster; `entry` is the id of the Delivery in documents and reports. */
export function showTarget(template: Template, entry: string, seen: SeenTarget): ShownTarget {
  const { cluster, report, wanted, problem, isUnreachable } = seen
  const row = report?.spec.bundles.find(({ bundle }) => bundle === entry)
  const feedback = report?.spec.feedback?.find(({ bundle }) => bundle === entry)
  const observed = feedback?.objects.find(
    ({ apiVersion, kind, name }) =>
      apiVersion === template.apiVersion && kind === template.kind && name === template.metadata.name,
  )
  const values: ReportedValues = Object.fromEntries((observed?.values ?? []).map(({ name, value }) => [name, value]))
  const isCurrent =
    row !== undefined &&
    row.set === wanted?.set &&
    feedback?.generation === row.generation &&
    observed?.applied === true
  const failure = problem ?? (row?.state === 'Failed' ? (observed?.message ?? row.message) : undefined)
  const status = clusterStatus(template, values)
  return {
    status: { cluster, isCurrent: isCurrent && problem === undefined, values },
    item: compact({
      clusterName: cluster,
      applied: isCurrent && failure === undefined,
      appliedMessage: failure?.slice(0, 4096),
      health: isUnreachable
        ? 'Unknown'
        : row?.state === 'Ready' && isCurrent
          ? 'Healthy'
          : row
            ? 'Unhealthy'
            : 'Unknown',
      status,
    }),
  }
}

/** The condition FullyApplied in Karmada's words. */
export function fullyApplied(items: readonly AggregatedItem[]): {
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
} {
  const left = items.filter(({ applied }) => applied !== true)
  if (items.length > 0 && left.length === 0) {
    return {
      status: 'True',
      reason: 'FullyAppliedSuccess',
      message: 'All works have been successfully applied',
    }
  }
  return {
    status: 'False',
    reason: 'FullyAppliedFailed',
    message: 'Failed to apply all works, see status.aggregatedStatus for details',
  }
}
