import { findCondition } from '../../core/conditions.ts'
import { parseDuration } from '../../core/time/duration.ts'
import { jsonEqual } from '../../core/json.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { latestRetryFor } from '../../plan/rollout/retry.ts'
import { planRollout } from '../../plan/rollout/plan-rollout.ts'
import type { Predecessor, RolloutDecision, RolloutInput } from '../../plan/rollout/types.ts'
import type { RingSpec, RingState } from '../../plan/rollout/rings.ts'
import type { ReleaseBundle } from '../../plan/rollout/bundle-on-cluster.ts'
import { contentFor, setFor } from '../../plan/release/variants.ts'
import type { ChangesSinceLastPass } from './roster-cache.ts'
import type { RolloutAdvancePorts } from './ports.ts'
import { setRolloutConditions } from './rollout-conditions.ts'

/**
 * How long a Rollout rests after a look: for each pair that was worked out, and for each slot that is taken. A look costs a few microseconds for
 * each of them and what it writes has all slots in it, so however large the fleet and however many report at once, one Rollout takes less than a
 * tenth of the hub's time, and a burst of reports is one look.
 */
const REST_PER_PAIR_MS = 0.05
const REST_PER_SLOT_MS = 0.5

/** Moves a Rollout forward. It decides nothing itself: see plan/rollout/plan-rollout.ts. */
export function rolloutAdvanceReconciler(ports: RolloutAdvancePorts): Reconciler<Rollout> {
  return {
    name: 'rollout-advance',
    async reconcile(draft: Draft<Rollout>, context: Context): Promise<Result> {
      const rollout = draft.next
      const restMs = ports.passThrottle.waitMs(keyOf(rollout))
      // What a person changed is never put off.
      if (restMs > 0 && rollout.status?.observedGeneration === rollout.metadata.generation) {
        keepShown(draft)
        return { requeueAfterMs: restMs }
      }
      const release = ports.releaseOf(rollout)
      const since = ports.rosterCache.open(keyOf(rollout), frameOf(rollout, release, ports))
      const decision = planRollout(inputOf(rollout, release, ports, context.clock.now()), {
        ...since,
        selects: (placement, cluster) => ports.selects(rollout, placement, cluster),
      })
      const total = decision.counts?.total ?? 0
      ports.rosterCache.keep(keyOf(rollout), since.roster.cached ? total : 0)
      const worked = REST_PER_PAIR_MS * Math.min(total, since.changedClusters?.size ?? total)
      const taken = REST_PER_SLOT_MS * decision.admissions.length
      ports.passThrottle.note(keyOf(rollout), Math.floor(Math.max(worked, taken)))
      const left = leftBehind(rollout, release, ports, since)
      ports.askGates(rollout, decision.asks ?? [])
      if (decision.kind === 'Admit') {
        context.log.info({ admitted: decision.admitted.map(({ cluster }) => cluster) }, 'clusters admitted')
      }
      const waitMs = ports.statusThrottle.waitMs(keyOf(rollout))
      const takesBack = takenBack(rollout, decision, context.clock.now())
      if (waitMs > 0 && !takesBack && onlyCountsDiffer(rollout, decision)) {
        keepShown(draft)
        return { requeueAfterMs: waitMs }
      }

      record(rollout, decision)
      if (takesBack) rollout.status!.rollBack = takesBack
      setRolloutConditions(draft.conditions, decision, left)
      if (!jsonEqual(draft.seen.status, rollout.status)) ports.statusThrottle.note(keyOf(rollout))
      return decision.until === undefined ? {} : { requeueAfterMs: Math.max(1, decision.until - context.clock.now()) }
    },
  }
}

/** A pass that says nothing leaves what was said: the engine takes these two away unless they are said again. */
function keepShown({ seen, conditions }: Draft<Rollout>): void {
  for (const { type, status, reason, message } of seen.status?.conditions ?? []) {
    if (type === 'Reconciling' || type === 'Stalled') conditions.set(type, status, reason, message)
  }
}

