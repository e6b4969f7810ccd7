// Tested by src/controllers/projects.sim.test.ts
/** Bundles on clusters that the Project of the namespace freezes, for Rollouts and documents. */
import { canonicalJson } from '../../core/json.ts'
import { compact } from '../../core/compact.ts'
import { isMember } from '../../plan/placement/filter.ts'
import { asPlacementCluster, asPlacementSet } from '../../plan/placement/read-objects.ts'
import { allowedSets, refusalMessage } from '../../plan/projects/decide.ts'
import type { BundleHold } from '../../plan/windows/bundle-hold.ts'
import type { Caches } from './caches.ts'
import { isOwnDelivery } from '../../plan/document/delivery.ts'
import { bundleRefusal, frozenContent, namespaceProjects } from './namespace-projects.ts'

/** The holds of a Project. */
export interface ProjectHolds {
  of(bundle: string, cluster: string): BundleHold | undefined
  /** The same text as long as the holds of the Bundles and the allowed sets do not change. */
  readonly stamp: string
}

/**
 * What the Project of a namespace freezes: whole Bundles, and clusters outside the sets that the Project lists. A
 * removal is never frozen: its author has asked for it.
 */
export function projectHolds(caches: Caches, namespace: string, bundles: readonly string[]): ProjectHolds {
  const find = namespaceProjects(caches)
  const { project } = find(namespace)
  const frozen = Object.fromEntries(bundles.map((name) => [name, bundleFreeze(caches, `${namespace}/${name}`)]))
  const allowed = project && allowedSets(project)
  const sets = allowed?.flatMap((name) => {
    const set = caches.clusterSets.lister.get(name)
    return set ? [asPlacementSet(set)] : []
  })
  return {
    stamp: canonicalJson(compact({ frozen: compact(frozen), sets })),
    of: (bundle, name) => {
      const message = frozen[bundle]
      if (message !== undefined) return hold(message)
      const cluster = sets && caches.clusters.lister.get(name)
      if (!cluster || sets.some((set) => isMember(asPlacementCluster(cluster), set))) return undefined
      return hold(`Project ${project!.metadata.name}: spec.clusterSets lists no ClusterSet with ${name}.`)
    },
  }
}

/**
 * Why an entry of a document is frozen on a cluster; undefined when it is not. The namespace that has the name of the
 * cluster delivers to this cluster without a Project, as the systems do that have a namespace for each cluster. Where
 * the namespace has a Project, the Project holds.
 */
export function entryFreeze(caches: Caches, entry: string, cluster: string): string | undefined {
  const slash = entry.indexOf('/')
  const [namespace, name] = [entry.slice(0, slash), entry.slice(slash + 1)]
  const isFree = isOwnDelivery(entry, cluster) && !namespaceProjects(caches)(namespace).project
  return isFree ? undefined : projectHolds(caches, namespace, [name]).of(name, cluster)?.message
}

/** Why a Bundle is frozen by its Project; undefined when it is not. */
function bundleFreeze(caches: Caches, key: string): string | undefined {
  const bundle = caches.bundles.lister.get(key)
  const refusal = bundle
    ? bundleRefusal(caches, bundle)
    : namespaceProjects(caches)(key.slice(0, key.indexOf('/'))).refusal
  return refusal ? refusalMessage(refusal) : frozenContent(bundle)
}

function hold(message: string): BundleHold {
  return { for: 'freeze', badge: 'Frozen', message }
}
