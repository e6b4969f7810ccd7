/**
 * The loop around a reconciler: informers add keys to a queue; workers take the keys, open a draft of the cached
 * object, let the reconciler change the draft, and write the difference once.
 */
import type { Client } from '../client/client.ts'
import type { Informer } from '../client/informer.ts'
import { compact } from '../core/compact.ts'
import type { BackoffOptions } from '../core/time/backoff.ts'
import type { Clock } from '../core/time/clock.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { jsonClone } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { silentMetrics } from '../core/metrics.ts'
import type { Metrics } from '../core/metrics.ts'
import type { StatusEvents } from '../kinds/define-kind.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import { changesObject, decideWrite, noteGeneration, openDraft, requireUnchanged } from './draft.ts'
import type { OpenDraft } from './draft.ts'
import type { EventRecorder } from './event-recorder.ts'
import { declareEngineMetrics } from './metrics.ts'
import { createStatusFlapGuard } from './status-flap-guard.ts'
import { conditionEvents } from './condition-events.ts'
import { clearFailureConditions, classifyError, setFailureConditions } from './outcome.ts'
import type { FailureCondition, Outcome } from './outcome.ts'
import type { Context, Reconciler, Result } from './reconciler.ts'
import type { Trigger } from './trigger.ts'
import { createWorkQueue } from './work-queue.ts'

/** A running loop around one reconciler. */
export interface Controller {
  readonly name: string
  /** Reconciles a key, for triggers that are not objects. */
  enqueue(key: string): void
  /** Reconciles until the signal is aborted and all passes that began have ended. Call once. */
  run(signal: AbortSignal): Promise<void>
}

/**
 * Options of a controller, for example
 *
 *     createController({ type: Cluster, informer, reconciler, client, clock, ids, log, workers: 4 })
 */
export interface ControllerOptions<T extends KubeObject> {
  /** Defaults to the reconciler's name. */
  readonly name?: string
  readonly type: ResourceType<T> & { readonly events?: StatusEvents }
  readonly informer: Informer<T>
  readonly reconciler: Reconciler<T>
  readonly client: Client
  /** Other kinds and events that concern the controller's objects. */
  readonly triggers?: readonly Trigger[]
  /** Number of objects that are reconciled at the same time. Defaults to 2. */
  readonly workers?: number
  /** Number of objects of one lane that are reconciled at the same time. If omitted, `workers`. */
  readonly workersPerLane?: number
  /** The lane of a key: lanes take turns. Defaults to the key's namespace. */
  readonly laneOf?: (key: string) => string
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  /** Records Events when conditions change. If omitted, no Events are recorded. */
  readonly events?: EventRecorder
  /** Defaults to `Ready`. See FailureCondition. */
  readonly failureCondition?: FailureCondition
  /** False where another controller sets `status.observedGeneration` of the same kind. Defaults to true. */
  readonly notesGeneration?: boolean
  readonly backoff?: BackoffOptions
  /**
   * Milliseconds for which an object rests: it is not reconciled earlier. Asked before the draft is opened, so that
   * changes of other objects cost a resting object nothing. If omitted, objects do not rest.
   */
  readonly restMs?: (seen: T) => number
}

