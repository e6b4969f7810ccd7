/** Subject alternative names: DNS names, IP addresses and URIs, told apart by their form. */
import { utf8 } from '../bytes.ts'
import { contextTag, DerError, element } from './der.ts'
import type { DerElement } from './der.ts'

const DNS = contextTag(2, 'primitive')
const URI = contextTag(6, 'primitive')
const IP = contextTag(7, 'primitive')

/** DER of an alternative name. */
export function encodeSan(text: string): Uint8Array {
  if (text.includes('://')) return element(URI, utf8(text))
  const ip = parseIp(text)
  return ip ? element(IP, ip) : element(DNS, utf8(text))
}

/** The text of an alternative name. */
export function decodeSan(read: DerElement): string {
  if (read.tag === DNS || read.tag === URI) return String.fromCharCode(...read.content)
  if (read.tag !== IP) return `other:${read.tag.toString(16)}`
  if (read.content.byteLength === 4) return read.content.join('.')
  if (read.content.byteLength !== 16) throw new DerError('IP address has neither 4 nor 16 bytes')
  return formatIpv6(read.content)
}

/** The bytes of an IPv4 or IPv6 address; undefined for anything else. */
function parseIp(text: string): Uint8Array | undefined {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text)
}

function parseIpv4(text: string): Uint8Array | undefined {
  const parts = text.split('.')
  const fine = parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)
  return fine ? Uint8Array.from(parts, Number) : undefined
}

function parseIpv6(text: string): Uint8Array | undefined {
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const groups = [...head!, ...(tail ?? [])]
  const gap = 8 - groups.length
  if (!groups.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) || (tail ? gap < 1 : gap !== 0)) return undefined
  const all = [...head!, ...Array.from({ length: gap }, () => '0'), ...(tail ?? [])]
  return Uint8Array.from(all.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]))
}

// RFC 5952: the longest run of zero groups becomes `::`.
function formatIpv6(bytes: Uint8Array): string {
  const groups = Array.from({ length: 8 }, (_, i) => ((bytes[2 * i]! << 8) | bytes[2 * i + 1]!).toString(16))
  const runs = `:${groups.join(':')}:`.match(/(?::0)+(?=:)/g) ?? []
  const longest = runs.toSorted((a, b) => b.length - a.length)[0]
  if (!longest || longest.length < 4) return groups.join(':')
  const text = `:${groups.join(':')}:`.replace(`${longest}:`, '::')
  return text.replace(/^:(?!:)/, '').replace(/([^:]):$/, '$1')
}
