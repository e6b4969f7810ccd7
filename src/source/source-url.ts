/**
 * Addresses of Sources: a few allowed forms, parsed strictly, so that no part of an address can become an option or a
 * program.
 */
import { SourceError } from './source-error.ts'

/** The transport of an address. */
export type SourceScheme = 'https' | 'http' | 'ssh' | 'file' | 'oci'

/** A parsed address. */
export interface SourceUrl {
  readonly scheme: SourceScheme
  /** Lower case; empty for files. */
  readonly host: string
  readonly port: string
  readonly user: string
  /** Begins with a slash. */
  readonly path: string
  /** The address in the form that programs receive. */
  readonly text: string
}

const HOST = /^([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])$/
const USER = /^[A-Za-z0-9_][A-Za-z0-9._-]*$/
const SCP = /^(?:([^@/:]+)@)?([^@/:]+):(?!\/\/)(.+)$/
const DEFAULT_PORTS: Readonly<Record<string, string>> = { https: '443', http: '80', ssh: '22' }

/** The port of an address, also where the address leaves it out; empty for schemes without a port. */
export function portOf({ scheme, port }: { readonly scheme: string; readonly port: string }): string {
  return port === '' ? (DEFAULT_PORTS[scheme] ?? '') : port
}

/** Parses an address. Throws SourceError with the problem and the allowed forms. */
export function parseSourceUrl(text: string, allowed: readonly SourceScheme[]): SourceUrl {
  const shown = JSON.stringify(text)
  const refuse = (why: string): never => {
    throw new SourceError('BadUrl', `${shown} is not a valid address of a Source: ${why}.`)
  }
  // oxlint-disable-next-line no-control-regex -- these are what must not be there
  if (text.length > 2048 || /[\u0000-\u0020\u007f\\]/.test(text)) {
    refuse('it is too long, or contains white space, a backslash or control characters')
  }
  if (text.startsWith('-')) refuse('it begins with a dash')
  const forms = `use ${allowed.map((scheme) => (scheme === 'file' ? 'file:///path' : `${scheme}://…`)).join(', ')}`
  // `ext::sh -c …`, `fd::3` and similar forms name a program that git would run.
  if (/^[A-Za-z0-9+.-]+::/.test(text)) refuse(`remote helpers are not allowed; ${forms}`)
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(text)?.[1]?.toLowerCase()
  if (scheme === undefined && text.startsWith('/')) return parseSourceUrl(`file://${text}`, allowed)
  const scp = scheme === undefined ? SCP.exec(text) : undefined
  const found = (scp ? 'ssh' : scheme) as SourceScheme | undefined
  if (found === undefined || !allowed.includes(found)) refuse(forms)
  if (found === 'file') return fileUrl(text, refuse)
  return scp ? scpUrl(text, scp, refuse) : hostUrl(text, found!, refuse)
}

type Refuse = (why: string) => never

function fileUrl(text: string, refuse: Refuse): SourceUrl {
  const path = text.slice('file://'.length)
  if (!path.startsWith('/')) refuse('a file address has an absolute path, file:///srv/git/x.git')
  if (/%|[?#]/.test(path) || path.split('/').some((part) => part === '..' || part === '.')) {
    refuse('the path must be clean: no "..", "%", "?" or "#"')
  }
  return { scheme: 'file', host: '', port: '', user: '', path, text: `file://${path}` }
}

function scpUrl(text: string, [, user = '', host = '', path = '']: RegExpExecArray, refuse: Refuse): SourceUrl {
  checkSsh(user, host.toLowerCase(), refuse)
  if (path.startsWith('-') || path.split('/').includes('..')) refuse('the path begins with a dash or has ".." in it')
  return { scheme: 'ssh', host: host.toLowerCase(), port: '', user, path: `/${path.replace(/^\//, '')}`, text }
}

function hostUrl(text: string, scheme: SourceScheme, refuse: Refuse): SourceUrl {
  // Parsers treat unknown schemes loosely; so all addresses are parsed as https.
  const url = URL.parse(text.replace(/^[a-z+]+:/i, 'https:'))
  if (!url) return refuse('it cannot be read')
  const host = url.hostname.toLowerCase()
  if (!HOST.test(host)) refuse(`${JSON.stringify(host)} is no host name`)
  if (url.password !== '')
    refuse('it contains a password; put the password into a Secret and set spec.credentials to its name')
  if (url.search !== '' || url.hash !== '') refuse('it has a "?" or "#" part')
  // Encoded ".." and "/" must be refused: the server would decode them after the prefix rules were checked.
  if (/%(2e|2f|5c|00)/i.test(url.pathname)) refuse('its path hides a dot, slash or NUL behind "%"')
  const user = decoded(url.username, refuse)
  if (scheme === 'ssh') checkSsh(user, host, refuse)
  else if (user !== '')
    refuse('it contains a user name; put the user name into a Secret and set spec.credentials to its name')
  const given = /^[^:]+:\/\/[^/]*?:(\d{1,5})(?:\/|$)/.exec(text)?.[1] ?? ''
  const port = given === DEFAULT_PORTS[scheme] ? '' : given
  const at = user === '' ? '' : `${user}@`
  return {
    scheme,
    host,
    port,
    user,
    path: url.pathname,
    text: `${scheme}://${at}${host}${port === '' ? '' : `:${port}`}${url.pathname}`,
  }
}

function decoded(user: string, refuse: Refuse): string {
  try {
    return decodeURIComponent(user)
  } catch {
    return refuse('its user name has a "%" that escapes nothing')
  }
}

function checkSsh(user: string, host: string, refuse: Refuse): void {
  if (user !== '' && !USER.test(user)) refuse(`${JSON.stringify(user)} is no user name`)
  if (!HOST.test(host)) refuse(`${JSON.stringify(host)} is no host name`)
}

/** Returns true if an address equals a base or is below it; whole path segments are compared. */
export function isBelow(url: SourceUrl, prefix: SourceUrl): boolean {
  if (url.scheme !== prefix.scheme || url.host !== prefix.host || url.port !== prefix.port) return false
  if (prefix.user !== '' && url.user !== prefix.user) return false
  const folder = prefix.path.endsWith('/') ? prefix.path : `${prefix.path}/`
  return url.path === prefix.path || url.path.startsWith(folder) || `${url.path}/` === folder
}

/** All schemes; the caller chooses the schemes that a kind of Source may use. */
export const ALL_SCHEMES: readonly SourceScheme[] = ['https', 'http', 'ssh', 'file', 'oci']