/** Creates a controller; nothing happens before `run`. */
export function createController<T extends KubeObject>(options: ControllerOptions<T>): Controller {
  const { type, informer, reconciler, triggers = [], workers = 2, clock, ids, backoff, laneOf } = options
  const name = options.name ?? reconciler.name
  const log = options.log.child({ controller: name })
  const metrics = declareEngineMetrics(options.metrics ?? silentMetrics)
  const labels = { controller: name }
  const perLane = options.workersPerLane ?? workers
  const queue = createWorkQueue(compact({ name, clock, ids, metrics: metrics.queue, perLane, backoff, laneOf }))
  const reconcile = createPass(options, name)
  let active = 0

  async function work(key: string, signal: AbortSignal): Promise<void> {
    const seen = informer.lister.get(key)
    if (!seen) return queue.forget(key)
    const restMs = options.restMs?.(seen) ?? 0
    if (restMs > 0) return queue.addAfter(key, restMs)
    const began = clock.monotonicMs()
    const { namespace, name: objectName, generation } = seen.metadata
    const context: Context = {
      clock,
      ids,
      signal,
      log: log.child({
        kind: type.kind,
        ...compact({ namespace: namespace || undefined }),
        name: objectName,
        generation,
      }),
    }
    const outcome = await reconcile(seen, context).catch((caught: unknown) => failed(caught, context))
    metrics.controller.seconds(labels, (clock.monotonicMs() - began) / 1000)
    metrics.controller.total({ ...labels, result: outcome.result }, 1)
    schedule(key, outcome)
  }

  function failed(caught: unknown, context: Context): Outcome {
    // A pass that ends because the controller ends is no failure; nothing is scheduled on a closed queue.
    if (context.signal.aborted) return { next: 'Rest', result: 'requeue' }
    const outcome = classifyError(caught)
    if (outcome.next === 'Retry' && !outcome.quiet) {
      metrics.controller.errors(labels, 1)
      context.log.error({ err: toError(caught) }, 'reconcile failed')
    }
    return outcome
  }

  function schedule(key: string, outcome: Outcome): void {
    if (outcome.next === 'Retry') return queue.retry(key)
    queue.forget(key)
    if (outcome.next === 'After') queue.addAfter(key, outcome.ms)
  }

  async function worker(signal: AbortSignal): Promise<void> {
    for (let key = await queue.next(); key !== undefined; key = await queue.next()) {
      active += 1
      metrics.controller.active(labels, active)
      try {
        await work(key, signal)
      } finally {
        active -= 1
        metrics.controller.active(labels, active)
        queue.done(key)
      }
    }
  }

  return {
    name,
    enqueue: queue.add,
    run: async (signal) => {
      metrics.controller.workers(labels, workers)
      const stops: (() => void)[] = []
      try {
        // A reconciler that sees half of a cache would decide on missing data (I-06).
        const caches = [informer, ...triggers.flatMap((trigger) => trigger.informer ?? [])]
        await Promise.all(caches.map((cache) => cache.whenSynced(signal)))
        for (const trigger of triggers) stops.push(trigger.subscribe(queue.add))
        stops.push(informer.onChange((change) => queue.add(change.key)))
        const running = Array.from({ length: workers }, () => worker(signal))
        const aborted = Promise.withResolvers<void>()
        signal.addEventListener('abort', () => aborted.resolve(), { once: true })
        if (signal.aborted) aborted.resolve()
        await Promise.race([aborted.promise, Promise.all(running)])
        await queue.close()
        await Promise.all(running)
      } catch (caught) {
        if (!signal.aborted) throw caught
      } finally {
        for (const stop of stops) stop()
        await queue.close()
      }
    },
  }
}

/** One pass over one object: draft, reconcile, conditions, at most one write. */
function createPass<T extends KubeObject>(
  options: ControllerOptions<T>,
  name: string,
): (seen: T, context: Context) => Promise<Outcome> {
  const { type, informer, reconciler, client, clock, events } = options
  const { failureCondition = 'Ready', notesGeneration = true } = options
  const flapGuard = createStatusFlapGuard()

  /** Writes once, unless the flap guard asks to wait: then returns how long. */
  async function commit(draft: OpenDraft<T>): Promise<{ readonly quietMs: number }> {
    const what = decideWrite(draft)
    if (what === 'Nothing') return { quietMs: 0 }
    const quietMs = what === 'Status' ? flapGuard.waitMs(draft, clock.monotonicMs()) : 0
    if (quietMs > 0) return { quietMs }
    const write = compact({
      fieldManager: `flotilla-${name}`,
      subresource: what === 'Status' ? ('status' as const) : undefined,
    })
    try {
      const written = jsonClone(await client.update(type, draft.next, write))
      informer.noteWrite(written)
      if (what === 'Status') flapGuard.noteWrite(draft, clock.monotonicMs())
      await events?.record(written, conditionEvents(draft.seen, written, type.events), `flotilla-${name}`)
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught // deleted meanwhile: the watch will report it
    }
    return { quietMs }
  }

  async function succeed(draft: OpenDraft<T>, { requeueAfterMs, unchanged }: Result): Promise<Outcome> {
    if (unchanged) requireUnchanged(draft)
    else if (!changesObject(draft)) {
      clearFailureConditions(draft, failureCondition)
      if (notesGeneration) noteGeneration(draft, type)
    }
    const { quietMs } = await commit(draft)
    if (quietMs > 0) return requeueAfter(Math.min(quietMs, requeueAfterMs ?? Infinity))
    return requeueAfterMs === undefined ? { next: 'Rest', result: 'success' } : requeueAfter(requeueAfterMs)
  }

  return async (seen, context) => {
    const draft = openDraft(seen, clock.now())
    try {
      return await succeed(draft, await reconciler.reconcile(draft, context))
    } catch (caught) {
      if (setFailureConditions(draft.conditions, caught, failureCondition)) {
        if (notesGeneration && failureCondition !== false) noteGeneration(draft, type)
        const { quietMs } = await commit(draft)
        if (quietMs > 0) return requeueAfter(quietMs)
        context.log.info(
          { reason: (caught as { reason: string }).reason, err: toError(caught).message },
          'not ready yet',
        )
      }
      throw caught
    }
  }
}

function requeueAfter(ms: number): Outcome {
  return { next: 'After', ms, result: 'requeue_after' }
}
