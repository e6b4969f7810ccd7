/** Go's path package, and filepath on a Unix machine. */
import { goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'

/** path.Clean. */
export function cleanPath(path: string): string {
  if (path === '') return '.'
  const rooted = path.startsWith('/')
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part !== '..') parts.push(part)
    else if (parts.length > 0 && parts.at(-1) !== '..') parts.pop()
    else if (!rooted) parts.push('..')
  }
  return (rooted ? '/' : '') + parts.join('/') || (rooted ? '/' : '.')
}

/** path.Base. */
export function basePath(path: string): string {
  if (path === '') return '.'
  const trimmed = path.replace(/\/+$/, '')
  return trimmed === '' ? '/' : trimmed.slice(trimmed.lastIndexOf('/') + 1)
}

/** path.Dir. */
function directoryOf(path: string): string {
  return cleanPath(path.slice(0, path.lastIndexOf('/') + 1))
}

/** path.Ext. */
function extensionOf(path: string): string {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot < 0 ? '' : name.slice(dot)
}

const text1 = (call: (text: string) => unknown) => goFunction(['string'], ([text]) => call(text as string))

/** Paths. */
export const PATH_FUNCTIONS: Readonly<Record<string, GoFunction>> = {
  base: text1(basePath),
  dir: text1(directoryOf),
  clean: text1(cleanPath),
  ext: text1(extensionOf),
  isAbs: text1((path) => path.startsWith('/')),
  osBase: text1(basePath),
  osDir: text1(directoryOf),
  osClean: text1(cleanPath),
  osExt: text1(extensionOf),
  osIsAbs: text1((path) => path.startsWith('/')),
}
