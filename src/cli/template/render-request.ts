// Tested by src/cli/commands/preview/template.contract.test.ts.
/** Renders a request: reads the chart and the values from disk, and prepares the output. */
import { existsSync, readFileSync } from 'node:fs'
import { generateTraditionalKey } from '../../core/bytes.ts'
import { goQuote } from '../../core/text/go-quote.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { fromGoBytes } from '../../render/gotemplate/go-string.ts'
import { capabilitiesFor } from '../../render/helm/capabilities.ts'
import { checkReleaseName, checkRequirements } from '../../render/helm/chart/check-chart.ts'
import type { FrozenRecord } from '../../render/helm/frozen-random.ts'
import { HelmError } from '../../render/helm/helm-error.ts'
import type { RenderBudget } from '../../render/helm/render-limits.ts'
import { nameFromTemplate } from '../../render/helm/engine/name-template.ts'
import { profileOf } from '../../render/helm/profile.ts'
import type { HelmProfile } from '../../render/helm/profile.ts'
import { Provenance } from '../../render/helm/provenance.ts'
import { renderChart } from '../../render/helm/render-chart.ts'
import type { RenderedChart } from '../../render/helm/render-chart.ts'
import { failedOutput, outputDocuments, templateOutput } from '../../render/helm/template-output.ts'
import type { OutputOptions } from '../../render/helm/template-output.ts'
import { userValueLayers, userValues } from '../../render/helm/values/user-values.ts'
import type { ValuesFlags } from '../../render/helm/values/user-values.ts'
import { originText } from '../../render/helm/values/value-origins.ts'
import { goJson } from '../../render/helm/functions/json.ts'
import { addressProblem, goFileError, loadChartFrom, locateChart } from './locate-chart.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import { labelPairs } from './helm-flags.ts'
import { kernelRandom } from '../executable/kernel-random.ts'
import type { TemplateAnswer, TemplateFlags, TemplateRequest } from './template-request.ts'

/** Receivers of messages during a render. */
export interface RenderListener {
  readonly warn: (text: string) => void
  readonly watch: RenderBudget
}

/** Renders. Throws HelmError with the error of helm. */
export function renderRequest({ words, flags, stdin }: TemplateRequest, ears: RenderListener): TemplateAnswer {
  const profile = profileFor(flags)
  const entropy = {
    randomBytes: (length: number) => kernelRandom(length),
    now: () => systemClock.now(),
    generateKey: generateTraditionalKey,
  }
  const cluster = {
    ...(flags.kubeVersion !== undefined && { kubeVersion: flags.kubeVersion }),
    apiVersions: flags.apiVersions ?? [],
  }
  // In the order of helm, because only the first problem is reported.
  capabilitiesFor(cluster, profile)
  const { name, path } = nameAndChart(words, flags, (text) => nameFromTemplate(text, entropy, profile))
  const located = locateChart(path)
  const given = readUserValues(flags, stdin)
  const values = userValues(given, profile)
  const chart = loadChartFrom(located, profile)
  checkDependencies(() => checkRequirements(chart, profile), flags)
  checkReleaseName(name, profile)
  const frozen = readFrozen(flags.frozen)
  const provenance = flags.explain ? new Provenance() : undefined
  const rendered = renderChart({
    chart,
    values,
    profile,
    release: { name, namespace: flags.namespace || 'default', isUpgrade: flags.isUpgrade ?? false },
    cluster,
    entropy,
    frozen,
    skipSchemaValidation: flags.skipSchemaValidation ?? false,
    warn: ears.warn,
    beforeTemplates: () => checkLabels(flags.labels ?? []),
    watch: ears.watch,
    ...(provenance && { trace: provenance.trace, layers: userValueLayers(given, profile) }),
  })
  const what = outputOptions(flags)
  const isChangedLater = Boolean(flags.postRenderer) || Boolean(flags.outputDir)
  const text = provenance ? explained(rendered, provenance, what) : isChangedLater ? '' : templateOutput(rendered, what)
  return { name, text, ...outputDocuments(rendered, what), frozen: newFrozen(frozen, rendered) }
}

/** The error of a render, with the debug output before it. A missing --show-only template is reported instead. */
export function reportableError(
  error: HelmError,
  flags: TemplateFlags,
): { readonly error: HelmError; readonly text: string } {
  if (!flags.debug || !error.rendered) return { error, text: '' }
  try {
    return { error, text: failedOutput(error, outputOptions(flags), profileFor(flags)) }
  } catch (missing) {
    if (missing instanceof HelmError) return { error: missing, text: '' }
    throw missing
  }
}

function profileFor(flags: TemplateFlags): HelmProfile {
  return profileOf(flags.helm === '3' ? 'helm3' : 'helm4')
}

function outputOptions(flags: TemplateFlags): OutputOptions {
  return {
    includeCrds: flags.includeCrds ?? false,
    noHooks: flags.hooks === false,
    skipTests: flags.skipTests ?? false,
    showOnly: flags.showOnly ?? [],
  }
}

