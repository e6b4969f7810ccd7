/** Destinations of Applications as Clusters: by name, by address, by alias. */
import { nameSome } from '../../../core/text/name-some.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { ARGO_PROJECT } from '../annotations.ts'
import { LOCAL_NAME, LOCAL_SERVER } from '../applicationset/clusters.ts'
import type { ArgoCluster } from '../applicationset/generate-inputs.ts'

const DOMAIN = '.clusters.flotilla.invalid'
/** The alias of the cluster that stands for the one Argo CD runs in. */
export const LOCAL_ALIAS = 'local'

/** The address of a Cluster in `destination.server`: its alias that is an address, or one that is made of its name. */
export function serverOf({ metadata, spec }: Cluster): string {
  return aliasesOf(spec).find(isAddress) ?? ownServer({ metadata })
}

/** The name of a Cluster in `destination.name`: its alias, or its own name. */
export function argoNameOf({ metadata, spec }: Cluster): string {
  return aliasesOf(spec).find((alias) => !isAddress(alias) && alias !== LOCAL_ALIAS) ?? metadata.name
}

function aliasesOf({ aliases = [] }: Cluster['spec']): string[] {
  return aliases.flatMap(({ dialect, name }) => (dialect === 'argo' ? [name] : []))
}

function isAddress(alias: string): boolean {
  return alias.includes('://')
}

/** A Cluster as the clusters generator sees it. */
export function argoClusterOf(cluster: Cluster): ArgoCluster {
  const { name, labels = {}, annotations = {} } = cluster.metadata
  const isLocal = isLocalCluster(cluster)
  return {
    secret: name,
    name: isLocal ? LOCAL_NAME : argoNameOf(cluster),
    server: isLocal ? LOCAL_SERVER : serverOf(cluster),
    labels: { ...labels, 'argocd.argoproj.io/secret-type': 'cluster' },
    annotations,
    ...(annotations[ARGO_PROJECT] !== undefined && { project: annotations[ARGO_PROJECT] }),
  }
}

/** Whether a Cluster stands for the one that Argo CD runs in. */
export function isLocalCluster({ spec }: Cluster): boolean {
  return aliasesOf(spec).includes(LOCAL_ALIAS)
}

/** Each pair of a name and an address by which a destination may mean a Cluster. */
export function spellingsOf(cluster: Cluster): readonly { readonly name: string; readonly server: string }[] {
  const local = isLocalCluster(cluster)
  const names = new Set([argoNameOf(cluster), cluster.metadata.name, ...(local ? [LOCAL_NAME] : [])])
  const servers = new Set([serverOf(cluster), ownServer(cluster), ...(local ? [LOCAL_SERVER] : [])])
  return [...names].flatMap((name) => [...servers].map((server) => ({ name, server: trimmed(server) })))
}

/** A destination. */
export interface Destination {
  readonly name?: string
  readonly server?: string
}

/** The Cluster of a destination, or why there is none. */
export type ResolvedDestination =
  | { readonly cluster: Cluster }
  | {
      readonly problem: string
      /** The destination is the local cluster, which no Cluster is. */ readonly isLocal?: true
    }

/** Finds Clusters by the words of destinations; a word that means several Clusters means none. */
export function createDestinations(clusters: readonly Cluster[]): (destination: Destination) => ResolvedDestination {
  const byName = new Map<string, Set<Cluster>>()
  const byServer = new Map<string, Set<Cluster>>()
  const add = (to: Map<string, Set<Cluster>>, word: string, cluster: Cluster) =>
    to.set(word, (to.get(word) ?? new Set()).add(cluster))
  for (const cluster of clusters) {
    add(byName, cluster.metadata.name, cluster)
    add(byName, argoNameOf(cluster), cluster)
    add(byServer, trimmed(serverOf(cluster)), cluster)
    add(byServer, ownServer(cluster), cluster)
    if (!isLocalCluster(cluster)) continue
    add(byName, LOCAL_NAME, cluster)
    add(byServer, LOCAL_SERVER, cluster)
  }
  return ({ name = '', server = '' }) => {
    if (name !== '' && server !== '') {
      return { problem: "application destination can't have both name and server defined: write one of them" }
    }
    const word = name === '' ? server : name
    if (word === '') return { problem: 'spec.destination must have name or server' }
    const found = [...((name === '' ? byServer.get(trimmed(server)) : byName.get(name)) ?? [])]
    const [cluster, second] = found
    if (second) {
      const names = nameSome(found.map(({ metadata }) => metadata.name).sort())
      return {
        problem: `destination ${word} means several Clusters, by name or by alias of dialect argo: ${names}; write the server https://NAME${DOMAIN}, or change spec.aliases of all but one`,
      }
    }
    if (cluster) return { cluster }
    if (word !== LOCAL_NAME && trimmed(word) !== LOCAL_SERVER) {
      return {
        problem: `there is no accepted Cluster for destination ${word}; "flotilla cluster add" adds one, and spec.aliases of a Cluster with dialect argo gives it another name or address`,
      }
    }
    return {
      isLocal: true,
      problem: `destination ${word} means the Cluster with the alias ${LOCAL_ALIAS} of dialect argo, and there is none; set one: kubectl patch clusters.flotilla.dev NAME --type merge -p '{"spec":{"aliases":[{"dialect":"argo","name":"${LOCAL_ALIAS}"}]}}'`,
    }
  }
}

/** The address that each Cluster has. */
export function ownServer({ metadata }: Pick<Cluster, 'metadata'>): string {
  return `https://${metadata.name}${DOMAIN}`
}

function trimmed(server: string): string {
  return server.replace(/\/+$/, '')
}
