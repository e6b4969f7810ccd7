/** Chooses the proxy to a hub by HTTPS_PROXY and NO_PROXY. */
import { isInNetwork, parseNetwork } from '../../core/text/cidr.ts'

/** The proxy variables of a process. */
export type ProxyVariables = Readonly<Record<string, string | undefined>>

/**
 * The address of the proxy for an endpoint; undefined for a direct connection. Throws for an address that is not valid.
 */
export function proxyFor(endpoint: string, env: ProxyVariables): string | undefined {
  const proxy = env['HTTPS_PROXY'] || env['https_proxy']
  if (!proxy) return undefined
  const { hostname, port } = new URL(endpoint)
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (isExcepted({ host, port: port || '443' }, env['NO_PROXY'] || env['no_proxy'] || '')) return undefined
  let url: URL
  try {
    url = new URL(proxy.includes('://') ? proxy : `http://${proxy}`)
  } catch {
    throw new Error('HTTPS_PROXY: not a valid URL; use for example http://proxy.example:3128')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new Error(`HTTPS_PROXY: ${url.protocol} is not supported; use http:// or https://`)
  }
  return url.href
}

function isExcepted({ host, port }: { readonly host: string; readonly port: string }, noProxy: string): boolean {
  return noProxy
    .split(/[\s,]+/)
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')
    .some((word) => {
      if (word === '*') return true
      if (word.includes('/')) return parseNetwork(word) !== undefined && isInNetwork(host, word)
      const [, name = word, onlyPort] = /^(.*?)(?::(\d+))?$/.exec(word) ?? []
      // An IPv6 address contains colons, which are not a port.
      if (word === host) return true
      if (onlyPort !== undefined && onlyPort !== port) return false
      const domain = name.replace(/^\*?\./, '')
      return host === domain || host.endsWith(`.${domain}`)
    })
}
