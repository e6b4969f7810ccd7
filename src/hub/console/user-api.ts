/** The hub's API under the credentials of a signed-in user. RBAC of the API decides; the console decides nothing. */
import type { Connection } from '../../client/connection.ts'
import { createRest } from '../../client/rest.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { isObject } from '../../core/json.ts'
import type { Transport } from '../../core/http.ts'
import type { Clock } from '../../core/time/clock.ts'
import { VERSION } from '../../core/version.ts'

/** User agent of requests that the console forwards. The audit log shows it. */
export const CONSOLE_AGENT = `flotilla-console/${VERSION}`

/** A right, as a SelfSubjectAccessReview asks for it. */
export interface Right {
  readonly verb: string
  readonly group: string
  readonly resource: string
}

/** The API as one user. */
export interface UserApi {
  readonly transport: Transport
  /** The user's name and groups, as the API authenticates the credentials; rejects if the API refuses them. */
  whoAmI(signal?: AbortSignal): Promise<{ readonly username: string; readonly groups: readonly string[] }>
  /** Whether the user has a right in all namespaces. Answers are kept for 15 seconds. */
  may(right: Right, signal?: AbortSignal): Promise<boolean>
  close(): Promise<void>
}

const KEEP_MS = 15_000
/** A browser opens at most six connections. */
const MAX_CONNECTIONS = 8

/** Opens the API with these credentials. */
export function openUserApi(connection: Connection, clock: Clock): UserApi {
  const { transport, close } = createUndiciTransport(connection, { maxConnections: MAX_CONNECTIONS })
  return { ...userApiOver(transport, clock), close }
}

/** The questions about a user, over any transport. */
function userApiOver(transport: Transport, clock: Clock): UserApi {
  const rest = createRest({ transport, clock, userAgent: CONSOLE_AGENT, timeoutMs: 10_000 })
  const known = new Map<string, { readonly atMs: number; readonly isAllowed: boolean }>()

  async function review(path: string, kind: string, spec: object | undefined, signal?: AbortSignal): Promise<object> {
    const [, group = '', version = ''] = path.split('/').filter((part) => part !== '')
    const body = { apiVersion: `${group}/${version}`, kind, ...(spec && { spec }) }
    const answer = await rest.json({ method: 'POST', path, body, ...(signal && { signal }) })
    const status = isObject(answer) ? answer['status'] : undefined
    return isObject(status) ? status : {}
  }

  return {
    transport,
    whoAmI: async (signal) => {
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
      const { userInfo } = (await review(path, 'SelfSubjectReview', undefined, signal)) as {
        readonly userInfo?: { readonly username?: string; readonly groups?: readonly string[] }
      }
      return { username: userInfo?.username ?? '', groups: userInfo?.groups ?? [] }
    },
    may: async (right, signal) => {
      const key = JSON.stringify([right.verb, right.group, right.resource])
      const last = known.get(key)
      if (last && clock.now() - last.atMs < KEEP_MS) return last.isAllowed
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews'
      const spec = { resourceAttributes: right }
      const { allowed } = (await review(path, 'SelfSubjectAccessReview', spec, signal)) as { allowed?: boolean }
      known.set(key, { atMs: clock.now(), isAllowed: allowed === true })
      return allowed === true
    },
    close: async () => {},
  }
}
