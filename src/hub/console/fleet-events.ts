// Tested by src/hub/console/console.test.ts
/**
 * The stream of changes of a browser. Changes are collected for a moment and sent as one batch; a browser that reads
 * slowly gets fewer, larger batches; one that comes back says where it was, and gets what it missed.
 */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { readWholeNumber } from '../../core/read-number.ts'
import type { ConsoleSession } from './console-sessions.ts'
import type { FleetFeed } from './fleet-feed.ts'
import type { FleetView } from './fleet-view.ts'
import { consoleHeaders } from './respond.ts'
import type { Right } from './user-api.ts'

/** The right to see the list of clusters. */
export const LIST_CLUSTERS: Right = { verb: 'list', group: 'flotilla.dev', resource: 'clusters' }

/** Time for which changes are collected. */
const BATCH_MS = 200
/** Longest time without a message: the page tells the age of its data by it. */
const BEAT_MS = 5_000
/** How often the right to see the clusters is asked for again. */
const RECHECK_MS = 30_000

export interface EventsOptions {
  readonly view: FleetView
  readonly clock: Clock
  readonly session: ConsoleSession
  /** Counts the open stream as use of the session. */
  readonly touch: () => void
  /** Ends the stream. */
  readonly stop: AbortSignal
  /** `EPOCH-REVISION` that the browser has; undefined if none. */
  readonly from: string | undefined
}

/** Streams changes until the browser leaves, the session ends or the hub stops. */
export async function streamEvents(response: ServerResponse, options: EventsOptions): Promise<void> {
  const { view, clock, session, stop } = options
  response.writeHead(200, { ...consoleHeaders(), 'content-type': 'text/event-stream; charset=utf-8' })
  const gone = new AbortController()
  response.on('close', () => gone.abort())
  const ended = AbortSignal.any([gone.signal, stop, session.ended])
  // What changed before the stream was open is unknown, so the browser reads all kinds again that it shows.
  const changed = new Set<string>(view.plurals)
  let wake = Promise.withResolvers<void>()
  const unsubscribe = view.onChange((plural) => {
    changed.add(plural)
    wake.resolve()
  })
  const send = async (text: string): Promise<void> => {
    if (!response.write(text)) await once(response, 'drain', { signal: ended })
  }
  let checkedMs = clock.monotonicMs()
  let maySee = await session.api.may(LIST_CLUSTERS, ended).catch(() => false)
  let at = positionOf(options.from, view.feed)
  try {
    while (!ended.aborted) {
      wake = Promise.withResolvers<void>()
      const kinds = [...changed]
      changed.clear()
      if (maySee) {
        const { text, revision } = fleetMessage(view.feed, at)
        at = revision
        await send(text)
      }
      if (kinds.length > 0) await send(message('changed', kinds))
      await send(message('beat', compact({ now: clock.now(), maintenance: view.maintenance() })))
      await clock.sleep(BATCH_MS, ended)
      const timer = new AbortController()
      await Promise.race([wake.promise, clock.sleep(BEAT_MS, AbortSignal.any([ended, timer.signal])).catch(() => {})])
      timer.abort()
      if (clock.monotonicMs() - checkedMs > RECHECK_MS) {
        checkedMs = clock.monotonicMs()
        maySee = await session.api.may(LIST_CLUSTERS, ended)
        options.touch()
      }
    }
  } catch {
    // the browser left, the session ended, the hub is stopping, or the API does not answer: the browser asks again
  } finally {
    unsubscribe()
    response.end()
  }
}

/** The revision that a browser has; undefined if it needs the snapshot. */
function positionOf(from: string | undefined, { epoch }: FleetFeed): number | undefined {
  const [theirs, revision = ''] = (from ?? '').split('-')
  return theirs === epoch ? readWholeNumber(revision) : undefined
}

/** The message that brings a browser up to date, and the revision it has then. */
function fleetMessage(feed: FleetFeed, at: number | undefined): { text: string; revision: number } {
  const revision = feed.revision()
  if (at === revision) return { text: '', revision }
  const delta = at === undefined ? undefined : feed.since(at)
  const id = `${feed.epoch}-${revision}`
  if (!delta) return { text: message('reset', { revision: id }, id), revision }
  return { text: message('fleet', delta, id), revision }
}

function message(event: string, data: unknown, id?: string): string {
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
