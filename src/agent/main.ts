/** The agent's own binary: `node agent --join CODE --kubeconfig FILE --data DIR`. */
import { toError } from '../core/errors.ts'
import { readAgentConfig } from './config.ts'
import { runAgent } from './run.ts'

const stop = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())

try {
  await runAgent({ ...readAgentConfig(process.argv.slice(2)), signal: stop.signal })
} catch (caught) {
  process.stderr.write(`flotilla agent: ${toError(caught).message}\n`)
  process.exitCode = 1
}
