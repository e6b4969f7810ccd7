/**
 * The loop around a reconciler: informers feed keys to a queue, workers take them, open a draft of the cached object,
 * let the reconciler change it, and write the difference once.
 */
import type { Change } from '../client/cache.ts'
import type { Client } from '../client/client.ts'
import type { Informer } from '../client/informer.ts'
import type { BackoffOptions } from '../core/time/backoff.ts'
import type { Clock } from '../core/time/clock.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Ids } from '../core/ids.ts'
import { jsonClone } from '../core/json.ts'
import type { Logger } from '../core/log.ts'
import { silentMetrics } from '../core/metrics.ts'
import type { Metrics } from '../core/metrics.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import { changesObject, decideWrite, noteGeneration, openDraft } from './draft.ts'
import type { OpenDraft } from './draft.ts'
import type { EventRecorder } from './event-recorder.ts'
import { declareEngineMetrics } from './metrics.ts'
import { createStatusFlapGuard } from './status-flap-guard.ts'
import { conditionEvents } from './condition-events.ts'
import { clearFailureConditions, classifyError, setFailureConditions } from './outcome.ts'
import type { FailureCondition, Outcome } from './outcome.ts'
import type { Context, Reconciler } from './reconciler.ts'
import { createWorkQueue } from './work-queue.ts'

/** Another kind whose changes concern the controller's objects. */
export interface Watch<T extends KubeObject = KubeObject> {
  readonly informer: Informer<T>
  /** Keys of the objects to look at again; called with the object before and after a change. */
  keysFor(object: T): readonly string[]
}

/** A running loop around one reconciler. */
export interface Controller {
  readonly name: string
  /** Looks at a key again, for triggers that are no objects. */
  enqueue(key: string): void
  /** Works until the signal is aborted and what was begun is finished. Call once. */
  run(signal: AbortSignal): Promise<void>
}

/** What a controller is made of. */
export interface ControllerOptions<T extends KubeObject> {
  readonly name?: string
  readonly type: ResourceType<T>
  readonly informer: Informer<T>
  readonly reconciler: Reconciler<T>
  readonly client: Client
  readonly watches?: readonly Watch[]
  readonly workers?: number
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  /** Told when conditions change; without it nobody is. */
  readonly events?: EventRecorder
  /** `Ready` unless told; see FailureCondition. */
  readonly failureCondition?: FailureCondition
  /** Whether its look at a generation is noted in the status; not where that is another controller's to say. */
  readonly notesGeneration?: boolean
  readonly backoff?: BackoffOptions
}

/** Ties a watch's types together, so that a list of watches of different kinds can be written down. */
export function watchOf<T extends KubeObject>(informer: Informer<T>, keysFor: (object: T) => readonly string[]): Watch {
  return { informer, keysFor }
}

/** Makes a controller; nothing happens before `run`. */
export function createController<T extends KubeObject>(options: ControllerOptions<T>): Controller {
  const {
    type,
    informer,
    reconciler,
    client,
    watches = [],
    workers = 2,
    clock,
    ids,
    events,
    failureCondition = 'Ready',
    notesGeneration = true,
  } = options
  const name = options.name ?? reconciler.name
  const log = options.log.child({ controller: name })
  const metrics = declareEngineMetrics(options.metrics ?? silentMetrics)
  const labels = { controller: name }
  const { backoff } = options
  const queue = createWorkQueue({ name, clock, ids, metrics: metrics.queue, ...(backoff ? { backoff } : {}) })
  const lastWords = createStatusFlapGuard()
  let active = 0

  /** Writes once; or says for how long not to, because another hub would only take it back. */
  async function commit(draft: OpenDraft<T>): Promise<{ readonly quietMs: number }> {
    const what = decideWrite(draft)
    if (what === 'Nothing') return { quietMs: 0 }
    const quietMs = what === 'Status' ? lastWords.waitMs(draft, clock.monotonicMs()) : 0
    if (quietMs > 0) return { quietMs }
    const write = { fieldManager: `flotilla-${name}`, ...(what === 'Status' ? { subresource: 'status' as const } : {}) }
    try {
      const written = jsonClone(await client.update(type, draft.next, write))
      informer.noteWrite(written)
      if (what === 'Status') lastWords.say(draft, clock.monotonicMs())
      await events?.record(written, conditionEvents(draft.seen, written), `flotilla-${name}`)
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught // deleted meanwhile: the watch will say so
    }
    return { quietMs }
  }

  async function reconcile(seen: T, context: Context): Promise<Outcome> {
    const draft = openDraft(seen, clock.now())
    try {
      const { requeueAfterMs } = await reconciler.reconcile(draft, context)
      if (!changesObject(draft)) {
        clearFailureConditions(draft, failureCondition)
        if (notesGeneration) noteGeneration(draft, type)
      }
      const { quietMs } = await commit(draft)
      if (quietMs > 0) return lookAgain(Math.min(quietMs, requeueAfterMs ?? Infinity))
      return requeueAfterMs === undefined ? { next: 'Rest', result: 'success' } : lookAgain(requeueAfterMs)
    } catch (caught) {
      if (setFailureConditions(draft.conditions, caught, failureCondition)) {
        if (notesGeneration && failureCondition !== false) noteGeneration(draft, type)
        const { quietMs } = await commit(draft)
        if (quietMs > 0) return lookAgain(quietMs)
        context.log.info(
          { reason: (caught as { reason: string }).reason, err: toError(caught).message },
          'not ready yet',
        )
      }
      throw caught
    }
  }

  function lookAgain(ms: number): Outcome {
    return { next: 'After', ms, result: 'requeue_after' }
  }

  async function work(key: string, signal: AbortSignal): Promise<void> {
    const seen = informer.lister.get(key)
    if (!seen) return queue.forget(key)
    const began = clock.monotonicMs()
    const { namespace, name: objectName, generation } = seen.metadata
    const context: Context = {
      clock,
      ids,
      signal,
      log: log.child({ kind: type.kind, ...(namespace ? { namespace } : {}), name: objectName, generation }),
    }
    const outcome = await reconcile(seen, context).catch((caught: unknown) => failed(caught, context))
    metrics.controller.seconds(labels, (clock.monotonicMs() - began) / 1000)
    metrics.controller.total({ ...labels, result: outcome.result }, 1)
    schedule(key, outcome)
  }

  function failed(caught: unknown, context: Context): Outcome {
    // What ends because the controller ends is no failure; nothing is scheduled on a closed queue.
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

  function onWatched(watch: Watch, change: Change<KubeObject>): void {
    if (change.before) for (const key of watch.keysFor(change.before)) queue.add(key)
    if (change.after) for (const key of watch.keysFor(change.after)) queue.add(key)
  }

  return {
    name,
    enqueue: queue.add,
    run: async (signal) => {
      metrics.controller.workers(labels, workers)
      const stops: (() => void)[] = []
      try {
        // A reconciler that saw half a cache would decide on missing data (I-06).
        await Promise.all([informer, ...watches.map((watch) => watch.informer)].map((one) => one.whenSynced(signal)))
        stops.push(informer.onChange((change) => queue.add(change.key)))
        for (const watch of watches) stops.push(watch.informer.onChange((change) => onWatched(watch, change)))
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
