// Renders every chart below some directories with the real helm and with ours, and says where they differ:
// `npm run conformance:helm -- DIR… [--helm 3|4|both] [--generated] [--vendor] [--library DIR] [--only TEXT] [--jobs N] [--show]
// [--record FILE] [--minutes N] [--part K/N]`: what FILE says was rendered is not rendered again, so a run can go on where another was
// stopped; a part is every Nth render of each chart, so that a run over many charts has seen something of all of them early.
import { execFile } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { hex, sha256 } from '../src/core/bytes.ts'
import { needBinary } from '../src/testing/testenv.ts'
import { compareOutputs } from '../src/testing/helm/compare.ts'
import type { Verdict } from '../src/testing/helm/compare.ts'
import { generatedValues } from '../src/testing/helm/generated-values.ts'
import { renderLikeHelm } from '../src/testing/helm/render.ts'
import { readYamlTable } from '../src/render/helm/read-yaml.ts'
import { profileOf } from '../src/render/helm/profile.ts'
import type { HelmVersion } from '../src/render/helm/profile.ts'
import { isCompatible } from '../src/render/helm/semver.ts'

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

/** Directories with a Chart.yaml that are not a part of another chart. */
function findCharts(dir: string, found: string[] = []): string[] {
  if (existsSync(join(dir, 'Chart.yaml'))) {
    found.push(dir)
    return found
  }
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    if (entry.isDirectory() && entry.name !== '.git') findCharts(join(dir, entry.name), found)
  }
  return found
}

interface Found {
  readonly dir: string
  readonly root: string
  readonly version: string
}

function chartsBelow(roots: readonly string[]): Found[] {
  return roots.flatMap((root) => findCharts(root).map((dir) => ({ dir, root, version: versionOf(dir) })))
}

/** One of each directory, then the next of each: a run that is stopped has seen something of all. */
function inTurns(found: readonly Found[]): Found[] {
  const turns = [...Map.groupBy(found, ({ root }) => root).values()]
  return turns
    .flatMap((list) => list.map((chart, turn) => ({ chart, turn })))
    .sort((a, b) => a.turn - b.turn)
    .map(({ chart }) => chart)
}

const charts = inTurns(chartsBelow(positionals))
const byName = Map.groupBy([...charts, ...chartsBelow(flags.library)], ({ dir }) => basename(dir))

interface Needed {
  readonly name: string
  readonly version: string
}

/** Links to what is in a folder, which takes a fraction of the time of a copy; helm follows them, as we do. */
function linkInto(folder: string, from: string): void {
  for (const name of readdirSync(from)) if (name !== 'charts') symlinkSync(join(from, name), join(folder, name))
}

/** A chart with its dependencies beside it, taken from the other charts: of a fitting version first, then from the same root. */
function vendored({ dir, root }: Pick<Found, 'dir' | 'root'>, depth = 0): string {
  if (!flags.vendor) return dir
  const needed = dependenciesOf(dir).filter(({ name }) => !hasSubchart(dir, name) && byName.has(name))
  if (needed.length === 0 || depth > 4) return dir
  const copy = join(scratch, `${depth}-${relative('/', dir).replaceAll('/', '_')}`, basename(dir))
  if (existsSync(copy)) return copy
  mkdirSync(join(copy, 'charts'), { recursive: true })
  linkInto(copy, dir)
  if (existsSync(join(dir, 'charts'))) linkInto(join(copy, 'charts'), join(dir, 'charts'))
  for (const need of needed) {
    const found = byName.get(need.name)!
    const score = (one: Found) =>
      2 * Number(isCompatible(need.version, one.version, prereleases)) + Number(one.root === root)
    const best = found.reduce((a, b) => (score(b) > score(a) ? b : a))
    const link = join(copy, 'charts', need.name)
    if (!existsSync(link)) symlinkSync(vendored(best, depth + 1), link)
  }
  return copy
}

function tableOf(file: string): Map<string, unknown> {
  try {
    return readYamlTable(readFileSync(file))
  } catch {
    return new Map() // what cannot be read has no version and no dependencies to look for
  }
}

function versionOf(dir: string): string {
  return String(tableOf(join(dir, 'Chart.yaml')).get('version'))
}

function dependenciesOf(dir: string): Needed[] {
  for (const file of ['Chart.yaml', 'requirements.yaml']) {
    const list = tableOf(join(dir, file)).get('dependencies')
    if (Array.isArray(list)) {
      return list
        .filter((item) => item instanceof Map)
        .map((item) => ({ name: String(item.get('name')), version: String(item.get('version')) }))
    }
  }
  return []
}

