/** Filters of a Placement: sets, labels, predicates and taints; compiled once, evaluated per cluster. */
import { compact } from '../../core/compact.ts'
import { requirementsOf } from '../../core/text/label-selector.ts'
import type { LabelRequirement } from '../../core/text/label-selector.ts'
import type {
  CelProgram,
  Misconfigured,
  PlacementCluster,
  PlacementQuestion,
  PlacementSet,
  PlacementWorld,
  VerdictReason,
} from './types.ts'
import { selectorProblem, unmetBy } from './selectors.ts'
import { judgeTaints, tolerationProblem } from './taints.ts'
import type { TaintVerdict } from './taints.ts'

/** The label that puts a cluster into a set that has no selector of its own. */
export const CLUSTER_SET_LABEL = 'flotilla.dev/cluster-set'

/** Why a filter rejects a cluster. */
export type FilterReason = Extract<
  VerdictReason,
  'Leaving' | 'NotAccepted' | 'SetDiffers' | 'SelectorDiffers' | 'PredicatesDiffer' | 'Tainted'
>

/** A compiled predicate. */
export interface CompiledPredicate {
  readonly labels: readonly LabelRequirement[]
  readonly claims: readonly LabelRequirement[]
  readonly cel: readonly { readonly expression: string; readonly program: CelProgram }[]
}

/** The compiled filters of a Placement. */
export interface CompiledFilter {
  readonly question: PlacementQuestion
  readonly scheduler: 'native' | 'ocm'
  readonly labels: readonly LabelRequirement[]
  /** The named clusters; absent: the name does not matter. */
  readonly names?: ReadonlySet<string>
  readonly predicates: readonly CompiledPredicate[]
  /** Sets whose members may be selected, by name. */
  readonly eligible: ReadonlyMap<string, PlacementSet>
  /** Sets whose members can be selected only through a binding. */
  readonly guarded: readonly PlacementSet[]
  /**
   * Problems of the predicates or tolerations. The OCM scheduler reports them only when there are clusters to filter.
   */
  readonly predicateProblem?: string
  readonly tolerationProblem?: string
}

/** Compiles the filters; problems of selectors are part of the result. */
export function compileFilter(
  question: PlacementQuestion,
  world: Pick<PlacementWorld, 'sets' | 'bound' | 'compileCel'>,
): CompiledFilter {
  const scheduler = question.scheduler ?? 'native'
  const predicates = compilePredicates(question, world)
  const tolerations = tolerationProblem(question.tolerations ?? [])
  return compact({
    question,
    scheduler,
    labels: requirementsOf(question.clusterSelector),
    names: question.clusters && new Set(question.clusters),
    predicates: 'misconfigured' in predicates ? [] : predicates,
    eligible: eligibleSets(question, scheduler, world),
    guarded: world.sets.filter(({ access }) => access === 'Bound'),
    predicateProblem: 'misconfigured' in predicates ? predicates.misconfigured : undefined,
    tolerationProblem: tolerations || undefined,
  })
}

/** The first filter that rejects a cluster, or undefined. */
export function firstRejection(
  filter: CompiledFilter,
  cluster: PlacementCluster,
  at: { readonly now: number; readonly incumbent: boolean },
): FilterReason | undefined {
  if (cluster.leaving) return 'Leaving'
  if (filter.scheduler === 'native' && !cluster.accepted) return 'NotAccepted'
  if (!mayPlaceOn(filter, cluster)) return 'SetDiffers'
  if (filter.names?.has(cluster.name) === false) return 'SelectorDiffers'
  if (unmetBy(cluster.labels, filter.labels)) return 'SelectorDiffers'
  if (!meetsPredicates(filter, cluster)) return 'PredicatesDiffer'
  return judgeClusterTaints(filter, cluster, at).tolerated ? undefined : 'Tainted'
}

/**
 * Whether a cluster counts as already selected. A cluster that still has bundles of the Placement does, also while it
 * is Evicting; for Open Cluster Management only a decision counts.
 */
