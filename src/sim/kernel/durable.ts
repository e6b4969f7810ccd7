/** Ports to what outlives a process: each write is a durable step around which the process may be killed. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../core/http.ts'
import type { Store, StoreWatch } from '../../store/store.ts'
import type { ProcessBoundary } from './process-boundary.ts'

/** Runs an effect as a named durable step. */
export type RunStep = <T>(name: string, effect: () => Promise<T>) => Promise<T>

/** A process's handle on a store that outlives it; closing the handle leaves the store open. */
export function durableStore(store: Store, gate: ProcessBoundary, step: RunStep): Store {
  return {
    get: (key, at) => gate.pass(() => store.get(key, at)),
    list: (range) => gate.pass(() => store.list(range)),
    commit: (write) => step(`store ${write.value ? 'put' : 'delete'} ${write.key}`, () => store.commit(write)),
    compact: (revision) => step(`store compact ${revision}`, () => store.compact(revision)),
    revision: () => store.revision(),
    audit: (after, limit) => gate.pass(() => store.audit(after, limit)),
    watch: (prefix, after, signal) => {
      let watch: StoreWatch | undefined
      const events = gate.passAll((ends) => (watch = store.watch(prefix, after, ends)), signal)
      return {
        [Symbol.asyncIterator]: () => events[Symbol.asyncIterator](),
        // All that passes is asked for and waited for.
        atHand: () => undefined,
        progress: () => watch?.progress() ?? after,
      }
    },
    close: () => gate.pass(() => Promise.resolve()),
  }
}

/** A process's handle on blobs that outlive it. */
export function durableBlobs(blobs: Blobs, gate: ProcessBoundary, step: RunStep): Blobs {
  return {
    put: (bytes) => step(`blob put ${bytes.byteLength} bytes`, () => blobs.put(bytes)),
    get: (digest) => gate.pass(() => blobs.get(digest)),
    has: (digest) => gate.pass(() => blobs.has(digest)),
    list: () => gate.passAll(() => blobs.list()),
    delete: (digest) => step(`blob delete ${digest}`, () => blobs.delete(digest)),
  }
}

/** A process's transport: what may change the other side is a durable step. */
export function durableTransport(transport: Transport, gate: ProcessBoundary, step: RunStep): Transport {
  async function send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const response = await transport(request, signal)
    return { ...response, body: gate.passAll(() => response.body) }
  }
  return (request, signal) => {
    if (request.method === 'GET' || request.method === 'HEAD') return gate.pass(() => send(request, signal))
    return step(`${request.method} ${request.path}`, () => send(request, signal))
  }
}
