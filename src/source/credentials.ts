/** Credentials from Secrets: the owner of each Secret binds it to addresses, and it is sent to no other address. */
import { fromBase64, fromUtf8 } from '../core/bytes.ts'
import { compact } from '../core/compact.ts'
import { isObject } from '../core/json.ts'
import type { Secret } from '../kinds/builtin/core.ts'
import { SourceError } from './source-error.ts'
import { ALL_SCHEMES, isBelow, parseSourceUrl } from './source-url.ts'
import type { SourceUrl } from './source-url.ts'

/**
 * The annotation with the addresses that a Secret may be sent to, separated by commas or spaces. Set by the Secret's
 * owner.
 */
export const URLS_ANNOTATION = 'flotilla.dev/urls'

/** The content of a Secret; plain data, so that it can be sent to another thread. */
export interface Credentials {
  /** `namespace/name`, for messages. */
  readonly secret: string
  /** The addresses that the credential may be sent to. */
  readonly urls: readonly string[]
  readonly username?: string
  readonly password?: string
  readonly token?: string
  readonly sshKey?: string
  readonly knownHosts?: string
  /** PEM of the CA of the server. */
  readonly ca?: string
  /** PEM of a client certificate, with its key. */
  readonly certificate?: string
  readonly key?: string
  /** Armored OpenPGP public keys that verify signed charts. */
  readonly keyring?: string
  /** A GitHub App: its id, its private key, its installation, and the API of another server than github.com. */
  readonly appId?: string
  readonly appKey?: string
  readonly installationId?: string
  readonly installationOwner?: string
  readonly appUrl?: string
  /** Keys of an account of an S3 server. */
  readonly accessKey?: string
  readonly secretKey?: string
}

const KEYS: Readonly<Record<string, Exclude<keyof Credentials, 'secret' | 'urls'>>> = {
  username: 'username',
  password: 'password',
  token: 'token',
  bearerToken: 'token',
  'ssh-privatekey': 'sshKey',
  identity: 'sshKey',
  known_hosts: 'knownHosts',
  'ca.crt': 'ca',
  cacerts: 'ca',
  'tls.crt': 'certificate',
  'tls.key': 'key',
  keyring: 'keyring',
  githubAppID: 'appId',
  githubAppPrivateKey: 'appKey',
  githubAppInstallationID: 'installationId',
  githubAppInstallationOwner: 'installationOwner',
  githubAppBaseURL: 'appUrl',
  accesskey: 'accessKey',
  secretkey: 'secretKey',
}

/** Reads a Secret. A registry's `.dockerconfigjson` is bound to its own hosts. */
export function readCredentials(secret: Secret): Credentials {
  const name = `${secret.metadata.namespace ?? ''}/${secret.metadata.name}`
  const data = new Map<string, string>()
  for (const [key, value] of Object.entries(secret.data ?? {})) {
    if (KEYS[key] || key === '.dockerconfigjson') data.set(key, textOf(name, key, value))
  }
  const urls = (secret.metadata.annotations?.[URLS_ANNOTATION] ?? '').split(/[\s,]+/).filter((url) => url !== '')
  for (const url of urls) parseSourceUrl(url, ALL_SCHEMES)
  const found: Record<string, string> = {}
  for (const [key, value] of data) if (KEYS[key]) found[KEYS[key]] = value
  const docker = data.get('.dockerconfigjson')
  const credentials: Credentials = { secret: name, urls, ...found }
  return docker === undefined ? credentials : withDocker(credentials, docker)
}

function textOf(secret: string, key: string, value: string): string {
  try {
    return fromUtf8(fromBase64(value)).replace(/^\uFEFF/, '')
  } catch {
    throw new SourceError('BadCredentials', `${key} of Secret ${secret} is not UTF-8 text.`)
  }
}

