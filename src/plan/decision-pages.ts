/** Pages of a Placement's answer count only when all of one generation are there (I-06). */

/** What of a page matters here. */
export interface DecisionPage {
  readonly placementGeneration: number
  readonly page: number
  readonly pages: number
  readonly decisions: readonly { readonly cluster: string; readonly state: string }[]
}

/** The clusters that pages of one placement select at a generation, or undefined while they are not complete. */
export function completeSelection(generation: number, all: readonly DecisionPage[]): readonly string[] | undefined {
  const current = all
    .filter(({ placementGeneration, page, pages }) => placementGeneration === generation && page < pages)
    .sort((a, b) => a.page - b.page)
  const pages = current[0]?.pages ?? 0
  const isComplete =
    pages > 0 && current.length === pages && current.every((page, index) => page.pages === pages && page.page === index)
  if (!isComplete) return undefined
  return current.flatMap(({ decisions }) =>
    decisions.filter(({ state }) => state === 'Selected').map(({ cluster }) => cluster),
  )
}
