/**
 * Restricts where a Secret of a Fleet user may be sent. Fleet sends it to the server that a GitRepo names. Here an
 * annotation of the Secret allows servers; a Secret without the annotation gets it from the first GitRepo that names
 * the Secret.
 */
import type { Secret } from '../../../kinds/builtin/core.ts'
import { isBoundTo, readCredentials, URLS_ANNOTATION } from '../../../source/credentials.ts'
import { SourceError } from '../../../source/source-error.ts'
import { ALL_SCHEMES, parseSourceUrl } from '../../../source/source-url.ts'
import type { SourceUrl } from '../../../source/source-url.ts'

/** The Secret for git of a GitRepo that names none. */
export const FALLBACK_SECRET = 'gitcredential'

/** Types of Secrets that contain credentials. */
const LOGINS = ['kubernetes.io/basic-auth', 'kubernetes.io/ssh-auth']
/** All keys that Fleet's Secret for charts may have; a Secret with more keys has another purpose. */
const HELM_KEYS = ['username', 'password', 'cacerts', 'ssh-privatekey', 'insecureSkipVerify', 'basicHTTP']

/**
 * The annotation for a Secret that is used for these addresses; undefined when the Secret has it, or has another
 * purpose.
 */
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

/**
 * The server of an address: its operator receives the Secret, whatever the path is. Secrets are never sent over plain
 * http.
 */
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
