// Tested by src/dialects/flux/controllers/helm-release.sim.test.ts.
/** Compiles a HelmRelease to a HelmChart, a Bundle, and a Placement where it names its cluster itself. */
import { hex, sha256, utf8 } from '../../../core/bytes.ts'
import { compact } from '../../../core/compact.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ALLOW_DROP_ANNOTATION, Placement } from '../../../kinds/native/placement.ts'
import type { ReleaseBuilderOptions } from '../release/release-builder.ts'
import { HELM_RELEASE } from '../release/release-fields.ts'
import { HelmRelease } from '../release/release-kind.ts'
import { HelmChart } from '../source-kinds.ts'
import type { ValuesReference } from '../values/release-values.ts'
import { PLAN_ANNOTATION } from './compile-kustomization.ts'
import type { DeletionPolicies, Dependency, KustomizationScene } from './compile-kustomization.ts'
import { listOf, readHelmChart, readSpec, textOf } from './compile-source.ts'
import type { ReadSpec } from './compile-source.ts'
import { madeFor, madeName } from './made-objects.ts'
import type { Desired } from './made-objects.ts'
import { compileHealth, compileIgnore, healthProblem, ignoreProblem } from './object-rules.ts'

/** The `namespace/name` that a nested object has in its repository, where that is another one than on the hub. */
export const NESTED_FROM = 'flotilla.dev/nested-from'

const DEFAULT_TIMEOUT = '5m'
const CHART_KINDS = ['HelmChart', 'OCIRepository']
const CRD_POLICIES = ['Skip', 'Create', 'CreateReplace']
/** What Helm allows for the name of a release. */
const MAX_RELEASE_NAME = 53

/** The spec of a HelmRelease as Flux reads it. */
export interface HelmReleaseSpec {
  readonly release: { readonly name: string; readonly namespace: string }
  /** The object that has the chart; `made` if it is made for the HelmRelease. */
  readonly chart: { readonly kind: string; readonly namespace: string; readonly name: string; readonly isMade: boolean }
  readonly dependsOn: readonly Dependency[]
  readonly valuesFrom: readonly ValuesReference[]
  readonly kubeConfigSecret: string
  readonly suspend: boolean
  readonly isTested: boolean
  readonly maxHistory: number
  readonly timeout: string
  readonly fields: JsonObject
}

/** The spec, and findings about it. */
export function readHelmRelease({ metadata, spec }: HelmRelease): ReadSpec<HelmReleaseSpec> {
  const { read, findings } = readSpec(spec, HELM_RELEASE)
  const wrong = (message: string): void => void findings.push({ level: 'error', message: `spec.${message}` })
  const { namespace = '' } = metadata
  const chartRef = objectIn(read, 'chartRef')
  const chart = objectIn(objectIn(read, 'chart'), 'spec')
  const hasRef = 'chartRef' in read
  if (hasRef === 'chart' in read) wrong('chart or spec.chartRef is required, and not both')
  if (hasRef && !CHART_KINDS.includes(textOf(chartRef['kind']))) {
    wrong(`chartRef.kind is ${JSON.stringify(textOf(chartRef['kind']))}; use one of ${CHART_KINDS.join(', ')}`)
  }
  for (const field of ['interval', 'timeout']) {
    const value = textOf(read[field])
    if ((value !== '' || field === 'interval') && !(Number(parseDuration(value)) > 0))
      wrong(`${field} is ${JSON.stringify(value)}; write a duration such as 5m`)
  }
  for (const action of ['install', 'upgrade']) {
    const policy = textOf(objectIn(read, action)['crds'])
    if (policy !== '' && !CRD_POLICIES.includes(policy))
      wrong(`${action}.crds is ${JSON.stringify(policy)}; use one of ${CRD_POLICIES.join(', ')}`)
  }
  if (!hasRef && 'chart' in read) {
    const template = readHelmChart({ spec: chartSpec(read) })
    findings.push(...template.findings.map((one) => ({ ...one, message: `spec.chart.${one.message}` })))
  }
  const problems = [
    ignoreProblem(objectIn(read, 'driftDetection')['ignore'], 'driftDetection.ignore'),
    healthProblem(read['healthCheckExprs']),
  ]
  for (const problem of problems) if (problem !== undefined) wrong(problem)
  const test = objectIn(read, 'test')
  const maxHistory = read['maxHistory']
  return {
    findings,
    spec: {
      release: {
        name: releaseName(metadata, read),
        namespace: textOf(read['targetNamespace']) || fromOf(metadata).namespace,
      },
      chart: hasRef
        ? {
            kind: textOf(chartRef['kind']),
            namespace: textOf(chartRef['namespace']) || namespace,
            name: textOf(chartRef['name']),
            isMade: false,
          }
        : {
            kind: HelmChart.kind,
            namespace: textOf(objectIn(chart, 'sourceRef')['namespace']) || namespace,
            name: `${namespace}-${metadata.name}`,
            isMade: true,
          },
      dependsOn: listOf(read['dependsOn']).map((one) => ({
        namespace: textOf(one['namespace']) || namespace,
        name: textOf(one['name']),
        readyExpr: textOf(one['readyExpr']),
      })),
      valuesFrom: listOf(read['valuesFrom']) as unknown as ValuesReference[],
      kubeConfigSecret: textOf(objectIn(objectIn(read, 'kubeConfig'), 'secretRef')['name']),
      suspend: read['suspend'] === true,
      isTested: test['enable'] === true && test['ignoreFailures'] !== true,
      maxHistory:
        typeof maxHistory === 'number' && maxHistory > 0 ? Math.min(maxHistory, 100) : maxHistory === 0 ? 100 : 5,
      timeout: textOf(read['timeout']) || DEFAULT_TIMEOUT,
      fields: read,
    },
  }
}

