/** Where the files of a chart are. */

/** A clean directory of a source: `./charts/web/` is `charts/web`. */
export function chartPath(path: string): string {
  const parts: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    if (part === '..') parts.pop()
    else parts.push(part)
  }
  return parts.join('/')
}
