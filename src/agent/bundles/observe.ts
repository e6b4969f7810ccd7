// Tested by src/agent/bundles/drift.contract.test.ts
/**
 * Observes the objects of a bundle: their health, and whether another writer changed them.
 *
 * A writer that changes a field takes it from the bundle's field manager. The fingerprint of the bundle's fields
 * therefore tells whether there may be drift, without comparing values that defaulting or webhooks changed. Only then
 * drift-correction.ts asks the API server.
 */
import { inParallel } from '../../core/async/in-parallel.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Health } from '../../plan/health/object-health.ts'
import { ownedFieldsFingerprint } from '../../plan/objects/managed-fields.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { Applier } from '../cluster/applier.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import type { WatchedObject } from '../cluster/object-watches.ts'
import type { PlannedObject } from '../documents/set-plan.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import { buildInventory } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import { createDriftCorrection, FINE, judgeHealth, MISSING } from './drift-correction.ts'
import type { DriftCorrectionPorts } from './drift-correction.ts'

/** The health of some objects of a bundle, taken together. */
export interface Observation {
  readonly state: Health['state']
  readonly message?: string
  readonly firstFailing?: string
  /** Drift that the agent reports and does not correct. */
  readonly drift?: string
  /** Time until the next observation, if no watch reports a change before. */
  readonly againMs: number
}

/** Ports of the observer. */
export interface ObserverPorts extends DriftCorrectionPorts {
  readonly state: ClusterState
  readonly clock: Clock
}

interface ObserveContext {
  readonly applier: Applier
  readonly signal: AbortSignal
}

/** An object after its observation; `isPolled` when no watch reports its changes. */
interface ObservedState {
  readonly health: Health
  readonly isPolled: boolean
}

const AT_ONCE = 8

/** Creates the observer of bundles. */
export function createObserver(ports: ObserverPorts) {
  const { state, clock } = ports
  const correctDrift = createDriftCorrection(ports)

  /** Observes some objects of a bundle, and corrects drift where the bundle's options allow it. */
  async function observe(
    run: BundleRun,
    objects: readonly PlannedObject[],
    context: ObserveContext,
  ): Promise<Observation> {
    const observed = new Map<string, ObservedState>()
    const before = run.records
    await inParallel(objects, AT_ONCE, async (planned) => {
      observed.set(planned.key, await observeObject(run, planned, context))
    })
    for (const [key, { health }] of observed) run.healths.set(key, health)
    if (run.records !== before && run.inventory && run.inventory.phase !== 'Applying') {
      const next = buildInventory(run, run.inventory)
      await state.writeInventory(next)
      run.inventory = next
    }
    return summarize(run, objects, observed, clock.monotonicMs())
  }

  /** True when the watch shows the object exactly as the inventory records it, without a request. */
  async function isAsRecorded(
    run: BundleRun,
    planned: PlannedObject,
    { applier, signal }: ObserveContext,
  ): Promise<boolean> {
    const recorded = run.records.get(planned.key)
    const watched = recorded?.uid === undefined ? undefined : await applier.watched(planned, signal)
    if (!watched?.watched || !watched.seen) return false
    return recorded?.uid === watched.seen.metadata.uid && recorded?.share === watched.seen.shares[run.manager]
  }

  async function observeObject(
    run: BundleRun,
    planned: PlannedObject,
    context: ObserveContext,
  ): Promise<ObservedState> {
    const { applier, signal } = context
    const { method } = planned.options
    const watched: WatchedObject = method === 'ReadOnly' ? { watched: false } : await applier.watched(planned, signal)
    const known = healthByWatch(run, planned, watched, clock.monotonicMs())
    if (known) return { health: known, isPolled: false }
    const live = await applier.get(planned, signal)
    // An object without the label is not watched.
    const isPolled = !watched.watched || (live !== undefined && watched.seen === undefined)
    if (method === 'ReadOnly' || (method === 'CreateOnly' && live)) {
      return { health: judgeHealth(run, planned, live), isPolled }
    }
    if (live && isRecorded(run, planned, live)) {
      run.drifts.delete(planned.key)
      return { health: judgeHealth(run, planned, live), isPolled }
    }
    return { health: await correctDrift(run, planned, { ...context, live }), isPolled }
  }

  return { observe, isAsRecorded }
}

/** Observes bundles. */
export type Observer = ReturnType<typeof createObserver>

function isRecorded(run: BundleRun, { key }: PlannedObject, live: UnknownObject): boolean {
  const recorded = run.records.get(key)
  return recorded?.uid === live.metadata.uid && recorded?.share === ownedFieldsFingerprint(live, run.manager)
}

/** The health of an object as far as its watch tells; undefined when the object must be read. */
function healthByWatch(
  run: BundleRun,
  { key, rules }: PlannedObject,
  watched: WatchedObject,
  nowMs: number,
): Health | undefined {
  if (!watched.watched) return undefined
  const { seen } = watched
  const recorded = run.records.get(key)
  if (seen && recorded?.uid === seen.metadata.uid && recorded?.share === (seen.shares[run.manager] ?? '')) {
    run.drifts.delete(key)
    const judged = run.judged.get(key)
    if (!rules) return seen.health
    if (judged && judged.version === seen.metadata.resourceVersion) return judged.judgement.health
  }
  const drift = run.drifts.get(key)
  const isSame = drift?.version === (seen?.metadata.resourceVersion ?? 'gone')
  const isResting = (drift?.retryAtMs ?? Number.POSITIVE_INFINITY) > nowMs
  return isSame && isResting ? (seen?.health ?? MISSING) : undefined
}

function summarize(
  run: BundleRun,
  objects: readonly PlannedObject[],
  observed: ReadonlyMap<string, ObservedState>,
  nowMs: number,
): Observation {
  const find = (is: (health: Health) => boolean) => objects.find(({ key }) => is(observed.get(key)!.health))
  const worst = find(({ state }) => state === 'Failed') ?? find(({ state }) => state !== 'Ready')
  const health = worst ? observed.get(worst.key)!.health : FINE
  const drifts = objects.flatMap(({ key }) => run.drifts.get(key) ?? [])
  const [first, ...more] = drifts
  const isPolled = objects.some(({ key }) => observed.get(key)!.isPolled)
  const retryMs = drifts.map(({ retryAtMs }) => (retryAtMs ?? Number.POSITIVE_INFINITY) - nowMs)
  const also = more.length > 0 ? `; and ${more.length} more objects` : ''
  return {
    state: health.state,
    ...compact({
      message: worst && `${describeObject(worst)}: ${health.message}`,
      firstFailing: worst && describeObject(worst),
      drift: first && `${first.message}${also}`,
    }),
    againMs: Math.max(0, Math.min(isPolled ? OBSERVE_INTERVAL_MS.polled : OBSERVE_INTERVAL_MS.ready, ...retryMs)),
  }
}
