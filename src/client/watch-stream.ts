/** A watch's body: one JSON event per line, in chunks that know nothing of lines. */
import { isObject } from '../core/json.ts'
import type { KubeObject } from '../kinds/meta.ts'
import type { WatchEvent } from './client.ts'
import { statusToError } from './status-error.ts'

// An object is at most a few megabytes (etcd refuses more than 1.5); a longer line is not a watch.
const MAX_LINE_CHARACTERS = 16 * 1024 * 1024

/** The lines of a stream of UTF-8 chunks. A stream that ends within a line throws: the event it began is lost. */
export async function* linesOf(body: AsyncIterable<Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let pending = ''
  for await (const chunk of body) {
    const text = decoder.decode(chunk, { stream: true })
    const pieces = text.split('\n')
    for (const piece of pieces.slice(0, -1)) {
      const line = pending + piece
      pending = ''
      if (line.trim() !== '') yield line
    }
    pending += pieces.at(-1) ?? ''
    if (pending.length > MAX_LINE_CHARACTERS) throw new RangeError('a watch event is longer than 16 MiB')
  }
  if ((pending + decoder.decode()).trim() !== '') throw new Error('the watch ended in the middle of an event')
}

/** A line of a watch as an event; an ERROR event throws the ApiError it carries. */
export function parseWatchLine<T extends KubeObject>(line: string): WatchEvent<T> {
  const event: unknown = JSON.parse(line)
  if (!isObject(event) || !isObject(event['object'])) throw new Error(`not a watch event: ${line.slice(0, 200)}`)
  const { type, object } = event
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: object as unknown as T }
    case 'BOOKMARK': {
      const metadata = (object as unknown as KubeObject).metadata
      return {
        type,
        resourceVersion: metadata.resourceVersion ?? '',
        initialEventsEnd: metadata.annotations?.['k8s.io/initial-events-end'] === 'true',
      }
    }
    case 'ERROR':
      throw statusToError(object, 500, 'the watch ended with an error')
    default:
      throw new Error(`a watch event of unknown type ${JSON.stringify(type)}`)
  }
}
