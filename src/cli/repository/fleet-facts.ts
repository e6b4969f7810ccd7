// Tested by src/cli/commands/preview/diff.contract.test.ts.
/** The fleet as files and a hub describe it, for commands that ask what would happen. */
import { settleAll } from '../../core/async/settle-all.ts'
import type { Client } from '../../client/client.ts'
import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import type { ClusterSet } from '../../kinds/native/cluster-set.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import type { Override } from '../../kinds/native/override.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Project } from '../../kinds/native/project.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import type { Source } from '../../kinds/native/source.ts'
import { selectClusters } from '../../plan/placement/select-clusters.ts'
import type { Selection } from '../../plan/placement/select-clusters.ts'
import { askedOf, placementView } from '../../plan/projects/placement-verdicts.ts'
import { CLUSTERS, flotillaResource, listAll, PROJECTS } from '../api/flotilla-resources.ts'

/** Everything of a fleet that a preview follows from. */
export interface FleetFacts {
  readonly clusters: readonly Cluster[]
  readonly sets: readonly ClusterSet[]
  readonly bindings: readonly ClusterSetBinding[]
  readonly placements: readonly Placement[]
  readonly decisions: readonly PlacementDecision[]
  readonly bundles: readonly Bundle[]
  readonly overrides: readonly Override[]
  readonly sources: readonly Source[]
  readonly plans: readonly RolloutPlan[]
  /** Undefined when the Projects are not known: without a hub, or without the right to list them. */
  readonly projects?: readonly Project[]
}

/** A fleet of which nothing is known. */
export const NO_FACTS: FleetFacts = {
  clusters: [],
  sets: [],
  bindings: [],
  placements: [],
  decisions: [],
  bundles: [],
  overrides: [],
  sources: [],
  plans: [],
}

/** Reads the fleet of a hub. */
export async function readFleetFacts(client: Client): Promise<FleetFacts> {
  const all = <T extends KubeObject>(kind: string, scope: 'Namespaced' | 'Cluster' = 'Namespaced') =>
    listAll(client, flotillaResource<T>(kind, scope))
  const [clusters, sets, bindings, placements, decisions, bundles, overrides, sources, plans, projects] =
    await settleAll([
      listAll(client, CLUSTERS),
      all<ClusterSet>('ClusterSet', 'Cluster'),
      all<ClusterSetBinding>('ClusterSetBinding'),
      all<Placement>('Placement'),
      all<PlacementDecision>('PlacementDecision'),
      all<Bundle>('Bundle'),
      all<Override>('Override'),
      all<Source>('Source'),
      all<RolloutPlan>('RolloutPlan'),
      readProjects(client),
    ])
  const known = { clusters, sets, bindings, placements, decisions, bundles, overrides, sources, plans }
  return projects ? { ...known, projects } : known
}

/** The Projects of the hub; undefined when the caller may not list them, or the hub is older than Projects. */
export function readProjects(client: Client): Promise<readonly Project[] | undefined> {
  return listAll(client, PROJECTS).catch((caught: unknown) => {
    if (isApiError(caught, 'Forbidden', 'NotFound')) return undefined
    throw caught
  })
}

/** Facts with objects of files over them: an object of a file takes the place of the hub's of the same name. */
export function withObjects(facts: FleetFacts, given: readonly KubeObject[]): FleetFacts {
  const over = <T extends KubeObject>(kind: string, known: readonly T[]): T[] => {
    const own = given.filter((object) => object.kind === kind) as T[]
    const names = new Set(own.map(keyOfObject))
    return [...known.filter((object) => !names.has(keyOfObject(object))), ...own]
  }
  const projects = over('Project', facts.projects ?? [])
  return compact({
    projects: facts.projects || projects.length > 0 ? projects : undefined,
    clusters: over('Cluster', facts.clusters),
    sets: over('ClusterSet', facts.sets),
    bindings: over('ClusterSetBinding', facts.bindings),
    placements: over('Placement', facts.placements),
    decisions: facts.decisions,
    bundles: over('Bundle', facts.bundles),
    overrides: over('Override', facts.overrides),
    sources: over('Source', facts.sources),
    plans: over('RolloutPlan', facts.plans),
  })
}

/** `namespace/name`; objects of files that name no namespace are in `default`. */
export function keyOfObject({ metadata }: KubeObject): string {
  return `${metadata.namespace ?? 'default'}/${metadata.name}`
}

/** What a Placement selects of these clusters. */
export function selectionOf(placement: Placement, facts: FleetFacts): Selection {
  const { clusters, world } = placementView(placement, facts, systemClock.now())
  return selectClusters(askedOf(placement, facts.projects).question, clusters, world)
}
