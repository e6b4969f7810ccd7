/**
 * Where a Secret of Fleet's users may be sent. Fleet sends it wherever a GitRepo says; here its owner says so in an annotation, and
 * for one without it the first GitRepo that names it does: its server is written down on the Secret, and no other is told.
 */
import type { Secret } from '../../../kinds/builtin/core.ts'
import { isBoundTo, readCredentials, URLS_ANNOTATION } from '../../../source/credentials.ts'
import { SourceError } from '../../../source/source-error.ts'
import { ALL_SCHEMES, parseSourceUrl } from '../../../source/source-url.ts'
import type { SourceUrl } from '../../../source/source-url.ts'

/** The Secret for git where a GitRepo names none. */
export const FALLBACK_SECRET = 'gitcredential'

/** Secrets that say themselves that they are for signing in somewhere. */
const LOGINS = ['kubernetes.io/basic-auth', 'kubernetes.io/ssh-auth']
/** All that Fleet's Secret for charts may have; one with more in it is something else. */
const HELM_KEYS = ['username', 'password', 'cacerts', 'ssh-privatekey', 'insecureSkipVerify', 'basicHTTP']

/** What to write into the annotation of a Secret that is used for these addresses; undefined when it is said already, or not for us to say. */
export function bindingFor(secret: Secret, urls: readonly string[], use: 'git' | 'helm'): string | undefined {
  if (secret.metadata.annotations?.[URLS_ANNOTATION] !== undefined) return undefined
  const isLogin = LOGINS.includes(secret.type ?? '')
  const isForCharts = use === 'helm' && Object.keys(secret.data ?? {}).every((key) => HELM_KEYS.includes(key))
  if (!isLogin && !isForCharts) return undefined
  const origins = [...new Set(urls.flatMap((url) => originOf(url) ?? []))]
  return origins.length === 0 ? undefined : origins.join(' ')
}

/** Whether a Secret may be sent to an address. */
export function mayBeSent(secret: Secret, url: string): boolean {
  try {
    return isBoundTo(readCredentials(secret), parseSourceUrl(url, ALL_SCHEMES))
  } catch (caught) {
    if (caught instanceof SourceError) return false
    throw caught
  }
}

/** The server of an address: who gets the secret is who runs it, whatever the path. Nothing is ever sent over plain http. */
function originOf(text: string): string | undefined {
  let url: SourceUrl
  try {
    url = parseSourceUrl(text.replace(/[?#].*$/, ''), ['https', 'ssh', 'oci'])
  } catch (caught) {
    if (caught instanceof SourceError) return undefined
    throw caught
  }
  return `${url.scheme}://${url.host}${url.port === '' ? '' : `:${url.port}`}/`
}
