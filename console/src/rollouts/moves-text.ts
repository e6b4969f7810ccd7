/** The plan of a rollback in words. */
import type { PlannedRollback } from '../../../src/plan/release/rollback.ts'

const NAMED = 3

/** One line for each pair of generations, and why nothing can be done if that is so. */
export function movesText(plans: readonly PlannedRollback[]): {
  readonly lines: readonly string[]
  readonly problem: string | undefined
} {
  const groups = Map.groupBy(
    plans.flatMap(({ moves }) => moves),
    ({ bundle, from, to }) => `${bundle}: g${from} → ${to === undefined ? 'its earlier content' : `g${to}`}`,
  )
  const lines = [...groups].map(([what, moves]) => {
    const away = moves.filter(({ isOnline }) => !isOnline).length
    const names = moves.slice(0, NAMED).map(({ cluster }) => cluster)
    const more = moves.length > NAMED ? ` and ${moves.length - NAMED} more` : ''
    const offline = away > 0 ? `, ${away} offline, which follow when they are back` : ''
    return `${what} on ${moves.length} ${moves.length === 1 ? 'cluster' : 'clusters'} (${names.join(', ')}${more})${offline}`
  })
  const stuck = plans.flatMap((plan) => plan.stuck)
  const said = plans.find(({ problem }) => problem !== undefined)?.problem
  const nothing =
    plans.length === 0
      ? 'Newer releases carry the bundles of this rollout.'
      : stuck.length > 0
        ? `${stuck.slice(0, NAMED).join(', ')} ran no earlier release of the bundle.`
        : 'No selected cluster runs the release of this rollout.'
  return { lines, problem: said ?? (lines.length > 0 ? undefined : nothing) }
}
