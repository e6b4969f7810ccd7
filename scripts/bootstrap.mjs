// What every command of this clone needs first: Node 26 and the dependencies of the lockfile, fetched when missing.
// Plain JavaScript without dependencies, because the Node that runs it may be as old as 20.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import fs from 'node:fs'
import module from 'node:module'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const OLDEST_NODE = 26
const LOCK_POLL_MS = 250

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** An error with its place, cause and hint, in the two lines of all errors of the CLI. */
class BootstrapError extends Error {
  constructor(what, where, why, todo) {
    super(`error: ${where}: ${what}: ${why}\nhint: ${todo}`)
  }
}

/**
 * glibc keeps what was freed, in case it is wanted again, and rounds up what it takes. A hub has thousands of
 * connections, each with a buffer of 64 KB that is hardly touched: given their own pages and given back when they are
 * free, they and the rest are a seventh less memory; long lists, whose pieces are mapped anew each time, cost a fifth
 * more.
 */
export const HUB_HEAP = {
  MALLOC_MMAP_THRESHOLD_: '32768',
  MALLOC_TRIM_THRESHOLD_: '65536',
  MALLOC_TOP_PAD_: '16384',
}

/**
 * A demo runs on a laptop with other programs: its threads share one heap, and at the demo's pace none waits for
 * another.
 */
const DEMO_HEAP = { ...HUB_HEAP, MALLOC_ARENA_MAX: '1' }

/** How a command that stays wants its memory; a person who has said something about it knows better. */
function heapFor([command, next = '']) {
  const isDemo = command === 'demo' && !/^[a-z]/.test(next)
  const heap = isDemo ? DEMO_HEAP : command === 'hub' && next === 'run' ? HUB_HEAP : undefined
  const isSaid = Object.keys(DEMO_HEAP).some((name) => name in process.env)
  return process.platform === 'linux' && !isSaid ? heap : undefined
}

/**
 * Runs one file of the clone with Node 26 and the dependencies it needs ('prod', 'dev' or 'none'): in this process
 * when this is Node 26, otherwise in a child that gets our signals, ends with us and gives us its exit code.
 */
