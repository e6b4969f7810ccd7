// Renders every chart below some directories with the real helm and with ours, and says where they differ:
// `npm run conformance:helm -- DIR… [--helm 3|4] [--generated] [--vendor] [--library DIR] [--only TEXT] [--jobs N] [--show]`.
import { execFile } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
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
  },
})
if (positionals.length === 0) {
  process.stderr.write('usage: npm run conformance:helm -- DIR… [--helm 3|4] [--generated] [--vendor] [--only TEXT]\n')
  process.exit(2)
}
const version: HelmVersion = flags.helm === '3' ? 'helm3' : 'helm4'
const profile = profileOf(version)
const binary = needBinary(version === 'helm3' ? 'helm3' : 'helm')
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

const charts = chartsBelow(positionals)
const byName = Map.groupBy([...charts, ...chartsBelow(flags.library)], ({ dir }) => basename(dir))

interface Needed {
  readonly name: string
  readonly version: string
}

/** A chart with its dependencies beside it, taken from the other charts: of a fitting version first, then from the same root. */
function vendored({ dir, root }: Pick<Found, 'dir' | 'root'>, depth = 0): string {
  if (!flags.vendor) return dir
  const needed = dependenciesOf(dir).filter(({ name }) => !hasSubchart(dir, name) && byName.has(name))
  if (needed.length === 0 || depth > 4) return dir
  const copy = join(scratch, `${depth}-${relative('/', dir).replaceAll('/', '_')}`, basename(dir))
  if (existsSync(copy)) return copy
  mkdirSync(copy, { recursive: true })
  cpSync(dir, copy, { recursive: true, verbatimSymlinks: false })
  for (const need of needed) {
    const found = byName.get(need.name)!
    const score = (one: Found) =>
      2 * Number(isCompatible(need.version, one.version, profile.prereleases)) + Number(one.root === root)
    const best = found.reduce((a, b) => (score(b) > score(a) ? b : a))
    cpSync(vendored(best, depth + 1), join(copy, 'charts', need.name), { recursive: true })
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
  readonly name: string
  readonly dir: string
  readonly values: string | undefined
}

function casesOf(chart: Found): Case[] {
  const dir = vendored(chart)
  const name = relative(chart.root, chart.dir) || basename(chart.dir)
  const cases: Case[] = [{ name, dir, values: undefined }]
  const ci = join(dir, 'ci')
  if (existsSync(ci) && statSync(ci).isDirectory()) {
    for (const file of readdirSync(ci))
      if (/\.ya?ml$/.test(file)) cases.push({ name: `${name} ${file}`, dir, values: join(ci, file) })
  }
  if (flags.generated && existsSync(join(dir, 'values.yaml'))) {
    for (const [kind, text] of generatedValues(readFileSync(join(dir, 'values.yaml')))) {
      const file = join(scratch, `${relative('/', dir).replaceAll('/', '_')}-${kind}.yaml`)
      writeFileSync(file, text)
      cases.push({ name: `${name} ${kind}`, dir, values: file })
    }
  }
  return cases
}

interface Output {
  readonly stdout: string
  readonly stderr: string
  readonly failed: boolean
}

async function oracle({ dir, values }: Case): Promise<Output> {
  const args = ['template', 'release-name', dir, ...(values ? ['-f', values] : [])]
  return await new Promise((resolve) => {
    execFile(binary, args, { encoding: 'buffer', maxBuffer: 1 << 28, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ stdout: stdout.toString('latin1'), stderr: stderr.toString('utf8'), failed: error !== null })
    })
  })
}

function ours({ dir, values }: Case): Output {
  const files = values ? [{ name: values, data: readFileSync(values) }] : []
  const result = renderLikeHelm(dir, { version, files })
  return { ...result, stdout: Buffer.from(result.bytes).toString('latin1') }
}

async function judge(one: Case): Promise<Verdict & { readonly missing?: boolean }> {
  const first = await oracle(one)
  let mine: Output
  try {
    mine = ours(one)
  } catch (error) {
    return { kind: 'different', detail: `ours broke: ${String((error as Error).stack)}` }
  }
  const quick = compareOutputs(first, first, mine)
  if (quick.kind === 'different') return compareOutputs(first, await oracle(one), mine)
  return { ...quick, missing: quick.kind === 'error on both' && first.stderr.includes('but missing in charts/') }
}

const counts = new Map<string, number>()
let renders = 0
let incomplete = 0

async function work(): Promise<void> {
  for (let chart = charts.shift(); chart; chart = charts.shift()) {
    for (const one of casesOf(chart)) {
      if (flags.only && !one.name.includes(flags.only)) continue
      const verdict = await judge(one)
      renders += 1
      counts.set(verdict.kind, (counts.get(verdict.kind) ?? 0) + 1)
      if (verdict.missing) incomplete += 1
      if (['different', 'one errors', 'errors differ'].includes(verdict.kind)) {
        process.stdout.write(`${verdict.kind.padEnd(13)} ${one.name}${flags.show ? `\n${verdict.detail ?? ''}` : ''}\n`)
      }
    }
  }
}

const found = charts.length
try {
  await Promise.all(Array.from({ length: Number(flags.jobs) }, work))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
process.stdout.write(`\n${version} ${binary}\n${renders} renders of ${found} charts\n`)
for (const kind of ['identical', 'random masked', 'different', 'error on both', 'errors differ', 'one errors']) {
  process.stdout.write(`${kind.padEnd(14)} ${counts.get(kind) ?? 0}\n`)
}
process.stdout.write(`of the errors on both ${incomplete} say that a dependency is not in charts/\n`)
process.exitCode = (counts.get('different') ?? 0) + (counts.get('one errors') ?? 0) > 0 ? 1 : 0
