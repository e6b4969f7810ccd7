/** The order of the output. */
import type { SortOptions } from '../kustomization.ts'
import { KustomizeError } from '../kustomize-error.ts'
import type { Resource } from './resource.ts'
import { gvkText, sameGvk } from './resource-id.ts'
import type { ResourceId } from './resource-id.ts'
import { KINDS_FIRST, KINDS_LAST, sortText } from '../transform/transformer-config.ts'

/** Sorts as the kustomization asks; the command line's default is the `legacy` order. */
export function sortResources(resources: readonly Resource[], options: SortOptions): Resource[] {
  const { order = '', legacySortOptions } = options
  if (order !== 'legacy' && order !== 'fifo') {
    throw new KustomizeError("the field 'sortOptions.order' must be one of [fifo, legacy]")
  }
  if (order === 'fifo') {
    if (!legacySortOptions) return [...resources]
    throw new KustomizeError(
      "the field 'sortOptions.legacySortOptions' is set but the selected sort order is 'fifo', not 'legacy'",
    )
  }
  const first = legacySortOptions ? (legacySortOptions.orderFirst ?? []) : KINDS_FIRST
  const last = legacySortOptions ? (legacySortOptions.orderLast ?? []) : KINDS_LAST
  const ranks = new Map([
    ...first.map((kind, i) => [kind, i - first.length] as const),
    ...last.map((kind, i) => [kind, i + 1] as const),
  ])
  const keyed = resources.map((resource) => {
    const id = resource.currentId
    return { resource, id, rank: ranks.get(id.kind) ?? 0, type: sortText(id), text: idSortText(id) }
  })
  keyed.sort((a, b) => {
    if (sameGvk(a.id, b.id)) return compare(a.text, b.text)
    if (a.rank !== b.rank) return a.rank - b.rank
    const isNamespace = a.id.kind === 'Namespace' && b.id.kind === 'Namespace'
    return isNamespace && (a.id.group === '' || b.id.group === '') ? compare(b.type, a.type) : compare(a.type, b.type)
  })
  return keyed.map(({ resource }) => resource)
}

function idSortText(id: ResourceId): string {
  return `${gvkText(id)}|${id.namespace || '~X'}|${id.name || '~N'}`
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