export function incumbencyAt(
  { scheduler }: Pick<CompiledFilter, 'scheduler'>,
  cluster: Pick<PlacementCluster, 'name'>,
  world: Pick<PlacementWorld, 'now' | 'incumbents' | 'evicting'>,
): { readonly now: number; readonly incumbent: boolean } {
  const isEvicting = scheduler === 'native' && (world.evicting?.has(cluster.name) ?? false)
  return { now: world.now, incumbent: world.incumbents.has(cluster.name) || isEvicting }
}

export function judgeClusterTaints(
  filter: CompiledFilter,
  cluster: PlacementCluster,
  at: { readonly now: number; readonly incumbent: boolean },
): TaintVerdict {
  if (!cluster.taints || cluster.taints.length === 0) return NO_TAINTS
  return judgeTaints(cluster, filter.question.tolerations ?? [], { ...at, scheduler: filter.scheduler })
}

const NO_TAINTS: TaintVerdict = { tolerated: true, disliked: 0 }

export function isMember(cluster: PlacementCluster, set: PlacementSet): boolean {
  if (set.selector) return !unmetBy(cluster.labels, requirementsOf(set.selector))
  return Object.hasOwn(cluster.labels, CLUSTER_SET_LABEL) && cluster.labels[CLUSTER_SET_LABEL] === set.name
}

/** Whether sets and bindings allow the Placement's namespace to select the cluster. */
export function mayPlaceOn(filter: CompiledFilter, cluster: PlacementCluster): boolean {
  const { eligible, guarded, scheduler, question } = filter
  if (eligible.size > 0) for (const set of eligible.values()) if (isMember(cluster, set)) return true
  if (scheduler === 'ocm' || (question.clusterSets ?? []).length > 0) return false
  for (const set of guarded) if (isMember(cluster, set)) return false
  return true
}

/** Whether one of the predicates holds; without predicates all clusters pass. */
export function meetsPredicates({ predicates }: CompiledFilter, cluster: PlacementCluster): boolean {
  if (predicates.length === 0) return true
  for (const predicate of predicates) if (meetsPredicate(predicate, cluster)) return true
  return false
}

function meetsPredicate({ labels, claims, cel }: CompiledPredicate, cluster: PlacementCluster): boolean {
  if (unmetBy(cluster.labels, labels) || unmetBy(cluster.claims ?? {}, claims)) return false
  for (const { program } of cel) if (program(cluster) !== true) return false
  return true
}

function eligibleSets(
  question: PlacementQuestion,
  scheduler: 'native' | 'ocm',
  { sets, bound }: Pick<PlacementWorld, 'sets' | 'bound'>,
): ReadonlyMap<string, PlacementSet> {
  const asked = question.clusterSets ?? []
  const isBound = new Set(bound)
  const eligible = sets.filter(
    ({ name, access }) =>
      (asked.length === 0 || asked.includes(name)) &&
      (isBound.has(name) || (scheduler === 'native' && access === 'Open' && asked.includes(name))),
  )
  return new Map(eligible.map((set) => [set.name, set]))
}

function compilePredicates(
  { predicates = [], clusterSelector }: PlacementQuestion,
  { compileCel }: Pick<PlacementWorld, 'compileCel'>,
): readonly CompiledPredicate[] | Misconfigured {
  const outer = selectorProblem(clusterSelector)
  if (outer) return { misconfigured: `clusterSelector: ${outer}.` }
  const compiled: CompiledPredicate[] = []
  for (const [i, { labelSelector = {}, claimSelector = {}, cel = [] }] of predicates.entries()) {
    const problem = selectorProblem(labelSelector) ?? selectorProblem(claimSelector)
    if (problem) return { misconfigured: `predicates[${i}]: ${problem}.` }
    const programs: { expression: string; program: CelProgram }[] = []
    for (const expression of cel) {
      const program = compileCel?.(expression) ?? { error: 'CEL is not available here' }
      if (typeof program !== 'function') {
        return { misconfigured: `predicates[${i}].cel ${JSON.stringify(expression)}: ${program.error}.` }
      }
      programs.push({ expression, program })
    }
    compiled.push({ labels: requirementsOf(labelSelector), claims: requirementsOf(claimSelector), cel: programs })
  }
  return compiled
}
