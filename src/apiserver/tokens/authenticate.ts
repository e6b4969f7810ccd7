import { compact } from '../../core/compact.ts'
import { ApiError } from '../../core/errors.ts'
import type { Caller, HttpRequest } from '../../core/http.ts'
import { bearerToken } from './service-account-tokens.ts'
import type { AuthenticatedToken, ServiceAccountTokens } from './service-account-tokens.ts'

/** Tokens of users that another system issued. */
export interface UserTokens {
  /** Undefined for a token that proves no user. */
  prove(token: string): Promise<Pick<AuthenticatedToken, 'caller' | 'expires'> | undefined>
}

/** Proves callers by the header `Authorization`, where the transport has not authenticated them. */
export interface Authenticator {
  /**
   * The caller of a header; undefined when the header proves none, also when its scheme is not Bearer. A listener calls
   * this before it reads a body.
   */
  authenticate(authorization: string): Promise<Caller | undefined>
  /**
   * The caller of a request, or throws Unauthorized. A header counts only for anonymous callers: it never overrules a
   * certificate.
   */
  prove(request: HttpRequest, caller: Caller): Promise<Caller>
  /** How the token of a proven caller can be checked again; undefined for callers without a token. */
  renewal(request: HttpRequest, caller: Caller): Promise<TokenRenewal | undefined>
}

export interface TokenRenewal {
  readonly expires: number
  isValid(): Promise<boolean>
}

const ANONYMOUS = 'system:anonymous'
const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id'

export function createAuthenticator(
  tokens: ServiceAccountTokens | undefined,
  userTokens: UserTokens | undefined,
): Authenticator {
  const open = async (authorization: string) => {
    const token = bearerToken(authorization)
    if (token === undefined) return undefined
    return (await tokens?.prove(token)) ?? (await userTokens?.prove(token))
  }
  const authenticate = async (authorization: string) => (await open(authorization))?.caller
  return {
    authenticate,
    async prove({ headers }, caller) {
      const { authorization } = headers
      if (caller.user !== ANONYMOUS || authorization === undefined) return caller
      const proven = await authenticate(authorization)
      if (!proven) throw new ApiError('Unauthorized', 'Unauthorized')
      return compact({ ...proven, address: caller.address })
    },
    async renewal({ headers }, caller) {
      const { authorization } = headers
      if (authorization === undefined || caller.extra?.[CREDENTIAL_ID] === undefined) return undefined
      const found = await open(authorization)
      const isValid = async () => (await authenticate(authorization)) !== undefined
      return { expires: found?.expires ?? 0, isValid }
    },
  }
}
