/** Follow streams: each agent hears of its own newest document, and of nothing else. */
import type { Clock } from '../core/time/clock.ts'
import { concatBytes } from '../core/bytes.ts'
import type { Ids } from '../core/ids.ts'
import { createWakeup } from '../core/async/wakeup.ts'
import type { Wakeup } from '../core/async/wakeup.ts'
import { formatTime } from '../core/time/time.ts'
import type { Cluster } from '../kinds/native/cluster.ts'
import { afterStep, followStep, openSession } from '../wire/link/follow-session.ts'
import type { Head } from '../wire/link/follow-session.ts'
import { frameLine } from '../wire/link/frames.ts'

/** What streams read. */
export interface FollowPorts {
  readonly clock: Clock
  readonly ids: Ids
  /** The cluster with this id while it is accepted and this instance may speak for it; undefined ends the stream. */
  readonly clusterOf: (id: string, instance: string | undefined) => Cluster | undefined
  readonly headOf: (cluster: Cluster) => Head | undefined
  readonly trustVersion: () => number
}

/** Who opened a stream. */
export interface Follower {
  readonly instance: string | undefined
  /** Digest of the document it has. */
  readonly holds: string | undefined
}

// A second stream of one cluster is a reconnect whose first end was not noticed yet; more is a mistake or a copy.
const MAX_STREAMS_PER_CLUSTER = 2

/** Opens streams and wakes them when something of their cluster changed. */
export function createFollow(ports: FollowPorts) {
  const { clock, ids } = ports
  let beats = { key: '', lines: new Map<number, Uint8Array>() }
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
        const step = followStep(session, ports.headOf(cluster), now)
        session = afterStep(session, step, now)
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

  /** Encoded once for all streams of a second: thousands of them say the same. */
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

  /** One answer: everything up to the first head, or the beats of the wait. */
  async function poll(
    clusterId: string,
    by: Follower,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<Uint8Array> {
    const over = new AbortController()
    const timer = new AbortController()
    clock.sleep(waitMs, timer.signal).then(
      () => over.abort(),
      () => {}, // there was news first
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
    /** How many streams are open now. */
    count: () => [...open.values()].reduce((sum, streams) => sum + streams.size, 0),
  }
}