export async function launch({ needs, script, args }) {
  try {
    endWithParent()
    const node = await ensureNode()
    await ensureDependencies(needs, node)
    const compileCache = path.join(cacheDir(), 'compile')
    process.env.NODE_COMPILE_CACHE ??= compileCache
    const heap = heapFor(args)
    Object.assign(process.env, heap)
    if (node !== process.execPath) return await reExecute(node)
    // Too late for this process, so it begins anew.
    if (heap) process.execve(node, [node, ...process.execArgv, ...process.argv.slice(1)])
    module.enableCompileCache(process.env.NODE_COMPILE_CACHE)
    const file = path.join(root, script)
    process.argv = [process.execPath, file, ...args]
    await import(pathToFileURL(file).href)
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** The cache outside the clone; src/testing/testenv.ts uses the same place. */
export function cacheDir() {
  const { FLOTILLA_CACHE, XDG_CACHE_HOME } = process.env
  return path.resolve(FLOTILLA_CACHE || path.join(XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'flotilla'))
}

/** How to run npm with a given Node: by its own JavaScript where that can be found, otherwise as it is on PATH. */
export function npmCommand(node = process.execPath) {
  const named = process.env.npm_execpath
  if (named && path.basename(named) === 'npm-cli.js' && fs.existsSync(named)) return { command: node, args: [named] }
  for (const dir of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(dir, 'npm')
    if (!dir || !fs.existsSync(file)) continue
    const real = fs.realpathSync(file)
    return real.endsWith('.js') ? { command: node, args: [real] } : { command: file, args: [] }
  }
  throw new BootstrapError(
    'npm not found',
    'PATH',
    'flotilla fetches Node 26 and its dependencies with npm',
    'install Node.js 20 or newer with npm, then run the command again',
  )
}

/** Waits for a lock file, takes it and returns what gives it back; a lock whose owner died is taken over. */
export async function holdLock(file, onWait) {
  for (let told = false; ;) {
    try {
      fs.writeFileSync(file, String(process.pid), { flag: 'wx' })
      return () => fs.rmSync(file, { force: true })
    } catch (error) {
      if (error.code !== 'EEXIST') throw error
    }
    const holder = lockHolder(file)
    if (holder && !isAlive(holder)) {
      fs.rmSync(file, { force: true })
      continue
    }
    if (holder && !told) {
      told = true
      onWait(holder)
    }
    await new Promise((resolve) => setTimeout(resolve, LOCK_POLL_MS))
  }
}

function lockHolder(file) {
  try {
    return Number(fs.readFileSync(file, 'utf8')) // 0 while it is made but not yet written
  } catch {
    return 0
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM'
  }
}

/** A Node that is new enough: this one, or the pinned one in the cache. */
async function ensureNode() {
  if (Number(process.versions.node.split('.')[0]) >= OLDEST_NODE) return process.execPath
  const pins = JSON.parse(fs.readFileSync(path.join(root, 'scripts/node-pins.json'), 'utf8'))
  const home = path.join(cacheDir(), 'node', pins.version)
  const pin = pins.packages[`${process.platform}-${process.arch}`]
  if (!pin) {
    throw new BootstrapError(
      `Node ${OLDEST_NODE} or newer is required, this is ${process.version}`,
      process.execPath,
      `no Node ${pins.version} is pinned for ${process.platform} on ${process.arch}`,
      `install Node ${OLDEST_NODE} or newer (https://nodejs.org), then run the command again`,
    )
  }
  const node = path.join(home, 'node_modules', pin.name, 'bin/node')
  if (fs.existsSync(node)) return node
  say(`fetching Node ${pins.version} from npm into ${home} (this machine has ${process.version}); only once`)
  fs.mkdirSync(path.dirname(home), { recursive: true })
  const half = fs.mkdtempSync(`${home}-`)
  const removeHalf = () => fs.rmSync(half, { recursive: true, force: true })
  process.on('exit', removeHalf)
  writeJson(path.join(half, 'package.json'), { private: true, dependencies: { [pin.name]: pins.version } })
  writeJson(path.join(half, 'package-lock.json'), nodeLockfile(pin, pins.version))
  await npmCi({ node: process.execPath, cwd: half, flags: [], what: `cannot fetch Node ${pins.version}` })
  await checkNode(path.join(half, 'node_modules', pin.name, 'bin/node'), pins.version)
  try {
    fs.renameSync(half, home) // whole or not at all
  } catch (error) {
    if (!fs.existsSync(node)) throw error // otherwise another run was first, and ours is not needed
  }
  removeHalf()
  process.off('exit', removeHalf)
  return node
}

function nodeLockfile({ name, integrity }, version) {
  const packages = { '': { dependencies: { [name]: version } }, [`node_modules/${name}`]: { version, integrity } }
  return { name: 'node', lockfileVersion: 3, requires: true, packages }
}

async function checkNode(node, version) {
  const { code, output } = await collect(node, ['--version'], {})
  if (code === 0) return
  throw new BootstrapError(
    `the fetched Node ${version} does not run on this machine`,
    node,
    output.trim().split('\n').pop() || `it ended with code ${code}`,
    `install Node ${OLDEST_NODE} or newer (https://nodejs.org), then run the command again`,
  )
}

/** The dependencies of the lockfile, once per lockfile; what has the dev dependencies has the others too. */
async function ensureDependencies(needs, node) {
  if (needs === 'none') return
  const modules = path.join(root, 'node_modules')
  const stampFile = path.join(modules, '.flotilla-installed.json')
  const lockText = fs.readFileSync(path.join(root, 'package-lock.json'))
  const lock = createHash('sha256').update(lockText).digest('hex')
  const isCurrent = () => {
    const stamp = readJson(stampFile)
    return stamp?.lock === lock && (stamp.kind === 'dev' || stamp.kind === needs)
  }
  if (isCurrent()) return
  fs.mkdirSync(cacheDir(), { recursive: true })
  const clone = createHash('sha256').update(root).digest('hex').slice(0, 16)
  const release = await holdLock(path.join(cacheDir(), `install-${clone}.lock`), (pid) =>
    say(`process ${pid} is installing dependencies; waiting for it`),
  )
  process.on('exit', release)
  try {
    if (isCurrent()) return
    if (!isInstalled(JSON.parse(lockText.toString()), readJson(path.join(modules, '.package-lock.json')), needs)) {
      say('installing dependencies from package-lock.json')
      const flags = needs === 'prod' ? ['--omit=dev'] : ['--include=dev']
      await npmCi({ node, cwd: root, flags, what: 'cannot install the dependencies' })
    }
    writeJson(stampFile, { lock, kind: needs })
  } finally {
    process.off('exit', release)
    release()
  }
}

/** Whether npm itself, run by hand, has already installed what the lockfile names for this machine. */
function isInstalled(lockfile, installed, needs) {
  return Object.entries(lockfile.packages).every(([name, wanted]) => {
    if (name === '' || wanted.link || wanted.optional || wanted.devOptional) return true
    if (wanted.dev && needs === 'prod') return true
    return installed?.packages[name]?.integrity === wanted.integrity
  })
}

async function npmCi({ node, cwd, flags, what }) {
  const npm = npmCommand(node)
  const args = [...npm.args, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', ...flags]
  const env = { ...process.env }
  for (const name of Object.keys(env)) {
    // What an outer `npm start` says about its own package is wrong for this one.
    if (/^npm_(package|lifecycle)_|^npm_config_local_prefix$/i.test(name)) delete env[name]
  }
  const { code, output } = await collect(npm.command, args, { cwd, env })
  if (code === 0) return
  const errors = output.split('\n').filter((line) => /^npm (error|ERR!) (?!code |errno |syscall )\S/.test(line))
  const why = errors[0] ?? output.trim().split('\n').pop()
  throw new BootstrapError(
    what,
    cwd,
    `npm ci ended with code ${code}: ${why.replace(/^npm (error|ERR!) */, '')}`,
    'check the network and "npm config get registry", then run the command again',
  )
}

/** Runs this same command line with another Node and ends as it ends. */
function reExecute(node) {
  const env = { ...process.env, PATH: `${path.dirname(node)}${path.delimiter}${process.env.PATH ?? ''}` }
  // The fourth channel only tells the child that we are gone, even when we are killed: see endWithParent.
  const child = spawn(node, process.argv.slice(1), { stdio: ['inherit', 'inherit', 'inherit', 'ipc'], env })
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP']
  const forward = (signal) => child.kill(signal)
  for (const signal of signals) process.on(signal, forward)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      for (const name of signals) process.off(name, forward)
      if (signal) process.kill(process.pid, signal)
      process.exitCode = code ?? 1
      resolve()
    })
  })
}

/** In the child of reExecute: a parent that vanished is a request to stop. */
function endWithParent() {
  if (!process.channel) return
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}

/** Runs a command to its end and keeps what it said. */
function collect(command, args, options) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const stop = (signal) => {
      child.kill(signal)
      process.exit(130)
    }
    process.once('SIGINT', stop).once('SIGTERM', stop)
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text) => (output += text))
    const end = (code) => {
      process.off('SIGINT', stop).off('SIGTERM', stop)
      resolve({ code, output })
    }
    child.on('error', (error) => {
      output += error.message
      end(127)
    })
    child.on('close', (code) => end(code ?? 1))
  })
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'))
  } catch {
    return undefined
  }
}

function writeJson(file, value) {
  fs.writeFileSync(file, JSON.stringify(value, undefined, 2) + '\n')
}

function say(what) {
  process.stderr.write(`flotilla: ${what}\n`)
}
