// How soon `get` answers, from the start of the process to its first byte, in turns with kubectl against the same hub.
// `npm run build && node bench/cli.bench.ts [--rounds 15]`: from source (bin/flotilla), the built dist/flotilla.mjs,
// kubectl, and an empty Node. The least of the rounds is what the program costs; the median is what this machine made
// of it.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { needBinary } from '../src/testing/testenv.ts'

const { values: flags } = parseArgs({ options: { rounds: { type: 'string', default: '15' } } })
const root = resolve(import.meta.dirname, '..')
const built = join(root, 'dist/flotilla.mjs')
const folder = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
const data = join(folder, 'hub')

/** Milliseconds from the start of a program to its first byte on stdout. */
async function firstByte([program = '', ...args]: readonly string[]): Promise<number> {
  const start = performance.now()
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  let first: number | undefined
  child.stdout.on('data', () => (first ??= performance.now() - start))
  const code = await new Promise((done) => child.once('close', done))
  if (code !== 0 || first === undefined) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}`)
  return first
}

/** An embedded hub on free ports; with nothing to do but to answer. */
async function startHub(): Promise<{ stop(): Promise<void> }> {
  const listen = ['--listen', '--gateway-listen', '--console-listen'].flatMap((flag) => [flag, '127.0.0.1:0'])
  const args = [join(root, 'bin/flotilla'), 'hub', 'run', '--data', data, ...listen]
  const hub = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = new Promise<void>((done) => hub.once('close', () => done()))
  await new Promise<void>((ready, failed) => {
    hub.stdout.once('data', () => ready())
    hub.once('close', (code) => failed(new Error(`the hub ended with ${String(code)}`)))
  })
  return {
    stop: async () => {
      hub.kill('SIGTERM')
      await ended
    },
  }
}

const hub = await startHub()
try {
  const get = ['--kubeconfig', join(data, 'admin.kubeconfig'), 'get', 'namespaces']
  const programs: readonly (readonly [string, readonly string[]])[] = [
    ['node -p 0', [process.execPath, '-p', '0']],
    ['kubectl get', [needBinary('kubectl'), ...get]],
    ['bin/flotilla get', [process.execPath, join(root, 'bin/flotilla'), ...get]],
    ...(existsSync(built) ? ([['dist/flotilla.mjs get', [process.execPath, built, ...get]]] as const) : []),
  ]
  const times = new Map(programs.map(([name]) => [name, [] as number[]]))
  for (const [, command] of programs) await firstByte(command) // caches are filled
  for (let round = 0; round < Number(flags.rounds); round += 1) {
    for (const [name, command] of programs) times.get(name)!.push(await firstByte(command))
  }
  const least = (name: string) => Math.min(...times.get(name)!)
  console.log('first byte              least ms  median ms  of kubectl')
  for (const [name, list] of times) {
    const median = list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!
    const share = (least(name) / least('kubectl get')).toFixed(2)
    console.log(
      `${name.padEnd(22)} ${least(name).toFixed(0).padStart(9)} ${median.toFixed(0).padStart(10)} ${share.padStart(11)}`,
    )
  }
} finally {
  await hub.stop()
  rmSync(folder, { recursive: true, force: true })
}
