/** Addresses, networks and URLs, as Kubernetes' libraries read them. */
import { ArrayList, CelFailure, CelOpaque, EntryMap } from '../values.ts'
import { parseOverloads } from './overload.ts'
import type { Overload } from './overload.ts'
import { parseAddress } from '../../core/text/cidr.ts'
import { parseRequestUri } from './url.ts'
import type { ParsedUrl } from './url.ts'

class Ip extends CelOpaque {
  readonly typeName = 'net.IP'
  readonly value: bigint
  readonly bits: 32 | 128
  constructor(value: bigint, bits: 32 | 128) {
    super()
    this.value = value
    this.bits = bits
  }
  equals(other: CelOpaque): boolean {
    return other instanceof Ip && other.value === this.value && other.bits === this.bits
  }
  override toString(): string {
    return this.bits === 32 ? v4Text(this.value) : v6Text(this.value)
  }
  get size(): number {
    return Math.ceil(this.bits / 8)
  }
}

class Cidr extends CelOpaque {
  readonly typeName = 'net.CIDR'
  readonly ip: Ip
  readonly length: number
  constructor(ip: Ip, length: number) {
    super()
    this.ip = ip
    this.length = length
  }
  equals(other: CelOpaque): boolean {
    return other instanceof Cidr && other.ip.equals(this.ip) && other.length === this.length
  }
  override toString(): string {
    return `${String(this.ip)}/${this.length}`
  }
  get size(): number {
    return Math.ceil(this.length / 8)
  }
  masked(): Cidr {
    const host = BigInt(this.ip.bits - this.length)
    return new Cidr(new Ip((this.ip.value >> host) << host, this.ip.bits), this.length)
  }
  contains(ip: Ip): boolean {
    const host = BigInt(this.ip.bits - this.length)
    return ip.bits === this.ip.bits && ip.value >> host === this.ip.value >> host
  }
}

function v4Text(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => String((value >> shift) & 255n)).join('.')
}

function v6Text(value: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16))
  const text = groups.join(':')
  // The longest run of zeros, the first of equals, at least two.
  const runs = [...text.matchAll(/(?<![0-9a-f])0(?::0)+(?![0-9a-f])/g)].sort(
    (a, b) => b[0].length - a[0].length || a.index - b.index,
  )
  const run = runs[0]
  if (!run) return text
  return `${text.slice(0, run.index).replace(/:$/, '')}::${text.slice(run.index + run[0].length).replace(/^:/, '')}`
}