function withDocker(credentials: Credentials, text: string): Credentials {
  const bad = (): never => {
    throw new SourceError('BadCredentials', `.dockerconfigjson of Secret ${credentials.secret} cannot be read.`)
  }
  let config: unknown
  try {
    config = JSON.parse(text)
  } catch {
    bad()
  }
  const auths = isObject(config) && isObject(config['auths']) ? Object.entries(config['auths']) : bad()
  const [first] = auths
  if (auths.length !== 1 || !first || !isObject(first[1])) {
    throw new SourceError(
      'BadCredentials',
      `.dockerconfigjson of Secret ${credentials.secret} has ${auths.length} registries; a Source needs a Secret with exactly one.`,
    )
  }
  const [host, entry] = first
  const pair = typeof entry['auth'] === 'string' ? fromUtf8(fromBase64(entry['auth'])) : ''
  const colon = pair.indexOf(':')
  const username = typeof entry['username'] === 'string' ? entry['username'] : pair.slice(0, Math.max(0, colon))
  const password = typeof entry['password'] === 'string' ? entry['password'] : pair.slice(colon + 1)
  const registry = `oci://${host.replace(/^https?:\/\//, '').replace(/\/(v1|v2)\/?$/, '')}`
  parseSourceUrl(registry, ['oci'])
  return { ...credentials, urls: [...credentials.urls, registry], username, password }
}

/**
 * Credentials with the certificates of another Secret. They are sent only to addresses that the owners of both Secrets
 * allow.
 */
export function withCertificates(
  credentials: Credentials | undefined,
  certificates: Credentials | undefined,
): Credentials | undefined {
  if (!certificates) return credentials
  const { secret, urls, ca, certificate, key } = certificates
  const tls = compact({ ca, certificate, key })
  if (!credentials) return { secret, urls, ...tls }
  const { ca: _ca, certificate: _certificate, key: _key, ...rest } = credentials
  const both = [
    ...credentials.urls.filter((url) => isBoundTo(certificates, parseSourceUrl(url, ALL_SCHEMES))),
    ...urls.filter((url) => isBoundTo(credentials, parseSourceUrl(url, ALL_SCHEMES))),
  ]
  return { ...rest, ...tls, secret: `${credentials.secret} with ${secret}`, urls: [...new Set(both)] }
}

/**
 * Returns true if the owner of a credential allows this address. Registries and Helm repositories may be written with
 * oci or https.
 */
export function isBoundTo(credentials: Credentials, url: SourceUrl): boolean {
  return credentials.urls.some((text) => {
    const prefix = parseSourceUrl(text, ALL_SCHEMES)
    return isBelow(url, prefix) || isBelow(url, asHttps(prefix)) || isBelow(asHttps(url), prefix)
  })
}

function asHttps(url: SourceUrl): SourceUrl {
  return url.scheme === 'oci' ? { ...url, scheme: 'https' } : url
}

/** Returns the credential for an address. Throws SourceError when it must not be sent there. */
export function credentialsFor(
  url: SourceUrl,
  credentials: Credentials | undefined,
  isMirror: boolean,
): Credentials | undefined {
  if (!credentials) return undefined
  if (!isBoundTo(credentials, url)) {
    // A mirror rule of the hub redirects the request; the user's credential is not for the mirror.
    if (isMirror) return undefined
    const bound = credentials.urls.length === 0 ? 'no address' : credentials.urls.join(', ')
    throw new SourceError(
      'CredentialsNotForUrl',
      `Secret ${credentials.secret} is bound to ${bound}, not to ${url.text}; its owner may add the address to its annotation ${URLS_ANNOTATION}.`,
    )
  }
  if (url.scheme === 'http' && (credentials.password ?? credentials.token ?? credentials.appKey) !== undefined) {
    throw new SourceError(
      'CredentialsOverHttp',
      `Secret ${credentials.secret} is not sent over plain http to ${url.text}; use https.`,
    )
  }
  return credentials
}

/** The Authorization header of a credential; undefined without a password or token. */
export function authorizationOf(credentials: Credentials | undefined): string | undefined {
  if (credentials?.token !== undefined) return `Bearer ${credentials.token.trim()}`
  if (credentials?.password === undefined) return undefined
  const pair = `${credentials.username ?? ''}:${credentials.password}`
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
}
