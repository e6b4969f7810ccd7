/** Writes down where a bundle is, before the next step is taken. */
import { buildInventory } from './bundle-run.ts'
import type { BundleRun, Progress } from './bundle-run.ts'
import type { ClusterState } from '../cluster/cluster-state.ts'
import type { HookJournal } from './hooks.ts'

/** Makes it. */
export function createJournal(state: ClusterState) {
  /** Writes what changed; what is not mentioned stays, what is undefined goes. */
  async function record(run: BundleRun, change: { readonly [K in keyof Progress]?: Progress[K] | undefined }) {
    const next = buildInventory(run, { ...run.inventory, ...change } as Progress)
    await state.writeInventory(next)
    run.inventory = next
  }
  /** The hooks of a bundle's present operation. */
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

/** The journal of bundles. */
export type Journal = ReturnType<typeof createJournal>
