/**
 * Resolves targets to clusters. Fleet's criteria (name, selector, group, selector of groups) become alternatives of
 * labels and names, which Placements, variants and rings support; a cluster is selected when an alternative matches.
 */
import { compact } from '../../../core/compact.ts'
import { matchesSelector, requirementsOf } from '../../../core/text/label-selector.ts'
import type { LabelRequirement, LabelSelector } from '../../../core/text/label-selector.ts'
import type { FleetTarget } from '../files/fleet-yaml.ts'

/** The label with the name of a Cluster in Fleet. */
const DISPLAY_NAME = 'management.cattle.io/cluster-display-name'

/** A ClusterGroup; without a selector it has no members. */
export interface FleetGroup {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly selector?: LabelSelector
}

/** A BundleNamespaceMapping: bundles with these labels also select clusters of these workspaces. */
export interface WorkspaceMapping {
  readonly bundles: LabelSelector
  readonly namespaces: readonly string[]
}

/** The other workspaces that a bundle with these labels reaches, in order. */
export function mappedWorkspaces(
  labels: Readonly<Record<string, string>>,
  { mappings = [] }: Pick<Workspace, 'mappings'>,
): readonly string[] {
  const reached = mappings.filter(({ bundles }) => matchesSelector(labels, bundles))
  return [...new Set(reached.flatMap(({ namespaces }) => namespaces))].sort()
}

/** The groups of a workspace, and the names of its clusters. */
export interface Workspace {
  readonly groups: readonly FleetGroup[]
  /** Names of Clusters that have another name in Fleet. */
  aliases(name: string): readonly string[]
  /** Workspaces whose clusters some bundles select, too. */
  readonly mappings?: readonly WorkspaceMapping[]
  /** Called with groups that targets name and that do not exist. */
  missing?(group: string): void
}

/** Clusters with these labels and, if there are names, one of these names. */
export interface Alternative {
  readonly clusterSelector: LabelSelector
  readonly clusters?: readonly string[]
}

/** The alternatives of a target, or the reason why there is no equivalent. */
export type TargetClusters = { readonly alternatives: readonly Alternative[] } | { readonly problem: string }

const MOST = 32

/** Resolves a target to alternatives; an empty list selects no cluster. */
export function resolveTarget(target: FleetTarget, { groups, aliases, missing }: Workspace): TargetClusters {
  const { clusterName, clusterSelector, clusterGroup, clusterGroupSelector } = target
  if (!clusterName && !clusterSelector && !clusterGroup && !clusterGroupSelector) return { alternatives: [] }
  if (clusterGroup && !groups.some(({ name }) => name === clusterGroup)) missing?.(clusterGroup)
  const own = requirementsOf(clusterSelector ?? {})
  const byName: readonly { readonly names?: readonly string[]; readonly labels: readonly LabelRequirement[] }[] =
    clusterName
      ? [
          { names: [...new Set([clusterName, ...aliases(clusterName)])], labels: [] },
          { labels: [{ key: DISPLAY_NAME, operator: 'In', values: [clusterName] }] },
        ]
      : [{ labels: [] }]
  const byGroup = clusterGroup || clusterGroupSelector ? groupAlternatives(target, groups) : [[]]
  if (byGroup === 'too many') {
    return {
      problem: `clusterGroupSelector also means clusters of no group, and ${groups.length} groups are too many to say that; name the groups`,
    }
  }
  const alternatives = byName.flatMap(({ names, labels }) =>
    byGroup.map((group): Alternative => {
      const all = unique([...own, ...labels, ...group])
      return compact({
        clusterSelector: all.length === 0 ? {} : { matchExpressions: all },
        clusters: names,
      })
    }),
  )
  if (alternatives.length > MOST)
    return { problem: `it stands for ${alternatives.length} groups, and ${MOST} can be said` }
  return { alternatives }
}

function groupAlternatives(
  { clusterGroup, clusterGroupSelector }: FleetTarget,
  groups: readonly FleetGroup[],
): LabelRequirement[][] | 'too many' {
  const fits = (labels: Readonly<Record<string, string>>): boolean =>
    clusterGroupSelector === undefined || matchesSelector(labels, clusterGroupSelector)
  const members = groups
    .filter(({ name, labels, selector }) => selector && (!clusterGroup || name === clusterGroup) && fits(labels))
    .map(({ selector }) => requirementsOf(selector!))
  // A cluster without a group counts as a member of a group without name and labels.
  if (clusterGroup || !fits({})) return members
  const outside = outsideOf(groups.flatMap(({ selector }) => (selector ? [requirementsOf(selector)] : [])))
  return outside === 'too many' ? outside : [...members, ...outside]
}

/** Requirements that exclude all of these: for each, one of its requirements does not hold. */
function outsideOf(groups: readonly (readonly LabelRequirement[])[]): LabelRequirement[][] | 'too many' {
  let all: LabelRequirement[][] = [[]]
  for (const requirements of groups) {
    all = all.flatMap((before) => requirements.map((requirement) => [...before, negated(requirement)]))
    if (all.length > MOST) return 'too many'
  }
  return all
}

function negated({ key, operator, values }: LabelRequirement): LabelRequirement {
  switch (operator) {
    case 'In':
      return { key, operator: 'NotIn', values: values ?? [] }
    case 'NotIn':
      return { key, operator: 'In', values: values ?? [] }
    case 'Exists':
      return { key, operator: 'DoesNotExist' }
    case 'DoesNotExist':
      return { key, operator: 'Exists' }
  }
}

function unique(requirements: readonly LabelRequirement[]): LabelRequirement[] {
  return [...new Map(requirements.map((one) => [JSON.stringify(one), one])).values()]
}

/** Whether an alternative selects a cluster. */
export function matchesAlternative(
  { clusterSelector, clusters }: Alternative,
  cluster: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): boolean {
  return (clusters === undefined || clusters.includes(cluster.name)) && matchesSelector(cluster.labels, clusterSelector)
}