function inputOf(
  rollout: Rollout,
  release: Release | undefined,
  ports: RolloutAdvancePorts,
  now: number,
): RolloutInput {
  const removal = ports.removalOf(rollout)
  const holds = ports.holdsAt(rollout, now)
  const bundles = removal ? [] : (release?.spec.bundles ?? [])
  const others = bundles.flatMap((bundle) =>
    ports
      .rolloutsOf(rollout, bundle.name)
      .filter((other) => keyOf(other.rollout) !== keyOf(rollout))
      .map((other) => ({ ...other, bundle: bundle.name, newer: other.generation > bundle.generation })),
  )
  const newer = others.filter((other) => other.newer).sort((a, b) => a.generation - b.generation)
  const createdAt = parseTime(rollout.metadata.creationTimestamp ?? '')
  return {
    rollout: {
      name: rollout.metadata.name,
      namespace: rollout.metadata.namespace ?? '',
      rings: rollout.spec.rings.map(asRing),
      ringStates: (rollout.status?.rings ?? []).map(asRingState),
      paused: rollout.spec.paused,
      aborted: rollout.spec.aborted ?? false,
      ...(rollout.spec.removal?.asks === undefined ? {} : { asks: rollout.spec.removal.asks }),
      ...durationOf('progressDeadlineMs', rollout.spec.progressDeadline),
      admissions: rollout.status?.admissions ?? [],
      closed: isClosed(rollout),
      ...(takesBack(release) ? { takesBack: true } : {}),
      ...(rollout.spec.removal ? {} : { attemptOf: latestRetryFor(retriesOf(rollout)) }),
      superseded: rollout.status?.superseded ?? [],
      ...(rollout.status?.phase ? { phase: rollout.status.phase } : {}),
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(rollout.spec.plan === undefined ? {} : { plan: rollout.spec.plan }),
      ...(rollout.spec.startedBy ? { startedBy: rollout.spec.startedBy } : {}),
    },
    release: release && { bundles: bundles.map((bundle) => withContent(bundle, ports)) },
    decisions: {
      has: (placement) => ports.selectionStamp(rollout, placement) !== undefined,
      get: (placement) => ports.selectedBy(rollout, placement),
    },
    clusterOf: ports.clusterOf,
    holdOf: holds.of,
    holdsUntil: holds.until,
    groupsOf: (placement, cluster) => ports.groupsOf(rollout, placement, cluster),
    predecessors: others.filter((other) => !other.newer).map((other) => asPredecessor(other, ports)),
    deletedBundles: bundles.map(({ name }) => name).filter((name) => !ports.hasBundle(rollout, name)),
    approvals: ports.approvalsOf(rollout),
    gateAnswerOf: (ring, gate) => ports.gateAnswerOf(rollout, ring, gate),
    standingOf: (bundle) => ports.readinessOf(rollout, bundle),
    now,
    newer: new Map(newer.map((other) => [other.bundle, other.rollout.metadata.name])),
    ...(removal ? { removal } : {}),
  }
}

function withContent(bundle: Release['spec']['bundles'][number], ports: RolloutAdvancePorts): ReleaseBundle {
  if (!bundle.variants || bundle.variants.length === 0) return bundle
  return { ...bundle, contentOf: (cluster) => contentFor(bundle, ports.inputsOf(cluster)) }
}

function asPredecessor(
  { rollout, bundle, generation }: { readonly rollout: Rollout; readonly bundle: string; readonly generation: number },
  ports: RolloutAdvancePorts,
): Predecessor {
  const admissions = (rollout.status?.admissions ?? []).filter((admission) => admission.bundle === bundle)
  const release = ports.releaseOf(rollout)
  const entry = takesBack(release) ? release?.spec.bundles.find(({ name }) => name === bundle) : undefined
  return {
    name: rollout.metadata.name,
    bundle,
    generation,
    closed: isClosedFor(rollout, bundle),
    admissions,
    ...(entry ? { takesBackTo: (cluster) => setFor(entry, ports.inputsOf(cluster)) } : {}),
  }
}

/** Whether a Release takes an older one back so that nobody gets it anew; with single clusters the rest goes on with it. */
function takesBack(release: Release | undefined): boolean {
  const { rollBack } = release?.spec ?? {}
  return rollBack !== undefined && rollBack.scope !== 'Clusters'
}

/** Whether a Rollout has recorded that newer ones carry all its bundles. */
export function isClosed(rollout: Rollout): boolean {
  return findCondition(rollout.status?.conditions, 'Superseded')?.status === 'True'
}

function isClosedFor(rollout: Rollout, bundle: string): boolean {
  return isClosed(rollout) || (rollout.status?.superseded ?? []).some((one) => one.bundle === bundle)
}

function retriesOf({ spec }: Rollout): NonNullable<Rollout['spec']['acts']> {
  return (spec.acts ?? []).filter(({ verb }) => verb === 'Retry')
}

