/** URLs as Go's net/url takes them apart and puts them together. */
import { GoError } from '../../../gotemplate/function.ts'
import { fromGoBytes, goBytes, goQuote } from '../../../gotemplate/go-string.ts'
import { parseIp } from './parse-ip.ts'

/** A URL in Go's parts; `user` is in its printed form, undefined without a user. */
export interface GoUrl {
  readonly scheme: string
  readonly opaque: string
  readonly user: string | undefined
  readonly host: string
  readonly path: string
  readonly query: string
  readonly fragment: string
}

/** Whether what stands in brackets must be an IPv6 address and http has one port only: so since Go 1.26. */
export interface UrlRules {
  readonly strictHosts: boolean
}

/** Characters besides letters and digits that stand as they are in a part of a URL. */
const PLAIN = {
  path: '-._~$&+,/:;=@',
  host: '-._~!"$&\'()*+,:;<=>[]',
  user: '-._~$&+,;=',
  fragment: '-._~!$&()*+,/:;=?@',
} as const

type Part = keyof typeof PLAIN

const isPlain = (byte: number, part: Part): boolean => {
  const char = String.fromCharCode(byte)
  return /[A-Za-z0-9]/.test(char) || PLAIN[part].includes(char)
}

/** url.Parse. */
export function parseGoUrl(text: string, rules: UrlRules): GoUrl {
  const hash = text.indexOf('#')
  const before = hash < 0 ? text : text.slice(0, hash)
  const url = failingWith(before, () => parseWithoutFragment(before, rules))
  const fragment = hash < 0 ? '' : text.slice(hash + 1)
  return { ...url, fragment: failingWith(text, () => unescape(fragment, 'fragment')) }
}

function failingWith<T>(text: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    if (!(error instanceof GoError)) throw error
    throw new GoError(`parse ${goQuote(text)}: ${error.message}`)
  }
}

function parseWithoutFragment(text: string, rules: UrlRules): Omit<GoUrl, 'fragment'> {
  if (/[\u0000-\u001f\u007f]/.test(text)) throw new GoError('net/url: invalid control character in URL')
  const none = { scheme: '', opaque: '', user: undefined, host: '', path: '', query: '' }
  if (text === '*') return { ...none, path: '*' }
  if (text.startsWith(':')) throw new GoError('missing protocol scheme')
  const scheme = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1]
  const afterScheme = scheme === undefined ? text : text.slice(scheme.length + 1)
  const mark = afterScheme.indexOf('?')
  const rest = mark < 0 ? afterScheme : afterScheme.slice(0, mark)
  const base = { ...none, scheme: (scheme ?? '').toLowerCase(), query: mark < 0 ? '' : afterScheme.slice(mark + 1) }
  if (!rest.startsWith('/')) {
    if (scheme !== undefined) return { ...base, opaque: rest }
    if (rest.split('/')[0]!.includes(':')) throw new GoError('first path segment in URL cannot contain colon')
  }
  if (!rest.startsWith('//') || (scheme === undefined && rest.startsWith('///'))) {
    return { ...base, path: unescape(rest, 'path') }
  }
  const slash = rest.indexOf('/', 2)
  const authority = parseAuthority(base.scheme, rest.slice(2, slash < 0 ? undefined : slash), rules)
  return { ...base, ...authority, path: slash < 0 ? '' : unescape(rest.slice(slash), 'path') }
}

function parseAuthority(scheme: string, authority: string, rules: UrlRules): Pick<GoUrl, 'user' | 'host'> {
  const at = authority.lastIndexOf('@')
  const host = parseHost(scheme, authority.slice(at + 1), rules)
  return { host, user: at < 0 ? undefined : parseUser(authority.slice(0, at)) }
}

function parseUser(text: string): string {
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(text)) throw new GoError('net/url: invalid userinfo')
  const colon = text.indexOf(':')
  const parts = colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)]
  return parts.map((part) => escape(unescape(part, 'user'), 'user')).join(':')
}

