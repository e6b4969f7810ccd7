/**
 * Keeps a bundle as it was applied: how its objects do, and what somebody changed.
 *
 * Whoever changes the value of a field takes it from the bundle's manager, so the bundle's share of an object's fields tells whether there is
 * anything to look at, without comparing values that defaulting or webhooks changed. Only then the API is asked, by a dry run of the same
 * apply, what would change; nothing means no drift. What to do about the rest is decided in plan/apply/drift.ts.
 */
import type { Clock } from '../../core/time/clock.ts'
import { inParallel } from '../../core/async/in-parallel.ts'
import type { Logger } from '../../core/log.ts'
import { formatTime } from '../../core/time/time.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { describeDifference, differences } from '../../plan/objects/differences.ts'
import { afterCorrection, decideDrift } from '../../plan/apply/drift.ts'
import { healthOf } from '../../plan/health/object-health.ts'
import type { Health } from '../../plan/health/object-health.ts'
import { applyHealthRules } from '../../plan/health/health-rules.ts'
import { ownedFieldsFingerprint } from '../../plan/objects/managed-fields.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import { fieldManager, ObjectFailure } from '../cluster/applier.ts'
import type { Applier } from '../cluster/applier.ts'
import { buildInventory, OBSERVE_INTERVAL_MS, decideObjectOwnership } from './bundle-run.ts'
import type { BundleRun, Drift } from './bundle-run.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import type { Content } from '../documents/content.ts'
import { objectToWrite } from '../documents/set-plan.ts'
import type { PlannedObject } from '../documents/set-plan.ts'

/** How objects do, taken together. */
export interface Observation {
  readonly state: Health['state']
  readonly message?: string
  readonly firstFailing?: string
  /** What somebody changed and is not changed back. */
  readonly drift?: string
  /** When to look again if nothing is heard. */
  readonly againMs: number
}

/** What looking needs. */
export interface ObserverPorts {
  readonly content: Content
  readonly state: ClusterState
  readonly clock: Clock
  readonly log: Logger
}

interface Context {
  readonly applier: Applier
  readonly signal: AbortSignal
}

/** One object, as it was found or put right. */
interface Kept {
  readonly health: Health
  readonly polled?: boolean
}

const AT_ONCE = 8
const FIELDS_SHOWN = 10
const MISSING: Health = { state: 'Progressing', message: 'it is not there yet' }
const FINE: Health = { state: 'Ready', message: '' }

