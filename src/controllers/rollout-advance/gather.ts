// Tested by src/controllers/rollout-advance/rings.sim.test.ts
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import { parseTime } from '../../core/time/time.ts'
import type { Approval } from '../../kinds/native/approval.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { RemovalFacts } from '../../plan/document/removal.ts'
import type { Availability } from '../../plan/fleet/availability.ts'
import type { ApprovalFact } from '../../plan/rollout/gates/approvals.ts'
import type { BundleReadiness, GateAnswer } from '../../plan/rollout/gates/judge-gates.ts'
import type { RolloutCluster } from '../../plan/rollout/bundle-on-cluster.ts'
import type { GatheredRollout } from '../../plan/rollout/rollout-input.ts'
import type { CompiledWindow } from '../../plan/windows/window-rules.ts'
import {
  assignmentOf,
  decisionGroupsOf,
  inNamespaceOf,
  inputsOf,
  reportOf,
  rolloutsOfBundle,
} from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import { retainedClusters } from '../caches/retained-clusters.ts'
import { selectedClusters, selectionStamp, selectsCluster } from '../caches/selected-clusters.ts'
import { evaluateWindowHolds } from '../caches/windows-in-force.ts'
import { projectHolds } from '../caches/project-holds.ts'

/** The sources that a pass of rollout-advance reads. */
export interface RolloutSources {
  readonly caches: Caches
  /** The windows in force. */
  windows(): readonly CompiledWindow[]
  /** The last answer to the check of a gate. */
  gateAnswerOf(rollout: Rollout, ring: string, gate: string): GateAnswer | undefined
}

/** Reads the objects around a Rollout. */
export function gatherRollout(
  { caches, windows, gateAnswerOf }: RolloutSources,
  rollout: Rollout,
  now: number,
): GatheredRollout {
  const beside = (name: string) => inNamespaceOf(rollout, name)
  const inForce = windows()
  const ofWindows = evaluateWindowHolds(caches, inForce, rollout, now)
  const release = caches.releases.lister.get(beside(rollout.spec.release))
  const bundles = (release?.spec.bundles ?? []).map(({ name }) => name)
  const ofProject = rollout.spec.removal ? undefined : projectHolds(caches, rollout.metadata.namespace ?? '', bundles)
  return {
    release,
    selectedBy: (placement) => selectedClusters(caches, beside(placement)),
    selectionStamp: (placement) => selectionStamp(caches, beside(placement)),
    selects: (placement, cluster) => selectsCluster(caches, beside(placement), cluster),
    windows: inForce,
    holds: {
      of: (target, cluster) => ofProject?.of(target.name, cluster) ?? ofWindows.of(target, cluster),
      until: () => ofWindows.until(),
    },
    ...compact({ frozenByProject: ofProject?.stamp }),
    inputsOf: (cluster) => inputsOf(caches, cluster),
    clusterOf: (cluster) => clusterFacts(caches, cluster),
    groupsOf: (placement, cluster) => decisionGroupsOf(caches, beside(placement), cluster),
    rolloutsOf: (bundle) =>
      caches.releases.lister.by('bundle', beside(bundle)).flatMap((release) => {
        const { generation } = release.spec.bundles.find(({ name }) => name === bundle)!
        return caches.rollouts.lister
          .by('release', keyOf(release))
          .map((other) => ({ rollout: other, generation, release }))
      }),
    hasBundle: (bundle) => {
      const found = caches.bundles.lister.get(beside(bundle))
      return found !== undefined && found.metadata.deletionTimestamp === undefined
    },
    removal: removalFacts(caches, rollout, now),
    holdersOf: (bundle) =>
      caches.assignments.lister
        .by('bundle', beside(bundle))
        .map(({ metadata }) => metadata.name)
        .filter((cluster) => isHolder(caches, rollout, bundle, cluster)),
    isHolder: (bundle, cluster) => isHolder(caches, rollout, bundle, cluster),
    gateAnswerOf: (ring, gate) => gateAnswerOf(rollout, ring, gate),
    readinessOf: (bundle) => bundleReadiness(caches, beside(bundle)),
    approvals: caches.approvals.lister.by('rollout', keyOf(rollout)).map(approvalFact),
  }
}

