/**
 * Which files of a directory `flux build` leaves out: the patterns of `.sourceignore` files and of `--ignore-paths`.
 */
import { buildFilter, countPatterns } from '../sources/ignore-files.ts'
import { fromUtf8 } from '../../../core/bytes.ts'
import type { FileTree } from '../../../render/kustomize/loader.ts'

const MAX_FILES = 100_000

/** Says of a path below the directory whether the build leaves it out; without any pattern it leaves out nothing. */
export function ignoredInBuild(
  tree: FileTree,
  directory: string,
  ignorePaths: readonly string[] = [],
  note: (text: string) => void = () => {},
): (path: string) => boolean {
  const files = [...filesBelow(tree, directory, note)]
  const input = {
    files,
    read: (path: string) => fromUtf8(tree.read(`${directory}/${path}`)),
    ignore: ignorePaths.join('\n'),
  }
  return countPatterns(input) === 0 ? () => false : buildFilter(input)
}

function* filesBelow(tree: FileTree, directory: string, note: (text: string) => void): Generator<string> {
  const waiting = ['']
  let count = 0
  for (let next = waiting.pop(); next !== undefined && count < MAX_FILES; next = waiting.pop()) {
    const at = next
    for (const name of tree.list(`${directory}/${at}`.replace(/\/$/, ''))) {
      const path = at === '' ? name : `${at}/${name}`
      count += 1
      if (tree.stat(`${directory}/${path}`)?.kind === 'directory') waiting.push(path)
      else yield path
    }
  }
  if (waiting.length === 0) return
  note(
    `only the first ${count} files below ${directory} were searched for .sourceignore files; patterns of other files have no effect`,
  )
}

/** The tree without the ignored files of a directory. */
export function withoutIgnored(tree: FileTree, directory: string, isIgnored: (path: string) => boolean): FileTree {
  const hides = (path: string): boolean =>
    path.startsWith(`${directory}/`) && isIgnored(path.slice(directory.length + 1))
  return {
    stat: (path) => tree.stat(path),
    read: (path) => tree.read(path),
    list: (path) => [...tree.list(path)].filter((name) => !hides(`${path}/${name}`)),
  }
}
