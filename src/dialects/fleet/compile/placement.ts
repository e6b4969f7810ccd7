/** Targets as a Placement. */
import { compact } from '../../../core/compact.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import type { FleetTarget } from '../files/fleet-yaml.ts'
import { resolveTarget } from './targets.ts'
import type { Alternative, Workspace } from './targets.ts'

/** The workspace of clusters without the label. */
export const DEFAULT_WORKSPACE = 'fleet-default'
/** The label with the workspace of a Cluster. */
export const WORKSPACE_LABEL = 'fleet.cattle.io/workspace'

/** Builds the Placement of targets; clusters of other workspaces are never selected. */
export function placementOf(
  targets: readonly FleetTarget[],
  {
    namespace,
    mapped = [],
    workspace,
    wrong,
  }: {
    readonly namespace: string
    /** Other workspaces whose clusters count, too. */
    readonly mapped?: readonly string[]
    readonly workspace: Workspace
    wrong(message: string): void
  },
): Placement['spec'] {
  const alternatives = targets.flatMap((target) => {
    const meaning = resolveTarget(target, workspace)
    if (!('problem' in meaning)) return meaning.alternatives
    wrong(`target ${target.name ?? ''}: ${meaning.problem}`)
    return []
  })
  if (alternatives.length > 32) wrong(`the targets stand for ${alternatives.length} selectors, and 32 can be said`)
  const own = workspacesOf([namespace, ...mapped.filter((one) => one !== namespace)])
  // No cluster is selected: this needs a label that no cluster has, because an empty list of predicates would select
  // all clusters.
  if (alternatives.length === 0) return { clusterSelector: NO_CLUSTER }
  const isPlain = alternatives.length === 1 && alternatives[0]!.clusters === undefined && own.cel === undefined
  if (isPlain) return { clusterSelector: both(own.selector, alternatives[0]!) }
  return { clusterSelector: own.selector, predicates: alternatives.map((one) => predicateOf(one, own.cel)) }
}

const NO_CLUSTER = {
  matchExpressions: [
    { key: WORKSPACE_LABEL, operator: 'Exists' as const },
    { key: WORKSPACE_LABEL, operator: 'DoesNotExist' as const },
  ],
}

type Predicate = NonNullable<Placement['spec']['predicates']>[number]
type Selector = Placement['spec']['clusterSelector']

function workspacesOf(namespaces: readonly string[]): { readonly selector: Selector; readonly cel?: string } {
  const [only, ...more] = namespaces
  if (!namespaces.includes(DEFAULT_WORKSPACE)) {
    if (only !== undefined && more.length === 0) return { selector: { matchLabels: { [WORKSPACE_LABEL]: only } } }
    const values = [...namespaces]
    return { selector: { matchExpressions: [{ key: WORKSPACE_LABEL, operator: 'In', values }] } }
  }
  const label = JSON.stringify(WORKSPACE_LABEL)
  const labels = 'cluster.metadata.labels'
  const isOne =
    more.length === 0
      ? `== ${JSON.stringify(DEFAULT_WORKSPACE)}`
      : `in [${namespaces.map((name) => JSON.stringify(name)).join(', ')}]`
  return { selector: {}, cel: `!(${label} in ${labels}) || ${labels}[${label}] ${isOne}` }
}

function both(selector: Selector, { clusterSelector }: Alternative): Selector {
  const all = [...(selector?.matchExpressions ?? []), ...(clusterSelector.matchExpressions ?? [])]
  return { ...selector, ...compact({ matchExpressions: all.length === 0 ? undefined : all }) } as Selector
}

function predicateOf({ clusterSelector, clusters }: Alternative, workspace: string | undefined): Predicate {
  const cel = [
    ...(workspace === undefined ? [] : [workspace]),
    ...(clusters === undefined
      ? []
      : [`cluster.metadata.name in [${clusters.map((name) => JSON.stringify(name)).join(', ')}]`]),
  ]
  const hasLabels = (clusterSelector.matchExpressions ?? []).length > 0
  return compact({
    labelSelector: hasLabels ? clusterSelector : undefined,
    cel: cel.length === 0 ? undefined : cel,
  }) as Predicate
}
