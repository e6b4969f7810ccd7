// Tested by src/dialects/ocm/replica-sets/replica-set.sim.test.ts
/** ManifestWorks of a ManifestWorkReplicaSet: its Bundle on a cluster, computed for each request and never stored. */
import { compact } from '../../../core/compact.ts'
import { apiVersionOf, keyOf } from '../../../kinds/meta.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { scopesOfDottedName } from '../../projection.ts'
import type { BundleStateRow, Projection, RowFacts } from '../../projection.ts'
import { compileWork } from '../works/compile-work.ts'
import type { CompiledWork } from '../works/compile-work.ts'
import { ManifestWork } from '../works/kinds.ts'
import { feedbackAsked, workStatus } from '../works/work-status.ts'
import type { WorkStatus } from '../works/work-status.ts'
import { PLACEMENT_NAME_LABEL, REPLICA_SET_LABEL, templateOf } from './compile-set.ts'
import { ManifestWorkReplicaSet } from './kinds.ts'

/** The work of a Bundle, compiled. */
interface BundleWork {
  readonly spec: ManifestWork['spec']
  readonly work: CompiledWork
}

const known = new WeakMap<Bundle, BundleWork | 'none'>()

function workOf(bundle: Bundle): BundleWork | undefined {
  const before = known.get(bundle)
  if (before) return before === 'none' ? undefined : before
  const spec = templateOf(bundle)
  const read = spec && compileWork({ spec })
  const found = spec && read?.ok ? { spec, work: read.work } : undefined
  known.set(bundle, found ?? 'none')
  return found
}

/** What the agent of a cluster reports about the work of a Bundle; undefined if it has none of its content. */
export function reportedWork(
  bundle: Bundle,
  report: ClusterReport | undefined,
): (WorkStatus & { readonly generation: number; readonly state: string }) | undefined {
  const compiled = workOf(bundle)
  const entry = keyOf(bundle)
  const row = report?.spec.bundles.find((one) => one.bundle === entry)
  if (!compiled || !row) return undefined
  const status = workStatus({
    ids: compiled.work.ids,
    hasFeedback: feedbackAsked(compiled.work.options),
    entry,
    revision: { generation: row.generation, set: row.set },
    report,
  })
  return { ...status, generation: row.generation, state: row.state }
}

/** The ManifestWork of a row; undefined while the cluster waits for its turn and has nothing of the Bundle. */
function manifestWorkOf(row: BundleStateRow, { bundle, report }: RowFacts): UnknownObject | undefined {
  const { state, generation, target, waitsFor, cluster } = row
  const isWaiting = generation === undefined && (waitsFor !== undefined || state === 'Pending')
  if (state === undefined || isWaiting || (state === 'NotSelected' && generation === undefined)) return undefined
  const compiled = workOf(bundle)
  if (!compiled) return undefined
  const { namespace = '', creationTimestamp, labels = {} } = bundle.metadata
  const shown = reportedWork(bundle, report)
  const conditions = (shown?.conditions ?? []).map((one) => ({ ...one, observedGeneration: shown!.generation }))
  return {
    apiVersion: apiVersionOf(ManifestWork),
    kind: ManifestWork.kind,
    metadata: {
      name: `${namespace}.${bundle.metadata.name}`,
      namespace: cluster,
      generation: Math.max(target ?? 0, generation ?? 0),
      ...compact({ creationTimestamp }),
      labels: {
        [REPLICA_SET_LABEL]: labels[REPLICA_SET_LABEL] ?? '',
        [PLACEMENT_NAME_LABEL]: labels[PLACEMENT_NAME_LABEL] ?? '',
      },
    },
    spec: compiled.spec,
    status: { conditions, resourceStatus: { manifests: shown?.manifests ?? [] } },
  }
}

/** The works of ManifestWorkReplicaSets, beside the works that users write. */
export const REPLICA_SET_WORKS: Projection = {
  kind: ManifestWork,
  isStoredToo: true,
  readsReports: true,
  includes: ({ metadata }) => metadata.labels?.[REPLICA_SET_LABEL] !== undefined,
  objectOf: manifestWorkOf,
  within: (namespace) => ({ cluster: namespace }),
  // The first part of `NAMESPACE.BUNDLE` is a namespace, which has no dots.
  named: (cluster, name) =>
    scopesOfDottedName('', name)
      .slice(0, 1)
      .map(({ bundle = '', cluster: rest = '' }) => ({ cluster, namespace: bundle, bundle: rest })),
  makerOf(bundle) {
    const owner = bundle.metadata.ownerReferences?.find(({ kind }) => kind === ManifestWorkReplicaSet.kind)
    if (!owner) return bundle
    const { apiVersion, kind, name } = owner
    return { apiVersion, kind, metadata: { name, namespace: bundle.metadata.namespace ?? '' } }
  },
}
