/** The API with the ID token of a person, which is renewed shortly before it ends. */
import type { CodeFlow, IssuedTokens } from '../../client/oidc/code-flow.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Secret } from '../../core/secret.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { UserApi } from './user-api.ts'

export interface RenewingApiOptions {
  readonly flow: Pick<CodeFlow, 'renew'>
  readonly open: (token: Secret<string>) => UserApi
  readonly clock: Pick<Clock, 'now' | 'sleep'>
  readonly log: Logger
}

/** A token is renewed this long before its end. */
const EARLY_MS = 30_000
/** After a failure, the issuer is not asked again for this long. */
const PAUSE_MS = 10_000
/** Requests with the older token may take this long. */
const DRAIN_MS = 60_000

/** Without a refresh token, the API refuses the session when the ID token ends. */
export function createRenewingApi(first: IssuedTokens, { flow, open, clock, log }: RenewingApiOptions): UserApi {
  let tokens = first
  let api = open(tokens.idToken)
  let renewal: Promise<void> | undefined
  let failedMs = -Infinity
  const closing = new AbortController()

  async function renew(): Promise<void> {
    try {
      tokens = await flow.renew(tokens)
      if (closing.signal.aborted) return
      const older = api
      api = open(tokens.idToken)
      const drained = clock.sleep(DRAIN_MS, closing.signal).catch(() => {})
      void drained.then(() => older.close())
    } catch (caught) {
      failedMs = clock.now()
      log.info({ error: toError(caught).message }, 'the ID token of a session was not renewed')
    } finally {
      renewal = undefined
    }
  }

  async function current(): Promise<UserApi> {
    const now = clock.now()
    const isDue = tokens.refreshToken !== undefined && now >= tokens.expires - EARLY_MS && now - failedMs >= PAUSE_MS
    if (isDue) await (renewal ??= renew())
    return api
  }

  return {
    transport: async (request, signal) => await (await current()).transport(request, signal),
    whoAmI: async (signal) => await (await current()).whoAmI(signal),
    may: async (right, signal) => await (await current()).may(right, signal),
    close: async () => {
      closing.abort()
      await api.close()
    },
  }
}
