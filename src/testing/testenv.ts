// Where the real binaries of the test environment are. `npm run testenv` puts them there; tests only look.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'

/** A binary built from a Go module that is kept, with its go.mod and go.sum, in test/testenv/<module>. */
export interface GoPin {
  readonly version: string
  readonly module: string
  readonly package: string
}

/** A binary taken from lib/layer.zip inside an npm package. */
export interface NpmPin {
  readonly version: string
  readonly package: string
  readonly integrity: string
  readonly member: string
}

/** A Debian package that is unpacked into the cache, without being installed. */
export interface DebianPin {
  readonly version: string
  readonly archive: string
  readonly path: string
  readonly sha256: string
}

/** The names of all binaries of the test environment. */
export type BinaryName =
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler'
  | 'etcd'
  | 'kwok'
  | 'kubectl'
  | 'helm'
  | 'helm3'
  | 'versitygw'
  | NodePart

/** What only the tests with a real node need: built on demand, by `npm run testenv -- node`. */
export type NodePart = 'kubelet' | 'kube-proxy' | 'pause'
export const NODE_PARTS: readonly NodePart[] = ['kubelet', 'kube-proxy', 'pause']

/** The folder with the pins and the Go wrapper modules. */
export const pinsDir = join(import.meta.dirname, '../../test/testenv')

interface PinFile {
  readonly go?: Record<string, GoPin>
  readonly npm?: Record<string, NpmPin>
  readonly debian?: Record<string, DebianPin>
}

/** Each file of pins has its own folder in the cache: a change of one builds nothing of another anew. */
const files: readonly PinFile[] = ['pins.json', 's3/pins.json', 'node/pins.json'].map((file) =>
  JSON.parse(readFileSync(join(pinsDir, file), 'utf8')),
)

/** What the test environment consists of, by binary name. */
export const pins: {
  readonly go: Record<string, GoPin>
  readonly npm: Record<string, NpmPin>
  readonly debian: Record<string, DebianPin>
} = {
  go: Object.assign({}, ...files.map(({ go }) => go)),
  npm: Object.assign({}, ...files.map(({ npm }) => npm)),
  debian: Object.assign({}, ...files.map(({ debian }) => debian)),
}

/** The cache outside the clone; the bootstrap in scripts/bootstrap.mjs uses the same place. */
export function cacheDir(): string {
  const { FLOTILLA_CACHE, XDG_CACHE_HOME } = process.env
  return FLOTILLA_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'flotilla')
}

/** The folder of exactly the pins beside this one: another pin is another folder, so an old clone keeps its own. */
export function testenvDir(name: BinaryName): string {
  const file = files.find(({ go, npm }) => go?.[name] ?? npm?.[name])!
  const hash = createHash('sha256').update(JSON.stringify(file))
  for (const module of new Set(Object.values(file.go ?? {}).map((pin) => pin.module))) {
    for (const part of ['go.mod', 'go.sum']) hash.update(readFileSync(join(pinsDir, module, part)))
  }
  return join(cacheDir(), 'testenv', hash.digest('hex').slice(0, 16))
}

/** The folder with the unpacked Debian packages: container runtime, network plugins, registry and nftables. */
export function debianPartsDir(): string {
  return join(testenvDir('kubelet'), 'debian')
}

const found = new Map<string, string>()

/**
 * The path of a real binary, or undefined when this machine has none: the pinned one first, then one of the same
 * minor version from KUBEBUILDER_ASSETS or PATH.
 */
export function findBinary(name: BinaryName): string | undefined {
  const known = found.get(name)
  if (known !== undefined) return known
  const pinned = join(testenvDir(name), 'bin', name)
  const path = isExecutable(pinned) ? pinned : findElsewhere(name)
  if (path !== undefined) found.set(name, path)
  return path
}

/** The path of a real binary; throws what to run when this machine has none. */
export function needBinary(name: BinaryName): string {
  const path = findBinary(name)
  if (path === undefined) throw new Error(`${name} is not on this machine: run \`npm run testenv\``)
  return path
}

/** The first of the usual chromium binaries on this machine, or undefined. */
export function findChromium(): string | undefined {
  const named = process.env['FLOTILLA_CHROMIUM']
  if (named) return isExecutable(named) ? named : undefined
  const names = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome']
  const onPath = names.flatMap((name) => pathDirs().map((dir) => join(dir, name)))
  const mac = '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'
  return [...onPath, mac].find(isExecutable)
}

function findElsewhere(name: BinaryName): string | undefined {
  const wanted = minor((pins.go[name] ?? pins.npm[name])!.version)
  const fileNames = name === 'helm3' ? ['helm3', 'helm'] : [name]
  const assets = process.env['KUBEBUILDER_ASSETS']
  const dirs = assets ? [assets, ...pathDirs()] : pathDirs()
  return dirs
    .flatMap((dir) => fileNames.map((file) => join(dir, file)))
    .find((path) => isExecutable(path) && minor(versionOf(name, path)) === wanted)
}

function versionOf(name: BinaryName, path: string): string {
  const args =
    name === 'kubectl' ? ['version', '--client'] : name.startsWith('helm') ? ['version', '--short'] : ['--version']
  try {
    return execFileSync(path, args, { encoding: 'utf8', timeout: 20_000, stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return '' // a binary that cannot say its version is not the one we look for
  }
}

function minor(text: string): string {
  return /(\d+\.\d+)\.\d+/.exec(text)?.[1] ?? ''
}

function pathDirs(): string[] {
  return (process.env['PATH'] ?? '').split(delimiter).filter((dir) => dir !== '')
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
