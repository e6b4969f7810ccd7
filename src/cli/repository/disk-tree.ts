/** Reads files on disk for a kustomize build. */
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import type { FileTree } from '../../render/kustomize/loader.ts'

/** The file system with resolved links. Each path is read once. */
export function diskTree(): FileTree {
  const known = new Map<string, ReturnType<FileTree['stat']>>()
  return {
    stat(path) {
      if (!known.has(path)) known.set(path, look(path))
      return known.get(path)
    },
    read: (path) => readFileSync(path),
    list: (path) => readdirSync(path),
  }
}

function look(path: string): ReturnType<FileTree['stat']> {
  try {
    const real = realpathSync(path)
    return { path: real, kind: statSync(real).isDirectory() ? 'directory' : 'file' }
  } catch {
    return undefined
  }
}
