/** `host:port` texts, and the names of a listener. */

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string
  readonly port: number
}

/** Parses `host:port`, `[v6]:port` or `:port`, whose form the schema of the settings has checked. */
export function parseAddress(text: string): ListenAddress {
  const colon = text.lastIndexOf(':')
  const host = text.slice(0, colon).replace(/^\[|\]$/g, '')
  return { host: host === '' ? '0.0.0.0' : host, port: Number(text.slice(colon + 1)) }
}

/** `host:port`, with brackets around IPv6. */
export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** True if only this machine can connect to the host. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host)
}

/** True for addresses that mean every interface. No client can connect to them. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::'
}

/** The host that clients use for a listener: its own, or the machine's name if it listens on every interface. */
export function reachableHost(host: string, machine: string): string {
  return isWildcard(host) ? machine : host
}

/** Names a server certificate must have for a listener. */
export function certificateNames(hosts: readonly string[]): string[] {
  return [...new Set(['localhost', '127.0.0.1', '::1', ...hosts.filter((host) => !isWildcard(host))])]
}
