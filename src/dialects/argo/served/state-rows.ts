// Tested by src/dialects/argo/served/application.sim.test.ts
/** The state of a Bundle on a cluster, from the hub's caches. */
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Informers } from '../../../client/informers.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Release } from '../../../kinds/native/release.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { rowClusterOf } from '../../../plan/fleet/row-cluster.ts'
import { rowOf } from '../../../plan/fleet/view-rows.ts'
import type { Row } from '../../../plan/fleet/view-rows.ts'
import { clusterInputsOf, contentFor } from '../../../plan/release/variants.ts'

/** Reads states. */
export interface StateRows {
  /** The Rollout of the newest Release of a Bundle. */
  rolloutOf(bundle: Bundle): Rollout | undefined
  /** The row of a Bundle on a cluster; undefined when there is no such Cluster. */
  rowOf(bundle: Bundle, cluster: string): Row | undefined
  /** The digest of the set that the document of the cluster has for the Bundle. */
  assignedSet(bundle: Bundle, cluster: string): string | undefined
  reportOf(cluster: string): ClusterReport | undefined
}

const BY_RELEASE = 'argo-release'

/** The states in the caches of these informers. */
export function createStateRows(informers: Informers): StateRows {
  const clusters = informers.of(Cluster)
  const reports = informers.of(ClusterReport)
  const assignments = informers.of(Assignment)
  const releases = informers.of(Release)
  const rollouts = informers.of(Rollout)
  rollouts.addIndex(BY_RELEASE, ({ metadata, spec }) =>
    spec.removal ? [] : [`${metadata.namespace ?? ''}/${spec.release}`],
  )
  const rolloutOf = ({ metadata, status }: Bundle): Rollout | undefined =>
    status?.release === undefined
      ? undefined
      : rollouts.lister.by(BY_RELEASE, `${metadata.namespace ?? ''}/${status.release}`)[0]
  const reportOf = (cluster: string): ClusterReport | undefined => {
    const report = reports.lister.get(cluster)
    return report?.spec.clusterId === clusters.lister.get(cluster)?.spec.id ? report : undefined
  }
  return {
    rolloutOf,
    reportOf,
    assignedSet: (bundle, cluster) =>
      assignments.lister.get(cluster)?.spec.entries.find((entry) => entry.bundle === keyOf(bundle))?.set,
    rowOf(bundle, name) {
      const cluster = clusters.lister.get(name)
      if (!cluster) return undefined
      const { namespace = '', name: own } = bundle.metadata
      const { release = '', revision } = bundle.status ?? {}
      const rollout = rolloutOf(bundle)
      const ready = findCondition(rollout?.status?.conditions, 'Ready')
      const released = releases.lister.get(`${namespace}/${release}`)?.spec.bundles.find((one) => one.name === own)
      const admitted = (rollout?.status?.admissions ?? []).filter((one) => one.bundle === own)
      return rowOf(
        compact({
          key: keyOf(bundle),
          name: own,
          placement: bundle.spec.placement,
          target: revision,
          rollout: rollout
            ? {
                name: rollout.metadata.name,
                admitted: new Set(admitted.map((one) => one.cluster)),
                ...(ready ? { hold: { reason: ready.reason, message: ready.message } } : {}),
              }
            : undefined,
        }),
        {
          ...rowClusterOf(keyOf(bundle), { cluster, report: reportOf(name), assignment: assignments.lister.get(name) }),
          ...compact({ content: released?.variants ? contentFor(released, clusterInputsOf(cluster)) : undefined }),
        },
        true,
      )
    },
  }
}
