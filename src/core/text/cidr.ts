/** Networks in CIDR form (`10.8.0.0/16`, `2001:db8::/32`) and the addresses in them. */

/** An address as a number, and how many bits it has. IPv4 inside IPv6 (`::ffff:10.0.0.1`) is IPv4. */
export interface IpAddress {
  readonly value: bigint
  readonly bits: 32 | 128
}

/** A network: the addresses that share the first `length` bits. */
export interface Network {
  readonly base: IpAddress
  readonly length: number
}

const MAPPED = 0xffffn << 32n

/** Reads an address as sockets print it (a zone like `%eth0` is dropped); undefined when it is none. */
export function parseAddress(text: string): IpAddress | undefined {
  const [address = ''] = text.split('%', 1)
  if (!address.includes(':')) {
    const value = parseV4(address)
    return value === undefined ? undefined : { value, bits: 32 }
  }
  const value = parseV6(address)
  if (value === undefined) return undefined
  return value >> 32n === MAPPED >> 32n ? { value: value & 0xffff_ffffn, bits: 32 } : { value, bits: 128 }
}

/**
 * Reads a network; undefined when it is none, or when its address has bits beyond the prefix (`10.0.0.1/8` is a
 * mistake).
 */
export function parseNetwork(text: string): Network | undefined {
  const [address = '', prefix = '', ...more] = text.split('/')
  const base = address.includes('%') ? undefined : parseAddress(address)
  if (!base || more.length > 0 || !/^(0|[1-9]\d{0,2})$/.test(prefix)) return undefined
  // A mapped network like ::ffff:0:0/96 would mean something else after mapping: only plain forms count.
  if (base.bits === 32 && address.includes(':')) return undefined
  const length = Number(prefix)
  if (length > base.bits) return undefined
  const host = BigInt(base.bits - length)
  return (base.value >> host) << host === base.value ? { base, length } : undefined
}

/** Whether an address is in a network; what cannot be read is in none. */
export function isInNetwork(address: string, network: string): boolean {
  const ip = parseAddress(address)
  const net = parseNetwork(network)
  if (!ip || !net || ip.bits !== net.base.bits) return false
  const host = BigInt(ip.bits - net.length)
  return ip.value >> host === net.base.value >> host
}

function parseV4(text: string): bigint | undefined {
  const parts = text.split('.')
  if (parts.length !== 4) return undefined
  let value = 0n
  for (const part of parts) {
    // A leading zero is octal to some readers and decimal to others.
    if (!/^(0|[1-9]\d{0,2})$/.test(part) || Number(part) > 255) return undefined
    value = (value << 8n) | BigInt(part)
  }
  return value
}

function parseV6(text: string): bigint | undefined {
  const tail = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text)
  let whole = text
  if (tail) {
    const v4 = parseV4(tail[2]!)
    if (v4 === undefined) return undefined
    whole = `${tail[1]}${(v4 >> 16n).toString(16)}:${(v4 & 0xffffn).toString(16)}`
  }
  const halves = whole.split('::')
  if (halves.length > 2) return undefined
  const [head = [], rest = []] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const missing = 8 - head.length - rest.length
  if (halves.length === 2 ? missing < 1 : missing !== 0) return undefined
  const groups = [...head, ...Array.from({ length: missing }, () => '0'), ...rest]
  if (groups.some((group) => !/^[0-9A-Fa-f]{1,4}$/.test(group))) return undefined
  return groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n)
}
