/** Objects of the API in components: read once, kept while shown, and read again when the kind has changed. */
import { QueryClient, useQuery } from '@tanstack/react-query'
import type { UseQueryResult } from '@tanstack/react-query'
import { read } from './api.ts'
import { ApiFailure } from './api-failure.ts'
import { isComputedFrom, pollInterval } from './kind-changes.ts'
import { onKindsChanged } from './live-state.ts'
import { listPath, objectPath } from './paths.ts'
import type { ListQuery } from './paths.ts'

const STALE_MS = 30_000
/** Changes of a kind within this time cause one read. */
const COLLECT_MS = 500

export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      refetchOnWindowFocus: true,
      retry: (count, error) => !(error instanceof ApiFailure && error.code >= 400 && error.code < 500) && count < 3,
    },
  },
})

const waiting = new Set<string>()
let timer: ReturnType<typeof setTimeout> | undefined

onKindsChanged((plurals) => {
  for (const plural of plurals) waiting.add(plural)
  timer ??= setTimeout(() => {
    const changed = [...waiting]
    waiting.clear()
    timer = undefined
    void queries.invalidateQueries({
      predicate: ({ queryKey: [kind] }) =>
        typeof kind === 'string' && (changed.includes(kind) || isComputedFrom(kind, changed)),
    })
  }, COLLECT_MS)
})

/** A list of objects. */
export function useList<T>(plural: string, query: ListQuery = {}, isEnabled = true): UseQueryResult<readonly T[]> {
  const path = listPath(plural, query)
  return useQuery({
    queryKey: [plural, path],
    enabled: isEnabled,
    refetchInterval: pollInterval(plural),
    queryFn: async ({ signal }) => (await read<{ items: readonly T[] }>(path, signal)).items,
  })
}

/** One object. */
export function useObject<T>(plural: string, name: string, namespace?: string): UseQueryResult<T> {
  const path = objectPath(plural, name, namespace)
  return useQuery({
    queryKey: [plural, path],
    refetchInterval: pollInterval(plural),
    queryFn: ({ signal }) => read<T>(path, signal),
  })
}
