/** Looks at a bundle's objects: how they do, and whether somebody changed what the bundle applied; what was changed is applied again. */
import { inParallel } from '../core/in-parallel.ts'
import type { Logger } from '../core/log.ts'
import type { UnknownObject } from '../kinds/meta.ts'
import { healthOf } from '../plan/health.ts'
import type { Health } from '../plan/health.ts'
import { shareOf } from '../plan/managed-fields.ts'
import { describeObject } from '../plan/object-id.ts'
import { ObjectFailure } from './applier.ts'
import type { Applier } from './applier.ts'
import { inventoryOf, meetObject } from './bundle-run.ts'
import type { BundleRun } from './bundle-run.ts'
import type { ClusterState } from './cluster-state.ts'
import type { Content } from './content.ts'
import { objectToWrite } from './set-plan.ts'
import type { PlannedObject } from './set-plan.ts'

/** How objects do, taken together. */
export interface Sight {
  readonly state: Health['state']
  readonly message?: string
  readonly firstFailing?: string
  /** What somebody else holds and the bundle may not take back. */
  readonly drift?: string
}

/** What looking needs. */
export interface LookoutPorts {
  readonly content: Content
  readonly state: ClusterState
  readonly log: Logger
}

const AT_ONCE = 8

/** Makes it. */
export function createLookout({ content, state, log }: LookoutPorts) {
  /** Looks at some objects of a bundle. */
  async function look(
    run: BundleRun,
    objects: readonly PlannedObject[],
    context: { readonly applier: Applier; readonly signal: AbortSignal },
  ): Promise<Sight> {
    const seen = new Map<string, { readonly health: Health; readonly drifted?: string }>()
    const before = run.records
    await inParallel(objects, AT_ONCE, async (planned) => {
      const { live, drifted } = await keep(run, planned, context)
      const health = live ? healthOf(live) : MISSING
      seen.set(planned.key, { health, ...(drifted === undefined ? {} : { drifted }) })
    })
    if (run.records !== before && run.inventory && run.inventory.phase !== 'Applying') {
      const next = inventoryOf(run, run.inventory)
      await state.writeInventory(next)
      run.inventory = next
    }
    const inOrder = objects.map((planned) => ({ planned, ...seen.get(planned.key)! }))
    const worst =
      inOrder.find(({ health }) => health.state === 'Failed') ?? inOrder.find(({ health }) => health.state !== 'Ready')
    const drift = inOrder.find(({ drifted }) => drifted !== undefined)?.drifted
    const firstFailing = worst && describeObject(worst.planned)
    return {
      state: worst?.health.state ?? 'Ready',
      ...(worst ? { message: `${firstFailing}: ${worst.health.message}` } : {}),
      ...(firstFailing === undefined ? {} : { firstFailing }),
      ...(drift === undefined ? {} : { drift }),
    }
  }

  /** The live object; one that is gone or was changed is applied again. */
  async function keep(
    run: BundleRun,
    planned: PlannedObject,
    { applier, signal }: { readonly applier: Applier; readonly signal: AbortSignal },
  ): Promise<{ readonly live: UnknownObject | undefined; readonly drifted?: string }> {
    const { bundle } = run.entry
    const live = await applier.get(planned, signal)
    const { method } = planned.options
    if (method === 'ReadOnly' || (method === 'CreateOnly' && live)) return { live }
    const recorded = run.records.get(planned.key)
    if (live && recorded?.uid === live.metadata.uid && recorded?.share === shareOf(live, run.manager)) return { live }
    log.info({ bundle, object: describeObject(planned), gone: !live }, 'object changed, applying it again')
    const meeting = meetObject(run, planned, live)
    try {
      const object = await objectToWrite(planned, content, signal)
      const repaired = await applier.write({ bundle, object, options: planned.options, meeting, live }, signal)
      const uidBefore = recorded?.uid
      noteWritten(run, planned, repaired)
      if (meeting.kind === 'Adopt') run.records.set(planned.key, { ...run.records.get(planned.key)!, adopted: true })
      // Another object than the recorded one: that must be known before anything is pruned.
      if (uidBefore !== repaired.metadata.uid) run.records = new Map(run.records)
      return { live: repaired }
    } catch (caught) {
      if (!live || !(caught instanceof ObjectFailure)) throw caught
      // Not fought over: shown, and left as it is until the set or the object changes.
      if (recorded) run.records.set(planned.key, { ...recorded, share: shareOf(live, run.manager) })
      return { live, drifted: caught.message }
    }
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
      share: shareOf(live, run.manager),
    })
  }

  return { look, noteWritten }
}

const MISSING: Health = { state: 'Progressing', message: 'it is not there yet' }