/** Namespace and name of an object in its repository. */
function fromOf({ name, namespace = '', annotations }: HelmRelease['metadata']): {
  readonly namespace: string
  readonly name: string
} {
  const [from = '', ...rest] = (annotations?.[NESTED_FROM] ?? '').split('/')
  return rest.length === 1 ? { namespace: from, name: rest[0]! } : { namespace, name }
}

/** The name of the release; a long one ends with a digest of the whole, as in Flux. */
function releaseName(metadata: HelmRelease['metadata'], read: JsonObject): string {
  const { name } = fromOf(metadata)
  const target = textOf(read['targetNamespace'])
  const whole = textOf(read['releaseName']) || (target === '' ? name : `${target}-${name}`)
  if (whole.length <= MAX_RELEASE_NAME) return whole
  return `${whole.slice(0, MAX_RELEASE_NAME - 13)}-${hex(sha256(utf8(whole))).slice(0, 12)}`
}

/** The HelmChart that Flux makes for a HelmRelease. */
export function chartOf(object: HelmRelease, { fields, chart }: HelmReleaseSpec): Desired {
  const template = objectIn(objectIn(fields, 'chart'), 'metadata')
  const made = madeFor(object, HelmRelease, {
    kind: HelmChart,
    annotations: objectIn(template, 'annotations') as Record<string, string>,
    spec: chartSpec(fields),
  })
  const { labels = {} } = made.object.metadata
  const own = objectIn(template, 'labels') as Record<string, string>
  const metadata = { ...made.object.metadata, name: chart.name, labels: { ...own, ...labels } }
  return { ...made, object: { ...made.object, metadata } }
}

function chartSpec(fields: JsonObject): JsonObject {
  const chart = objectIn(objectIn(fields, 'chart'), 'spec')
  const { kind, name, apiVersion } = objectIn(chart, 'sourceRef')
  return compact({
    ...chart,
    sourceRef: compact({ apiVersion, kind, name }),
    interval: textOf(chart['interval']) || textOf(fields['interval']),
  })
}

/** Where the chart of a release is. */
export interface ChartPlace {
  /** The Source that has it. */
  readonly source: string
  readonly path: string
  readonly ignore: string
  readonly valuesFiles: readonly string[]
  readonly ignoreMissing: boolean
  /** The version, if it is another one than that of the chart. */
  readonly version: string | undefined
}

