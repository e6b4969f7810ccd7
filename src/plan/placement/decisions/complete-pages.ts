/** Pages of decisions count only when all pages of a generation exist (I-06). */

/** A page of decisions. */
export interface DecisionPage {
  readonly placementGeneration: number
  readonly page: number
  readonly pages: number
  readonly decisions: readonly { readonly cluster: string; readonly state: string }[]
}

/** The pages of a Placement at a generation, in order, or undefined while they are incomplete. */
export function completePages<T extends DecisionPage>(generation: number, all: readonly T[]): readonly T[] | undefined {
  const current = all
    .filter(({ placementGeneration, page, pages }) => placementGeneration === generation && page < pages)
    .sort((a, b) => a.page - b.page)
  const pages = current[0]?.pages ?? 0
  const isComplete =
    pages > 0 && current.length === pages && current.every((page, index) => page.pages === pages && page.page === index)
  return isComplete ? current : undefined
}

/** The clusters that complete pages select. */
export function selectedOn(pages: readonly DecisionPage[]): readonly string[] {
  return pages.flatMap(({ decisions }) =>
    decisions.filter(({ state }) => state === 'Selected').map(({ cluster }) => cluster),
  )
}

/** The selected clusters of a Placement at a generation, or undefined while its pages are incomplete. */
export function completeSelection(generation: number, all: readonly DecisionPage[]): readonly string[] | undefined {
  const pages = completePages(generation, all)
  return pages && selectedOn(pages)
}
