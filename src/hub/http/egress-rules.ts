/** The rules of egress for each kind of caller, from the settings of the hub. */
import { compact } from '../../core/compact.ts'
import type { EgressRules } from '../../core/text/egress.ts'
import { splitList } from '../config.ts'
import type { HubConfig } from '../config.ts'
import { isLoopback, parseAddress } from './listen-address.ts'

type EgressConfig = Pick<
  HubConfig,
  'listen' | 'gatewayListen' | 'consoleListen' | 'metricsListen' | 'webhookListen' | 'sourceHosts' | 'pushHosts'
>

/**
 * Sources of a hub that listens only on loopback addresses may reach this machine: all its users are there already, and
 * a first trial has its git server there.
 */
export function sourceEgress(config: EgressConfig): EgressRules {
  const { sourceHosts } = config
  return compact({
    subject: 'Sources',
    flag: '--source-hosts',
    isLoopbackOpen: listensOnLoopbackOnly(config),
    hosts: sourceHosts === undefined ? undefined : splitList(sourceHosts),
  })
}

/** Agents that the hub runs; as Sources, they may reach this machine in a first trial. */
export function pushEgress(config: EgressConfig): EgressRules {
  const { pushHosts } = config
  return compact({
    subject: 'agents of the hub',
    flag: '--push-hosts',
    isLoopbackOpen: listensOnLoopbackOnly(config),
    hosts: pushHosts === undefined ? undefined : splitList(pushHosts),
  })
}

function listensOnLoopbackOnly(config: EgressConfig): boolean {
  const { listen, gatewayListen, consoleListen, metricsListen, webhookListen } = config
  const listeners = [listen, gatewayListen, consoleListen, metricsListen, webhookListen]
  return listeners.every((address) => address === undefined || isLoopback(parseAddress(address).host))
}

/** Gates may never reach this machine, unless the operator names it. */
export function gateEgress(hosts: readonly string[] | undefined): EgressRules {
  return compact({ subject: 'gates', flag: '--gate-hosts', isLoopbackOpen: false, hosts })
}
