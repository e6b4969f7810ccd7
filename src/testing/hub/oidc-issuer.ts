/** A real OpenID Connect issuer for tests: it signs in the user that the test names, without a password. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { exportJWK, generateKeyPair } from 'jose'
import { Provider } from 'oidc-provider'
import type { InteractionResults } from 'oidc-provider'
import { newAuthority } from '../control-plane/certificates.ts'

export interface TestIssuer {
  readonly url: string
  /** PEM of its CA. */
  readonly ca: string
  /** The next sign-in is of this user; undefined refuses it. */
  signsIn(user: string | undefined, groups?: readonly string[]): void
}

export const CLIENT_ID = 'flotilla'

/** Starts an issuer with one public client that may redirect to any port of this machine. */
export async function startIssuer(t: TestContext, { idTokenSeconds = 300 } = {}): Promise<TestIssuer> {
  const authority = newAuthority()
  const { certificate, privateKey } = authority.server()
  const server = createServer({ cert: certificate, key: privateKey })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `https://localhost:${(server.address() as AddressInfo).port}`
  const groupsOf = new Map<string, readonly string[]>()
  let user: string | undefined
  const keys = await generateKeyPair('RS256', { extractable: true })
  const provider = new Provider(url, {
    jwks: { keys: [{ ...(await exportJWK(keys.privateKey)), alg: 'RS256', use: 'sig', kid: 'test' }] },
    clients: [
      {
        client_id: CLIENT_ID,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: ['http://127.0.0.1/console/oidc/callback', 'http://127.0.0.1/callback'],
      },
    ],
    scopes: ['openid', 'offline_access', 'groups'],
    claims: { openid: ['sub'], groups: ['groups'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['test'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, groups: [...(groupsOf.get(id) ?? [])] }),
    }),
    issueRefreshToken: () => true,
    pkce: { required: () => true },
    ttl: {
      IdToken: idTokenSeconds,
      AccessToken: 300,
      AuthorizationCode: 60,
      Grant: 3600,
      Interaction: 60,
      Session: 60,
      RefreshToken: 3600,
    },
  })
  const answer = provider.callback()
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, session } = await provider.interactionDetails(request, response)
    await provider.interactionFinished(request, response, await resultOf(prompt.name, session?.accountId))
  }
  async function resultOf(prompt: string, accountId: string | undefined): Promise<InteractionResults> {
    if (user === undefined) return { error: 'access_denied', error_description: 'the user said no' }
    if (prompt === 'login') return { login: { accountId: user } }
    const grant = new provider.Grant({ clientId: CLIENT_ID, accountId: accountId! })
    grant.addOIDCScope('openid offline_access groups')
    return { consent: { grantId: await grant.save() } }
  }
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) return void answer(request, response)
    interact(request, response).catch((caught: unknown) => response.destroy(caught as Error))
  })
  return {
    url,
    ca: authority.certificate,
    signsIn: (next, groups = []) => {
      user = next
      if (next !== undefined) groupsOf.set(next, groups)
    },
  }
}
