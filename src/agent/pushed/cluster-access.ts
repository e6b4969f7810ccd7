/**
 * Access to the cluster of an agent that the hub runs. The agent acts with a token of its own account. The user's
 * credential creates the account and replaces a token that the cluster no longer accepts, and does nothing else.
 *
 *     no token ──credential: account, token──▶ token ──own token, after two thirds of its time──▶ new token
 *        ▲                                       │
 *        └──── expired, refused, other server ───┘
 */
import type { Connection, SocketTransport } from '../../client/connection.ts'
import { createRest } from '../../client/rest.ts'
import type { Rest } from '../../client/rest.ts'
import { compact } from '../../core/compact.ts'
import { ApiError, isApiError, toError } from '../../core/errors.ts'
import type { HttpRequest, HttpResponse, Transport } from '../../core/http.ts'
import type { Logger } from '../../core/log.ts'
import { Secret } from '../../core/secret.ts'
import { EgressRefused } from '../../core/text/egress.ts'
import type { Clock } from '../../core/time/clock.ts'
import { VERSION } from '../../core/version.ts'
import { PUSH_TIMING } from '../timing.ts'
import type { AgentStorage } from '../storage/storage.ts'
import { clusterUid, createAccount, requestToken } from './agent-account.ts'
import type { AccountToken, AgentAccount } from './agent-account.ts'
import { isSameServer, readTokenFile, writeTokenFile } from './token-file.ts'

/** Why there is no access; `reason` is that of the Cluster's condition Pushed. */
export class NoAccess extends Error {
  override readonly name = 'NoAccess'
  readonly reason: 'CredentialRefused' | 'NotAllowed' | 'OtherCluster' | 'AddressRefused' | 'Unreachable'

  constructor(reason: NoAccess['reason'], message: string, options?: ErrorOptions) {
    super(message, options)
    this.reason = reason
  }
}

export interface ClusterAccessPorts {
  readonly storage: AgentStorage
  readonly clock: Clock
  readonly log: Logger
  /** Opens connections; throws for an address that the hub may not reach. */
  readonly connect: (connection: Connection) => SocketTransport
  readonly account: AgentAccount
}

interface Access {
  readonly connection: Connection
  readonly expiresAt: number
  readonly renewAt: number
  readonly socket: SocketTransport
  readonly rest: Rest
}

const USER_AGENT = `flotilla-agent/${VERSION} (pushed)`

