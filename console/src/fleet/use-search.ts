/** Filters and choices of a page in its address, so that the address can be sent to another person. */
import { useCallback } from 'react'
import { useLocation, useSearch } from 'wouter'

export type SetSearch = (changes: Readonly<Record<string, string>>) => void

/** The parameters of the address; a value equal to its default is not written. */
export function useSearchValues<T extends Readonly<Record<string, string>>>(
  defaults: T,
): readonly [{ readonly [K in keyof T]: string }, SetSearch] {
  const search = useSearch()
  const [path, go] = useLocation()
  const given = new URLSearchParams(search)
  const values = Object.fromEntries(Object.entries(defaults).map(([name, value]) => [name, given.get(name) ?? value]))
  const set = useCallback<SetSearch>(
    (changes) => {
      // Read anew: two changes may follow each other before the next render.
      const next = new URLSearchParams(location.search)
      for (const [name, value] of Object.entries(changes)) {
        if (value === defaults[name]) next.delete(name)
        else next.set(name, value)
      }
      const text = next.toString()
      go(`${path}${text === '' ? '' : `?${text}`}`, { replace: true })
    },
    [defaults, go, path],
  )
  return [values as { [K in keyof T]: string }, set]
}
