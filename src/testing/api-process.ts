import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import type { ListenerLimits } from '../apiserver/https-listener.ts'
import { createUndiciTransport } from '../client/undici-transport.ts'
import { Secret } from '../core/secret.ts'
import type { CertificateAndKey } from '../core/x509.ts'
import { API_LIMITS } from '../hub/threads/thread.ts'
import { createApi } from './api-contract-harness.ts'
import type { Api } from './api-contract-harness.ts'
import { cacheDir } from './testenv.ts'

/** Our API over HTTPS and SQLite in a process of its own, which may be killed, starved and measured. */
export interface ApiProcess {
  readonly api: Api
  readonly pid: number
  readonly url: string
  readonly ca: string
  readonly admin: CertificateAndKey
  /** Bytes in use inside the process, after it has collected its garbage. */
  memory(): Promise<number>
  kill(): Promise<void>
}

const SERVER = `
  import { flushCompileCache } from 'node:module'
  import { createInterface } from 'node:readline'
  import { startApiHome } from ${JSON.stringify(join(import.meta.dirname, 'api-home.ts'))}
  import { createSqliteStore } from ${JSON.stringify(join(import.meta.dirname, '../store/sqlite-store.ts'))}
  const [path, limits] = process.argv.slice(1)
  const home = await startApiHome(createSqliteStore({ path, defer: setImmediate }), JSON.parse(limits))
  const { url, ca, admin } = home
  // It will be killed, which leaves no time for it at the end.
  flushCompileCache()
  process.stdout.write(JSON.stringify({ url, ca, admin }) + '\\n')
  for await (const _line of createInterface({ input: process.stdin })) {
    for (let n = 0; n < 3; n += 1) {
      globalThis.gc()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    const { heapUsed, external } = process.memoryUsage()
    process.stdout.write((heapUsed + external) + '\\n')
  }
`

/** Starts it on a database file and waits until it listens. */
export async function startApiProcess(path: string, limits: Partial<ListenerLimits> = {}): Promise<ApiProcess> {
  const args = [
    '--expose-gc',
    `--max-semi-space-size=${API_LIMITS.maxYoungGenerationSizeMb / 3}`,
    `--max-old-space-size=${API_LIMITS.maxOldGenerationSizeMb}`,
    '--input-type=module',
    '-e',
    SERVER,
  ]
  // What is compiled is kept between runs, as every start of a hub does.
  const env = { NODE_COMPILE_CACHE: join(cacheDir(), 'compile'), ...process.env }
  const child = spawn(process.execPath, [...args, path, JSON.stringify(limits)], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env,
  })
  const lines = createInterface({ input: child.stdout })
  const [line] = (await once(lines, 'line')) as [string]
  const { url, ca, admin } = JSON.parse(line) as Pick<ApiProcess, 'url' | 'ca' | 'admin'>
  const { transport, close } = createUndiciTransport({
    server: url,
    ca,
    cert: admin.certificate,
    key: new Secret(admin.privateKey),
  })
  assert.ok(child.pid)
  return {
    api: createApi(transport, 'default'),
    pid: child.pid,
    url,
    ca,
    admin,
    async memory() {
      child.stdin.write('memory\n')
      const [bytes] = (await once(lines, 'line')) as [string]
      return Number(bytes)
    },
    async kill() {
      child.kill('SIGKILL')
      await once(child, 'exit')
      await close().catch(() => {})
    },
  }
}
