// One render by the real helm and by ours: what is rendered, and how the two compare.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import type { HelmVersion } from '../../render/helm/profile.ts'
import { compareOutputs } from './compare.ts'
import type { RunOutput } from './compare.ts'
import type { FoundChart } from './found-charts.ts'
import { generatedValues } from './fuzz/generated-values.ts'
import { renderLikeHelm } from './render.ts'

/** A chart with one file of values, or none. */
export interface RenderCase {
  readonly name: string
  readonly dir: string
  readonly values: string | undefined
}

/**
 * Defaults, every `ci/*.yaml`, and values made from the defaults, which are written below `generated` where that is
 * given.
 */
export function casesOf(chart: FoundChart, dir: string, generated?: string): RenderCase[] {
  const name = join(basename(chart.root), relative(chart.root, chart.dir))
  const cases: RenderCase[] = [{ name, dir, values: undefined }]
  const ci = join(dir, 'ci')
  if (existsSync(ci) && statSync(ci).isDirectory()) {
    for (const file of readdirSync(ci)) {
      if (/\.ya?ml$/.test(file)) cases.push({ name: `${name} ${file}`, dir, values: join(ci, file) })
    }
  }
  const defaults = join(dir, 'values.yaml')
  if (generated === undefined || !existsSync(defaults)) return cases
  for (const [kind, text] of generatedValues(readFileSync(defaults))) {
    const values = join(generated, `${relative('/', dir).replaceAll('/', '_')}-${kind}.yaml`)
    writeFileSync(values, text)
    cases.push({ name: `${name} ${kind}`, dir, values })
  }
  return cases
}

/**
 * What the real helm said; it can be ended by its time limit or for want of memory, and then there is nothing to
 * compare.
 */
export interface HelmOutput extends RunOutput {
  readonly died?: boolean
}

/** How a verdict is called, in the order of the table. */
export const KINDS = [
  'identical',
  'random masked',
  'different',
  'error on both',
  'errors differ',
  'one errors',
  'helm died',
] as const

/** A comparison's end. */
export interface Judgement {
  readonly kind: (typeof KINDS)[number]
  /** Both said that a dependency is not in `charts/`. */
  readonly missing?: boolean
  readonly detail?: string
}

/** With some values helm's output hangs on the order in which Go walks a map. */
const ASKED_AGAIN = 8

/** Compares one render; helm is asked again where it may have said something random. */
export async function judge(
  one: RenderCase,
  version: HelmVersion,
  helm: () => Promise<HelmOutput>,
): Promise<Judgement> {
  const first = await helm()
  if (first.died) return { kind: 'helm died', detail: first.stderr.slice(0, 1000) }
  let mine: RunOutput
  try {
    mine = ours(one, version)
  } catch (error) {
    return { kind: 'different', detail: `ours broke: ${String((error as Error).stack)}` }
  }
  let verdict = compareOutputs(first, first, mine)
  for (let asked = 0; asked < ASKED_AGAIN && /^(?:different|errors differ)$/.test(verdict.kind); asked++) {
    verdict = compareOutputs(first, await helm(), mine)
  }
  return { ...verdict, missing: verdict.kind === 'error on both' && first.stderr.includes('but missing in charts/') }
}

function ours({ dir, values }: RenderCase, version: HelmVersion): RunOutput {
  const files = values ? [{ name: values, data: readFileSync(values) }] : []
  const result = renderLikeHelm(dir, { version, files })
  return { ...result, stdout: Buffer.from(result.bytes).toString('latin1') }
}
