/** The checks of bundles that have settled, for the evaluation of policies. */
import type { Content } from '../documents/content.ts'
import type { BundleChecks, CheckSource } from './check-sets.ts'
import type { BundleTable } from '../bundles/bundle-table.ts'
import type { PlanLoader } from '../bundles/plan-loader.ts'

/** Creates the source of checks; a bundle whose newer revision waits to start keeps the checks that run. */
export function createSettledChecks({
  table,
  content,
  plans,
}: {
  readonly table: BundleTable
  readonly content: Content
  readonly plans: PlanLoader
}): CheckSource {
  async function settled(signal: AbortSignal): Promise<BundleChecks[]> {
    const found: BundleChecks[] = []
    for (const { run } of table.tracked.values()) {
      const { inventory, plan, entry } = run
      if (inventory?.phase !== 'Settled') continue
      const { bundle } = entry
      const { set, generation } = inventory
      if (run.set === set && plan) {
        if (plan.checks) found.push({ bundle, generation, options: plan.options, checks: plan.checks })
        continue
      }
      const held = await content.set(set, signal)
      if (!held.options?.checks) continue
      const own = await plans.of(bundle, held, set, signal)
      found.push({ bundle, generation, options: own.options, checks: own.checks ?? [] })
    }
    return found
  }

  // Before the inventories are read, nothing is known about a bundle.
  return { settled, tracked: (bundle) => table.tracked.has(bundle) || !table.isKnown() }
}
