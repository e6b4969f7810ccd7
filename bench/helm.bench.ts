// How fast charts render against forking helm: warm in one thread, cold as a process, and one chart with thousands of values.
// `node bench/helm.bench.ts [--cold] [--sets 5000] DIR…`: every chart below the directories that helm renders as it is.
// Build first (`npm run build`): --cold starts dist/flotilla.mjs.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readChartTree } from '../src/cli/chart-files.ts'
import { generateTraditionalKey, randomBytes } from '../src/core/bytes.ts'
import { checkRequirements } from '../src/render/helm/check-chart.ts'
import type { FrozenRecord } from '../src/render/helm/frozen.ts'
import { loadChart } from '../src/render/helm/load-chart.ts'
import { profileOf } from '../src/render/helm/profile.ts'
import { renderChart } from '../src/render/helm/render-chart.ts'
import { templateOutput } from '../src/render/helm/template-output.ts'
import { needBinary } from '../src/testing/testenv.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { cold: { type: 'boolean', default: false }, sets: { type: 'string' } },
})
const helm = needBinary('helm')
const profile = profileOf('helm4')
const cli = join(import.meta.dirname, '../dist/flotilla.mjs')
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
  const chart = loadChart(readChartTree(dir), { profile })
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

function run(binary: string, args: readonly string[]): void {
  execFileSync(binary, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'ignore'] })
}

const ms = (value: number) => value.toFixed(1).padStart(8)
const times = (value: number) => `${value.toFixed(1)}x`.padStart(8)
const say = (line: string) => process.stdout.write(`${line}\n`)

const ratios: number[] = []
const replayRatios: number[] = []
const coldRatios: number[] = []
let fastest: { readonly dir: string; readonly fork: number } | undefined
// `again` replays what was drawn at the first time: keys and certificates are made once per cluster, not per render.
say(`    fork    warm   ratio   again   ratio${flags.cold ? '    cold   ratio' : ''}  chart (milliseconds, medians)`)
for (const dir of positionals.flatMap(findCharts)) {
  let render: (round: number) => string
  try {
    render = renderer(dir)
    timed(5, render)
  } catch {
    continue // helm would not render it either
  }
  const warm = median(timed(WARM_ROUNDS, render))
  const fork = median(timed(FORK_ROUNDS, () => run(helm, ['template', 'bench', dir])))
  ratios.push(fork / warm)
  const again = median(timed(WARM_ROUNDS, renderer(dir, true)))
  replayRatios.push(fork / again)
  let line = `${ms(fork)}${ms(warm)}${times(fork / warm)}${ms(again)}${times(fork / again)}`
  if (flags.cold) {
    const cold = median(timed(FORK_ROUNDS, () => run(process.execPath, [cli, 'template', 'bench', dir])))
    coldRatios.push(fork / cold)
    line += `${ms(cold)}${times(fork / cold)}`
  }
  fastest ??= { dir, fork }
  say(`${line}  ${dir}`)
}
if (ratios.length > 0) {
  say(
    `${ratios.length} charts; warm against fork: median ${times(median(ratios)).trim()}, least ${times(Math.min(...ratios)).trim()}`,
  )
}
if (replayRatios.length > 0) {
  say(
    `again against fork: median ${times(median(replayRatios)).trim()}, least ${times(Math.min(...replayRatios)).trim()}`,
  )
}
if (coldRatios.length > 0) {
  say(`cold against fork: median ${times(median(coldRatios)).trim()}, least ${times(Math.min(...coldRatios)).trim()}`)
}
if (flags.sets !== undefined && fastest) {
  const sets = Number(flags.sets)
  const render = renderer(fastest.dir)
  const start = performance.now()
  for (let round = 0; round < sets; round++) render(round)
  const taken = (performance.now() - start) / 1000
  const forked = (sets * fastest.fork) / 1000
  say(
    `${sets} value sets of ${fastest.dir}: ${taken.toFixed(1)} s in one thread; forks would take ${forked.toFixed(0)} s (${times(forked / taken).trim()})`,
  )
}