/** Makes it. */
export function createObserver({ content, state, clock, log }: ObserverPorts) {
  /** Looks at some objects of a bundle, and puts right what may be. */
  async function observe(run: BundleRun, objects: readonly PlannedObject[], context: Context): Promise<Observation> {
    const kept = new Map<string, Kept>()
    const before = run.records
    await inParallel(objects, AT_ONCE, async (planned) => {
      kept.set(planned.key, await keep(run, planned, context))
    })
    if (run.records !== before && run.inventory && run.inventory.phase !== 'Applying') {
      const next = buildInventory(run, run.inventory)
      await state.writeInventory(next)
      run.inventory = next
    }
    return sightOf(run, objects, kept)
  }

  function sightOf(run: BundleRun, objects: readonly PlannedObject[], kept: ReadonlyMap<string, Kept>): Observation {
    const failing = (is: (health: Health) => boolean) => objects.find(({ key }) => is(kept.get(key)!.health))
    const worst = failing(({ state: how }) => how === 'Failed') ?? failing(({ state: how }) => how !== 'Ready')
    const health = worst ? kept.get(worst.key)!.health : FINE
    const drifts = objects.flatMap(({ key }) => run.drifts.get(key) ?? [])
    const [first, ...more] = drifts
    const isPolled = objects.some(({ key }) => kept.get(key)!.polled)
    const retryMs = drifts.map(({ retryAtMs }) => (retryAtMs ?? Number.POSITIVE_INFINITY) - clock.monotonicMs())
    const also = more.length > 0 ? `; and ${more.length} more objects` : ''
    return {
      state: health.state,
      ...(worst ? { message: `${describeObject(worst)}: ${health.message}`, firstFailing: describeObject(worst) } : {}),
      ...(first ? { drift: `${first.message}${also}` } : {}),
      againMs: Math.max(0, Math.min(isPolled ? OBSERVE_INTERVAL_MS.polled : OBSERVE_INTERVAL_MS.ready, ...retryMs)),
    }
  }

  /** Whether an object is known to be as it was recorded, without asking for it. */
  async function isAsRecorded(run: BundleRun, planned: PlannedObject, { applier, signal }: Context): Promise<boolean> {
    const recorded = run.records.get(planned.key)
    const sighting = recorded?.uid === undefined ? undefined : await applier.sight(planned, signal)
    if (!sighting?.watched || !sighting.seen) return false
    return recorded?.uid === sighting.seen.metadata.uid && recorded?.share === sighting.seen.shares[run.manager]
  }

  async function keep(run: BundleRun, planned: PlannedObject, context: Context): Promise<Kept> {
    const { applier, signal } = context
    const { method } = planned.options
    const recorded = run.records.get(planned.key)
    const sighting = method === 'ReadOnly' ? { watched: false as const } : await applier.sight(planned, signal)
    if (sighting.watched) {
      const { seen } = sighting
      if (seen && recorded?.uid === seen.metadata.uid && recorded?.share === (seen.shares[run.manager] ?? '')) {
        run.drifts.delete(planned.key)
        const judged = run.judged.get(planned.key)
        if (!planned.rules) return { health: seen.health }
        if (judged && judged.version === seen.metadata.resourceVersion) return { health: judged.judgement.health }
      }
      const known = run.drifts.get(planned.key)
      const isSame = known?.version === (seen?.metadata.resourceVersion ?? 'gone')
      const isResting = (known?.retryAtMs ?? Number.POSITIVE_INFINITY) > clock.monotonicMs()
      if (isSame && isResting) return { health: seen?.health ?? MISSING }
    }
    const live = await applier.get(planned, signal)
    // Not labelled, so not watched: looked at now and then.
    const isUnseen = !sighting.watched || (live !== undefined && sighting.seen === undefined)
    const polled = isUnseen ? { polled: true } : {}
    if (method === 'ReadOnly' || (method === 'CreateOnly' && live)) {
      return { health: judgedHealth(run, planned, live), ...polled }
    }
    if (live && recorded?.uid === live.metadata.uid && recorded?.share === ownedFieldsFingerprint(live, run.manager)) {
      run.drifts.delete(planned.key)
      return { health: judgedHealth(run, planned, live), ...polled }
    }
    const now = await correctDrift(run, planned, { ...context, live })
    return { health: now, ...polled }
  }

  /** Deals with an object that is gone, or whose fields somebody took. */
  async function correctDrift(
    run: BundleRun,
    planned: PlannedObject,
    context: Context & { readonly live: UnknownObject | undefined },
  ): Promise<Health> {
    const { live, applier, signal } = context
    const { bundle } = run.entry
    const { key, options } = planned
    const object = await objectToWrite(planned, content, signal)
    const request = { bundle, object, options, meeting: decideObjectOwnership(run, planned, live), live }
    let fields = ['it was deleted']
    if (live) {
      const examined = await examine(request, context)
      if (examined === 'Nothing') {
        accept(run, planned, live)
        return judgedHealth(run, planned, live)
      }
      fields = examined
    }
    const name = describeObject(planned)
    const isDrift = fields.length > 0
    const history = run.corrections.get(key) ?? { correctedAtMs: [] }
    const decision = decideDrift(options.drift, history, clock.monotonicMs())
    if (decision.kind === 'Ignore' || (decision.kind === 'Report' && !isDrift)) {
      if (live) accept(run, planned, live)
      return live ? judgedHealth(run, planned, live) : FINE
    }
    const describe = (more: string) => `${name}: ${fields.slice(0, FIELDS_SHOWN).join(', ')}${more}`
    const shown = (message: string, retryAtMs?: number): Health => {
      const since = run.drifts.get(key)?.since ?? formatTime(clock.now())
      const version = live?.metadata.resourceVersion ?? 'gone'
      const drift: Drift = { message, fields: fields.slice(0, FIELDS_SHOWN), since, version }
      run.drifts.set(key, retryAtMs === undefined ? drift : { ...drift, retryAtMs })
      return judgedHealth(run, planned, live)
    }
    if (decision.kind === 'Report') return shown(describe(''))
    if (decision.kind === 'StepBack' && isDrift) {
      const waits = `; corrected ${decision.times} times within an hour and changed again, so it is left for a while`
      return shown(describe(waits), decision.untilMs)
    }
    try {
      const repaired = await applier.write(request, signal)
      log.info({ bundle, object: name, fields }, 'object was changed, applied again')
      noteWritten(run, planned, repaired)
      if (request.meeting.kind === 'Adopt') run.records.set(key, { ...run.records.get(key)!, adopted: true })
      // Another object than the recorded one: that must be known before anything is pruned.
      if (live?.metadata.uid !== repaired.metadata.uid || request.meeting.kind === 'Adopt')
        run.records = new Map(run.records)
      if (isDrift) run.corrections.set(key, afterCorrection(history, clock.monotonicMs()))
      run.drifts.delete(key)
      return judgedHealth(run, planned, repaired)
    } catch (caught) {
      if (!live || !(caught instanceof ObjectFailure)) throw caught
      return shown(caught.message)
    }
  }

  /** The fields that applying again would change, with who has them; nothing when it would change nothing at all. */
  async function examine(
    request: Parameters<Applier['write']>[0],
    { applier, signal, live }: Context & { readonly live: UnknownObject | undefined },
  ): Promise<string[] | 'Nothing'> {
    try {
      const wanted = await applier.write({ ...request, dryRun: true }, signal)
      const manager = fieldManager(request.bundle)
      const found = differences(live!, wanted).map((difference) => describeDifference(live!, difference, manager))
      return found.length === 0 && ownedFieldsFingerprint(live!, manager) === ownedFieldsFingerprint(wanted, manager)
        ? 'Nothing'
        : found
    } catch (caught) {
      // Another bundle has it, or it cannot be written any more: that is what is shown.
      if (caught instanceof ObjectFailure) return [caught.message]
      throw caught
    }
  }

  function accept(run: BundleRun, planned: PlannedObject, live: UnknownObject): void {
    run.drifts.delete(planned.key)
    const recorded = run.records.get(planned.key)
    if (recorded) run.records.set(planned.key, { ...recorded, share: ownedFieldsFingerprint(live, run.manager) })
  }

  /** How an object does, by the bundle's own rules where it has some. */
  function judgedHealth(run: BundleRun, planned: PlannedObject, live: UnknownObject | undefined): Health {
    if (!live) return MISSING
    if (!planned.rules) return healthOf(live)
    const judgement = applyHealthRules(live, planned.rules)
    run.judged.set(planned.key, { version: live.metadata.resourceVersion ?? '', judgement })
    return judgement.health
  }

  /** Remembers what was written. */
  function noteWritten(run: BundleRun, planned: PlannedObject, live: UnknownObject): void {
    const recorded = run.records.get(planned.key)
    if (!recorded) return
    const { uid } = live.metadata
    run.records.set(planned.key, {
      ...recorded,
      ...(uid === undefined ? {} : { uid }),
      digest: planned.digest,
      share: ownedFieldsFingerprint(live, run.manager),
    })
  }

  return { look: observe, noteWritten, isAsRecorded }
}

/** Keeps bundles as they were applied. */
export type Observer = ReturnType<typeof createObserver>
