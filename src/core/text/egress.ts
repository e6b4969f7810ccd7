/**
 * Which servers the hub may contact at addresses that its users choose. Users must not reach through the hub what only
 * the hub can reach: the machine itself, its link (where clouds hand out credentials) and addresses that translate to
 * these. Private networks stay open, because git servers and registries of a data centre are there.
 *
 * The operator's list of hosts narrows the rules to these hosts. A host that is listed without a pattern may be
 * anywhere.
 */
import { isInNetwork } from './cidr.ts'
import { matchesGlob } from './glob.ts'

/** The rules of one kind of caller; plain data. */
export interface EgressRules {
  /** The callers, as messages name them. */
  readonly subject: string
  /** The flag with the list of hosts. */
  readonly flag: string
  /** `host`, `host:port` or patterns like `*.example.com`. If omitted, all hosts at open addresses. */
  readonly hosts?: readonly string[]
  /** Whether addresses of this machine are open. */
  readonly isLoopbackOpen: boolean
}

/** A server that the list of hosts allows. */
export interface EgressTarget {
  /** A name or an address, without brackets. */
  readonly host: string
  /** True if the list of hosts names this host without a pattern: its address is not checked. */
  readonly isNamed: boolean
  /** True if the list of hosts has the host, also with a pattern. */
  readonly isListed: boolean
}

/** A server that the rules refuse. */
export class EgressRefused extends Error {
  override readonly name = 'EgressRefused'
}

const LOOPBACK = ['127.0.0.0/8', '::1/128']

const CLOSED = [
  // This network, link-local, multicast and reserved addresses.
  '0.0.0.0/8',
  '169.254.0.0/16',
  '224.0.0.0/4',
  '240.0.0.0/4',
  'fe80::/10',
  'ff00::/8',
  // Addresses at which clouds hand out credentials, besides the link-local addresses.
  '100.100.100.200/32',
  '168.63.129.16/32',
  '192.0.0.192/32',
  'fd00:ec2::/32',
  'fd20:ce::254/128',
  // Unspecified and IPv4-compatible addresses, and addresses that translate to IPv4.
  '::/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '2001::/32',
  '2002::/16',
]

/** Checks a host and, if the host is an address, the address. Throws EgressRefused. */
export function allowHost(rules: EgressRules, { hostname, port }: { hostname: string; port: string }): EgressTarget {
  const { subject, flag, hosts } = rules
  const names = [hostname, `${hostname}:${port}`]
  const matching = (hosts ?? []).filter((pattern) => names.some((name) => matchesGlob(pattern, name)))
  if (hosts && matching.length === 0) {
    throw new EgressRefused(
      `${hostname}:${port} is not in the hub's list of hosts for ${subject}; the hub's operator may add it to ${flag}`,
    )
  }
  const host = hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
  const target = { host, isNamed: matching.some((pattern) => names.includes(pattern)), isListed: matching.length > 0 }
  checkAddress(rules, target, host)
  return target
}

/** Checks an address of an allowed host; a name is no address and passes. Throws EgressRefused. */
export function checkAddress({ subject, flag, isLoopbackOpen }: EgressRules, target: EgressTarget, address: string) {
  if (target.isNamed) return
  const isIn = (networks: readonly string[]) => networks.some((network) => isInNetwork(address, network))
  const isLoopback = isIn(LOOPBACK)
  if (isLoopback ? isLoopbackOpen : !isIn(CLOSED)) return
  throw new EgressRefused(
    `${target.host} has the address ${address}, which ${subject} may not reach; the hub's operator may name it in ${flag}`,
  )
}
