import { silentLogger } from '../../core/log.ts'
import { createEmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import type { EmbeddedCluster } from '../../sim/fleet/embedded-cluster.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import type { VirtualClock } from '../../sim/kernel/virtual-clock.ts'

/**
 * An embedded cluster on a virtual clock, whose workloads progress within a second and fail after five, until the test
 * ends.
 */
export function startWorkloadCluster(
  t: { after(fn: () => Promise<void>): void },
  more: { readonly parts?: boolean } = {},
): { readonly clock: VirtualClock; readonly cluster: EmbeddedCluster } {
  const clock = createVirtualClock()
  const ids = createSeededIds('workloads')
  const behaviour = { progressMs: 1_000, failMs: 5_000 }
  const cluster = createEmbeddedCluster({ name: 'a', clock, ids, log: silentLogger, behaviour, ...more })
  const stop = new AbortController()
  const running = cluster.run(stop.signal)
  t.after(async () => {
    stop.abort()
    await clock.settle()
    await running
    await cluster.close()
  })
  return { clock, cluster }
}
