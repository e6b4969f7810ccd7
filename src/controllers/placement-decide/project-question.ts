// Tested by src/controllers/placement-decide/reconcile.test.ts
/** What the Project of a Placement's namespace makes of its question. */
import { Stalled } from '../../core/errors.ts'
import { nameSome } from '../../core/text/name-some.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Project } from '../../kinds/native/project.ts'
import { questionOf } from '../../plan/placement/read-objects.ts'
import { compileFilter, firstRejection, incumbencyAt, mayPlaceOn } from '../../plan/placement/filter.ts'
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from '../../plan/placement/types.ts'
import { placementRefusal } from '../../plan/projects/placement-question.ts'
import { refuse } from '../caches/namespace-projects.ts'
import type { ProjectOfNamespace } from '../caches/namespace-projects.ts'

/** The Project of the Placement's namespace; throws Stalled when there is none, or when it refuses the Placement. */
export function projectOfPlacement(placement: Placement, projectOf: ProjectOfNamespace): Project {
  const found = projectOf(placement.metadata.namespace ?? '')
  const kept =
    (placement.status?.pages ?? 0) > 0
      ? 'The last decisions stay in force, and their clusters receive no change.'
      : 'No cluster is selected.'
  refuse(placementRefusal(found, placement), kept)
  return found.project!
}

/**
 * Throws Stalled when the Project, and not the Placement or a cluster, has changed so that selected clusters are no
 * longer allowed: to deselect them would remove what runs there.
 */
export function freezeOutsiders(
  placement: Placement,
  question: PlacementQuestion,
  decided: PlacementQuestion | undefined,
  { world, clusters, project }: OutsiderFacts,
): void {
  const own = questionOf(placement)
  if (question.clusterSets === own.clusterSets || !decided) return
  const before = decided.clusterSets ?? []
  const isNarrower = before.length === 0 || before.some((set) => !question.clusterSets?.includes(set))
  if (!isNarrower) return
  const [now, alone] = [compileFilter(question, world), compileFilter(own, world)]
  const outside = clusters.filter(
    (cluster) =>
      world.incumbents.has(cluster.name) &&
      !mayPlaceOn(now, cluster) &&
      firstRejection(alone, cluster, incumbencyAt(alone, cluster, world)) === undefined,
  )
  if (outside.length === 0) return
  const names = nameSome(outside.map(({ name }) => name))
  throw new Stalled(
    'ProjectFreezes',
    `Project ${project.metadata.name}: spec.clusterSets lists no bound or open ClusterSet with ${names}, which the Placement selects. The last decisions stay in force, and these clusters receive no change. To remove the Bundles there, name the remaining sets in spec.clusterSets of the Placement.`,
  )
}

interface OutsiderFacts {
  readonly world: PlacementWorld
  readonly clusters: readonly PlacementCluster[]
  readonly project: Project
}