function hasSubchart(dir: string, name: string): boolean {
  const subcharts = join(dir, 'charts')
  return existsSync(subcharts) && readdirSync(subcharts).some((entry) => entry === name || entry.startsWith(`${name}-`))
}

interface Case {
  readonly version: HelmVersion
  readonly name: string
  readonly dir: string
  readonly values: string | undefined
}

function casesOf(chart: Found): Case[] {
  const dir = vendored(chart)
  const name = join(basename(chart.root), relative(chart.root, chart.dir))
  const files: (readonly [label: string, file: string | undefined])[] = [['', undefined]]
  const ci = join(dir, 'ci')
  if (existsSync(ci) && statSync(ci).isDirectory()) {
    for (const file of readdirSync(ci)) if (/\.ya?ml$/.test(file)) files.push([` ${file}`, join(ci, file)])
  }
  if (flags.generated && existsSync(join(dir, 'values.yaml'))) {
    for (const [kind, text] of generatedValues(readFileSync(join(dir, 'values.yaml')))) {
      const file = join(scratch, `${relative('/', dir).replaceAll('/', '_')}-${kind}.yaml`)
      writeFileSync(file, text)
      files.push([` ${kind}`, file])
    }
  }
  return files.flatMap(([label, values]) =>
    versions.map((version) => ({ version, name: `${name}${label}`, dir, values })),
  )
}

interface Output {
  readonly stdout: string
  readonly stderr: string
  readonly failed: boolean
  /** Helm was ended by its time limit or for want of memory: it said nothing that can be compared. */
  readonly died?: boolean
}

async function oracle({ version, dir, values }: Case): Promise<Output> {
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

function ours({ version, dir, values }: Case): Output {
  const files = values ? [{ name: values, data: readFileSync(values) }] : []
  const result = renderLikeHelm(dir, { version, files })
  return { ...result, stdout: Buffer.from(result.bytes).toString('latin1') }
}

/** With some values helm's output hangs on the order in which Go walks a map. */
const ASKED_AGAIN = 8

async function judge(one: Case): Promise<Verdict | Pick<Judged, 'kind' | 'missing' | 'detail'>> {
  const first = await oracle(one)
  if (first.died) return { kind: 'helm died', detail: first.stderr.slice(0, 1000) }
  let mine: Output
  try {
    mine = ours(one)
  } catch (error) {
    return { kind: 'different', detail: `ours broke: ${String((error as Error).stack)}` }
  }
  let verdict = compareOutputs(first, first, mine)
  for (
    let asked = 0;
    asked < ASKED_AGAIN && (verdict.kind === 'different' || verdict.kind === 'errors differ');
    asked++
  ) {
    verdict = compareOutputs(first, await oracle(one), mine)
  }
  return { ...verdict, missing: verdict.kind === 'error on both' && first.stderr.includes('but missing in charts/') }
}

const KINDS = [
  'identical',
  'random masked',
  'different',
  'error on both',
  'errors differ',
  'one errors',
  'helm died',
] as const
const BAD: readonly string[] = ['different', 'one errors', 'errors differ']

/** One line of the record: a render and its verdict. */
interface Judged {
  readonly version: HelmVersion
  readonly name: string
  readonly chart: string
  readonly kind: (typeof KINDS)[number]
  readonly missing?: boolean
  readonly detail?: string
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
const isOfPart = (one: Case) => Number.parseInt(hex(sha256(keyOf(one))).slice(0, 8), 16) % parts === part
const endsAt = performance.now() + Number(flags.minutes) * 60_000

async function work(): Promise<void> {
  for (let chart = charts.shift(); chart; chart = charts.shift()) {
    for (const one of casesOf(chart)) {
      if (performance.now() > endsAt) return
      if (!isOfPart(one) || judged.has(keyOf(one)) || (flags.only && !one.name.includes(flags.only))) continue
      const verdict = { version: one.version, name: one.name, chart: chart.dir, ...(await judge(one)) }
      judged.set(keyOf(one), verdict)
      if (flags.record) appendFileSync(flags.record, `${JSON.stringify(verdict)}\n`)
      if (BAD.includes(verdict.kind)) {
        const detail = flags.show ? `\n${verdict.detail ?? ''}` : ''
        process.stdout.write(`${verdict.kind.padEnd(13)} ${one.version} ${one.name}${detail}\n`)
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
