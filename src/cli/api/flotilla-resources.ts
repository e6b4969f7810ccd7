// Tested by src/cli/commands/placement/guard.test.ts
/** Our kinds' addresses without their schemas: typebox would double the time to the first byte. */
import type { Client, ListOptions } from '../../client/client.ts'
import type { Assignment } from '../../kinds/native/assignment.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Delivery } from '../../kinds/native/delivery.ts'
import type { JoinToken } from '../../kinds/native/join-token.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { ConditionedObject } from '../../plan/fleet/attention.ts'
import type { Project } from '../../kinds/native/project.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { ObjectStateName } from '../../kinds/fields/states.ts'
import type { Window } from '../../kinds/native/window.ts'

export const CLUSTERS = flotillaResource<Cluster>('Cluster', 'Cluster')
export const ASSIGNMENTS = flotillaResource<Assignment>('Assignment', 'Cluster')
export const REPORTS = flotillaResource<ClusterReport>('ClusterReport', 'Cluster')
export const ROLLOUTS = flotillaResource<Rollout>('Rollout', 'Namespaced')
export const WINDOWS = flotillaResource<Window>('Window', 'Namespaced')
export const CLUSTER_WINDOWS = flotillaResource<ClusterWindow>('ClusterWindow', 'Cluster')
export const SOURCES = flotillaResource<Source>('Source', 'Namespaced')
export const BUNDLES = flotillaResource<Bundle>('Bundle', 'Namespaced')
export const DELIVERIES: ResourceType<Delivery> = {
  ...flotillaResource<Delivery>('Delivery', 'Namespaced'),
  plural: 'deliveries',
}
export const PLACEMENTS = flotillaResource<Placement>('Placement', 'Namespaced')
export const RELEASES = flotillaResource<Release>('Release', 'Namespaced')
export const JOIN_TOKENS = flotillaResource<JoinToken>('JoinToken', 'Cluster')
export const PROJECTS = flotillaResource<Project>('Project', 'Cluster')

/** A row of the view API: one object that a Bundle delivers to a cluster. */
export interface ObjectRow extends KubeObject {
  readonly bundle: string
  readonly cluster: string
  readonly object: {
    readonly apiVersion: string
    readonly kind: string
    readonly namespace?: string
    readonly name: string
    readonly digest: string
  }
  readonly state: ObjectStateName
  readonly message?: string
}
export const OBJECTS: ResourceType<ObjectRow> = {
  ...flotillaResource<ObjectRow>('BundleObject', 'Namespaced'),
  group: 'view.flotilla.dev',
}

const PAGE = 500

/** The resource type of a Flotilla kind, without its schema. */
export function flotillaResource<T extends KubeObject>(kind: string, scope: ResourceType['scope']): ResourceType<T> {
  return { group: 'flotilla.dev', version: 'v1alpha1', kind, plural: `${kind.toLowerCase()}s`, scope }
}

/** The resource type of a kind of Rancher Fleet. */
export function fleetResource<T extends KubeObject>(kind: string): ResourceType<T> {
  const plural = `${kind.toLowerCase()}s`
  return { group: 'fleet.cattle.io', version: 'v1alpha1', kind, plural, scope: 'Namespaced' }
}

/** GitRepos of Rancher Fleet; a hub without the dialect does not serve them. */
export const GIT_REPOS = fleetResource<ConditionedObject>('GitRepo')

/** ApplicationSets of Argo CD; a hub without the dialect does not serve them. */
export const APPLICATION_SETS: ResourceType<ConditionedObject> = {
  group: 'argoproj.io',
  version: 'v1alpha1',
  kind: 'ApplicationSet',
  plural: 'applicationsets',
  scope: 'Namespaced',
}

/** The names of the clusters that a selector of labels chooses; undefined without one: all. */
export async function clustersWith(
  client: Pick<Client, 'list'>,
  selector: string | undefined,
): Promise<ReadonlySet<string> | undefined> {
  if (selector === undefined) return undefined
  const clusters = await listAll(client, CLUSTERS, { labelSelector: selector })
  return new Set(clusters.map(({ metadata }) => metadata.name))
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
