/** Changes in the cluster that make a bundle due: of its objects, and of the objects that its rendering read. */
import type { Clock } from '../../core/time/clock.ts'
import { rerenderDelayMs } from '../../plan/apply/rerender.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import { LOOP_TIMING } from '../timing.ts'
import type { BundleRun } from './bundle-run.ts'
import type { TrackedBundle } from './bundle-table.ts'

/** Ports of triggers. */
export interface BundleTriggerPorts {
  readonly tracked: ReadonlyMap<string, TrackedBundle>
  readonly clock: Clock
  readonly wake: () => void
}

/** Creates the triggers of all bundles. */
export function createBundleTriggers({ tracked, clock, wake }: BundleTriggerPorts) {
  return {
    /** An object changed: its bundles are due soon, once for many changes. */
    touch(key: string, isNews: boolean): void {
      const soon = clock.monotonicMs() + LOOP_TIMING.coalesceMs
      let isSooner = false
      for (const bundle of tracked.values()) {
        const { run, dueAt } = bundle
        if (dueAt <= soon) continue
        const planned = run.plan?.byKey.get(key)
        // A user may have repaired drift by hand, which changes no bundle's share; health rules may read any field.
        const isAffected = planned !== undefined && (isNews || planned.rules !== undefined || run.drifts.has(key))
        if (!isAffected && !isHookUnderWay(run, key)) continue
        bundle.dueAt = soon
        isSooner = true
      }
      if (isSooner) wake()
    },
    /**
     * An object that the rendering of a bundle read changed: the bundle is rendered again soon, once for many changes.
     */
    touchReads(bundle: string): void {
      const found = tracked.get(bundle)
      if (!found || found.run.isStale) return
      found.run.isStale = true
      const waitMs = rerenderDelayMs(found.run.rerenders, clock.monotonicMs())
      found.dueAt = Math.min(found.dueAt, clock.monotonicMs() + waitMs)
      wake()
    },
  }
}

function isHookUnderWay({ inventory }: BundleRun, key: string): boolean {
  return (inventory?.hooks ?? []).some((record) => record.state === 'Started' && objectKey(record) === key)
}
