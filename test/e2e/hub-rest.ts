/** A hub's API as an administrator, for tests that need more than the CLI does. */
import { readFileSync } from 'node:fs'
import { readKubeconfig } from '../../src/client/kubeconfig.ts'
import { createRest } from '../../src/client/rest.ts'
import type { Rest } from '../../src/client/rest.ts'
import { createUndiciTransport } from '../../src/client/undici-transport.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import type { Cleanup } from './flotilla-process.ts'

/** The API of the kubeconfig of a hub. */
export async function restOf(t: Cleanup, file: string): Promise<Rest> {
  const text = readFileSync(file, 'utf8')
  const { connection } = await readKubeconfig({ text, file, readFile: async (path) => readFileSync(path, 'utf8') })
  const { transport, close } = createUndiciTransport(connection, { maxConnections: 2 })
  t.after(close)
  return createRest({ transport, clock: systemClock, userAgent: 'test' })
}

/** A token of a service account in the namespace default. */
export async function tokenOf(rest: Rest, account: string): Promise<string> {
  const { status } = (await rest.json({
    method: 'POST',
    path: `/api/v1/namespaces/default/serviceaccounts/${account}/token`,
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
  })) as { status: { token: string } }
  return status.token
}
