/** The only file of the CLI that reads the environment. */
import { homedir } from 'node:os'
import { basename, delimiter, join } from 'node:path'

/** What the environment says about this run. */
export interface CliEnvironment {
  /** Kubeconfig files in order, and the variable that named them. */
  readonly kubeconfigs: { readonly files: readonly string[]; readonly from: string } | undefined
  /** What `~/.kube/config` is here; used only when its context `flotilla` exists. */
  readonly defaultKubeconfig: string
  /** The state of a demo that runs in this clone (or, installed, for this user). */
  readonly demoStateFile: string
  /** The folder of `demoStateFile` and of what completion remembers. */
  readonly stateFolder: string
  /** Where tokens of hubs are kept for this user, also in a clone. */
  readonly credentials: string
  readonly nodeVersion: string
  /** Where Node keeps compiled code between runs. */
  readonly compileCache: string
  /** Where the one-file executable keeps its parts between runs. */
  readonly partsCache: string
  readonly isUtf8: boolean
  /** undefined: decide by the terminal. */
  readonly color: boolean | undefined
  /** Where programs are looked for. */
  readonly path: readonly string[]
  /** How the person called this program, for the commands it prints. */
  readonly program: string
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

/** The top of the clone; undefined where this file is a part of something built. */
const CLONE = import.meta.filename.endsWith(join('src', 'cli', 'config.ts'))
  ? join(import.meta.dirname, '../..')
  : undefined

const AS_PLUGIN = 'kubectl flotilla'

function programOf(env: NodeJS.ProcessEnv, file = process.argv[1] ?? ''): string {
  if (env['FLOTILLA_PROGRAM'] === AS_PLUGIN || basename(file) === 'kubectl-flotilla') return AS_PLUGIN
  return CLONE === undefined ? 'flotilla' : programIn(CLONE, env)
}

function programIn(clone: string, env: NodeJS.ProcessEnv): string {
  // npm starts its scripts in the clone, whatever directory the person is in.
  const cwd = env['INIT_CWD'] ?? process.cwd()
  return cwd === clone ? join('bin', 'flotilla') : join(clone, 'bin', 'flotilla')
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
