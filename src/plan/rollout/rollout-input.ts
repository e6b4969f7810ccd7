// Tested by src/controllers/rollout-advance/reconcile.test.ts
/** From a Rollout and the objects around it to the input of the decision. */
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { compact } from '../../core/compact.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { parseTime } from '../../core/time/time.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { contentFor, setFor } from '../release/variants.ts'
import type { ReleaseBundle } from './bundle-on-cluster.ts'
import { latestRetryFor } from './retry.ts'
import type { RingSpec } from './rings.ts'
import { isClosed, isClosedFor, ringStateOf } from './rollout-status.ts'
import type { Predecessor, RolloutInput } from './types.ts'
import type { HolderFacts } from './unselected-holders.ts'

/** A Rollout that carries a Bundle, the generation it carries, and its Release. */
export interface RolloutOfBundle {
  readonly rollout: Rollout
  readonly generation: number
  readonly release: Release
}

/**
 * The objects around a Rollout at one moment. Placements, Bundles and groups are names in the namespace of the Rollout.
 * Most members are functions, because a pass that follows one report reads a cluster and not the whole fleet.
 */
export interface GatheredRollout extends Pick<HolderFacts, 'holdersOf' | 'isHolder' | 'selects'> {
  readonly release: Release | undefined
  /** Clusters that a Placement selects; undefined while its decisions are not complete. */
  selectedBy(placement: string): readonly string[] | undefined
  /** Changes with the complete decisions of a Placement; undefined while there are none. */
  selectionStamp(placement: string): string | undefined
  /** The values of a cluster that templates read. */
  inputsOf(cluster: string): ClusterInputs | undefined
  /** Decision groups of a cluster in a Placement. */
  groupsOf(placement: string, cluster: string): readonly string[]
  readonly clusterOf: RolloutInput['clusterOf']
  /** Holds, freezes and closed windows. */
  readonly holds: {
    readonly of: NonNullable<RolloutInput['holdOf']>
    readonly until: NonNullable<RolloutInput['holdsUntil']>
  }
  /** The windows in force: the same value as long as none of them changes. */
  readonly windows: unknown
  /** What the Project of the namespace freezes: the same text as long as that does not change. */
  readonly frozenByProject?: string
  /** All Rollouts of a Bundle, this Rollout included. */
  rolloutsOf(bundle: string): readonly RolloutOfBundle[]
  /** Whether a Bundle exists and is not being deleted. */
  hasBundle(bundle: string): boolean
  /** Present for a Rollout that removes a Bundle. */
  readonly removal: RolloutInput['removal']
  readonly approvals: NonNullable<RolloutInput['approvals']>
  readonly gateAnswerOf: NonNullable<RolloutInput['gateAnswerOf']>
  readonly readinessOf: NonNullable<RolloutInput['standingOf']>
}

/** The input of the decision about a Rollout. */
export function rolloutInput(rollout: Rollout, gathered: GatheredRollout, now: number): RolloutInput {
  const { release, removal, holds } = gathered
  const bundles = removal ? [] : (release?.spec.bundles ?? [])
  const related = bundles.flatMap((bundle) =>
    gathered
      .rolloutsOf(bundle.name)
      .filter((other) => keyOf(other.rollout) !== keyOf(rollout))
      .map((other) => ({ ...other, bundle: bundle.name, newer: other.generation > bundle.generation })),
  )
  const newer = related.filter((other) => other.newer).sort((a, b) => a.generation - b.generation)
  return {
    rollout: rolloutFacts(rollout, release),
    release: release && { bundles: bundles.map((bundle) => withContent(bundle, gathered)) },
    decisions: {
      has: (placement) => gathered.selectionStamp(placement) !== undefined,
      get: (placement) => gathered.selectedBy(placement),
    },
    clusterOf: gathered.clusterOf,
    holdOf: holds.of,
    holdsUntil: holds.until,
    groupsOf: gathered.groupsOf,
    predecessors: related.filter((other) => !other.newer).map((other) => asPredecessor(other, gathered)),
    deletedBundles: bundles.map(({ name }) => name).filter((name) => !gathered.hasBundle(name)),
    approvals: gathered.approvals,
    gateAnswerOf: gathered.gateAnswerOf,
    standingOf: gathered.readinessOf,
    now,
    newer: new Map(newer.map((other) => [other.bundle, other.rollout.metadata.name])),
    ...compact({ removal }),
  }
}

