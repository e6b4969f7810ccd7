/** How far the deletion of Bundles reaches: from which clusters they go, and what becomes of their objects there. */
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import { compareText } from '../../plan/placement-facts.ts'
import { shrinkToken } from '../../plan/shrink-guard.ts'
import { ASSIGNMENTS, BUNDLES, listAll } from '../own-kinds.ts'
import type { Victim } from './delete.ts'

/** What deleting one Bundle does. */
export interface Reach {
  readonly bundle: { readonly name: string; readonly namespace: string }
  readonly generation: number
  /** Clusters that have it. */
  readonly clusters: readonly string[]
  readonly sentence: string
}

const RELEASE_DROP = 'flotilla.dev/release-drop'

/** Looks for the Bundles among what is to be deleted. */
export async function reachOf(client: Client, victims: readonly Victim[]): Promise<readonly Reach[]> {
  const bundles = victims.filter(({ resource }) => resource.kind === 'Bundle' && resource.group === BUNDLES.group)
  if (bundles.length === 0) return []
  const items = await listAll(client, ASSIGNMENTS)
  const found: Reach[] = []
  for (const { name, namespace = '' } of bundles) {
    const bundle = await client.get(BUNDLES, { name, namespace }).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
    if (!bundle) continue
    const clusters = items
      .filter(({ spec }) => spec.entries?.some((entry) => entry.bundle === `${namespace}/${name}`))
      .map(({ metadata }) => metadata.name)
      .sort(compareText)
    const isKept = bundle.spec.delete?.bundleDeleted === 'Orphan'
    const generation = bundle.status?.revision?.generation ?? 0
    found.push({
      bundle: { name, namespace },
      generation,
      clusters,
      sentence: sentenceOf(name, clusters, isKept),
    })
  }
  return found
}

function sentenceOf(name: string, clusters: readonly string[], isKept: boolean): string {
  if (clusters.length === 0) return `bundle ${name} runs on no cluster`
  const some = `${clusters.slice(0, 3).join(', ')}${clusters.length > 3 ? ` and ${clusters.length - 3} more` : ''}`
  const where = `${clusters.length} ${clusters.length === 1 ? 'cluster' : 'clusters'} (${some})`
  return isKept
    ? `bundle ${name} leaves ${where}, ring by ring; its objects stay there (delete.bundleDeleted is Orphan)`
    : `bundle ${name} is removed from ${where}, ring by ring, with its objects; namespaces, CRDs and volumes are kept unless it names them`
}

/** Says on the Bundle that a person meant just these clusters, so that the removal does not wait to be asked about. */
export async function letGo(client: Client, { bundle, generation, clusters }: Reach): Promise<void> {
  if (clusters.length === 0) return
  const annotations = { [RELEASE_DROP]: shrinkToken({ generation, dropped: clusters }) }
  await client.patch(BUNDLES, bundle, { type: 'merge', body: { metadata: { annotations } } })
}
