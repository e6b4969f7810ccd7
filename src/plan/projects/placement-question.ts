// Tested by src/plan/projects/placement-question.test.ts
/** What the Project of a namespace makes of a Placement: the clusters that it asks for, or why it is frozen. */
import type { Placement } from '../../kinds/native/placement.ts'
import { nameSome } from '../../core/text/name-some.ts'
import { compileFilter, isMember, mayPlaceOn } from '../placement/filter.ts'
import { questionOf } from '../placement/read-objects.ts'
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from '../placement/types.ts'
import { allowedSets, placementRefusals, refusalMessage, refusedBy } from './decide.ts'
import type { ProjectFacts } from './limits.ts'
import type { FoundProject, Refusal } from './project-of.ts'

/** The question of a Placement: without sets of its own it asks for the sets that the Project lists. */
export function questionInProject(placement: Pick<Placement, 'spec'>, project: ProjectFacts): PlacementQuestion {
  const question = questionOf(placement)
  const allowed = allowedSets(project)
  return allowed && (question.clusterSets ?? []).length === 0 ? { ...question, clusterSets: [...allowed] } : question
}

/** Why the Project of the namespace refuses a Placement, or that there is none; undefined when it is decided. */
export function placementRefusal(
  { project, refusal }: FoundProject,
  { spec }: Pick<Placement, 'spec'>,
): Refusal | undefined {
  return project ? refusedBy(placementRefusals(project, spec.clusterSets)) : refusal
}

/** The clusters that a Placement without sets may select in a namespace, or why it may select none. */
export type PlacementReach = { readonly refusal: string } | NamespaceReach

/** The clusters that a namespace reaches. */
export interface NamespaceReach {
  reaches(cluster: PlacementCluster): boolean
  /** The line of the Project, or the ClusterSet, that keeps the namespace from a cluster that it does not reach. */
  whyNot(cluster: PlacementCluster): string | undefined
}

/** The reach of a namespace with this Project; `bound` are the ClusterSets that the namespace is bound to. */
export function placementReach(found: FoundProject, world: Pick<PlacementWorld, 'sets' | 'bound'>): PlacementReach {
  const placement = { spec: { clusterSelector: {} } }
  const refusal = placementRefusal(found, placement)
  if (refusal) return { refusal: refusalMessage(refusal) }
  const filter = compileFilter(questionInProject(placement, found.project!), {
    ...world,
    compileCel: () => () => false,
  })
  return {
    reaches: (cluster) => mayPlaceOn(filter, cluster),
    whyNot: (cluster) => (mayPlaceOn(filter, cluster) ? undefined : whyOutside(cluster, found.project!, world)),
  }
}

function whyOutside(
  cluster: PlacementCluster,
  project: ProjectFacts,
  { sets }: Pick<PlacementWorld, 'sets' | 'bound'>,
): string {
  const member = sets.filter((set) => isMember(cluster, set)).map(({ name }) => name)
  const allowed = allowedSets(project)
  const may = allowed ? member.filter((name) => allowed.includes(name)) : member
  if (may.length === 0) {
    return `Project ${project.metadata.name}: spec.clusterSets lists ${nameSome(allowed ?? [])}, and the cluster is in ${member.length === 0 ? 'no ClusterSet' : nameSome(member)}`
  }
  return `the cluster is in ClusterSet ${nameSome(may)}, and the namespace has no ClusterSetBinding to it`
}
