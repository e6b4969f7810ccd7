/**
 * A kubeconfig that came over the API: it names no file, runs no program and verifies the server. Messages never have
 * credentials in them.
 */
import type { Connection } from './connection.ts'
import { KubeconfigError, readKubeconfig } from './kubeconfig.ts'

const MAX_BYTES = 256 * 1024

/** Reads the current context; `from` names the place of the text in errors. */
export async function readInlineKubeconfig(text: string, from: string): Promise<Connection> {
  if (text.length > MAX_BYTES) throw new KubeconfigError(`${from} is larger than ${MAX_BYTES / 1024} KiB`)
  const { connection } = await readKubeconfig({ text, file: from }).catch((caught: unknown) => {
    if (caught instanceof KubeconfigError) throw caught
    // The message of a parser may quote the text.
    throw new KubeconfigError(`${from} is not a kubeconfig: it cannot be read as YAML, or a value is not base64`)
  })
  return requireVerified(connection, from)
}

/** Refuses a connection whose server nothing proves. */
export function requireVerified(connection: Connection, from: string): Connection {
  const url = URL.canParse(connection.server) ? new URL(connection.server) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '')
    throw new KubeconfigError(`${from} has a server that is not https://HOST:PORT`)
  if (connection.insecure)
    throw new KubeconfigError(
      `${from} has "insecure-skip-tls-verify", which is refused: remove it, and set "certificate-authority-data" to the CA of the cluster`,
    )
  if (!connection.token && !connection.key)
    throw new KubeconfigError(`${from} has no credential: set a client certificate with its key, or a token`)
  return connection
}