function nameAndChart(
  words: readonly string[],
  flags: TemplateFlags,
  nameFrom: (template: string) => string,
): { readonly name: string; readonly path: string } {
  const [first = '', second] = words
  if (words.length > 2) {
    throw new HelmError(`expected at most two arguments, unexpected arguments: ${words.slice(2).join(', ')}`)
  }
  if (second !== undefined) {
    if (flags.generateName) throw new HelmError('cannot set --generate-name and also specify a name')
    if (flags.nameTemplate) throw new HelmError('cannot set --name-template and also specify a name')
    return { name: first, path: second }
  }
  return { name: flags.nameTemplate ? nameFrom(flags.nameTemplate) : 'release-name', path: first }
}

const SYSTEM_LABELS = ['name', 'owner', 'status', 'version', 'createdAt', 'modifiedAt']

/** Refuses labels that helm reserves. */
function checkLabels(texts: readonly string[]): void {
  const keys = texts.flatMap((text) => labelPairs(text).map((pair) => pair.slice(0, pair.indexOf('='))))
  if (keys.some((key) => SYSTEM_LABELS.includes(key))) {
    const names = `[${SYSTEM_LABELS.join(' ')}]`
    throw new HelmError(`user supplied labels contains system reserved label name. System labels: ${names}`)
  }
}

function checkDependencies(check: () => void, flags: TemplateFlags): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof HelmError) || !flags.dependencyUpdate || !/missing in charts/.test(error.message))
      throw error
    throw new CliError(
      EXIT.failed,
      {
        what: 'a dependency of the chart is not in charts/; this command does not fetch charts',
        why: error.message,
        todo: 'run "helm dependency build" first, or use --engine official',
      },
      { cause: error },
    )
  }
}

function readUserValues(flags: TemplateFlags, stdin: Uint8Array): ValuesFlags {
  // The first reader of stdin receives all of it.
  let left = stdin
  const read = (name: string): Uint8Array => {
    if (name.trim() !== '-') return readFile(name)
    const all = left
    left = new Uint8Array()
    return all
  }
  return {
    files: (flags.values ?? []).map((name) => valuesFile(name, read)),
    json: flags.setJson ?? [],
    set: flags.set ?? [],
    setString: flags.setString ?? [],
    setFile: flags.setFile ?? [],
    setLiteral: flags.setLiteral ?? [],
    readFile: (path) => fromGoBytes(read(path)),
  }
}

/** A file that is read in the order of the flags, so that the first problem is reported. */
function valuesFile(name: string, read: (name: string) => Uint8Array): { name: string; readonly data: Uint8Array } {
  let data: Uint8Array | undefined
  return {
    name,
    get data() {
      return (data ??= read(name))
    },
  }
}

function readFile(path: string): Uint8Array {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(path)) {
    throw new CliError(EXIT.usage, {
      where: path,
      what: 'values are not fetched from addresses',
      todo: 'download the file first and give its path, or use --engine official',
    })
  }
  const problem = addressProblem(path)
  if (problem !== undefined) throw new HelmError(`parse ${goQuote(path)}: ${problem}`)
  try {
    return readFileSync(path)
  } catch (error) {
    throw new HelmError(goFileError(error, path), { cause: error })
  }
}

function readFrozen(file: string | undefined): FrozenRecord {
  if (file === undefined || !existsSync(file)) return {}
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as FrozenRecord
  } catch (error) {
    throw new CliError(
      EXIT.failed,
      { where: file, what: 'cannot read the frozen values', why: (error as Error).message },
      { cause: error },
    )
  }
}

/** The random values to keep. Undefined if there are no new values. */
function newFrozen(before: FrozenRecord, { frozen }: RenderedChart): FrozenRecord | undefined {
  return Object.keys(frozen).every((key) => Object.hasOwn(before, key)) ? undefined : { ...before, ...frozen }
}

/** Each line with its template, line and values, followed by all values. */
function explained(
  rendered: RenderedChart,
  provenance: Provenance,
  wanted: Parameters<typeof outputDocuments>[1],
): string {
  const { origins } = rendered
  const { crds, release, hooks } = outputDocuments(rendered, wanted)
  const documents = [...crds, ...release, ...hooks].map((document) => {
    const lines = provenance.explain(document, origins).map(({ origin, text, values }) => {
      const read = values.map((value) => `${value.path.join('.')} from ${originText(value.origin)}`)
      return [origin, text, ...read].join('\t')
    })
    return `---\n# Source: ${document.path}\n${lines.join('\n')}\n`
  })
  const values = (origins?.all() ?? []).map(({ path, value, origin }) => {
    return `${path.join('.')}\t${goJson(value)}\t${origin ? originText(origin) : '(made by coalescing)'}\n`
  })
  return `${documents.join('')}---\n# Values\n${values.join('')}`
}
