/** Writes Kubernetes Events about objects, for `kubectl describe` and `flotilla events`. */
import { compact } from '../core/compact.ts'
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

/** Records Events of objects. */
export interface EventRecorder {
  /**
   * Resolves when the Events are written or given up: a lost Event never fails a pass. The result is false when an
   * Event was not written: an equal one was written seconds ago, there were too many, or the API did not accept it.
   */
  record(object: KubeObject, events: readonly ConditionEvent[], component: string): Promise<boolean>
}

/** Ports of a recorder. */
export interface EventRecorderOptions {
  readonly client: Pick<Client, 'create' | 'get' | 'update'>
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: Metrics
}

/** At most 100 Events at once and 10 a second: when a region reconnects, the conditions report it. */
const BURST = 100
const PER_SECOND = 10
/** An equal Event of the same object within this time is not written: a rollout can alternate between two holds. */
const REPEAT_MS = 10_000
const MAX_REMEMBERED = 5_000
const MAX_MESSAGE = 1024

export function createEventRecorder({ client, clock, log, metrics }: EventRecorderOptions): EventRecorder {
  const { eventsDropped } = declareEngineMetrics(metrics ?? silentMetrics)
  let [tokens, countedAt] = [BURST, clock.monotonicMs()]
  const recordedAt = new Map<string, number>()

  function isRepeated(key: string): boolean {
    const atMs = recordedAt.get(key)
    return atMs !== undefined && clock.monotonicMs() - atMs < REPEAT_MS
  }

  function remember(key: string): void {
    recordedAt.delete(key)
    recordedAt.set(key, clock.monotonicMs())
    const [oldest] = recordedAt.keys()
    if (recordedAt.size > MAX_REMEMBERED) recordedAt.delete(oldest!)
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
    async record(object, events, component) {
      let isComplete = true
      for (const conditionEvent of events) {
        const event = eventObject(object, conditionEvent, { component, now: formatTime(clock.now()) })
        const key = `${event.metadata.namespace ?? ''}/${event.metadata.name}`
        if (isRepeated(key)) {
          isComplete = false
          continue
        }
        if (!takeToken()) {
          eventsDropped({}, 1)
          isComplete = false
          continue
        }
        remember(key)
        await write(event).catch((caught: unknown) => {
          log.debug({ err: toError(caught), name: object.metadata.name }, 'event not written')
          recordedAt.delete(key)
          isComplete = false
        })
      }
      return isComplete
    },
  }
}

/** Equal Events of an object have the same name: the API object counts them and keeps the newest message. */
function eventObject(
  object: KubeObject,
  { type, reason, message, revision }: ConditionEvent,
  { component, now }: { readonly component: string; readonly now: string },
): Event {
  const { name, namespace = 'default', uid, resourceVersion } = object.metadata
  const { apiVersion, kind } = object
  const text = message.slice(0, MAX_MESSAGE)
  const same = [uid ?? '', component, type, reason, ...(revision === undefined ? [] : [revision])]
  const mark = digestOfJson(same).slice('sha256:'.length, 'sha256:'.length + 16)
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name.slice(0, 200)}.${mark}`, namespace },
    involvedObject: compact({
      apiVersion,
      kind,
      name,
      ...compact({ namespace: object.metadata.namespace === undefined ? undefined : namespace }),
      uid,
      resourceVersion,
    }),
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