/** Values that concern all clusters of a Rollout: when one of them changes, the roster is built anew. */
export function rosterCacheKey({ metadata }: Rollout, gathered: GatheredRollout): readonly unknown[] {
  const { uid, generation } = metadata
  const stamps = (gathered.release?.spec.bundles ?? []).map(({ placement }) => gathered.selectionStamp(placement))
  return [uid, generation, gathered.release, gathered.windows, gathered.frozenByProject, ...stamps]
}

function rolloutFacts({ metadata, spec, status }: Rollout, release: Release | undefined): RolloutInput['rollout'] {
  const createdAt = parseTime(metadata.creationTimestamp ?? '')
  return {
    name: metadata.name,
    namespace: metadata.namespace ?? '',
    rings: spec.rings.map(asRing),
    ringStates: (status?.rings ?? []).map(ringStateOf),
    paused: spec.paused,
    aborted: spec.aborted ?? false,
    ...compact({ asks: spec.removal?.asks === undefined ? undefined : spec.removal.asks }),
    ...durationField('progressDeadlineMs', spec.progressDeadline),
    admissions: status?.admissions ?? [],
    closed: isClosed({ status }),
    ...compact({
      takesBack: rollsBackForAll(release) ? true : undefined,
      attemptOf: spec.removal ? undefined : latestRetryFor((spec.acts ?? []).filter(({ verb }) => verb === 'Retry')),
    }),
    superseded: status?.superseded ?? [],
    ...compact({
      phase: status?.phase ? status.phase : undefined,
      createdAt,
      plan: spec.plan,
      startedBy: spec.startedBy,
    }),
  }
}

function withContent(bundle: Release['spec']['bundles'][number], gathered: GatheredRollout): ReleaseBundle {
  if (!bundle.variants || bundle.variants.length === 0) return bundle
  return { ...bundle, contentOf: (cluster) => contentFor(bundle, gathered.inputsOf(cluster)) }
}

function asPredecessor(
  { rollout, release, bundle, generation }: RolloutOfBundle & { readonly bundle: string },
  gathered: GatheredRollout,
): Predecessor {
  const admissions = (rollout.status?.admissions ?? []).filter((admission) => admission.bundle === bundle)
  const entry = rollsBackForAll(release) ? release.spec.bundles.find(({ name }) => name === bundle) : undefined
  return {
    name: rollout.metadata.name,
    bundle,
    generation,
    closed: isClosedFor(rollout, bundle),
    admissions,
    ...compact({ takesBackTo: entry ? (cluster: string) => setFor(entry, gathered.inputsOf(cluster)) : undefined }),
  }
}

/**
 * Whether a Release rolls an older one back for all clusters or a ring, so that no cluster gets the older one anew.
 * After a rollback of single clusters, the other clusters continue with the older Release.
 */
function rollsBackForAll(release: Release | undefined): release is Release {
  const { rollBack } = release?.spec ?? {}
  return rollBack !== undefined && rollBack.scope !== 'Clusters'
}

function asRing({ soak, startBy, ...ring }: Rollout['spec']['rings'][number]): RingSpec {
  return { ...ring, ...durationField('soakMs', soak), ...durationField('startByMs', startBy) }
}

function durationField<K extends string>(key: K, text: string | undefined): { readonly [key in K]?: number } {
  const ms = text === undefined ? undefined : parseDuration(text)
  return (ms === undefined ? {} : { [key]: ms }) as { readonly [key in K]?: number }
}
