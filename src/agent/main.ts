/**
 * The agent's executable: `node agent --join CODE --kubeconfig FILE --data DIR`. The same file is the entry point of
 * the render thread.
 */
import { isMainThread, workerData } from 'node:worker_threads'
import { toError } from '../core/errors.ts'

const isRender = !isMainThread && (workerData as { readonly role?: unknown } | null)?.role === 'render'
await (isRender ? render() : run())

async function render(): Promise<void> {
  const { serveRender } = await import('./render/render-thread.ts')
  await serveRender()
}

async function run(): Promise<void> {
  const [{ readAgentConfig }, { runAgent }] = await Promise.all([import('./config.ts'), import('./run.ts')])
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  try {
    await runAgent({ ...readAgentConfig(process.argv.slice(2)), signal: stop.signal })
  } catch (caught) {
    process.stderr.write(`flotilla agent: ${toError(caught).message}\n`)
    process.exitCode = 1
  }
}
