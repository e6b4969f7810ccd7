import type { Draft } from '../../engine/reconciler.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { apartMessage } from '../../plan/fleet/cluster-badges.ts'

/** `dialect/name`, the key under which an alias is indexed. */
export function aliasKeys(cluster: Cluster): string[] {
  return (cluster.spec.aliases ?? []).map(({ dialect, name }) => `${dialect}/${name}`)
}

/** Sets the conditions Accepted, Cloned and AliasTaken. */
export function showRegistration(draft: Draft<Cluster>, havingAlias: (key: string) => readonly Cluster[]): void {
  showAccepted(draft)
  showCloned(draft)
  showAliases(draft, havingAlias)
}

/** Why a cluster is not accepted. */
export function notAcceptedWhy(cluster: Cluster): string {
  return apartMessage(cluster) ?? `Waits for a person: flotilla cluster accept ${cluster.metadata.name}`
}

function showAccepted({ seen, conditions }: Draft<Cluster>): void {
  const { accepted, refused } = seen.spec
  if (accepted && !refused) conditions.set('Accepted', 'True', 'Accepted', 'The cluster may receive content.')
  else conditions.set('Accepted', 'False', refused?.verdict ?? 'NotAccepted', notAcceptedWhy(seen))
}

// Set only after a second agent was seen: most clusters never have this condition.
function showCloned({ seen, conditions }: Draft<Cluster>): void {
  const { agent } = seen.status ?? {}
  if (agent?.rival) {
    const [older, newer] = [agent, agent.rival].map(
      ({ address, since }) => `from ${address ?? 'an unknown address'} (since ${since})`,
    )
    const message = `Two live agents have this cluster's identity: one ${older}, a newer one ${newer}, which is refused. If you did not copy the agent, treat the identity as stolen: flotilla cluster revoke ${seen.metadata.name}`
    conditions.set('Cloned', 'True', 'TwoAgents', message)
  } else if (conditions.get('Cloned')?.status === 'True') {
    conditions.set('Cloned', 'False', 'OneAgent', 'The second agent with this identity is no longer heard.')
  }
}

function showAliases({ seen, conditions }: Draft<Cluster>, havingAlias: (key: string) => readonly Cluster[]): void {
  const taken = aliasKeys(seen).flatMap((key) => {
    const [oldest] = havingAlias(key).toSorted(byAge)
    return oldest && oldest.metadata.name !== seen.metadata.name ? [`${key} (of ${oldest.metadata.name})`] : []
  })
  if (taken.length > 0) {
    const message = `These aliases belong to older Clusters, so they do not name this Cluster: ${taken.join(', ')}`
    conditions.set('AliasTaken', 'True', 'Duplicate', message)
  } else conditions.remove('AliasTaken')
}

function byAge(a: Cluster, b: Cluster): number {
  const [one, other] = [a, b].map(({ metadata }) => `${metadata.creationTimestamp ?? ''} ${metadata.name}`)
  return one! < other! ? -1 : 1
}
