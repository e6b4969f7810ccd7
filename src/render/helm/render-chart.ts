/** Renders a chart: the same inputs give the same output, and the result says which inputs it looked at. */
import { goInt, GoStruct } from '../gotemplate/value.ts'
import type { GoNamed } from '../gotemplate/value.ts'
import { capabilitiesFor } from './capabilities.ts'
import type { ClusterFacts } from './capabilities.ts'
import { cloneChart, crdsOf, pathIn } from './chart/chart.ts'
import type { Chart } from './chart/chart.ts'
import { coalesceValues } from './values/coalesce.ts'
import { processDependencies } from './chart/dependencies.ts'
import { copyTable } from './values/dict.ts'
import type { Dict } from './values/dict.ts'
import { createParseCache, renderTemplates } from './engine/engine.ts'
import type { ParseCache, RenderTrace } from './engine/engine.ts'
import { decodeFileText } from './chart/file-text.ts'
import { RandomDraws } from './frozen-random.ts'
import type { Entropy, FrozenRecord } from './frozen-random.ts'
import type { LookUp } from './functions/helm-functions.ts'
import { HelmError } from './helm-error.ts'
import { DEFAULT_LIMITS } from './render-limits.ts'
import type { RenderLimits, RenderBudget } from './render-limits.ts'
import { sortManifests } from './manifests.ts'
import type { Hook, Manifest } from './manifests.ts'
import type { HelmProfile } from './profile.ts'
import { validateSchemas } from './schema/validate-schemas.ts'
import { isCompatible } from './semver.ts'
import { capabilitiesObject, namedValues } from './engine/template-objects.ts'
import { ValueOrigins } from './values/value-origins.ts'
import type { ValueLayer } from './values/value-origins.ts'

/** What a render depends on. */
export interface RenderInput {
  readonly chart: Chart
  readonly values: Dict
  readonly release: {
    readonly name: string
    readonly namespace: string
    readonly isUpgrade?: boolean
    readonly revision?: number
  }
  readonly profile: HelmProfile
  readonly cluster?: ClusterFacts
  readonly entropy: Entropy
  readonly frozen?: FrozenRecord
  readonly lookUp?: LookUp
  readonly limits?: RenderLimits
  readonly watch?: RenderBudget
  readonly skipSchemaValidation?: boolean
  readonly warn?: (message: string) => void
  /** Called when the values are found to be right, before any template runs. */
  readonly beforeTemplates?: () => void
  /** Receives each piece of a file's output with where it came from. */
  readonly trace?: RenderTrace
  /** The user's values in the layers they came in, to tell where values came from. */
  readonly layers?: readonly ValueLayer[]
}

/** Which inputs a render looked at, beside chart and values: the key of its variant. */
export interface InputsRead {
  readonly drewRandom: boolean
  readonly lookedUp: readonly Parameters<LookUp>[0][]
  readonly kubeVersion: boolean
  /** The API versions it asked for; `all` when it went through the list itself. */
  readonly apiVersions: readonly string[] | 'all'
}

/** A rendered chart. */
export interface RenderedChart {
  /** Whose rules it followed. */
  readonly profile: HelmProfile
  readonly manifests: readonly Manifest[]
  readonly hooks: readonly Hook[]
  readonly crds: readonly { readonly filename: string; readonly content: string }[]
  readonly notes: string
  /** All files as they came out of the templates. */
  readonly files: ReadonlyMap<string, string>
  /** Random values and the time it drew, to replay. */
  readonly frozen: FrozenRecord
  readonly read: InputsRead
  /** Where values came from; only when the layers were given. */
  readonly origins: ValueOrigins | undefined
}

const caches = new WeakMap<Chart, ParseCache>()

