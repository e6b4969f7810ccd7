/** A thread's side: sets itself up, says ready, answers calls, and closes when it is asked to. */
import { parentPort, workerData } from 'node:worker_threads'
import { invariant, toError } from '../../core/errors.ts'
import type { WorkProgress } from '../../core/async/work-guard.ts'
import type { FromThread, ThreadName, ThreadProtocol, ToThread } from './messages.ts'

/** What a thread does once it is set up. */
export interface ThreadBody<N extends ThreadName> {
  readonly ready: ThreadProtocol[N]['ready']
  readonly answer?: (
    input: ThreadProtocol[N]['call'],
    signal: AbortSignal,
    tell: (progress: WorkProgress) => void,
  ) => ThreadProtocol[N]['answer'] | Promise<ThreadProtocol[N]['answer']>
  /** What it counted, as Prometheus reads it. */
  readonly metrics?: () => Promise<string>
  close(): Promise<void>
}

/**
 * Tells the main thread of a process group that was started, so that the group ends with the thread; the answer tells
 * that it has ended.
 */
export type NoteProcess = (group: number) => () => void

/** Runs a thread; what `setUp` throws ends it, and the main thread hears why. */
export async function serveThread<N extends ThreadName>(
  setUp: (init: ThreadProtocol[N]['init'], noteProcess: NoteProcess) => Promise<ThreadBody<N>>,
): Promise<void> {
  const port = parentPort
  invariant(port, 'this file runs as a thread of the hub only')
  const post = (message: FromThread<N>): void => port.postMessage(message)
  const body = await setUp(workerData as ThreadProtocol[N]['init'], (group) => {
    post({ type: 'process', group, isRunning: true })
    return () => post({ type: 'process', group, isRunning: false })
  })
  const calls = new Map<number, AbortController>()

  async function tell(id: number): Promise<void> {
    try {
      post({ type: 'metrics', id, text: (await body.metrics?.()) ?? '' })
    } catch (caught) {
      post({ type: 'refusal', id, message: toError(caught).message })
    }
  }

  async function answer(id: number, input: ThreadProtocol[N]['call']): Promise<void> {
    const controller = new AbortController()
    calls.set(id, controller)
    try {
      invariant(body.answer, 'this thread takes no calls')
      const tell = (progress: WorkProgress): void => post({ type: 'progress', id, progress })
      post({ type: 'answer', id, value: await body.answer(input, controller.signal, tell) })
    } catch (caught) {
      post({ type: 'refusal', id, message: toError(caught).message })
    } finally {
      calls.delete(id)
    }
  }

  port.on('message', (message: ToThread<N>) => {
    switch (message.type) {
      case 'call':
        void answer(message.id, message.input)
        return
      case 'metrics':
        void tell(message.id)
        return
      case 'ping':
        return post({ type: 'pong', id: message.id })
      case 'cancel':
        calls.get(message.id)?.abort()
        return
      case 'close':
        for (const call of calls.values()) call.abort()
        void body.close().finally(() => port.close())
    }
  })
  post({ type: 'ready', value: body.ready })
}