/** Failures that stop it take it back where its plan says so; once, rollout-undo does the rest. */
function takenBack(
  { spec, status }: Rollout,
  decision: RolloutDecision,
  now: number,
): NonNullable<Rollout['status']>['rollBack'] | undefined {
  const isAsked = spec.onFailure === 'RollBackRing' || spec.onFailure === 'RollBackAll'
  if (!isAsked || decision.kind !== 'Fail' || status?.rollBack) return undefined
  const ring = spec.onFailure === 'RollBackRing' && decision.ring !== undefined ? { ring: decision.ring } : {}
  return { at: formatTime(now), reason: decision.message.slice(0, 4096), ...ring }
}

/** Whether nothing but numbers and the sentence around them would be written. */
function onlyCountsDiffer(rollout: Rollout, decision: RolloutDecision): boolean {
  const { status } = rollout
  return (
    status?.phase === decision.phase &&
    status.observedGeneration === rollout.metadata.generation &&
    jsonEqual(status.admissions ?? [], decision.admissions) &&
    jsonEqual(status.superseded ?? [], decision.superseded ?? []) &&
    (!decision.settled || jsonEqual(status.settled ?? [], decision.settled)) &&
    (!decision.kept || jsonEqual(status.kept ?? [], decision.kept)) &&
    (!decision.rings || jsonEqual((status.rings ?? []).map(asRingState), decision.rings))
  )
}

function record(rollout: Rollout, decision: RolloutDecision): void {
  const status = (rollout.status ??= {})
  status.phase = decision.phase
  status.admissions = decision.admissions.map((admission) => ({ ...admission }))
  if (decision.superseded && decision.superseded.length > 0) {
    status.superseded = decision.superseded.map((one) => ({ ...one }))
  }
  if (decision.ring !== undefined) status.ring = decision.ring
  if (decision.counts) status.counts = { ...decision.counts }
  if (decision.bundleCounts) {
    if (decision.bundleCounts.size > 1)
      status.bundles = [...decision.bundleCounts].map(([name, counts]) => ({ name, ...counts }))
    else delete status.bundles
  }
  if (decision.rings) {
    status.rings = decision.rings.map((state, i) => {
      // What the schema lacks would be pruned, and then be written again at every look.
      const { tolerated: _t, spared: _s, ...counts } = decision.ringCounts?.[i] ?? {}
      return { ...(structuredClone(state) as RingStatus), ...counts }
    })
  }
  if (decision.unringed && decision.unringed.length > 0) status.unringed = [...new Set(decision.unringed)].slice(0, 10)
  else delete status.unringed
  if (decision.settled && decision.settled.length > 0) status.settled = [...decision.settled]
  if (decision.kept && decision.kept.length > 0) status.kept = [...decision.kept]
}

type Ring = Rollout['spec']['rings'][number]
type RingStatus = NonNullable<NonNullable<Rollout['status']>['rings']>[number]

function asRing({ soak, startBy, ...ring }: Ring): RingSpec {
  return { ...ring, ...durationOf('soakMs', soak), ...durationOf('startByMs', startBy) }
}

/** What was written down about a ring, without the numbers beside it. */
function asRingState({ members: _m, ready: _r, failed: _f, excused: _e, ...state }: RingStatus): RingState {
  return state
}

function durationOf<K extends string>(key: K, text: string | undefined): { readonly [key in K]?: number } {
  const ms = text === undefined ? undefined : parseDuration(text)
  return (ms === undefined ? {} : { [key]: ms }) as { readonly [key in K]?: number }
}

/** What concerns everybody at once. */
function frameOf(rollout: Rollout, release: Release | undefined, ports: RolloutAdvancePorts): readonly unknown[] {
  const { uid, generation } = rollout.metadata
  const stamps = (release?.spec.bundles ?? []).map(({ placement }) => ports.selectionStamp(rollout, placement))
  return [uid, generation, release, ports.windows(), ...stamps]
}

/** Clusters that still run a bundle of the release although its placement no longer selects them. */
function leftBehind(
  rollout: Rollout,
  release: Release | undefined,
  ports: RolloutAdvancePorts,
  { unselectedHolders: left, changedClusters: touched }: ChangesSinceLastPass,
): string[] {
  return (rollout.spec.removal ? [] : (release?.spec.bundles ?? [])).flatMap(({ name, placement }) => {
    if (ports.selectionStamp(rollout, placement) === undefined) return []
    const before = touched && left.get(name)
    const those = new Set(before)
    for (const cluster of before ? touched : ports.holdersOf(rollout, name)) {
      const isLeft = ports.isHolder(rollout, name, cluster) && !ports.selects(rollout, placement, cluster)
      if (isLeft) those.add(cluster)
      else those.delete(cluster)
    }
    left.set(name, those)
    return [...those]
  })
}
