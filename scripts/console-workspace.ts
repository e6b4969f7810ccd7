// The console's own workspace: its dependencies are installed when they are needed, and its page is built when it is not
// the page of the sources as they are.
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { cacheDir, holdLock, npmCommand } from './bootstrap.mjs'
import { run } from './child.ts'

const root = join(import.meta.dirname, '..')
const workspace = join(root, 'console')

/** The built page. */
export const CONSOLE_DIST = join(workspace, 'dist')

const STAMP = 'build.json'

/** Installs the console's dependencies, once per lockfile. */
export async function installConsole(): Promise<void> {
  await alone(installNow)
}

/** Builds the page if the sources changed since the last build; false if they had not. */
export async function buildConsole(): Promise<boolean> {
  const inputs = digestOf(consoleInputs())
  const isBuilt = (): boolean => readText(join(CONSOLE_DIST, STAMP)) === inputs
  if (isBuilt()) return false
  return await alone(async () => {
    if (isBuilt()) return false
    await installNow()
    const fresh = join(workspace, 'dist.new')
    const args = [join(workspace, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', fresh, '--logLevel', 'warn']
    const { code, output } = await run(process.execPath, args, { cwd: workspace })
    if (code !== 0) throw new Error(`vite ended with code ${code}: ${output.trim()}`)
    writeFileSync(join(fresh, STAMP), inputs)
    rmSync(CONSOLE_DIST, { recursive: true, force: true })
    renameSync(fresh, CONSOLE_DIST)
    return true
  })
}

async function installNow(): Promise<void> {
  const stamp = join(workspace, 'node_modules/.flotilla-installed')
  const lock = digestOf([join(workspace, 'package-lock.json')])
  if (readText(stamp) === lock) return
  const npm = npmCommand()
  const args = [...npm.args, 'ci', '--ignore-scripts', '--no-audit', '--no-fund']
  // What an outer `npm start` says about its own package is wrong for this one.
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^npm_(package|lifecycle)_|^npm_config_local_prefix$/i.test(name)),
  )
  const { code, output } = await run(npm.command, args, { cwd: workspace, env })
  if (code !== 0) throw new Error(`npm ci in ${workspace} ended with code ${code}: ${output.trim()}`)
  writeFileSync(stamp, lock)
}

/** Runs work that two processes of a clone must not do at once. */
async function alone<T>(work: () => Promise<T>): Promise<T> {
  mkdirSync(cacheDir(), { recursive: true })
  const clone = createHash('sha256').update(root).digest('hex').slice(0, 16)
  const release = await holdLock(join(cacheDir(), `console-${clone}.lock`), (pid) =>
    process.stderr.write(`flotilla: process ${pid} is building the console; waiting for it\n`),
  )
  process.on('exit', release)
  try {
    return await work()
  } finally {
    process.off('exit', release)
    release()
  }
}

/** The workspace's files, and the files of src/ that they import. */
export function consoleInputs(): string[] {
  const own = globSync('**/*', { cwd: workspace, exclude: (path) => /^(node_modules|dist|dist\.new)(\/|$)/.test(path) })
    .map((path) => join(workspace, path))
    .filter((path) => /\.[a-z]+$/.test(path) && !/\.test\.ts$|\.md$/.test(path))
  const found = new Set(own)
  for (const file of found) {
    if (!/\.tsx?$/.test(file)) continue
    const text = readFileSync(file, 'utf8')
    for (const [, specifier] of text.matchAll(/^(?:import|export) (?!type )[^'"]*['"](\.[^'"]+\.tsx?)['"]/gm)) {
      const target = resolve(dirname(file), specifier!)
      if (existsSync(target)) found.add(target)
    }
  }
  return [...found].toSorted()
}

function digestOf(files: readonly string[]): string {
  const hash = createHash('sha256')
  for (const file of files)
    hash
      .update(`${relative(root, file)}\0`)
      .update(readFileSync(file))
      .update('\0')
  return hash.digest('hex')
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined
}
