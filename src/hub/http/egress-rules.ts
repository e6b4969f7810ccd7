/** The rules of egress for each kind of caller, from the settings of the hub. */
import type { EgressRules } from '../../core/text/egress.ts'
import { splitList } from '../config.ts'
import type { HubConfig } from '../config.ts'
import { isLoopback, parseAddress } from './listen-address.ts'

type EgressConfig = Pick<
  HubConfig,
  'listen' | 'gatewayListen' | 'consoleListen' | 'metricsListen' | 'webhookListen' | 'sourceHosts'
>

/**
 * Sources of a hub that listens only on loopback addresses may reach this machine: all its users are there already, and
 * a first trial has its git server there.
 */
export function sourceEgress(config: EgressConfig): EgressRules {
  const { listen, gatewayListen, consoleListen, metricsListen, webhookListen, sourceHosts } = config
  const listeners = [listen, gatewayListen, consoleListen, metricsListen, webhookListen]
  return {
    subject: 'Sources',
    flag: '--source-hosts',
    isLoopbackOpen: listeners.every((address) => address === undefined || isLoopback(parseAddress(address).host)),
    ...(sourceHosts === undefined ? {} : { hosts: splitList(sourceHosts) }),
  }
}

/** Gates may never reach this machine, unless the operator names it. */
export function gateEgress(hosts: readonly string[] | undefined): EgressRules {
  return { subject: 'gates', flag: '--gate-hosts', isLoopbackOpen: false, ...(hosts ? { hosts } : {}) }
}
