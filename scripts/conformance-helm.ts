// Renders every chart below some directories with the real helm and with ours, and says where they differ: `npm run
// conformance:helm -- DIR… [--helm 3|4|both] [--generated] [--vendor] [--library DIR] [--only TEXT] [--jobs N] [--show]
// [--record FILE] [--minutes N] [--part K/N]`: what FILE says was rendered is not rendered again, so a run can go on
// where another was stopped; a part is every Nth render of each chart, so that a run over many charts has seen
// something of all of them early.
import { execFile } from 'node:child_process'
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { hex, sha256 } from '../src/core/bytes.ts'
import { profileOf } from '../src/render/helm/profile.ts'
import type { HelmVersion } from '../src/render/helm/profile.ts'
import { chartsBelow, inTurns, vendoring } from '../src/testing/helm/found-charts.ts'
import { casesOf, judge, KINDS } from '../src/testing/helm/judge.ts'
import type { HelmOutput, Judgement, RenderCase } from '../src/testing/helm/judge.ts'
import { needBinary } from '../src/testing/testenv.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    helm: { type: 'string', default: '4' },
    generated: { type: 'boolean', default: false },
    vendor: { type: 'boolean', default: false },
    library: { type: 'string', multiple: true, default: [] },
    only: { type: 'string' },
    jobs: { type: 'string', default: '2' },
    show: { type: 'boolean', default: false },
    record: { type: 'string' },
    part: { type: 'string', default: '0/1' },
    minutes: { type: 'string', default: 'Infinity' },
  },
})
if (positionals.length === 0) {
  process.stderr.write(
    'usage: npm run conformance:helm -- DIR… [--helm 3|4|both] [--generated] [--vendor] [--only TEXT]\n',
  )
  process.exit(2)
}
const versions: readonly HelmVersion[] =
  flags.helm === 'both' ? ['helm4', 'helm3'] : [flags.helm === '3' ? 'helm3' : 'helm4']
const { prereleases } = profileOf(versions[0]!)
const binaries = { helm3: needBinary('helm3'), helm4: needBinary('helm') }
const scratch = mkdtempSync(join(tmpdir(), 'conformance-helm-'))
const charts = inTurns(chartsBelow(positionals))
const vendored = vendoring([...charts, ...chartsBelow(flags.library)], { scratch, prereleases })

async function helm(version: HelmVersion, { dir, values }: RenderCase): Promise<HelmOutput> {
  const args = ['template', 'release-name', dir, ...(values ? ['-f', values] : [])]
  return await new Promise((resolve) => {
    execFile(
      binaries[version],
      args,
      { encoding: 'buffer', maxBuffer: 1 << 28, timeout: 120_000 },
      (error, stdout, stderr) => {
        const died = error !== null && error.code !== 1
        resolve({ stdout: stdout.toString('latin1'), stderr: stderr.toString('utf8'), failed: error !== null, died })
      },
    )
  })
}

const BAD: readonly string[] = ['different', 'one errors', 'errors differ']

/** One line of the record: a render and its verdict. */
interface Judged extends Judgement {
  readonly version: HelmVersion
  readonly name: string
  readonly chart: string
}

const judged = new Map<string, Judged>()
const keyOf = (one: Pick<Judged, 'version' | 'name'>) => `${one.version} ${one.name}`
if (flags.record && existsSync(flags.record)) {
  for (const line of readFileSync(flags.record, 'utf8').split('\n').filter(Boolean)) {
    const one = JSON.parse(line) as Judged
    judged.set(keyOf(one), one)
  }
}

const [part = 0, parts = 1] = flags.part.split('/').map(Number)
const isOfPart = (key: string) => Number.parseInt(hex(sha256(key)).slice(0, 8), 16) % parts === part
const endsAt = performance.now() + Number(flags.minutes) * 60_000

async function work(): Promise<void> {
  for (let chart = charts.shift(); chart; chart = charts.shift()) {
    const cases = casesOf(chart, flags.vendor ? vendored(chart) : chart.dir, flags.generated ? scratch : undefined)
    for (const { version, ...one } of cases.flatMap((one) => versions.map((version) => ({ ...one, version })))) {
      if (performance.now() > endsAt) return
      const key = keyOf({ version, name: one.name })
      if (!isOfPart(key) || judged.has(key) || (flags.only && !one.name.includes(flags.only))) continue
      const judgement = await judge(one, version, () => helm(version, one))
      const verdict = { version, name: one.name, chart: chart.dir, ...judgement }
      judged.set(key, verdict)
      if (flags.record) appendFileSync(flags.record, `${JSON.stringify(verdict)}\n`)
      if (BAD.includes(verdict.kind)) {
        const detail = flags.show ? `\n${verdict.detail ?? ''}` : ''
        process.stdout.write(`${verdict.kind.padEnd(13)} ${version} ${one.name}${detail}\n`)
      }
    }
  }
}

try {
  await Promise.all(Array.from({ length: Number(flags.jobs) }, work))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
for (const version of versions) {
  const all = [...judged.values()].filter((one) => one.version === version)
  const found = new Set(all.map((one) => one.chart)).size
  process.stdout.write(`\n${version} ${binaries[version]}\n${all.length} renders of ${found} charts\n`)
  for (const kind of KINDS) {
    process.stdout.write(`${kind.padEnd(14)} ${all.filter((one) => one.kind === kind).length}\n`)
  }
  const incomplete = all.filter((one) => one.missing).length
  process.stdout.write(`of the errors on both ${incomplete} say that a dependency is not in charts/\n`)
}
process.exitCode = [...judged.values()].some(({ kind }) => kind === 'different' || kind === 'one errors') ? 1 : 0