function readIp(text: string): Ip | string {
  const parsed = text.includes('%') ? undefined : parseAddress(text)
  if (text.includes('%') && parseAddress(text))
    return `IP address ${JSON.stringify(text)} with zone value is not allowed`
  if (!parsed) {
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ParseAddr(${JSON.stringify(text)}): unable to parse IP`
  }
  if (parsed.bits === 32 && text.includes(':')) return `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed`
  return new Ip(parsed.value, parsed.bits)
}

function readCidr(text: string): Cidr | string {
  const slash = text.lastIndexOf('/')
  const problem = (what: string) =>
    `network address parse error during conversion from string: netip.ParsePrefix(${JSON.stringify(text)}): ${what}`
  if (slash < 0) return problem("no '/'")
  const ip = readIp(text.slice(0, slash))
  if (typeof ip === 'string')
    return /mapped/.test(ip)
      ? ip.replace(text.slice(0, slash), text)
      : problem(`ParseAddr(${JSON.stringify(text.slice(0, slash))}): unable to parse IP`)
  const length = text.slice(slash + 1)
  if (!/^(?:0|[1-9]\d{0,2})$/.test(length)) return problem(`bad bits after slash: ${JSON.stringify(length)}`)
  return Number(length) > ip.bits ? problem('prefix length out of range') : new Cidr(ip, Number(length))
}

function orFail<T>(value: T | string): T {
  if (typeof value === 'string') throw new CelFailure(value)
  return value
}

const ip = (text: string): Ip => orFail(readIp(text))
const cidr = (text: string): Cidr => orFail(readCidr(text))
const prefix = (value: Ip, bits: number): bigint => value.value >> BigInt(value.bits - bits)

function isLinkLocalUnicast(value: Ip): boolean {
  return value.bits === 32 ? prefix(value, 16) === 0xa9fen : prefix(value, 10) === 0x3fan
}

function isMulticast(value: Ip): boolean {
  return value.bits === 32 ? prefix(value, 4) === 0xen : prefix(value, 8) === 0xffn
}

function isLinkLocalMulticast(value: Ip): boolean {
  return value.bits === 32 ? prefix(value, 24) === 0xe00000n : (prefix(value, 16) & 0xff0fn) === 0xff02n
}

const isLoopback = (value: Ip): boolean => (value.bits === 32 ? prefix(value, 8) === 127n : value.value === 1n)

function isGlobalUnicast(value: Ip): boolean {
  const isBroadcast = value.bits === 32 && value.value === 0xffff_ffffn
  return !isBroadcast && value.value !== 0n && !isLoopback(value) && !isMulticast(value) && !isLinkLocalUnicast(value)
}

const containsCidr = (outer: Cidr, inner: Cidr): boolean => outer.contains(inner.ip) && outer.length <= inner.length

class Url extends CelOpaque {
  readonly typeName = 'kubernetes.URL'
  readonly url: ParsedUrl
  constructor(url: ParsedUrl) {
    super()
    this.url = url
  }
  equals(other: CelOpaque): boolean {
    return other instanceof Url && other.url.text === this.url.text
  }
  override toString(): string {
    return this.url.text
  }
}

function readUrl(text: string): Url {
  const parsed = parseRequestUri(text)
  if (typeof parsed === 'string') throw new CelFailure(`URL parse error during conversion from string: ${parsed}`)
  return new Url(parsed)
}

function queryOf(value: Url): EntryMap {
  const map = new EntryMap()
  for (const [key, values] of value.url.query) map.set(key, new ArrayList([...values]))
  return map
}

/** ip, cidr and url. */
export const NETWORK: readonly Overload[] = parseOverloads({
  string_to_ip: ['ip(string): net.IP', ip],
  is_ip: ['isIP(string): bool', (text: string) => typeof readIp(text) !== 'string'],
  ip_is_canonical: ['ip.isCanonical(string): bool', (text: string) => String(ip(text)) === text],
  ip_to_string: ['string(net.IP): string', String],
  ip_family: ['net.IP::family(): int', (value: Ip) => (value.bits === 32 ? 4n : 6n)],
  ip_is_unspecified: ['net.IP::isUnspecified(): bool', (value: Ip) => value.value === 0n],
  ip_is_loopback: ['net.IP::isLoopback(): bool', isLoopback],
  ip_is_link_local_multicast: ['net.IP::isLinkLocalMulticast(): bool', isLinkLocalMulticast],
  ip_is_link_local_unicast: ['net.IP::isLinkLocalUnicast(): bool', isLinkLocalUnicast],
  ip_is_global_unicast: ['net.IP::isGlobalUnicast(): bool', isGlobalUnicast],
  string_to_cidr: ['cidr(string): net.CIDR', cidr],
  is_cidr: ['isCIDR(string): bool', (text: string) => typeof readCidr(text) !== 'string'],
  cidr_to_string: ['string(net.CIDR): string', String],
  cidr_ip: ['net.CIDR::ip(): net.IP', (value: Cidr) => value.ip],
  cidr_prefix_length: ['net.CIDR::prefixLength(): int', (value: Cidr) => BigInt(value.length)],
  cidr_masked: ['net.CIDR::masked(): net.CIDR', (value: Cidr) => value.masked()],
  cidr_contains_ip_ip: ['net.CIDR::containsIP(net.IP): bool', (value: Cidr, other: Ip) => value.contains(other)],
  cidr_contains_ip_string: [
    'net.CIDR::containsIP(string): bool',
    (value: Cidr, other: string) => value.contains(ip(other)),
  ],
  cidr_contains_cidr: ['net.CIDR::containsCIDR(net.CIDR): bool', containsCidr],
  cidr_contains_cidr_string: [
    'net.CIDR::containsCIDR(string): bool',
    (value: Cidr, other: string) => containsCidr(value, cidr(other)),
  ],
  string_to_url: ['url(string): kubernetes.URL', readUrl],
  is_url_string: ['isURL(string): bool', (text: string) => typeof parseRequestUri(text) !== 'string'],
  url_get_scheme: ['kubernetes.URL::getScheme(): string', (value: Url) => value.url.scheme],
  url_get_host: ['kubernetes.URL::getHost(): string', (value: Url) => value.url.host],
  url_get_hostname: ['kubernetes.URL::getHostname(): string', (value: Url) => value.url.hostname],
  url_get_port: ['kubernetes.URL::getPort(): string', (value: Url) => value.url.port],
  url_get_escaped_path: ['kubernetes.URL::getEscapedPath(): string', (value: Url) => value.url.path],
  url_get_query: ['kubernetes.URL::getQuery(): map<string, list<string>>', queryOf],
})
