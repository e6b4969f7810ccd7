import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import type { ListenerLimits } from '../../apiserver/http/https-listener.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { Secret } from '../../core/secret.ts'
import type { CertificateAndKey } from '../../core/crypto/x509.ts'
import { THREAD_LIMITS } from '../../hub/threads/thread.ts'
import { createApi } from '../api-contract/harness.ts'
import type { Api } from '../api-contract/harness.ts'
import { cacheDir } from '../testenv.ts'

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

/** How it is started otherwise. */
export interface ApiProcessOptions {
  readonly limits?: Partial<ListenerLimits>
  /** A bundle of `api-process-main.ts` to run instead. */
  readonly main?: string
  /** Variables of its environment. */
  readonly variables?: Readonly<Record<string, string>>
}

/** Starts it on a database file and waits until it listens. */
export async function startApiProcess(
  path: string,
  {
    limits = {},
    main = join(import.meta.dirname, 'embedded-api-process-main.ts'),
    variables = {},
  }: ApiProcessOptions = {},
): Promise<ApiProcess> {
  const args = [
    '--expose-gc',
    `--max-semi-space-size=${THREAD_LIMITS.api.maxYoungGenerationSizeMb / 3}`,
    `--max-old-space-size=${THREAD_LIMITS.api.maxOldGenerationSizeMb}`,
    main,
  ]
  // What is compiled is kept between runs, as every start of a hub does.
  const env = { NODE_COMPILE_CACHE: join(cacheDir(), 'compile'), ...process.env, ...variables }
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
