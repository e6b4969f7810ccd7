/** Hooks of a bundle that leaves: before its objects go and after they are gone, once each, from the set it had. */
import type { Clock } from '../../../core/time/clock.ts'
import { Waiting } from '../../../core/errors.ts'
import type { Logger } from '../../../core/log.ts'
import type { HookEvent } from '../../../kinds/fields/hook.ts'
import { OPERATION_EVENTS } from '../../../plan/apply/hook-step.ts'
import { waveTimeoutMs } from '../../../plan/objects/object-options.ts'
import { ObjectFailure } from '../../cluster/applier.ts'
import type { Applier } from '../../cluster/applier.ts'
import { RenderRefused } from '../../render/cluster-render.ts'
import type { ClusterState, Inventory } from '../../cluster/cluster-state.ts'
import type { Content } from '../../documents/content.ts'
import { createHooks, leftByHooks } from '../hooks.ts'
import type { HookJournal } from '../hooks.ts'
import type { PlanLoader } from '../plan-loader.ts'
import type { PlannedHook } from '../../documents/set-plan.ts'

/** What it needs. */
export interface UninstallHookPorts {
  readonly content: Content
  readonly plans: PlanLoader
  readonly state: ClusterState
  readonly clock: Clock
  readonly log: Logger
  /** Hears of every inventory that was written. */
  readonly onWrite: (inventory: Inventory) => void
}

/** A bundle on its way out. */
export interface UninstallingBundle {
  readonly inventory: Inventory
  readonly generation: number
  readonly applier: Applier
}

const AGAIN_MS = 2000
const { pre, post } = OPERATION_EVENTS.Uninstall

/** Makes it. */
export function createUninstallHooks({ content, plans, state, clock, log, onWrite }: UninstallHookPorts) {
  const hooks = createHooks({ content, clock, log })
  const warned = new Map<string, Inventory['set']>()
  /** Hooks of sets that were rendered here, while their bundle leaves. */
  const rendered = new Map<string, { readonly set: Inventory['set']; readonly hooks: readonly PlannedHook[] }>()

  /** The hooks a bundle has for its end; none when its set is not on this disk any more, which is said. */
  async function hooksFor({ bundle, set }: Inventory, signal: AbortSignal): Promise<readonly PlannedHook[]> {
    const kept = await content.kept(set)
    const without = (why: string): readonly PlannedHook[] => {
      // Once, not in every round of a removal.
      if (warned.get(bundle) !== set)
        log.warn({ bundle, set }, `${why}: hooks it may have had for its removal are not run`)
      warned.set(bundle, set)
      return []
    }
    if (!kept) return without('its set is not here any more')
    if (kept.render) {
      const known = rendered.get(bundle)
      if (known?.set === set) return known.hooks
      const plan = await plans.of(bundle, kept, set, signal).catch((caught: unknown) => {
        if (caught instanceof ObjectFailure || caught instanceof RenderRefused) return undefined
        throw caught
      })
      if (!plan) return without('its set cannot be rendered here any more')
      const ends = plan.hooks.filter(({ hook }) => hook.on.includes(pre) || hook.on.includes(post))
      rendered.set(bundle, { set, hooks: ends })
      return ends
    }
    const objects = kept.objects.filter(({ hook }) => hook?.on.includes(pre) || hook?.on.includes(post))
    return objects.length === 0 ? [] : (await plans.of(bundle, { ...kept, objects }, set, signal)).hooks
  }

  /** Writes down that a bundle with hooks for its end leaves; asked for again after a hook failed, it is another operation. */
  async function begin({ inventory, generation }: UninstallingBundle): Promise<Inventory> {
    const { operation, operations = 0 } = inventory
    const isUnderWay = operation?.kind === 'Uninstall' && inventory.generation >= generation
    if (isUnderWay) return inventory
    const next: Inventory = {
      ...inventory,
      generation,
      operation: { kind: 'Uninstall', wave: 0 },
      operations: operations + 1,
      hooks: leftByHooks(inventory.hooks ?? []),
    }
    await write(next)
    return next
  }

  async function write(inventory: Inventory): Promise<void> {
    await state.writeInventory(inventory)
    onWrite(inventory)
  }

  /** Runs the hooks of one moment to their end; throws while one is under way, and when one failed. */
  async function run(
    leaving: UninstallingBundle,
    planned: readonly PlannedHook[],
    event: HookEvent,
    signal: AbortSignal,
  ): Promise<Inventory> {
    let { inventory } = leaving
    const journal: HookJournal = {
      bundle: inventory.bundle,
      operation: inventory.operations ?? 0,
      hooks: () => inventory.hooks ?? [],
      async save(records) {
        const next = { ...inventory, hooks: [...records] }
        await write(next)
        inventory = next
      },
      note(records) {
        inventory = { ...inventory, hooks: [...records] }
      },
    }
    const timeoutMs = waveTimeoutMs(inventory.options ?? {})
    const stop = await hooks.run(journal, planned, event, { applier: leaving.applier, signal, timeoutMs })
    if (stop?.kind === 'Waiting') throw new Waiting('Hook', stop.message, AGAIN_MS)
    const first = planned.find((hook) => hook.hook.on.includes(event))
    if (stop) throw new ObjectFailure(first!, `it stays: ${stop.message}`)
    return inventory
  }

  return {
    /** Runs what comes before the objects go. */
    async before(leaving: UninstallingBundle, signal: AbortSignal): Promise<Inventory> {
      const planned = await hooksFor(leaving.inventory, signal)
      if (planned.length === 0) return leaving.inventory
      return run({ ...leaving, inventory: await begin(leaving) }, planned, pre, signal)
    },
    /** Runs what comes after they are gone, which is written down with what became of them, and deletes what hooks left that is of no use to anybody. */
    async after(
      leaving: UninstallingBundle,
      signal: AbortSignal,
      removed: NonNullable<Inventory['removed']>,
    ): Promise<void> {
      const { applier } = leaving
      let { inventory } = leaving
      const isBegun = inventory.operation?.kind === 'Uninstall'
      const planned = isBegun ? await hooksFor(inventory, signal) : []
      if (planned.length > 0 && inventory.objects.length > 0) {
        inventory = { ...inventory, objects: [], removed }
        await write(inventory)
      }
      inventory = await run({ ...leaving, inventory }, planned, post, signal)
      const { bundle, hooks: records = [] } = inventory
      const journal = { bundle, operation: 0, hooks: () => records, save: async () => {}, note: () => {} }
      await hooks.clear(journal, { applier, signal })
      warned.delete(bundle)
      rendered.delete(bundle)
    },
  }
}
