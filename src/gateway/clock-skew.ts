/**
 * The clock skew of clusters, from the time header of requests. Written to the Cluster's status only when it matters.
 */
import { readWholeNumber } from '../core/read-number.ts'
import type { Client } from '../client/client.ts'
import type { Clock } from '../core/time/clock.ts'
import { toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { skewToShow } from '../wire/link/clock-skew.ts'
import { createRateLimiter } from './rate-limit.ts'

export interface ClockSkewPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
}

export function createClockSkew({ client, clock, log }: ClockSkewPorts) {
  // A clock that jumps with every request is broken or abuse.
  const changes = createRateLimiter({ clock, what: 'clock changes from this cluster', burst: 3, perMinute: 1 })
  /** Written values that the informer may not have returned yet. */
  const written = new Map<string, number>()

  async function note(cluster: Cluster, header: string | undefined): Promise<void> {
    const theirs = readWholeNumber(header ?? '')
    if (theirs === undefined) return
    const { id } = cluster.spec
    const shown = written.get(id) ?? cluster.status?.clockSkewSeconds ?? 0
    const next = skewToShow(shown, theirs - clock.now())
    if (next === undefined) return
    try {
      changes.take(id)
    } catch {
      return // the limit allows the write later
    }
    written.set(id, next)
    const body = { status: { clockSkewSeconds: next === 0 ? null : next } }
    const patch = { type: 'merge', body } as const
    await client
      .patch(Cluster, { name: cluster.metadata.name }, patch, { subresource: 'status' })
      .catch((caught: unknown) => {
        written.delete(id)
        log.debug({ cluster: cluster.metadata.name, err: toError(caught) }, 'clock skew could not be recorded')
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

export type ClockSkew = ReturnType<typeof createClockSkew>
