// How fast charts render against forking helm: warm in one thread, cold as a process, and one chart with thousands of
// values. `npm run build && node bench/helm.bench.ts [--charts 40] [--sets 5000] [DIR…]`: the chart that `helm create`
// makes, and so many of those below the directories that helm renders as they are, from everywhere. Cold are the built
// dist/flotilla.mjs and the executable dist/flotilla.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { loadChartFrom, locateChart } from '../src/cli/template/locate-chart.ts'
import { generateTraditionalKey, hex, randomBytes, sha256 } from '../src/core/bytes.ts'
import { checkRequirements } from '../src/render/helm/chart/check-chart.ts'
import type { FrozenRecord } from '../src/render/helm/frozen-random.ts'
import { profileOf } from '../src/render/helm/profile.ts'
import { renderChart } from '../src/render/helm/render-chart.ts'
import { templateOutput } from '../src/render/helm/template-output.ts'
import { needBinary } from '../src/testing/testenv.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { charts: { type: 'string', default: '40' }, sets: { type: 'string', default: '5000' } },
})
const helm = needBinary('helm')
const profile = profileOf('helm4')
const dist = join(import.meta.dirname, '../dist')
/** What is started for each chart, by its name in the table. */
const BUILT: ReadonlyMap<string, readonly string[]> = new Map(
  [['cold', join(dist, 'flotilla.mjs'), process.execPath] as const, ['exec', join(dist, 'flotilla')] as const].flatMap(
    ([name, file, ...before]) => (existsSync(file) ? [[name, [...before, file]]] : []),
  ),
)
const WARM_ROUNDS = 20
const FORK_ROUNDS = 3

function findCharts(dir: string): string[] {
  if (existsSync(join(dir, 'Chart.yaml'))) return [dir]
  return readdirSync(dir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => findCharts(join(dir, name)))
}

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}

/** Milliseconds of each of `rounds` calls. */
function timed(rounds: number, run: (round: number) => void): number[] {
  return Array.from({ length: rounds }, (_, round) => {
    const start = performance.now()
    run(round)
    return performance.now() - start
  })
}

/** A render with other values each time, as for another cluster. */
function renderer(dir: string, replay = false): (round: number) => string {
  const chart = loadChartFrom(locateChart(dir), profile)
  checkRequirements(chart, profile)
  const entropy = { randomBytes, now: () => Date.now(), generateKey: generateTraditionalKey }
  let frozen: FrozenRecord = {}
  return (round) => {
    const values = new Map<string, unknown>([['benchmarkRound', round]])
    const release = { name: 'bench', namespace: 'default' }
    const rendered = renderChart({ chart, values, profile, release, entropy, frozen })
    if (replay) ({ frozen } = rendered)
    return templateOutput(rendered)
  }
}

/** Processor time of all processes started so far, in milliseconds; Linux counts it in hundredths of a second. */
function childrenMs(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)!.split(' ')
  return (Number(fields[13]) + Number(fields[14])) * 10
}

interface Forked {
  readonly wall: readonly number[]
  readonly cpu: number
}

/** Runs a program some times; wall clock of each and processor time of all together. */
function forked(rounds: number, command: readonly string[]): Forked {
  const [binary = '', ...args] = command
  const before = childrenMs()
  const wall = timed(rounds, () => {
    execFileSync(binary, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })
  })
  return { wall, cpu: childrenMs() - before }
}

const ms = (value: number) => value.toFixed(1).padStart(8)
const times = (value: number) => `${value.toFixed(1)}x`.padStart(8)
const say = (line: string) => process.stdout.write(`${line}\n`)

function summary(what: string, ratios: readonly number[]): void {
  say(`${what} against fork: median ${times(median(ratios)).trim()}, least ${times(Math.min(...ratios)).trim()}`)
}

/** In an order that has nothing to do with their names, and is the same each time. */
function scattered(dirs: readonly string[]): string[] {
  return dirs.toSorted((a, b) => (hex(sha256(a)) < hex(sha256(b)) ? -1 : 1))
}

const scratch = mkdtempSync(join(tmpdir(), 'helm-bench-'))
execFileSync(helm, ['create', join(scratch, 'starter')], { stdio: 'ignore' })
const starter = join(scratch, 'starter')

const ratios: number[] = []
const replayRatios: number[] = []
const coldRatios = new Map([...BUILT.keys()].map((name) => [name, { wall: [] as number[], cpu: [] as number[] }]))
const cpu = new Map<string, number>()
let forks = 0

function compare(dir: string): void {
  let render: (round: number) => string
  try {
    render = renderer(dir)
    timed(5, render)
  } catch {
    return // helm would not render it either
  }
  const warm = median(timed(WARM_ROUNDS, render))
  const helmRuns = forked(FORK_ROUNDS, [helm, 'template', 'bench', dir])
  const fork = median(helmRuns.wall)
  const again = median(timed(WARM_ROUNDS, renderer(dir, true)))
  ratios.push(fork / warm)
  replayRatios.push(fork / again)
  let line = `${ms(fork)}${ms(warm)}${times(fork / warm)}${ms(again)}${times(fork / again)}`
  forks += FORK_ROUNDS
  cpu.set('helm', (cpu.get('helm') ?? 0) + helmRuns.cpu)
  for (const [name, command] of BUILT) {
    const runs = forked(FORK_ROUNDS, [...command, 'template', 'bench', dir])
    const cold = median(runs.wall)
    coldRatios.get(name)!.wall.push(fork / cold)
    coldRatios.get(name)!.cpu.push(helmRuns.cpu / runs.cpu)
    cpu.set(name, (cpu.get(name) ?? 0) + runs.cpu)
    line += `${ms(cold)}${times(fork / cold)}`
  }
  say(`${line}  ${dir}`)
}

/** One chart for a fleet: other values each time, against what forks would take. */
function valueSets(sets: number): void {
  const render = renderer(starter)
  const fork = median(forked(FORK_ROUNDS, [helm, 'template', 'bench', starter]).wall)
  const start = performance.now()
  for (let round = 0; round < sets; round++) render(round)
  const taken = (performance.now() - start) / 1000
  const forks = (sets * fork) / 1000
  say(
    `${sets} value sets of the chart that helm create makes: ${taken.toFixed(1)} s in one thread; forks would take ${forks.toFixed(0)} s (${times(forks / taken).trim()})`,
  )
}

try {
  // `again` replays what was drawn at the first time: keys and certificates are made once per cluster, not per render.
  const built = [...BUILT.keys()].map((name) => `${name.padStart(8)}   ratio`).join('')
  say(`    fork    warm   ratio   again   ratio${built}  chart (milliseconds, medians)`)
  compare(starter)
  for (const dir of scattered(positionals.flatMap(findCharts))) if (ratios.length <= Number(flags.charts)) compare(dir)
  say(`${ratios.length} charts`)
  summary('warm', ratios)
  summary('again', replayRatios)
  for (const [name, { wall, cpu: spent }] of coldRatios) {
    summary(name, wall)
    summary(`${name}, processor time`, spent)
  }
  if (BUILT.size === 0) say('cold: not measured, there is no dist/ (npm run build)')
  const spent = [...cpu].map(([name, all]) => `${name} ${(all / forks).toFixed(0)} ms`)
  say(`processor time of a run: ${spent.join(', ')}`)
  valueSets(Number(flags.sets))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