/** What a HelmRelease is compiled with. */
export interface ReleaseScene extends Pick<KustomizationScene, 'target' | 'configMaps' | 'secrets'> {
  readonly chart: ChartPlace
}

/** The Bundle of a HelmRelease, and its Placement before it. */
export function compileRelease(object: HelmRelease, spec: HelmReleaseSpec, scene: ReleaseScene): Desired[] {
  const { target, chart } = scene
  const { annotations = {}, name } = object.metadata
  const token = annotations[ALLOW_DROP_ANNOTATION]
  const passed = token === undefined ? {} : { annotations: { [ALLOW_DROP_ANNOTATION]: token } }
  const own =
    'placement' in target
      ? []
      : [
          madeFor(object, HelmRelease, {
            kind: Placement,
            ...passed,
            spec: {
              clusterSelector: {},
              predicates: [{ cel: [`cluster.metadata.name == ${JSON.stringify(target.cluster)}`] }],
            },
          }),
        ]
  const plan = annotations[PLAN_ANNOTATION]
  const secrets = Object.fromEntries(scene.secrets.map((secret, at) => [secret, `secret_${at}`]))
  const bundle: Bundle['spec'] = {
    source: { name: chart.source },
    builder: { name: 'flux-helm', options: builderOptions(object, spec, { ...scene, inputs: secrets }) },
    defaultNamespace: spec.release.namespace,
    ...compact({
      inputs:
        scene.secrets.length === 0
          ? undefined
          : scene.secrets.map((secret) => ({ name: secrets[secret]!, secret: { name: secret } })),
      suspend: spec.suspend ? true : undefined,
      rollout: plan === undefined ? undefined : { plan },
    }),
    placement: 'placement' in target ? target.placement : madeName(HelmRelease.kind, name),
    ...optionsOf(object, spec),
  }
  return [...own, madeFor(object, HelmRelease, { kind: Bundle, ...passed, spec: bundle })]
}

function builderOptions(
  { metadata }: HelmRelease,
  { release, valuesFrom, isTested, fields }: HelmReleaseSpec,
  scene: ReleaseScene & { readonly inputs: Readonly<Record<string, string>> },
): JsonObject {
  const { chart, configMaps, inputs } = scene
  const renderers = listOf(fields['postRenderers'])
  const options: ReleaseBuilderOptions = compact({
    owner: fromOf(metadata),
    release,
    chart: chart.path,
    version: chart.version,
    ignore: chart.ignore || undefined,
    valuesFiles: chart.valuesFiles.length === 0 ? undefined : chart.valuesFiles,
    ignoreMissing: chart.ignoreMissing ? true : undefined,
    values: isObject(fields['values']) ? fields['values'] : undefined,
    valuesFrom: valuesFrom.length === 0 ? undefined : valuesFrom,
    configMaps: Object.keys(configMaps).length === 0 ? undefined : configMaps,
    secrets: Object.keys(inputs).length === 0 ? undefined : inputs,
    crds: crdsOf(fields),
    skipSchema: isBoth(fields, 'disableSchemaValidation') ? true : undefined,
    tests: isTested
      ? {
          filters: listOf(objectIn(fields, 'test')['filters']).map((one) => ({
            name: textOf(one['name']),
            exclude: one['exclude'] === true,
          })),
        }
      : undefined,
    postRenderers: renderers.length === 0 ? undefined : renderers,
    rendersHooks: ['combined', 'separate'].includes(textOf(fields['postRenderStrategy'])) ? true : undefined,
    commonMetadata: isObject(fields['commonMetadata']) ? fields['commonMetadata'] : undefined,
  })
  return options as unknown as JsonObject
}

/** What is done with the directory `crds/`. */
function crdsOf(fields: JsonObject): 'Skip' | 'Replace' | undefined {
  const install = objectIn(fields, 'install')
  const upgrade = textOf(objectIn(fields, 'upgrade')['crds'])
  if (upgrade === 'CreateReplace') return 'Replace'
  const isSkipped =
    textOf(install['crds']) === 'Skip' || (textOf(install['crds']) === '' && install['skipCRDs'] === true)
  return isSkipped && upgrade !== 'Create' ? 'Skip' : undefined
}

