/** A client by a kubeconfig file, as a hub or a control plane writes one. */
import { readFile } from 'node:fs/promises'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create-client.ts'
import { readKubeconfig } from '../../client/kubeconfig.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { systemClock } from '../../core/time/system-clock.ts'

/** A client and how to end its connections. */
export interface KubeconfigClient {
  readonly client: Client
  close(): Promise<void>
}

/** Connects as the file's user. */
export async function clientByKubeconfig(file: string): Promise<KubeconfigClient> {
  const read = (path: string): Promise<string> => readFile(path, 'utf8')
  const { connection } = await readKubeconfig({ text: await read(file), file, readFile: read })
  const { transport, close } = createUndiciTransport(connection)
  return { client: createClient({ transport, clock: systemClock }), close }
}
