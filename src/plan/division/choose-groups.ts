/** Choice of groups of clusters, for example regions: which together hold enough clusters and have the best scores. */
import { compareText } from '../../core/text/compare-text.ts'

/** A group of clusters. */
export interface ClusterGroup {
  readonly name: string
  /** Number of clusters in the group. */
  readonly value: number
  /** Score of the group; higher is better. */
  readonly weight: number
}

/** The number of groups to choose, and of clusters that the chosen groups must hold. */
export interface GroupLimits {
  readonly min: number
  readonly max: number
  readonly target: number
}

interface Choice {
  readonly groups: readonly ClusterGroup[]
  readonly weight: number
  readonly value: number
}

/** The search visits at most this many combinations: with 20 regions it needs about a million. */
const MAX_STEPS = 5_000_000

/** Thrown when there are too many groups to compare their combinations. */
export class TooManyGroups extends Error {}

/**
 * The best combination of groups, its best group first; empty when no combination fits. A combination ends as soon as
 * it holds `target` clusters in `min` to `max` groups. The combination with the greatest weight wins, then the one
 * with most clusters; a combination that is the beginning of the winner replaces it.
 */
export function chooseGroups(groups: readonly ClusterGroup[], limits: GroupLimits): readonly ClusterGroup[] {
  const choices = findChoices([...groups].sort(bySizeThenWeight), limits)
  const ranked = choices.sort((a, b) => b.weight - a.weight || b.value - a.value)
  let best = ranked[0]
  for (const choice of ranked.slice(1)) if (startsWith(best!, choice)) best = choice
  return best?.groups ?? []
}

function findChoices(sorted: readonly ClusterGroup[], { min, max, target }: GroupLimits): Choice[] {
  const choices: Choice[] = []
  const path: ClusterGroup[] = []
  let steps = 0
  const visit = (sum: number, begin: number): void => {
    if (sum >= target && path.length >= min && path.length <= max) {
      choices.push(choiceOf(path))
      return
    }
    if (path.length >= max) return
    for (let i = begin; i < sorted.length; i++) {
      if (++steps > MAX_STEPS) throw new TooManyGroups(`${sorted.length} groups have too many combinations`)
      path.push(sorted[i]!)
      visit(sum + sorted[i]!.value, i + 1)
      // All groups are needed: no other combination fits, and the path stays as it is.
      if (sorted.length === min) return
      path.pop()
    }
  }
  if (sorted.length > 0) visit(0, 0)
  return choices
}

function choiceOf(path: readonly ClusterGroup[]): Choice {
  return {
    groups: [...path].sort((a, b) => b.weight - a.weight || compareText(a.name, b.name)),
    weight: path.reduce((sum, { weight }) => sum + weight, 0),
    value: path.reduce((sum, { value }) => sum + value, 0),
  }
}

function bySizeThenWeight(a: ClusterGroup, b: ClusterGroup): number {
  return a.value - b.value || b.weight - a.weight || compareText(a.name, b.name)
}

function startsWith(whole: Choice, part: Choice): boolean {
  return part.groups.length < whole.groups.length && part.groups.every(({ name }, i) => whole.groups[i]!.name === name)
}