/** Opens the access with the user's credential; nothing is sent before the first request. */
export function createClusterAccess(ports: ClusterAccessPorts, credential: Connection) {
  const { storage, clock, log, account } = ports
  let current = credential
  let access: Access | undefined
  let uid: string | undefined
  let isLoaded = false
  let opening: Promise<Access> | undefined

  function opened(connection: Connection, times: Pick<Access, 'expiresAt' | 'renewAt'>): Access {
    return { connection, ...times, ...openConnection(ports, connection) }
  }

  const isValid = ({ expiresAt, connection }: Access) => clock.now() < expiresAt && isSameServer(connection, current)

  /** The token of the last start, if it is for the server of the present kubeconfig. */
  async function load(): Promise<void> {
    if (isLoaded) return
    const file = await readTokenFile(storage)
    isLoaded = true
    uid = file?.uid
    if (!file || !isSameServer(file, current) || clock.now() >= file.expiresAt) return
    access = opened({ ...asAccount(current), token: new Secret(file.token) }, file)
  }

  async function keep({ token, expiresAt }: AccountToken): Promise<Access> {
    const now = clock.now()
    const renewAt = Math.round(now + Math.max(0, (expiresAt - now) * PUSH_TIMING.renewAfterShare))
    const { server, ca } = current
    await writeTokenFile(storage, { server, token: token.reveal(), expiresAt, renewAt, ...compact({ ca, uid }) })
    const former = access
    access = opened({ ...asAccount(current), token }, { expiresAt, renewAt })
    // Requests that run end with their connection, and are repeated with the new one.
    await former?.socket.close()
    return access
  }

  /** Creates the account and its token with the user's credential. */
  async function mint(signal: AbortSignal): Promise<Access> {
    const { socket, rest } = openConnection(ports, current)
    try {
      const found = await clusterUid(rest, signal)
      if (uid !== undefined && found !== undefined && found !== uid)
        throw new NoAccess(
          'OtherCluster',
          'the kubeconfig leads to another cluster than before; register the other cluster under a name of its own',
        )
      uid = found ?? uid
      await createAccount(rest, account, signal)
      const token = await requestToken(rest, account, signal)
      log.info({ expiresAt: token.expiresAt }, 'the agent has a token of its own account')
      return await keep(token)
    } catch (caught) {
      throw noAccess(caught)
    } finally {
      await socket.close()
    }
  }

  async function open(signal: AbortSignal): Promise<Access> {
    await load()
    if (access && isValid(access)) return access
    return await mint(signal)
  }

  /** The access, created once for all requests that wait for it. */
  const ready = (signal: AbortSignal): Promise<Access> =>
    (opening ??= open(signal).finally(() => (opening = undefined)))

  async function drop(refused: Access): Promise<void> {
    if (access !== refused) return
    access = undefined
    await refused.socket.close()
  }

  async function send(request: HttpRequest, signal: AbortSignal): Promise<HttpResponse> {
    const first = await ready(signal)
    const answer = await first.socket.transport(request, signal)
    if (answer.status !== 401) return answer
    await drop(first)
    const again = await (await ready(signal)).socket.transport(request, signal)
    if (again.status === 401)
      throw new NoAccess('CredentialRefused', 'the cluster refuses the token it has just issued')
    return again
  }

  return {
    /** The cluster as the agent's own account. */
    transport: send satisfies Transport,
    /** Follows a change of the user's Secret. */
    async setCredential(next: Connection): Promise<void> {
      const isElsewhere = !isSameServer(next, current)
      current = next
      if (isElsewhere && access) await drop(access)
    },
    /** Renews the token with itself when it is due. A token that cannot be renewed is used until its end. */
    async renewWhenDue(signal: AbortSignal): Promise<void> {
      if (!access || clock.now() < access.renewAt) return
      const token = await requestToken(access.rest, account, signal).catch((caught: unknown) => {
        log.info({ err: toError(caught) }, 'the token of the agent cannot be used to request the next token')
        return undefined
      })
      if (token) await keep(token)
      else await mint(signal)
    },
    /** Ends all connections, also hanging connections. */
    async reset(): Promise<void> {
      const former = access
      if (!former) return
      access = opened(former.connection, former)
      await former.socket.close()
    },
    async close(): Promise<void> {
      await access?.socket.close()
    },
  }
}

export type ClusterAccess = ReturnType<typeof createClusterAccess>

function openConnection(
  { connect, clock }: ClusterAccessPorts,
  connection: Connection,
): Pick<Access, 'socket' | 'rest'> {
  try {
    const socket = connect(connection)
    const { transport } = socket
    return { socket, rest: createRest({ transport, clock, userAgent: USER_AGENT, timeoutMs: PUSH_TIMING.requestMs }) }
  } catch (caught) {
    throw new NoAccess('AddressRefused', toError(caught).message, { cause: caught })
  }
}

/** The server of the kubeconfig, without its credentials. */
function asAccount({ server, ca, serverName }: Connection): Connection {
  return { server, ...compact({ ca, serverName }) }
}

/** A failure as the condition of the Cluster states it. */
export function noAccess(caught: unknown): NoAccess {
  if (caught instanceof NoAccess) return caught
  const said = toError(caught)
  const refused = [said, said.cause].find((error) => error instanceof EgressRefused)
  if (refused) return new NoAccess('AddressRefused', refused.message, { cause: caught })
  if (isApiError(caught, 'Unauthorized'))
    return new NoAccess(
      'CredentialRefused',
      'the cluster refuses the credential of the kubeconfig; replace the kubeconfig in the Secret',
      { cause: caught },
    )
  if (isApiError(caught, 'Forbidden')) return new NoAccess('NotAllowed', said.message, { cause: caught })
  const status = caught instanceof ApiError ? `the cluster answers: ${said.message}` : plain(said)
  return new NoAccess('Unreachable', status, { cause: caught })
}

/** Undici hides the reason of some failures in the cause. */
function plain({ message, cause }: Error): string {
  return message === '' && cause instanceof Error ? cause.message : message
}
