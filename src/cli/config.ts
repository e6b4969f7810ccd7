/** The only file of the CLI that reads the environment. */
import { existsSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, join } from 'node:path'

/** The environment of a run. */
export interface CliEnvironment {
  /** Kubeconfig files in order, and the name of their variable. */
  readonly kubeconfigs: { readonly files: readonly string[]; readonly from: string } | undefined
  /** Path of `~/.kube/config`. Used only if its context `flotilla` exists. */
  readonly defaultKubeconfig: string
  /** State file of a running demo: one for each clone, or one for the user of an installed CLI. */
  readonly demoStateFile: string
  /** Folder of `demoStateFile` and of the completion cache. */
  readonly stateFolder: string
  /** Folder of the tokens of `flotilla login`. */
  readonly credentials: string
  readonly nodeVersion: string
  /** Folder of Node's compile cache. */
  readonly compileCache: string
  /** Folder of the extracted assets of the one-file executable. */
  readonly partsCache: string
  readonly isUtf8: boolean
  /** Undefined: colours if stdout is a terminal. */
  readonly color: boolean | undefined
  /** Folders of PATH. */
  readonly path: readonly string[]
  /** The command that the user typed, for printed commands. */
  readonly program: string
  /** Words before the arguments: a link named `clusteradm` stands for `flotilla ocm`. */
  readonly prefix: readonly string[]
  /** The command that starts this program again. */
  readonly self: readonly string[]
  /** All variables, for commands that substitute them in texts. */
  readonly variables: Readonly<Record<string, string | undefined>>
}

/** Reads the environment once. */
export function readEnvironment(env: NodeJS.ProcessEnv = process.env): CliEnvironment {
  return {
    kubeconfigs: kubeconfigsOf(env),
    defaultKubeconfig: join(homedir(), '.kube', 'config'),
    demoStateFile: join(stateFolder(env), 'demo.json'),
    stateFolder: stateFolder(env),
    credentials: join(userState(env), 'credentials'),
    nodeVersion: process.versions.node,
    compileCache: join(cacheFolder(env), 'compiled'),
    partsCache: join(cacheFolder(env), 'parts'),
    isUtf8: /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || ''),
    color: colorOf(env),
    path: (env['PATH'] ?? '').split(delimiter),
    program: programOf(env),
    prefix: isClusteradm(env) ? ['ocm'] : [],
    self: isExecutable() ? [process.execPath] : [process.execPath, process.argv[1] ?? ''],
    variables: env,
  }
}

function kubeconfigsOf(env: NodeJS.ProcessEnv): CliEnvironment['kubeconfigs'] {
  for (const from of ['FLOTILLA_KUBECONFIG', 'KUBECONFIG'] as const) {
    const files = (env[from] ?? '').split(delimiter).filter((file) => file !== '')
    if (files.length > 0) return { files, from }
  }
  return undefined
}

function colorOf(env: NodeJS.ProcessEnv): boolean | undefined {
  if (env['NO_COLOR']) return false
  if (env['CLICOLOR_FORCE'] && env['CLICOLOR_FORCE'] !== '0') return true
  if (env['CLICOLOR'] === '0' || env['TERM'] === 'dumb') return false
  return undefined
}

/** Root of the clone. Undefined in a built CLI. */
const CLONE = import.meta.filename.endsWith(join('src', 'cli', 'config.ts'))
  ? join(import.meta.dirname, '../..')
  : undefined

const AS_PLUGIN = 'kubectl flotilla'
const CLUSTERADM = 'clusteradm'

/** Whether a link named `clusteradm` started the program. bin/flotilla says so by the variable. */
function isClusteradm(env: NodeJS.ProcessEnv): boolean {
  const names = [process.argv0, process.argv[1] ?? ''].map((file) => basename(file))
  return env['FLOTILLA_PROGRAM'] === CLUSTERADM || names.includes(CLUSTERADM)
}

function isExecutable(): boolean {
  return process.getBuiltinModule('node:sea').isSea()
}

function programOf(env: NodeJS.ProcessEnv, file = process.argv[1] ?? ''): string {
  if (env['FLOTILLA_PROGRAM'] === AS_PLUGIN || basename(file) === 'kubectl-flotilla') return AS_PLUGIN
  return CLONE === undefined ? 'flotilla' : programIn(CLONE, env)
}

function programIn(clone: string, env: NodeJS.ProcessEnv): string {
  // npm starts its scripts in the clone; INIT_CWD is the directory of the user.
  const cwd = env['INIT_CWD'] ?? process.cwd()
  if (isInPath(clone, env)) return 'flotilla'
  return cwd === clone ? join('bin', 'flotilla') : join(clone, 'bin', 'flotilla')
}

/** Whether `flotilla` in PATH is the program of this clone. */
function isInPath(clone: string, env: NodeJS.ProcessEnv): boolean {
  const file = (env['PATH'] ?? '')
    .split(delimiter)
    .filter((folder) => folder.startsWith('/'))
    .map((folder) => join(folder, 'flotilla'))
    .find((candidate) => existsSync(candidate))
  return file !== undefined && realpathSync(file) === join(clone, 'bin', 'flotilla')
}

function stateFolder(env: NodeJS.ProcessEnv): string {
  if (env['FLOTILLA_STATE_DIR']) return env['FLOTILLA_STATE_DIR']
  if (CLONE !== undefined) return join(CLONE, '.flotilla')
  return userState(env)
}

function cacheFolder(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'flotilla')
}

function userState(env: NodeJS.ProcessEnv): string {
  return join(env['XDG_STATE_HOME'] || join(homedir(), '.local', 'state'), 'flotilla')
}
