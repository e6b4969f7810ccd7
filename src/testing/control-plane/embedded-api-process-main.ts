/**
 * The other side of `api-process.ts`: an API on a database file, which says where it is and, when asked, what it holds.
 */
import { flushCompileCache } from 'node:module'
import { createInterface } from 'node:readline'
import type { ListenerLimits } from '../../apiserver/http/https-listener.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import { startApiHome } from './embedded-api.ts'

const [path = '', limits = '{}'] = process.argv.slice(2)
const store = createSqliteStore({ path, defer: setImmediate })
const { url, ca, admin } = await startApiHome(store, JSON.parse(limits) as Partial<ListenerLimits>)
// It will be killed, which leaves no time for it at the end.
flushCompileCache()
process.stdout.write(`${JSON.stringify({ url, ca, admin })}\n`)
for await (const _line of createInterface({ input: process.stdin })) {
  for (let n = 0; n < 3; n += 1) {
    globalThis.gc!()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { heapUsed, external } = process.memoryUsage()
  process.stdout.write(`${heapUsed + external}\n`)
}
