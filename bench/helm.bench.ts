// How fast charts render: warm in one thread, and cold as a process, against forking helm. Run it with
// `node bench/helm.bench.ts DIR…`; every directory is a chart.
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { generateTraditionalKey, randomBytes } from '../src/core/bytes.ts'
import { loadChart } from '../src/render/helm/load-chart.ts'
import { profileOf } from '../src/render/helm/profile.ts'
import { renderChart } from '../src/render/helm/render-chart.ts'
import { templateOutput } from '../src/render/helm/template-output.ts'
import { readChartTree } from '../src/cli/chart-files.ts'
import { needBinary } from '../src/testing/testenv.ts'

const helm = needBinary('helm')
const profile = profileOf('helm4')
const cli = join(import.meta.dirname, '../src/cli/main.ts')

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

function ms(value: number): string {
  return value.toFixed(1).padStart(8)
}

process.stdout.write('    fork    cold    warm   ratio  chart\n')
for (const dir of process.argv.slice(2)) {
  const chart = loadChart(readChartTree(dir), { profile })
  const entropy = { randomBytes, now: () => Date.now(), generateKey: generateTraditionalKey }
  const render = (round: number): string => {
    const values = new Map<string, unknown>([['benchmarkRound', round]])
    const release = { name: 'bench', namespace: 'default' }
    return templateOutput(renderChart({ chart, values, profile, release, entropy }))
  }
  timed(5, render)
  const warm = median(timed(40, render))
  const fork = median(timed(5, () => execFileSync(helm, ['template', 'bench', dir], { maxBuffer: 1 << 28 })))
  const cold = median(
    timed(5, () => execFileSync(process.execPath, [cli, 'template', 'bench', dir], { maxBuffer: 1 << 28 })),
  )
  process.stdout.write(`${ms(fork)}${ms(cold)}${ms(warm)}${(fork / warm).toFixed(0).padStart(7)}x  ${dir}\n`)
}
