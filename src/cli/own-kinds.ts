/** Our kinds' addresses without their schemas: typebox would double the time to the first byte. */
import type { Client, ListOptions } from '../client/client.ts'
import type { Assignment } from '../kinds/assignment.ts'
import type { ClusterReport } from '../kinds/cluster-report.ts'
import type { Cluster } from '../kinds/cluster.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import type { Rollout } from '../kinds/rollout.ts'

/** Clusters. */
export const CLUSTERS = ownKind<Cluster>('Cluster', 'Cluster')
/** Heads of clusters' documents. */
export const ASSIGNMENTS = ownKind<Assignment>('Assignment', 'Cluster')
/** What clusters last reported. */
export const REPORTS = ownKind<ClusterReport>('ClusterReport', 'Cluster')
/** Releases on their way. */
export const ROLLOUTS = ownKind<Rollout>('Rollout', 'Namespaced')

const PAGE = 500

/** The address of one of our kinds. */
export function ownKind<T extends KubeObject>(kind: string, scope: ResourceType['scope']): ResourceType<T> {
  return { group: 'flotilla.dev', version: 'v1alpha1', kind, plural: `${kind.toLowerCase()}s`, scope }
}

/** Every object of a kind, read in pages. */
export async function listAll<T extends KubeObject>(
  client: Pick<Client, 'list'>,
  kind: ResourceType<T>,
  options: ListOptions = {},
): Promise<T[]> {
  const all: T[] = []
  let token: string | undefined
  do {
    const page = await client.list(kind, { ...options, limit: PAGE, ...(token !== undefined && { continue: token }) })
    all.push(...page.items)
    token = page.continue
  } while (token !== undefined)
  return all
}
