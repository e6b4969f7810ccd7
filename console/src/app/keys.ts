/** Keys that work on every page: ⌘K or Ctrl-K searches, `/` goes to the filter, `g` and a letter open a page. */
import { useEffect } from 'react'
import { PAGES } from './pages.ts'

const CHORD_MS = 1_200

export interface KeyActions {
  readonly go: (path: string) => void
  readonly search: () => void
}

export function useKeys({ go, search }: KeyActions): void {
  useEffect(() => {
    let chordMs = -CHORD_MS
    const listener = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        return search()
      }
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return
      const page = PAGES.find(({ key }) => key === event.key)
      if (event.timeStamp - chordMs < CHORD_MS && page) {
        chordMs = -CHORD_MS
        return go(page.to)
      }
      if (event.key === 'g') chordMs = event.timeStamp
      if (event.key !== '/') return
      const filter = document.querySelector<HTMLInputElement>('[data-filter]')
      event.preventDefault()
      if (filter) filter.focus()
      else search()
    }
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [go, search])
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
}
