// How fast kustomizations build: warm in one thread, and cold as a process, against forking kubectl. Run it with `node
// bench/kustomize.bench.ts DIR… [--cli FILE]`; every directory is a kustomization. FILE is the built command line.
import { execFileSync } from 'node:child_process'
import type { ExecFileSyncOptions } from 'node:child_process'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { diskTree } from '../src/cli/repository/disk-tree.ts'
import { buildKustomization, buildText } from '../src/render/kustomize/build.ts'
import { needBinary } from '../src/testing/testenv.ts'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { cli: { type: 'string' } } })
const kubectl = needBinary('kubectl')
const cli = values.cli ?? join(import.meta.dirname, '../src/cli/main.ts')
const quiet: ExecFileSyncOptions = { maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] }

function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)]!
}

/** The median of some runs in milliseconds, after a few that do not count. */
function timed(rounds: number, warmUp: number, run: () => void): number {
  for (let i = 0; i < warmUp; i++) run()
  const times = Array.from({ length: rounds }, () => {
    const start = performance.now()
    run()
    return performance.now() - start
  })
  return median(times)
}

function ms(value: number): string {
  return value.toFixed(1).padStart(8)
}

const ratios: number[] = []
process.stdout.write('    fork    cold    warm   ratio       KB  kustomization\n')
for (const dir of positionals.map((path) => resolve(path))) {
  // Files are read anew in each round, as a fork does.
  const build = (): string => buildText(buildKustomization(diskTree(), dir).resources)
  const text = build()
  const fork = timed(5, 1, () => void execFileSync(kubectl, ['kustomize', dir], quiet))
  const cold = timed(3, 1, () => void execFileSync(process.execPath, [cli, 'kustomize', 'build', dir], quiet))
  const warm = timed(21, text.length > 500_000 ? 3 : 60, () => void build())
  ratios.push(fork / warm)
  const size = (text.length / 1024).toFixed(0).padStart(8)
  process.stdout.write(
    `${ms(fork)}${ms(cold)}${ms(warm)}${(fork / warm).toFixed(1).padStart(8)} ${size}  ${basename(dir)}\n`,
  )
}
process.stdout.write(`median ratio, warm: ${median(ratios).toFixed(1)}\n`)
