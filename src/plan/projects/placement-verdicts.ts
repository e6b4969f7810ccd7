// Tested by src/cli/commands/placement/placement.test.ts
/** The decisions of a Placement with their reasons, computed from objects of the API. */
import { compact } from '../../core/compact.ts'
import type { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import type { ClusterSet } from '../../kinds/native/cluster-set.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { Project } from '../../kinds/native/project.ts'
import { compileCelFor } from '../placement/cel-predicates.ts'
import { decidePlacement } from '../placement/decide-placement.ts'
import type { PlacementAnswer, PlacementBefore } from '../placement/decide-placement.ts'
import { explainCluster } from '../placement/explain.ts'
import type { ClusterVerdict } from '../placement/explain.ts'
import {
  asPlacementCluster,
  asPlacementSet,
  decisionsOnPages,
  incumbentsOf,
  loadFromOthers,
  questionOf,
} from '../placement/read-objects.ts'
import { selectClusters } from '../placement/select-clusters.ts'
import type { PlacementCluster, PlacementQuestion, PlacementWorld } from '../placement/types.ts'
import { refusalMessage } from './decide.ts'
import { placementRefusal, questionInProject } from './placement-question.ts'
import { indexProjects, projectOf } from './project-of.ts'
import type { Refusal } from './project-of.ts'

/** The objects that a Placement follows from. */
export interface PlacementFacts {
  readonly clusters: readonly Cluster[]
  readonly sets: readonly ClusterSet[]
  readonly bindings: readonly ClusterSetBinding[]
  readonly decisions: readonly PlacementDecision[]
}

/** The fleet as one Placement sees it. */
export interface PlacementView {
  readonly clusters: readonly PlacementCluster[]
  /** The decisions that were made for it. */
  readonly pages: readonly PlacementDecision[]
  readonly world: PlacementWorld
}

/** Shows a Placement the fleet; decisions of other Placements count as load. */
export function placementView(placement: Placement, facts: PlacementFacts, nowMs: number): PlacementView {
  const namespace = placement.metadata.namespace ?? 'default'
  const key = `${namespace}/${placement.metadata.name}`
  const pages = facts.decisions.filter(
    ({ metadata, spec }) => metadata.namespace === namespace && spec.placement === placement.metadata.name,
  )
  return {
    clusters: facts.clusters.map(asPlacementCluster),
    pages,
    world: {
      sets: facts.sets.map(asPlacementSet),
      bound: facts.bindings
        .filter(({ metadata }) => (metadata.namespace ?? 'default') === namespace)
        .map(({ spec }) => spec.clusterSet),
      incumbents: incumbentsOf(decisionsOnPages(pages)),
      load: loadFromOthers(facts.decisions, key),
      now: nowMs,
      compileCel: compileCelFor(placement.spec.scheduler ?? 'native'),
    },
  }
}

/** What a Placement asks for in its Project, and why the Project refuses it; its own question without Projects. */
export function askedOf(
  placement: Placement,
  projects: readonly Project[] | undefined,
): { readonly question: PlacementQuestion; readonly refusal?: Refusal } {
  if (!projects) return { question: questionOf(placement) }
  const found = projectOf(indexProjects(projects), placement.metadata.namespace ?? 'default')
  const question = found.project ? questionInProject(placement, found.project) : questionOf(placement)
  const refusal = placementRefusal(found, placement)
  return refusal ? { question, refusal } : { question }
}

/** A verdict, and the change that the guard stopped if the cluster is still selected because of that. */
export interface Explained extends ClusterVerdict {
  readonly held?: NonNullable<NonNullable<Placement['status']>['held']>
}

/** Explains the decision for each cluster that is asked about. */
export function explainPlacement(
  placement: Placement,
  { clusters, world }: PlacementView,
  projects: readonly Project[] | undefined,
): { readonly problem: string | undefined; explain(cluster: PlacementCluster): Explained } {
  const { question, refusal } = askedOf(placement, projects)
  const selection = selectClusters(question, clusters, world)
  return {
    problem: refusal ? refusalMessage(refusal) : selection.misconfigured,
    explain: (cluster) => {
      const verdict = withHold(placement, explainCluster(selection, cluster, world), world)
      return refusal ? frozenVerdict(verdict, refusal, world.incumbents.has(cluster.name)) : verdict
    },
  }
}

function withHold({ status }: Placement, verdict: ClusterVerdict, { incumbents }: PlacementWorld): Explained {
  const isHeld = status?.held !== undefined && !verdict.selected && incumbents.has(verdict.cluster)
  return isHeld ? { ...verdict, held: status.held! } : verdict
}

/** A verdict of a Placement that its Project refuses: the last decisions stay, and no other check is asked. */
function frozenVerdict(verdict: ClusterVerdict, refusal: Refusal, isSelected: boolean): Explained {
  const kept = isSelected ? 'stays selected, and receives no change' : 'no further cluster is selected'
  const checks = verdict.checks.map((check) => ({ ...check, outcome: 'NotAsked', observed: 'not asked' }) as const)
  return {
    cluster: verdict.cluster,
    selected: isSelected,
    reason: verdict.reason,
    message: `frozen by its Project: ${kept}`,
    checks: [
      {
        name: 'project',
        outcome: 'Stop',
        wanted: 'a Project that allows the Placement',
        observed: refusal.lines[0]!,
      },
      ...checks,
    ],
    wouldChange: [],
  }
}

/** A cluster that an edited Placement would lose. */
export interface LostCluster {
  readonly cluster: string
  readonly why: string
  /** Its Bundles are removed. */
  readonly removed: boolean
}

/** The clusters that an edited or new Placement would gain and lose. */
export interface SimulatedPlacement {
  readonly selected: number
  readonly gained: readonly { readonly cluster: string; readonly why: string }[]
  readonly lost: readonly LostCluster[]
  readonly guard: PlacementAnswer['guard']
  readonly message: string
}

/** Which clusters have Bundles of the Placement, by which its guard judges. */
type GuardedBundles = Pick<PlacementBefore, 'holds' | 'empties'>

/** What an edit of a Placement would change; a problem if the hub would keep the last decisions. */
export function simulateEdit(
  { present, edited }: { readonly present: Placement | undefined; readonly edited: Placement },
  {
    view: { clusters, world, pages },
    projects,
    bundles,
  }: {
    readonly view: PlacementView
    readonly projects: readonly Project[] | undefined
    readonly bundles: GuardedBundles
  },
): { readonly problem: string; readonly isRefused: boolean } | SimulatedPlacement {
  const { question, refusal } = askedOf(edited, projects)
  if (refusal) return { problem: refusalMessage(refusal), isRefused: true }
  const past = compact({
    pages: decisionsOnPages(pages),
    generation: (present?.metadata.generation ?? 0) + 1,
    question: present ? questionOf(present) : undefined,
    maxDropped: edited.spec.guard?.maxDropped,
  })
  // First what the edit means for each cluster, then whether the guard would stop it.
  const free = { ...past, holds: () => true, maxDropped: '100%' }
  const { selection, decisions, message } = decidePlacement(question, clusters, { world, before: free })
  const { guard } = decidePlacement(question, clusters, { world, before: { ...past, ...bundles } })
  if (selection.misconfigured !== undefined) return { problem: selection.misconfigured, isRefused: false }
  const byName = new Map(clusters.map((cluster) => [cluster.name, cluster]))
  const why = (name: string): string => {
    const cluster = byName.get(name)
    return cluster ? explainCluster(selection, cluster, world).message : 'the cluster was deleted'
  }
  const evicted = new Set(decisions.filter(({ state }) => state === 'Evicting').map(({ cluster }) => cluster))
  const gained = [...selection.selected.keys()].filter((name) => !world.incumbents.has(name)).toSorted()
  const lost = [...world.incumbents.keys()].filter((name) => !selection.selected.has(name)).toSorted()
  return {
    selected: selection.selected.size,
    gained: gained.map((cluster) => ({ cluster, why: why(cluster) })),
    lost: lost.map((cluster) => ({ cluster, why: why(cluster), removed: evicted.has(cluster) })),
    guard,
    message,
  }
}
