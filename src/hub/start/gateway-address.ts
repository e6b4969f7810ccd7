/** The addresses of the gateway: where it listens, and the URL that agents use. */
import { hostname } from 'node:os'
import type { HubConfig } from '../config.ts'
import { freePort } from '../http/free-port.ts'
import { certificateNames, formatAddress, parseAddress, reachableHost } from '../http/listen-address.ts'
import type { ListenAddress } from '../http/listen-address.ts'

export interface GatewayAddress {
  readonly listen: ListenAddress
  /** `https://…` that agents use. */
  readonly url: string
  /** Names in the certificate of the listener. */
  readonly names: readonly string[]
}

/** With port 0 a free port is chosen before the listener starts, because the trust bundle names the URL. */
export async function gatewayAddress(config: Pick<HubConfig, 'gatewayListen' | 'gatewayUrl'>): Promise<GatewayAddress> {
  const asked = parseAddress(config.gatewayListen)
  const listen = { ...asked, port: asked.port || (await freePort(asked.host)) }
  const host = reachableHost(listen.host, hostname())
  const url = config.gatewayUrl ?? `https://${formatAddress({ ...listen, host })}`
  return { listen, url, names: certificateNames([listen.host, host, new URL(url).hostname]) }
}
