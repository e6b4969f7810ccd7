/**
 * Which clusters a target means. Fleet's criteria (name, selector, group, selector of groups) are turned into alternatives of
 * labels and names, so that Placements, variants and rings can say them; a cluster is meant when one alternative fits.
 */
import { matchesSelector, requirementsOf } from '../../../core/text/label-selector.ts'
import type { LabelRequirement, LabelSelector } from '../../../core/text/label-selector.ts'
import type { FleetTarget } from '../files/fleet-yaml.ts'

/** The label whose value a Cluster goes by besides its name. */
const DISPLAY_NAME = 'management.cattle.io/cluster-display-name'

/** A ClusterGroup; one without a selector has no members. */
export interface FleetGroup {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly selector?: LabelSelector
}

/** What targets are told apart by: the groups of the workspace, and what its clusters are called. */
export interface Workspace {
  readonly groups: readonly FleetGroup[]
  /** Names of Clusters that go by another name in Fleet. */
  aliases(name: string): readonly string[]
  /** Hears of groups that targets name and nobody knows. */
  missing?(group: string): void
}

/** Clusters with these labels and, when there are names, one of these names. */
export interface Alternative {
  readonly clusterSelector: LabelSelector
  readonly clusters?: readonly string[]
}

/** What a target is, or the sentence that says why it cannot be said. */
export type TargetClusters = { readonly alternatives: readonly Alternative[] } | { readonly problem: string }

const MOST = 32

/** Turns a target into alternatives; none: nobody is meant. */
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
      return {
        clusterSelector: all.length === 0 ? {} : { matchExpressions: all },
        ...(names ? { clusters: names } : {}),
      }
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
  // A cluster of no group is asked as if it were in one without name and labels.
  if (clusterGroup || !fits({})) return members
  const outside = outsideOf(groups.flatMap(({ selector }) => (selector ? [requirementsOf(selector)] : [])))
  return outside === 'too many' ? outside : [...members, ...outside]
}

/** Labels that meet none of these: for each, one of its requirements does not hold. */
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

/** Whether an alternative means a cluster. */
export function matchesAlternative(
  { clusterSelector, clusters }: Alternative,
  cluster: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): boolean {
  return (clusters === undefined || clusters.includes(cluster.name)) && matchesSelector(cluster.labels, clusterSelector)
}
