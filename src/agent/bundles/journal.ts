/** Records the progress of a bundle in its inventory before the next step. */
import { buildInventory } from './bundle-run.ts'
import type { BundleRun, Progress } from './bundle-run.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import type { HookJournal } from './hooks.ts'

/** Creates the journal of bundles. */
export function createJournal(state: ClusterState) {
  /** Writes the inventory with a change: absent members stay, undefined members are removed. */
  async function record(run: BundleRun, change: { readonly [K in keyof Progress]?: Progress[K] | undefined }) {
    const next = buildInventory(run, { ...run.inventory, ...change } as Progress)
    await state.writeInventory(next)
    run.inventory = next
  }
  /** The hook records of a bundle's current operation. */
  function hooksOf(run: BundleRun): HookJournal {
    return {
      bundle: run.entry.bundle,
      operation: run.inventory?.operations ?? 0,
      hooks: () => run.inventory?.hooks ?? [],
      save: (hooks) => record(run, { hooks: [...hooks] }),
      note: (hooks) => {
        run.inventory = { ...run.inventory!, hooks: [...hooks] }
      },
    }
  }
  return { record, hooksOf }
}

/** Records the progress of bundles. */
export type Journal = ReturnType<typeof createJournal>