/** Renders a chart; throws HelmError with what `helm template` would say. */
export function renderChart(input: RenderInput): RenderedChart {
  const { profile } = input
  const warn = input.warn ?? (() => {})
  const chart = cloneChart(input.chart)
  inStep('chart dependencies processing failed', profile, () =>
    processDependencies(chart, input.values, { profile, warn }),
  )
  const capabilities = capabilitiesFor(input.cluster ?? {}, profile)
  const values = coalesceValues(chart, input.values, { profile, warn })
  // Templates change the values: origins are reported for the values before the render.
  const origins = input.layers && new ValueOrigins(chart, copyTable(values), input.layers, profile)
  if (!input.skipSchemaValidation) validateSchemas(chart, values, profile)
  input.beforeTemplates?.()
  const { kubeVersion } = chart.metadata
  if (kubeVersion !== '' && !isCompatible(kubeVersion, capabilities.kubeVersion.normalized, profile.prereleases)) {
    throw new HelmError(
      `chart requires kubeVersion: ${kubeVersion} which is incompatible with Kubernetes ${capabilities.kubeVersion.version}`,
      { rendered: true },
    )
  }
  const seen = watchCapabilities(capabilitiesObject(capabilities, profile))
  const draws = new RandomDraws(input.entropy, input.frozen)
  const lookedUp: Parameters<LookUp>[0][] = []
  const parsed = caches.get(input.chart) ?? createParseCache()
  caches.set(input.chart, parsed)
  const top: Dict = new Map<string, unknown>([
    ['Values', namedValues(values, profile)],
    ['Capabilities', seen.object],
    ['Release', releaseObject(input)],
  ])
  const files = renderTemplates(chart, top, {
    profile,
    draws,
    parsed,
    limits: { ...DEFAULT_LIMITS, ...input.limits },
    lookUp: (query) => {
      lookedUp.push(query)
      return input.lookUp?.(query)
    },
    ...(input.trace && { trace: input.trace }),
    ...(input.watch && { watch: input.watch }),
  })
  const notes = takeNotes(files, chart)
  const { hooks, manifests } = sortManifests(files, profile)
  return {
    profile,
    manifests,
    hooks,
    crds: crdsOf(chart).map(({ filename, data }) => ({ filename, content: decodeFileText(data) })),
    notes,
    files,
    frozen: draws.record,
    read: { drewRandom: draws.drewRandom, lookedUp, ...seen.read() },
    origins,
  }
}

/** Helm 4 names the step that failed. */
function inStep(step: string, profile: HelmProfile, run: () => void): void {
  try {
    run()
  } catch (error) {
    if (error instanceof RangeError && /call stack/i.test(error.message)) {
      // Helm itself dies of it.
      throw new HelmError(`${step}: import-values make values that contain themselves`, { cause: error })
    }
    if (!(error instanceof HelmError) || profile.name === 'helm3') throw error
    throw new HelmError(`${step}: ${error.message}`, { cause: error })
  }
}

function releaseObject({ release }: RenderInput): Dict {
  const isUpgrade = release.isUpgrade ?? false
  return new Map<string, unknown>([
    ['Name', release.name],
    ['Namespace', release.namespace],
    ['IsUpgrade', isUpgrade],
    ['IsInstall', !isUpgrade],
    ['Revision', goInt(release.revision ?? 1)],
    ['Service', 'Helm'],
  ])
}

/** NOTES.txt is no manifest: takes all of them out, and gives back the chart's own. */
function takeNotes(files: Map<string, string>, chart: Chart): string {
  let notes = ''
  for (const [path, text] of files) {
    if (!path.endsWith('NOTES.txt')) continue
    if (path === pathIn(chart, 'templates/NOTES.txt')) notes = text
    files.delete(path)
  }
  return notes
}

/** The same object, telling afterwards what was read of it. */
function watchCapabilities(object: GoStruct): {
  readonly object: GoStruct
  readonly read: () => Pick<InputsRead, 'kubeVersion' | 'apiVersions'>
} {
  let kubeVersion = false
  let apiReads = 0
  const asked: string[] = []
  const fields = new WatchedMap(object.fields, (name) => {
    if (name === 'KubeVersion') kubeVersion = true
    if (name === 'APIVersions') apiReads += 1
  })
  const apis = object.fields.get('APIVersions') as GoNamed
  const has = apis.info.methods!.get('Has')!
  const methods = apis.info.methods as Map<string, typeof has>
  methods.set('Has', {
    ...has,
    call: (args) => {
      asked.push(args[0] as string)
      return has.call(args)
    },
  })
  return {
    object: new GoStruct(object.type, fields),
    // Each question takes the list once; a list that was taken more often went somewhere else whole.
    read: () => ({ kubeVersion, apiVersions: apiReads > asked.length ? 'all' : [...new Set(asked)].sort() }),
  }
}

class WatchedMap extends Map<string, unknown> {
  readonly #seen: (name: string) => void

  constructor(entries: Iterable<readonly [string, unknown]>, seen: (name: string) => void) {
    super(entries)
    this.#seen = seen
  }

  override get(name: string): unknown {
    this.#seen(name)
    return super.get(name)
  }
}
