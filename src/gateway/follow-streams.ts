/** Follow streams: each agent receives the head of its own newest document, and nothing else. */
import type { Clock } from '../core/time/clock.ts'
import { concatBytes } from '../core/bytes.ts'
import { ApiError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { createWakeup } from '../core/async/wakeup.ts'
import type { Wakeup } from '../core/async/wakeup.ts'
import { formatTime } from '../core/time/time.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { afterStep, followStep, openSession } from '../wire/link/follow-session.ts'
import type { Head } from '../wire/link/follow-session.ts'
import { frameLine } from '../wire/link/frames.ts'

export interface FollowStreamsPorts {
  readonly clock: Clock
  readonly ids: Ids
  /** The cluster with this id, if it is accepted and this instance may speak for it; undefined ends the stream. */
  readonly clusterOf: (id: string, instance: string | undefined) => Cluster | undefined
  readonly headOf: (cluster: Cluster) => Head | undefined
  readonly trustVersion: () => number
}

/** The agent that opened a stream. */
export interface Follower {
  readonly instance: string | undefined
  /** Digest of the document that the agent has. */
  readonly holds: string | undefined
}

// A second stream of a cluster is a reconnect before the gateway noticed the end of the first. A third is a fault or a
// copy.
const MAX_STREAMS_PER_CLUSTER = 2

export function createFollowStreams(ports: FollowStreamsPorts) {
  const { clock, ids } = ports
  let beats = { key: '', lines: new Map<number, Uint8Array>() }
  let isDraining = false
  const open = new Map<string, Set<{ readonly notice: Wakeup; readonly end: AbortController }>>()

  async function* frames(clusterId: string, by: Follower, signal: AbortSignal): AsyncIterable<Uint8Array> {
    for await (const { line } of steps(clusterId, by, signal)) yield line
  }

  async function* steps(
    clusterId: string,
    by: Follower,
    signal: AbortSignal,
  ): AsyncIterable<{ readonly line: Uint8Array; readonly isHead: boolean }> {
    const stream = { notice: createWakeup(clock), end: new AbortController() }
    const streams = open.get(clusterId) ?? new Set()
    open.set(clusterId, streams.add(stream))
    for (const old of [...streams].slice(0, -MAX_STREAMS_PER_CLUSTER)) old.end.abort()
    const ended = AbortSignal.any([signal, stream.end.signal])
    try {
      let session = openSession(clock.monotonicMs(), ids.fraction(), by.holds)
      while (!ended.aborted) {
        const cluster = ports.clusterOf(clusterId, by.instance)
        if (!cluster) return
        const now = clock.monotonicMs()
        const trustVersion = ports.trustVersion()
        const step = followStep(session, { head: ports.headOf(cluster), trustVersion }, now)
        session = afterStep(session, step, { now, trustVersion })
        switch (step.do) {
          case 'SendHead':
            yield { line: frameLine({ type: 'head', ...step.head }), isHead: true }
            break
          case 'SendBeat':
            yield { line: beatLine(cluster), isHead: false }
            break
          case 'Wait':
            await stream.notice.wait(step.ms, ended).catch(() => {}) // aborted: the loop ends
            break
          case 'End':
            return
        }
      }
    } finally {
      streams.delete(stream)
      if (streams.size === 0) open.delete(clusterId)
    }
  }

  /** Encoded once a second for all streams: thousands of clusters receive the same beat. */
  function beatLine({ spec: { checkInSeconds } }: Cluster): Uint8Array {
    const at = formatTime(clock.now())
    const trustVersion = ports.trustVersion()
    const key = `${at} ${trustVersion}`
    if (beats.key !== key) beats = { key, lines: new Map() }
    const known = beats.lines.get(checkInSeconds)
    if (known) return known
    const line = frameLine({ type: 'beat', at, trustVersion, checkInSeconds })
    beats.lines.set(checkInSeconds, line)
    return line
  }

  /** The frames up to the first head, or up to the end of the wait. */
  async function poll(
    clusterId: string,
    by: Follower,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array> {
    const over = new AbortController()
    const timer = new AbortController()
    clock.sleep(waitMs, timer.signal).then(
      () => over.abort(),
      () => {}, // a head came first
    )
    const lines: Uint8Array[] = []
    try {
      for await (const { line, isHead } of steps(clusterId, by, AbortSignal.any([signal, over.signal]))) {
        lines.push(line)
        if (isHead) break
      }
    } finally {
      timer.abort()
    }
    return concatBytes(lines)
  }

  return {
    frames,
    poll,
    wake: (clusterId: string) => {
      for (const { notice } of open.get(clusterId) ?? []) notice.notify()
    },
    /**
     * Ends all streams, spread over this time, so that their agents reconnect one by one to other gateways. Refuses new
     * streams at once.
     */
    drain(ms: number, signal: AbortSignal): void {
      isDraining = true
      for (const { end } of [...open.values()].flatMap((streams) => [...streams])) {
        clock.sleep(ids.fraction() * ms, signal).then(
          () => end.abort(),
          () => {}, // the gateway closes, and ends the stream
        )
      }
    },
    isDraining: () => isDraining,
    /** Number of open streams. */
    count: () => [...open.values()].reduce((sum, streams) => sum + streams.size, 0),
  }
}

export function draining(): ApiError {
  return new ApiError('ServiceUnavailable', 'this gateway is stopping; another one answers', { retryAfterSeconds: 1 })
}

export type FollowStreams = ReturnType<typeof createFollowStreams>
