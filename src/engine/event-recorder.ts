/** Writes what happened to objects as Kubernetes Events, so that `kubectl describe` and `flotilla events` tell it. */
import type { Client } from '../client/client.ts'
import type { Clock } from '../core/time/clock.ts'
import { digestOfJson } from '../core/crypto/digest.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { silentMetrics } from '../core/metrics.ts'
import type { Metrics } from '../core/metrics.ts'
import { formatTime } from '../core/time/time.ts'
import { Event } from '../kinds/builtin/core.ts'
import type { KubeObject } from '../kinds/meta.ts'
import { declareEngineMetrics } from './metrics.ts'
import type { ConditionEvent } from './condition-events.ts'

/** Tells news of objects. */
export interface EventRecorder {
  /** Resolves when the news are written or given up: an Event is never worth a failed pass. */
  record(object: KubeObject, news: readonly ConditionEvent[], component: string): Promise<void>
}

/** What a recorder works with. */
export interface EventRecorderOptions {
  readonly client: Pick<Client, 'create' | 'get' | 'update'>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics
}

/** So many at once, and then so many each second: a region that returns tells itself by its conditions. */
const BURST = 100
const PER_SECOND = 10
/** The same news of the same object again within this time are not told: a rollout goes to and fro between two holds. */
const SAME_MS = 10_000
const MAX_REMEMBERED = 5_000
const MAX_MESSAGE = 1024

/** Makes a recorder. */
export function createEventRecorder({ client, clock, log, metrics }: EventRecorderOptions): EventRecorder {
  const { eventsDropped } = declareEngineMetrics(metrics ?? silentMetrics)
  let [tokens, countedAt] = [BURST, clock.monotonicMs()]
  const toldAt = new Map<string, number>()

  function isStale(key: string): boolean {
    const told = toldAt.get(key)
    return told !== undefined && clock.monotonicMs() - told < SAME_MS
  }

  function remember(key: string): void {
    toldAt.delete(key)
    toldAt.set(key, clock.monotonicMs())
    const [oldest] = toldAt.keys()
    if (toldAt.size > MAX_REMEMBERED) toldAt.delete(oldest!)
  }

  function takeToken(): boolean {
    const now = clock.monotonicMs()
    tokens = Math.min(BURST, tokens + ((now - countedAt) / 1000) * PER_SECOND)
    countedAt = now
    if (tokens < 1) return false
    tokens -= 1
    return true
  }

  async function write(event: Event): Promise<void> {
    const options = { fieldManager: event.reportingComponent! }
    try {
      await client.create(Event, event, options)
    } catch (caught) {
      if (!isApiError(caught, 'AlreadyExists')) throw caught
      const { name, namespace } = event.metadata
      const known = await client.get(Event, { name, namespace: namespace! })
      const count = (known.count ?? 1) + 1
      const { message, lastTimestamp } = event
      await client.update(Event, { ...known, count, message: message!, lastTimestamp: lastTimestamp! }, options)
    }
  }

  return {
    async record(object, news, component) {
      for (const one of news) {
        const event = eventOf(object, one, { component, now: formatTime(clock.now()) })
        const key = `${event.metadata.namespace ?? ''}/${event.metadata.name}`
        if (isStale(key)) continue
        if (!takeToken()) {
          eventsDropped({}, 1)
          continue
        }
        remember(key)
        await write(event).catch((caught: unknown) =>
          log.debug({ err: toError(caught), name: object.metadata.name }, 'event not written'),
        )
      }
    },
  }
}

/** The same news of the same object have the same name: they are counted, and the newest words stay. */
function eventOf(
  object: KubeObject,
  { type, reason, message }: ConditionEvent,
  { component, now }: { readonly component: string; readonly now: string },
): Event {
  const { name, namespace = 'default', uid, resourceVersion } = object.metadata
  const { apiVersion, kind } = object
  const text = message.slice(0, MAX_MESSAGE)
  const mark = digestOfJson([uid ?? '', component, type, reason]).slice('sha256:'.length, 'sha256:'.length + 16)
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, 200)}.${mark}`, namespace },
    involvedObject: {
      apiVersion,
      kind,
      name,
      ...(object.metadata.namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      ...(resourceVersion === undefined ? {} : { resourceVersion }),
    },
    type,
    reason,
    message: text,
    source: { component },
    reportingComponent: component,
    firstTimestamp: now,
    lastTimestamp: now,
    count: 1,
  }
}