/** Whether a flag is set for install and upgrade. */
function isBoth(fields: JsonObject, flag: string): boolean {
  return ['install', 'upgrade'].every((action) => objectIn(fields, action)[flag] === true)
}

/** What is deleted with a HelmRelease. */
export function releaseDeletion({ fields, suspend }: Pick<HelmReleaseSpec, 'fields' | 'suspend'>): DeletionPolicies {
  const keeps = suspend || textOf(objectIn(fields, 'uninstall')['deletionPropagation']) === 'orphan'
  return { removed: 'Delete', unplaced: 'Delete', bundleDeleted: keeps ? 'Orphan' : 'Delete' }
}

const DRIFT_MODES = { enabled: 'Correct', warn: 'Report' } as const

/** How agents apply the objects. */
function optionsOf({ metadata }: HelmRelease, spec: HelmReleaseSpec): BundleOptions {
  const { fields, dependsOn } = spec
  const account = textOf(fields['serviceAccountName'])
  const depends = dependsOn
    // An expression is judged on the hub, in place of the state.
    .filter(({ readyExpr }) => readyExpr === '')
    .map(({ namespace, name }) => ({ bundle: `${namespace}/${madeName(HelmRelease.kind, name)}` }))
  const drift = objectIn(fields, 'driftDetection')
  const mode = textOf(drift['mode'])
  const isForced = [objectIn(fields, 'upgrade'), objectIn(fields, 'rollback')].some(({ force }) => force === true)
  const propagation = textOf(objectIn(fields, 'uninstall')['deletionPropagation'])
  return compact({
    apply: compact({
      force: true,
      timeout: spec.timeout,
      immutable: isForced ? ('Recreate' as const) : undefined,
      takeover: isBoth(fields, 'disableTakeOwnership') ? ('IfNoDiff' as const) : undefined,
    }),
    delete: compact({
      ...releaseDeletion(spec),
      propagation: propagation === 'foreground' ? ('Foreground' as const) : undefined,
    }),
    namespaces: objectIn(fields, 'install')['createNamespace'] === true ? { create: true } : undefined,
    // Flux does not look at drift unless it is told to.
    drift: { mode: mode === 'enabled' || mode === 'warn' ? DRIFT_MODES[mode] : ('Ignore' as const) },
    ignore: compileIgnore(drift['ignore']),
    health: isBoth(fields, 'disableWait') ? [{ ignore: true }] : compileHealth(fields['healthCheckExprs']),
    hooks: isBoth(fields, 'disableHooks') ? ('Skip' as const) : undefined,
    dependsOn: depends.length === 0 ? undefined : depends,
    remediation: remediationOf(fields),
    executor: account === '' ? undefined : { namespace: fromOf(metadata).namespace, name: account },
  })
}

const ENDLESS = 100

function remediationOf(fields: JsonObject): BundleOptions['remediation'] {
  const read = (action: 'install' | 'upgrade') => {
    const own = objectIn(fields, action)
    const remediation = objectIn(own, 'remediation')
    const retriesOnly = textOf(objectIn(own, 'strategy')['name']) === 'RetryOnFailure'
    const asked = typeof remediation['retries'] === 'number' ? remediation['retries'] : 0
    const retries = retriesOnly || asked < 0 ? ENDLESS : Math.min(asked, ENDLESS)
    const last = remediation['remediateLastFailure']
    const remediates = typeof last === 'boolean' ? last : action === 'upgrade' && asked !== 0
    return { retries, remediates: remediates && !retriesOnly, strategy: textOf(remediation['strategy']) }
  }
  const [install, upgrade] = [read('install'), read('upgrade')]
  const made = compact({
    retries: upgrade.retries || install.retries || undefined,
    install: install.remediates ? ('Uninstall' as const) : undefined,
    upgrade: !upgrade.remediates
      ? undefined
      : upgrade.strategy === 'uninstall'
        ? ('Uninstall' as const)
        : ('RollBack' as const),
  })
  return Object.keys(made).length === 0 ? undefined : made
}

function objectIn(value: JsonObject, field: string): JsonObject {
  const found = value[field]
  return isObject(found) ? found : {}
}