function parseHost(scheme: string, host: string, rules: UrlRules): string {
  const open = rules.strictHosts ? host.lastIndexOf('[') : host.startsWith('[') ? 0 : -1
  if (open > 0) throw new GoError('invalid IP-literal')
  if (open < 0) {
    const isWeb = rules.strictHosts && (scheme === 'http' || scheme === 'https')
    const colon = isWeb ? host.indexOf(':') : host.lastIndexOf(':')
    if (colon >= 0) checkPort(host.slice(colon))
    return unescape(host, 'host')
  }
  const close = host.lastIndexOf(']')
  if (close < 0) throw new GoError("missing ']' in host")
  checkPort(host.slice(close + 1))
  const zone = host.slice(0, close).indexOf('%25')
  const name = unescape(host.slice(1, zone < 0 ? close : zone), 'host')
  const zoneName = zone < 0 ? '' : unescape(host.slice(zone, close), 'zone')
  if (rules.strictHosts) checkAddress(name + zoneName)
  return `[${name}${zoneName}]${host.slice(close + 1)}`
}

function checkPort(port: string): void {
  if (!/^(?::\d*)?$/.test(port)) throw new GoError(`invalid port ${goQuote(port)} after host`)
}

function checkAddress(text: string): void {
  const percent = text.indexOf('%')
  const address = parseIp(percent < 0 ? text : text.slice(0, percent))
  if (address?.length === 16 && percent !== text.length - 1) return
  if (address?.length === 4 && percent < 0) throw new GoError('invalid IP-literal')
  throw new GoError(`invalid host: ParseAddr(${goQuote(text)}): unable to parse IP`)
}

/** Percent escapes become bytes; in a host only what is not ASCII may be escaped. */
function unescape(text: string, part: Part | 'zone'): string {
  const bytes = goBytes(text)
  const inHost = part === 'host' || part === 'zone'
  const found: number[] = []
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte !== PERCENT) {
      if (inHost && byte < 0x80 && !isPlain(byte, 'host')) {
        throw new GoError(`invalid character ${goQuote(String.fromCharCode(byte))} in host name`)
      }
      found.push(byte)
      continue
    }
    const escaped = fromGoBytes(bytes.subarray(at, at + 3))
    if (!/^%[0-9a-fA-F]{2}$/.test(escaped)) throw new GoError(`invalid URL escape ${goQuote(escaped)}`)
    const value = Number.parseInt(escaped.slice(1), 16)
    const isAllowed =
      escaped === '%25' ||
      (part === 'host' ? value >= 0x80 : part !== 'zone' || value === SPACE || isPlain(value, 'host'))
    if (!isAllowed) throw new GoError(`invalid URL escape ${goQuote(escaped)}`)
    found.push(value)
    at += 2
  }
  return fromGoBytes(Uint8Array.from(found))
}

const PERCENT = 0x25
const SPACE = 0x20

function escape(text: string, part: Part): string {
  return [...goBytes(text)]
    .map((byte) =>
      isPlain(byte, part) ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`,
    )
    .join('')
}

/** The user of a URL as it is printed. */
export function parseGoUser(text: string, rules: UrlRules): string | undefined {
  return parseGoUrl(`proto://${text}@host`, rules).user
}

/** URL.Hostname. */
export function hostnameOf({ host }: GoUrl): string {
  const name = host.replace(/:\d*$/, '')
  return name.startsWith('[') && name.endsWith(']') ? name.slice(1, -1) : name
}

/** URL.String of a URL that was put together from its parts. */
export function printGoUrl(url: GoUrl): string {
  const scheme = url.scheme === '' ? '' : `${url.scheme}:`
  const tail =
    (url.query === '' ? '' : `?${url.query}`) + (url.fragment === '' ? '' : `#${escape(url.fragment, 'fragment')}`)
  if (url.opaque !== '') return scheme + url.opaque + tail
  const hasAuthority = url.host !== '' || url.user !== undefined || (url.scheme !== '' && url.path !== '')
  const user = url.user === undefined ? '' : `${url.user}@`
  const start = scheme + (hasAuthority ? `//${user}${escape(url.host, 'host')}` : '')
  const path = url.path === '*' ? '*' : escape(url.path, 'path')
  if (path !== '' && !path.startsWith('/') && url.host !== '') return `${start}/${path}${tail}`
  return (start === '' && path.split('/')[0]!.includes(':') ? './' : start) + path + tail
}
