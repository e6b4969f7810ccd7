// Tested by src/agent/bundles/hooks.contract.test.ts
/** Uninstall hooks of a bundle, from its last set: before its objects are deleted and after, each once. */
import type { Clock } from '../../../core/time/clock.ts'
import { Waiting } from '../../../core/errors.ts'
import type { Logger } from '../../../core/log.ts'
import type { HookEvent } from '../../../kinds/fields/hook.ts'
import { OPERATION_EVENTS } from '../../../plan/apply/hook-step.ts'
import { waveTimeoutMs } from '../../../plan/objects/object-options.ts'
import { ObjectFailure } from '../../cluster/object-failure.ts'
import type { Applier } from '../../cluster/applier.ts'
import { RenderRefused } from '../../render/cluster-render.ts'
import type { ClusterState } from '../../cluster/cluster-state.ts'
import type { Inventory } from '../../cluster/inventory.ts'
import type { Content } from '../../documents/content.ts'
import { createHooks, leftByHooks } from '../hooks.ts'
import type { HookJournal } from '../hooks.ts'
import type { PlanLoader } from '../plan-loader.ts'
import { STEP_TIMING } from '../../timing.ts'
import type { PlannedHook } from '../../documents/set-plan.ts'

/** Ports of uninstall hooks. */
export interface UninstallHookPorts {
  readonly content: Content
  readonly plans: PlanLoader
  readonly state: ClusterState
  readonly clock: Clock
  readonly log: Logger
  /** Called after every write of an inventory. */
  readonly onWrite: (inventory: Inventory) => void
}

/** A bundle that is being removed. */
export interface UninstallingBundle {
  readonly inventory: Inventory
  readonly generation: number
  readonly applier: Applier
}

const { pre, post } = OPERATION_EVENTS.Uninstall

/** Creates the runner of uninstall hooks. */
export function createUninstallHooks({ content, plans, state, clock, log, onWrite }: UninstallHookPorts) {
  const hooks = createHooks({ content, clock, log })
  const warned = new Map<string, Inventory['set']>()
  /** Hooks of recipes, while their bundle is being removed. */
  const rendered = new Map<string, { readonly set: Inventory['set']; readonly hooks: readonly PlannedHook[] }>()

  /** The uninstall hooks of a bundle; none, with a warning, when its set is not on disk any more. */
  async function hooksFor({ bundle, set }: Inventory, signal: AbortSignal): Promise<readonly PlannedHook[]> {
    const kept = await content.kept(set)
    const without = (why: string): readonly PlannedHook[] => {
      // A single warning, not a warning in every pass.
      if (warned.get(bundle) !== set) log.warn({ bundle, set }, `${why}: uninstall hooks of the bundle are not run`)
      warned.set(bundle, set)
      return []
    }
    if (!kept) return without('the set of the bundle is not on disk any more')
    if (kept.render) {
      const known = rendered.get(bundle)
      if (known?.set === set) return known.hooks
      const plan = await plans.of(bundle, kept, set, signal).catch((caught: unknown) => {
        if (caught instanceof ObjectFailure || caught instanceof RenderRefused) return undefined
        throw caught
      })
      if (!plan) return without('the set of the bundle cannot be rendered any more')
      const uninstall = plan.hooks.filter(({ hook }) => hook.on.includes(pre) || hook.on.includes(post))
      rendered.set(bundle, { set, hooks: uninstall })
      return uninstall
    }
    const objects = kept.objects.filter(({ hook }) => hook?.on.includes(pre) || hook?.on.includes(post))
    return objects.length === 0 ? [] : (await plans.of(bundle, { ...kept, objects }, set, signal)).hooks
  }

  /** Records the beginning of the removal. A new tombstone after a failed hook begins another operation. */
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

  /** Runs the hooks of an event to their end; throws while a hook runs, and when a hook failed. */
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
    if (stop?.kind === 'Waiting') throw new Waiting('Hook', stop.message, STEP_TIMING.uninstallHookMs)
    const first = planned.find((hook) => hook.hook.on.includes(event))
    if (stop) throw new ObjectFailure(first!, `the bundle is not removed: ${stop.message}`)
    return inventory
  }

  return {
    /** Runs the hooks before the objects are deleted. */
    async before(leaving: UninstallingBundle, signal: AbortSignal): Promise<Inventory> {
      const planned = await hooksFor(leaving.inventory, signal)
      if (planned.length === 0) return leaving.inventory
      return run({ ...leaving, inventory: await begin(leaving) }, planned, pre, signal)
    },
    /** Records the deletion of the objects, runs the hooks after it, and deletes the Jobs and Pods that hooks left. */
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