/** Whether a cluster's document has the Bundle, and no Rollout removes it from there. */
function isHolder(caches: Caches, rollout: Rollout, bundle: string, cluster: string): boolean {
  const key = inNamespaceOf(rollout, bundle)
  const entries = caches.assignments.lister.get(cluster)?.spec.entries ?? []
  const isThere = caches.clusters.lister.get(cluster) !== undefined
  return isThere && entries.some((entry) => entry.bundle === key) && !isRemoved(caches, rollout, bundle, cluster)
}

/** Whether a Rollout removes the Bundle from the cluster. */
function isRemoved(caches: Caches, rollout: Rollout, bundle: string, cluster: string): boolean {
  return caches.rollouts.lister
    .by('removesFrom', cluster)
    .some((other) => other.spec.removal?.bundle === bundle && other.metadata.namespace === rollout.metadata.namespace)
}

/** A Bundle is ready when its present content is rendered, and the Rollout of that Release is complete. */
function bundleReadiness(caches: Caches, key: string): BundleReadiness | undefined {
  const bundle = caches.bundles.lister.get(key)
  if (!bundle) return undefined
  const { name, generation } = bundle.metadata
  const { release, observedGeneration } = bundle.status ?? {}
  if (release === undefined || observedGeneration !== generation) {
    return { isReady: false, message: `Bundle ${name} is not rendered yet` }
  }
  const phase = caches.rollouts.lister.get(inNamespaceOf(bundle, release))?.status?.phase ?? 'Pending'
  const isReady = phase === 'Completed'
  return { isReady, message: `Rollout ${release} of Bundle ${name} is ${isReady ? 'complete' : phase}` }
}

function approvalFact({ metadata, spec }: Approval): ApprovalFact {
  const { rollout: _, ...said } = spec
  return { ...said, name: metadata.name, at: metadata.creationTimestamp ?? '' }
}

function removalFacts(caches: Caches, rollout: Rollout, now: number): RemovalFacts | undefined {
  const { removal } = rollout.spec
  if (!removal) return undefined
  const bundle = inNamespaceOf(rollout, removal.bundle)
  const coming = rolloutsOfBundle(caches, bundle).flatMap(({ status }) =>
    (status?.admissions ?? []).filter((admission) => admission.bundle === removal.bundle).map(({ cluster }) => cluster),
  )
  return {
    bundle: removal.bundle,
    clusters: removal.clusters,
    settled: rollout.status?.settled ?? [],
    kept: rollout.status?.kept ?? [],
    placement: caches.bundles.lister.get(bundle)?.spec.placement ?? '',
    keep: retainedClusters(caches, bundle, now),
    coming: new Set(coming),
  }
}

function clusterFacts(caches: Caches, name: string): RolloutCluster | undefined {
  const cluster = caches.clusters.lister.get(name)
  if (!cluster) return undefined
  const assignment = assignmentOf(caches, cluster)
  const entries = assignment?.spec.entries ?? []
  const report = reportOf(caches, cluster)
  const reportedAt = parseTime(report?.spec.receivedAt ?? '')
  return compact({
    availability: recordedAvailability(cluster),
    labels: cluster.metadata.labels ?? {},
    assigned: byBundle(entries),
    reported: byBundle(report?.spec.bundles ?? []),
    removals: byBundle(report?.spec.removals ?? []),
    buried: assignment ? byBundle(assignment.spec.tombstones ?? []) : undefined,
    reportedAt,
  })
}

const indexed = new WeakMap<readonly unknown[], ReadonlyMap<string, unknown>>()

/** Rows of a cached object by bundle, made once for each list: every Rollout of the cluster's bundles reads them. */
function byBundle<T extends { readonly bundle: string }>(rows: readonly T[]): ReadonlyMap<string, T> {
  let index = indexed.get(rows)
  if (!index) indexed.set(rows, (index = new Map(rows.map((row) => [row.bundle, row]))))
  return index as ReadonlyMap<string, T>
}

/** The availability that cluster-availability recorded; Unknown before its first pass. */
export function recordedAvailability(cluster: Cluster): Availability {
  const condition = findCondition(cluster.status?.conditions, 'Available')
  const message = condition?.message ?? 'The agent has not contacted the hub yet.'
  if (condition?.status === 'True') return { state: 'Available', reason: 'Seen', message }
  if (condition?.status === 'False') return { state: 'Offline', reason: 'Silent', message }
  return { state: 'Unknown', reason: 'NeverSeen', message }
}
