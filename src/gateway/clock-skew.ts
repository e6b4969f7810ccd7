/** Clocks of clusters that are wrong: noticed from the time in requests, written when it matters and not for every second. */
import type { Client } from '../client/client.ts'
import type { Clock } from '../core/time/clock.ts'
import { toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { skewToShow } from '../wire/link/clock-skew.ts'
import { createRateLimiter } from './rate-limit.ts'

/** What noticing needs. */
export interface SkewPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
}

/** Notes clocks. */
export function createSkew({ client, clock, log }: SkewPorts) {
  // A clock that jumps with every request is somebody playing.
  const changes = createRateLimiter({ clock, what: 'changes of its clock', burst: 3, perMinute: 1 })
  /** What was written and may not have come back yet. */
  const written = new Map<string, number>()

  async function note(cluster: Cluster, header: string | undefined): Promise<void> {
    const theirs = /^\d{1,15}$/.test(header ?? '') ? Number(header) : undefined
    if (theirs === undefined) return
    const { id } = cluster.spec
    const shown = written.get(id) ?? cluster.status?.clockSkewSeconds ?? 0
    const next = skewToShow(shown, theirs - clock.now())
    if (next === undefined) return
    try {
      changes.take(id)
    } catch {
      return // shown when it has calmed down
    }
    written.set(id, next)
    const body = { status: { clockSkewSeconds: next === 0 ? null : next } }
    const patch = { type: 'merge', body } as const
    await client
      .patch(Cluster, { name: cluster.metadata.name }, patch, { subresource: 'status' })
      .catch((caught: unknown) => {
        written.delete(id)
        log.debug({ cluster: cluster.metadata.name, err: toError(caught) }, 'the clock could not be noted')
      })
  }

  return {
    note,
    forget(clusterId: string): void {
      written.delete(clusterId)
      changes.forget(clusterId)
    },
  }
}
