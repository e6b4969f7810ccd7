/** Light, dark, or as the system has it; kept in the browser. */
import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'flotilla-theme'
const listeners = new Set<() => void>()

function read(): Theme {
  const stored = localStorage.getItem(KEY)
  return stored === 'light' || stored === 'dark' ? stored : 'system'
}

/** Applies the stored theme to the document. */
export function applyTheme(): void {
  const theme = read()
  if (theme === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = theme
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem(KEY)
  else localStorage.setItem(KEY, theme)
  applyTheme()
  for (const listener of listeners) listener()
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, read)
}

/** Calls back when colours change, for what is painted on a canvas. */
export function onThemeChange(listener: () => void): () => void {
  const media = matchMedia('(prefers-color-scheme: dark)')
  media.addEventListener('change', listener)
  listeners.add(listener)
  return () => {
    media.removeEventListener('change', listener)
    listeners.delete(listener)
  }
}
