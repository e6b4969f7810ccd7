// Tested by src/source/github-app.contract.test.ts.
/** Access of a GitHub App: a signed request is exchanged for a token of an installation, which lasts an hour. */
import { base64url, fromUtf8, sign, utf8 } from '../core/bytes.ts'
import { digestOfJson } from '../core/crypto/digest.ts'
import { isObject } from '../core/json.ts'
import type { Credentials } from './credentials.ts'
import type { FetchContext } from './fetch-request.ts'
import { SourceError } from './source-error.ts'
import { parseSourceUrl } from './source-url.ts'

const GITHUB = 'https://api.github.com'
/** GitHub's tokens last an hour. */
const TOKEN_MS = 45 * 60_000
/** GitHub refuses requests that are signed for longer than ten minutes, or for a time that is not there yet. */
const SIGNED_SECONDS = 300
const SKEW_SECONDS = 60
const MAX_ANSWER = 256 * 1024

/** Credentials with a token in the place of the key of an App. Other credentials are returned as they are. */
export async function withAppToken(
  credentials: Credentials | undefined,
  context: Pick<FetchContext, 'clock' | 'http' | 'signal' | 'tokens'>,
): Promise<Credentials | undefined> {
  if (credentials?.appKey === undefined) return credentials
  const { secret, appId, installationId, installationOwner } = credentials
  if (!appId || !(installationId || installationOwner)) {
    throw new SourceError(
      'BadCredentials',
      `Secret ${secret} has githubAppPrivateKey; it needs githubAppID and githubAppInstallationID or githubAppInstallationOwner, too.`,
    )
  }
  const api = createApi(credentials, context)
  const key = digestOfJson({ api: api.url, secret, appId, installationId, installationOwner })
  const password = await context.tokens.answer(key, TOKEN_MS, async () => {
    const id = installationId || (await api.installationOf(installationOwner ?? ''))
    return await api.tokenOf(id)
  })
  const { appKey: _appKey, ...rest } = credentials
  return { ...rest, username: 'x-access-token', password }
}

function createApi(
  { secret, urls, appId, appKey = '', appUrl, ca }: Credentials,
  { clock, http, signal }: Pick<FetchContext, 'clock' | 'http' | 'signal'>,
) {
  const url = parseSourceUrl(appUrl?.trim() || GITHUB, ['https']).text.replace(/\/+$/, '')
  const call = async (path: string, method?: 'POST'): Promise<{ status: number; said: Record<string, unknown> }> => {
    const { status, body } = await http({
      url: `${url}${path}`,
      ...(method && { method }),
      headers: { accept: 'application/vnd.github+json' },
      authorization: `Bearer ${signedRequest(appId ?? '', appKey, { secret, now: clock.now() })}`,
      credentials: { secret, urls, ...(ca !== undefined && { ca }) },
      maxBytes: MAX_ANSWER,
      signal,
    })
    return { status, said: readAnswer(body) }
  }
  const refused = (what: string, { status, said }: { status: number; said: Record<string, unknown> }): SourceError => {
    const message = typeof said['message'] === 'string' ? `: ${said['message']}` : ''
    return new SourceError('AuthenticationFailed', `${url} ${what} (${status}${message}); check Secret ${secret}.`, {
      retry: true,
    })
  }
  return {
    url,
    async installationOf(owner: string): Promise<string> {
      const name = encodeURIComponent(owner.trim())
      let answer = await call(`/orgs/${name}/installation`)
      if (answer.status === 404) answer = await call(`/users/${name}/installation`)
      const { id } = answer.said
      if (answer.status !== 200 || !Number.isSafeInteger(id)) throw refused(`knows no installation of ${owner}`, answer)
      return String(id)
    },
    async tokenOf(id: string): Promise<string> {
      const answer = await call(`/app/installations/${encodeURIComponent(id.trim())}/access_tokens`, 'POST')
      const { token } = answer.said
      if (answer.status !== 201 || typeof token !== 'string' || token === '') {
        throw refused(`gives no token for installation ${id}`, answer)
      }
      return token
    },
  }
}

function readAnswer(body: Uint8Array): Record<string, unknown> {
  try {
    const said: unknown = JSON.parse(fromUtf8(body))
    return isObject(said) ? said : {}
  } catch {
    return {}
  }
}

/** A JSON Web Token of the App, with RS256. */
function signedRequest(
  appId: string,
  key: string,
  { secret, now }: { readonly secret: string; readonly now: number },
): string {
  const seconds = Math.floor(now / 1000)
  const claims = { iat: seconds - SKEW_SECONDS, exp: seconds + SIGNED_SECONDS, iss: appId.trim() }
  const parts = [{ alg: 'RS256', typ: 'JWT' }, claims].map((part) => base64url(utf8(JSON.stringify(part)))).join('.')
  try {
    return `${parts}.${base64url(sign(key, utf8(parts)))}`
  } catch {
    throw new SourceError('BadCredentials', `githubAppPrivateKey of Secret ${secret} is no private key.`)
  }
}
