/** Reads the tree once for the house tests: files, their imports and their words. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

/** The top of the clone. */
export const REPOSITORY = resolve(import.meta.dirname, '../..')

/** One import of a source file. */
export interface Import {
  readonly specifier: string
  readonly dynamic: boolean
  readonly typeOnly: boolean
}

/** One source file. */
export interface SourceFile {
  /** From the top of the clone, with forward slashes. */
  readonly path: string
  readonly text: string
  readonly imports: readonly Import[]
}

// Without a parser on purpose: it depends on no tool's version. Comments go first, so that an example in one is not an
// import.
const STATIC = /^\s*(?:import|export)\s+(type\s+)?(?:[^'"`;]*?\sfrom\s+)?['"]([^'"]+)['"]/gm
const DYNAMIC = /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g
const WORKER = /new URL\(\s*['"]([^'"]+\.ts)['"]\s*,\s*import\.meta\.url\s*\)/g

/** The imports of a file's text. */
export function importsOf(text: string): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '')
  return [
    ...Array.from(code.matchAll(STATIC), ([, type, specifier]) => ({
      specifier: specifier!,
      dynamic: false,
      typeOnly: type !== undefined,
    })),
    ...[...code.matchAll(DYNAMIC), ...code.matchAll(WORKER)].map(([, specifier]) => ({
      specifier: specifier!,
      dynamic: true,
      typeOnly: false,
    })),
  ]
}

/** All TypeScript files below a folder of the clone. */
export function readSources(folder: string): SourceFile[] {
  const root = join(REPOSITORY, folder)
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(ts|tsx)$/.test(entry.name) && !entry.parentPath.includes('node_modules'))
    .map((entry) => {
      const absolute = join(entry.parentPath, entry.name)
      const text = readFileSync(absolute, 'utf8')
      return { path: relative(REPOSITORY, absolute).replaceAll('\\', '/'), text, imports: importsOf(text) }
    })
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}

/** The path a relative import leads to, from the top of the clone. */
export function resolveImport(file: SourceFile, specifier: string): string {
  return relative(REPOSITORY, resolve(REPOSITORY, dirname(file.path), specifier)).replaceAll('\\', '/')
}

/** The room of a path such as `src/plan/rollout/plan-rollout.ts`. */
export function roomOf(path: string): string | undefined {
  return /^src\/([^/]+)\//.exec(path)?.[1]
}

/** True for files that only tests load. */
export function isTest(path: string): boolean {
  return /\.test\.tsx?$|\/testdata\//.test(path) || path.startsWith('src/testing/') || path.startsWith('test/')
}
