/**
 * A leader among several processes, by a Lease in the API.
 *
 *     follow ──free or expired: written by compare-and-swap──▶ lead ──renewed in time──▶ lead
 *       ▲                                                       │
 *       └──── not renewed within the deadline, or lost ◀────────┘   (the leader's signal is aborted first)
 *
 * The deadline is shorter than the Lease and counts from before the renewal was sent, so a leader stops before the next
 * leader may start. A process that was suspended can still act for a moment, so writes stay compare-and-swap.
 */
import type { Client } from '../client/client.ts'
import { deadline } from '../core/async/deadline.ts'
import type { Clock } from '../core/time/clock.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { silentMetrics } from '../core/metrics.ts'
import type { Metrics } from '../core/metrics.ts'
import { Lease } from '../kinds/builtin/coordination.ts'
import { apiVersionOf } from '../kinds/meta.ts'
import { leaseFor, decideLeaseAction, observeLease } from './lease.ts'
import type { LeaseObservation } from './lease.ts'
import { declareEngineMetrics } from './metrics.ts'

export interface LeaderElectionOptions {
  readonly client: Client
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  readonly namespace: string
  readonly name: string
  /** Name of this process; unique among the candidates. */
  readonly identity: string
  /** How long other candidates respect a Lease that is not renewed. Defaults to 15 s. */
  readonly leaseDurationMs?: number
  /** How long a leader continues without a renewal. Defaults to 10 s. */
  readonly renewDeadlineMs?: number
  /** Defaults to 2 s. */
  readonly retryPeriodMs?: number
  /** Does the leader's work until the signal is aborted, then ends quickly. Called once for each term. */
  readonly lead: (signal: AbortSignal) => Promise<void>
}

/** Takes part in an election until the signal is aborted, then releases the Lease for the next leader. */
export async function runLeaderElection(options: LeaderElectionOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, ids, identity, namespace, name } = options
  const { leaseDurationMs = 15_000, renewDeadlineMs = 10_000, retryPeriodMs = 2_000 } = options
  if (renewDeadlineMs >= leaseDurationMs || retryPeriodMs >= renewDeadlineMs) {
    throw new RangeError('leader election needs retryPeriodMs < renewDeadlineMs < leaseDurationMs')
  }
  const log = options.log.child({ lease: `${namespace}/${name}`, identity })
  const { leader: leaderMetric } = declareEngineMetrics(options.metrics ?? silentMetrics)
  let lease: Lease | undefined
  let seen: LeaseObservation | undefined

  /** Reads, decides, writes once; true when this process holds the Lease now. */
  async function tryOnce(attempt: AbortSignal): Promise<boolean> {
    lease = await client.get(Lease, { namespace, name }, attempt).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
    seen = lease && observeLease(seen, lease, clock.monotonicMs())
    const move = decideLeaseAction(lease, seen, { identity, nowMs: clock.monotonicMs() })
    if (move.kind === 'Wait') return false
    const next = leaseFor(move.kind, lease ?? emptyLease(namespace, name), {
      identity,
      durationMs: leaseDurationMs,
      wallMs: clock.now(),
    })
    const write = { fieldManager: 'flotilla-leader', signal: attempt }
    lease = await (move.kind === 'Create' ? client.create(Lease, next, write) : client.update(Lease, next, write))
    seen = observeLease(seen, lease, clock.monotonicMs())
    return true
  }

  async function attempt(ms: number): Promise<boolean> {
    try {
      return await deadline({ clock, ms, signal, what: `renewal of Lease ${namespace}/${name}` }, tryOnce)
    } catch (caught) {
      if (!isApiError(caught, 'Conflict', 'AlreadyExists')) log.debug({ err: toError(caught) }, 'lease not written')
      return false
    }
  }

  const pause = (atMostMs: number) =>
    // An aborted sleep ends the loops that call it.
    clock.sleep(Math.min(atMostMs, Math.round(retryPeriodMs * (1 + 0.2 * ids.fraction()))), signal).catch(() => {})

  /** Renews until the process stops, the work ends, another process holds the Lease, or the deadline has passed. */
  async function keep(wonAtMs: number, ended: AbortSignal): Promise<void> {
    let renewedAtMs = wonAtMs
    const leftMs = () => renewedAtMs + renewDeadlineMs - clock.monotonicMs()
    while (!signal.aborted && !ended.aborted && leftMs() > 0) {
      await pause(leftMs())
      const sentAtMs = clock.monotonicMs()
      if (leftMs() > 0 && (await attempt(leftMs()))) renewedAtMs = sentAtMs
      else if (lease && lease.spec?.holderIdentity !== identity) return
    }
  }

  async function serveTerm(wonAtMs: number): Promise<void> {
    const term = new AbortController()
    const ended = new AbortController()
    log.info({}, 'became leader')
    leaderMetric({ name }, 1)
    const leading = options.lead(term.signal).finally(() => ended.abort())
    leading.catch(() => {}) // awaited below; an earlier rejection must not be unhandled
    await keep(wonAtMs, ended.signal)
    term.abort(new Error(signal.aborted ? 'the process is stopping' : 'leadership was lost'))
    leaderMetric({ name }, 0)
    log.info({}, 'stopped leading')
    await leading
  }

  async function release(): Promise<void> {
    if (lease?.spec?.holderIdentity !== identity) return
    const freed = leaseFor('Release', lease, { identity, durationMs: leaseDurationMs, wallMs: clock.now() })
    await client
      .update(Lease, freed)
      .catch((caught: unknown) => log.debug({ err: toError(caught) }, 'lease not released'))
  }

  while (!signal.aborted) {
    const sentAtMs = clock.monotonicMs()
    if (await attempt(renewDeadlineMs)) {
      try {
        await serveTerm(sentAtMs)
      } finally {
        await release()
      }
    }
    if (!signal.aborted) await pause(retryPeriodMs * 2)
  }
}

function emptyLease(namespace: string, name: string): Lease {
  return { apiVersion: apiVersionOf(Lease), kind: Lease.kind, metadata: { namespace, name } }
}
