/** The effect of a deletion: the clusters that it changes, and what happens to their workloads. */
import type { Client } from '../../../client/client.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { nameSome, plural } from '../../../core/text/name-some.ts'
import { shrinkToken } from '../../../plan/placement/shrink-guard.ts'
import { ASSIGNMENTS, BUNDLES, CLUSTERS, listAll, PLACEMENTS, SOURCES } from '../../api/flotilla-resources.ts'
import type { DeleteTarget } from './delete.ts'

/** The effect of deleting one object. */
export interface DeleteImpact {
  readonly sentence: string
  /** Set if a Bundle is removed from clusters. */
  readonly removal?: Removal
}

/** A Bundle and the clusters that have it. */
export interface Removal {
  readonly bundle: { readonly name: string; readonly namespace: string }
  readonly generation: number
  readonly clusters: readonly string[]
}

const RELEASE_DROP = 'flotilla.dev/release-drop'

/** Describes the effect for each Bundle, Cluster, Placement and Source. Other kinds have no effect on clusters. */
export async function computeDeleteImpacts(
  client: Client,
  victims: readonly DeleteTarget[],
): Promise<readonly DeleteImpact[]> {
  const found: DeleteImpact[] = []
  for (const { resource, name, namespace = '' } of victims) {
    if (resource.group !== BUNDLES.group) continue
    if (resource.kind === BUNDLES.kind) found.push(await bundleReach(client, { name, namespace }))
    if (resource.kind === CLUSTERS.kind) found.push(await clusterReach(client, name))
    if (resource.kind === PLACEMENTS.kind) found.push(await placementReach(client, { name, namespace }))
    if (resource.kind === SOURCES.kind) found.push(await sourceReach(client, { name, namespace }))
  }
  return found
}

interface Named {
  readonly name: string
  readonly namespace: string
}

async function bundleReach(client: Client, key: Named): Promise<DeleteImpact> {
  const { spec, status } = await client.get(BUNDLES, key)
  const clusters = (await listAll(client, ASSIGNMENTS))
    .filter((one) => one.spec.entries?.some((entry) => entry.bundle === `${key.namespace}/${key.name}`))
    .map(({ metadata }) => metadata.name)
    .sort(compareText)
  const isKept = spec.delete?.bundleDeleted === 'Orphan'
  const generation = status?.revision?.generation ?? 0
  return { sentence: bundleSentence(key.name, clusters, isKept), removal: { bundle: key, generation, clusters } }
}

function bundleSentence(name: string, clusters: readonly string[], isKept: boolean): string {
  if (clusters.length === 0) return `bundle "${name}" runs on no cluster`
  const where = `${plural(clusters.length, 'cluster')} (${nameSome(clusters)})`
  return isKept
    ? `bundle "${name}" is orphaned on ${where}, ring by ring; its objects stay (delete.bundleDeleted is Orphan)`
    : `bundle "${name}" is removed from ${where}, ring by ring, with its objects; namespaces, CRDs and volumes are kept unless the Bundle says otherwise`
}

async function clusterReach(client: Client, name: string): Promise<DeleteImpact> {
  const { spec } = await client.get(CLUSTERS, { name })
  const entries =
    (await listAll(client, ASSIGNMENTS)).find(({ metadata }) => metadata.name === name)?.spec.entries?.length ?? 0
  const left = `${plural(entries, 'bundle')} ${entries === 1 ? 'stays' : 'stay'} on the cluster and ${entries === 1 ? 'is' : 'are'} no longer managed`
  const better = spec.refused
    ? ''
    : `; to remove the cluster properly, use "flotilla cluster decommission ${name} --orphan" (or --remove)`
  return { sentence: `cluster "${name}" is deleted and its agent loses access; ${left}${entries === 0 ? '' : better}` }
}

async function placementReach(client: Client, { name, namespace }: Named): Promise<DeleteImpact> {
  const { status } = await client.get(PLACEMENTS, { name, namespace })
  const bundles = (await listAll(client, BUNDLES, { namespace }))
    .filter(({ spec }) => spec.placement === name)
    .map(({ metadata }) => metadata.name)
  if (bundles.length === 0) return { sentence: `no bundle uses placement "${name}"` }
  const where = plural(status?.selected ?? 0, 'cluster')
  return {
    sentence: `placement "${name}" places ${plural(bundles.length, 'bundle')} (${nameSome(bundles)}) on ${where}; running workloads stay and are repaired, new releases reach no cluster`,
  }
}

async function sourceReach(client: Client, { name, namespace }: Named): Promise<DeleteImpact> {
  await client.get(SOURCES, { name, namespace })
  const fed = (await listAll(client, BUNDLES, { namespace }))
    .filter(({ spec }) => spec.source?.name === name)
    .map(({ metadata }) => metadata.name)
  if (fed.length === 0) return { sentence: `no bundle uses source "${name}"` }
  return {
    sentence: `source "${name}" provides ${plural(fed.length, 'bundle')} (${nameSome(fed)}); running workloads stay and are repaired, no new releases are made`,
  }
}

/** Records on the Bundle that the user confirmed the removal from these clusters, so that the guard lets it pass. */
export async function confirmRemoval(client: Client, { bundle, generation, clusters }: Removal): Promise<void> {
  if (clusters.length === 0) return
  const annotations = { [RELEASE_DROP]: shrinkToken({ generation, dropped: clusters }) }
  await client.patch(BUNDLES, bundle, { type: 'merge', body: { metadata: { annotations } } })
}
