// Renders every chart below some directories with the real helm and with ours, and says where they differ:
// `npm run conformance:helm -- DIR… [--helm 3|4] [--generated] [--vendor] [--only TEXT] [--jobs N] [--show]`.
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
import type { HelmVersion } from '../src/render/helm/profile.ts'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    helm: { type: 'string', default: '4' },
    generated: { type: 'boolean', default: false },
    vendor: { type: 'boolean', default: false },
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

const charts = positionals.flatMap((dir) => findCharts(dir))
const byName = new Map(charts.map((dir) => [basename(dir), dir]))

/** A chart with its dependencies beside it, taken from the charts found. */
function vendored(dir: string, depth = 0): string {
  if (!flags.vendor) return dir
  const needed = dependencyNames(dir).filter((name) => !hasSubchart(dir, name) && byName.has(name))
  if (needed.length === 0 || depth > 4) return dir
  const copy = join(scratch, `${depth}-${relative('/', dir).replaceAll('/', '_')}`, basename(dir))
  if (existsSync(copy)) return copy
  mkdirSync(copy, { recursive: true })
  cpSync(dir, copy, { recursive: true, verbatimSymlinks: false })
  for (const name of needed)
    cpSync(vendored(byName.get(name)!, depth + 1), join(copy, 'charts', name), { recursive: true })
  return copy
}

function dependencyNames(dir: string): string[] {
  for (const file of ['Chart.yaml', 'requirements.yaml']) {
    try {
      const list = readYamlTable(readFileSync(join(dir, file))).get('dependencies')
      if (Array.isArray(list)) return list.map((item) => String((item as Map<string, unknown>).get('name')))
    } catch {
      // a chart that cannot be read has no dependencies to look for
    }
  }
  return []
}

function hasSubchart(dir: string, name: string): boolean {
  const charts = join(dir, 'charts')
  return existsSync(charts) && readdirSync(charts).some((entry) => entry === name || entry.startsWith(`${name}-`))
}

interface Case {
  readonly name: string
  readonly dir: string
  readonly values: string | undefined
}

function casesOf(chart: string): Case[] {
  const dir = vendored(chart)
  const name =
    positionals.map((root) => relative(root, chart)).find((path) => !path.startsWith('..')) || basename(chart)
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

async function judge(one: Case): Promise<Verdict & { readonly detail?: string }> {
  const first = await oracle(one)
  let mine: Output
  try {
    mine = ours(one)
  } catch (error) {
    return { kind: 'different', detail: `ours broke: ${String((error as Error).stack)}` }
  }
  const quick = compareOutputs(first, first, mine)
  return quick.kind === 'different' ? compareOutputs(first, await oracle(one), mine) : quick
}

const cases = charts.flatMap(casesOf).filter(({ name }) => !flags.only || name.includes(flags.only))
const counts = new Map<string, number>()
const notes: string[] = []
let next = 0

async function work(): Promise<void> {
  for (;;) {
    const one = cases[next]
    next += 1
    if (!one) return
    const verdict = await judge(one)
    counts.set(verdict.kind, (counts.get(verdict.kind) ?? 0) + 1)
    if (['different', 'one errors', 'errors differ'].includes(verdict.kind)) {
      notes.push(`${verdict.kind.padEnd(13)} ${one.name}${flags.show ? `\n${verdict.detail ?? ''}` : ''}`)
    }
  }
}

try {
  await Promise.all(Array.from({ length: Number(flags.jobs) }, work))
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
for (const note of notes.sort()) process.stdout.write(`${note}\n`)
process.stdout.write(`\n${version} ${binary}\n${cases.length} renders of ${charts.length} charts\n`)
for (const kind of ['identical', 'random masked', 'different', 'error on both', 'errors differ', 'one errors']) {
  process.stdout.write(`${kind.padEnd(14)} ${counts.get(kind) ?? 0}\n`)
}
process.exitCode = (counts.get('different') ?? 0) + (counts.get('one errors') ?? 0) > 0 ? 1 : 0
