// Tested by src/dialects/flux/controllers/helm-release.sim.test.ts.
/** Compiles a HelmRelease to a HelmChart and a Bundle, and writes the state of the Bundle into its status. */
import { Stalled, Waiting } from '../../../core/errors.ts'
import { isObject, jsonEqual } from '../../../core/json.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { chartOf, compileRelease, readHelmRelease } from '../compile/compile-release.ts'
import type { HelmReleaseSpec, ReleaseScene } from '../compile/compile-release.ts'
import { REQUESTED } from '../compile/compile-source.ts'
import { madeFor, madeName } from '../compile/made-objects.ts'
import { HelmRelease } from '../release/release-kind.ts'
import { HelmChart } from '../source-kinds.ts'
import { readyState } from '../status/kustomization-status.ts'
import { releaseConditions, releaseHistory } from '../status/release-status.ts'
import { ValuesError, releaseValues } from '../values/release-values.ts'
import { locateChart } from './chart-of-release.ts'
import type { LocatedChart } from './chart-of-release.ts'
import { addFinalizer, keepDeletionPolicy, removeWithBundle } from './deletion-policy.ts'
import { checkDependency, isReady } from './dependencies.ts'
import { keepReconciling, refuseErrors, showFindings } from './git-repository.ts'
import type { HelmReleasePorts } from './ports.ts'
import { dataOf, targetOf } from './target.ts'
import { writeMade } from './write-made.ts'

/** As in Flux: the time after which a dependency or a source is looked for again. */
const RETRY_MS = 30_000
/** Interval at which ConfigMaps and Secrets are read again, because the hub does not watch them. */
const POLL_MS = 60_000

interface Scene {
  readonly ports: HelmReleasePorts
  readonly context: Context
}

/** Delivers a chart to clusters. */
export function helmReleaseReconciler(ports: HelmReleasePorts): Reconciler<HelmRelease> {
  return {
    name: 'flux-helm-release',
    async reconcile(draft: Draft<HelmRelease>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) return removeWithBundle(draft, { ports, context })
      if (addFinalizer(object)) return {}
      const read = readHelmRelease(object)
      if (read.spec.suspend) return suspend(object, { ports, context })
      try {
        return await deliver(draft, read, { ports, context })
      } catch (caught) {
        // The policy of a deletion does not wait for a chart or a dependency.
        await keepDeletionPolicy(object, { ports, context })
        throw caught
      }
    },
  }
}

async function deliver(
  draft: Draft<HelmRelease>,
  { spec, findings }: ReturnType<typeof readHelmRelease>,
  { ports, context }: Scene,
): Promise<Result> {
  const object = draft.next
  const { namespace = '' } = object.metadata
  showFindings(object, findings)
  refuseErrors(findings)
  if (spec.chart.namespace !== namespace) {
    throw new Stalled(
      'AccessDenied',
      `can't access '${spec.chart.isMade ? 'source' : spec.chart.kind} in namespace ${spec.chart.namespace}', cross-namespace references have been blocked`,
    )
  }
  if (spec.chart.isMade) {
    await writeMade(object, [chartOf(object, spec)], { ports, context })
    ;(object.status ??= {}).helmChart = `${namespace}/${spec.chart.name}`
  } else delete object.status?.helmChart
  const chart = await locateChart(object, spec, ports)
  for (const dependency of spec.dependsOn) {
    checkDependency(object, dependency, {
      kind: HelmRelease,
      find: ports.helmReleaseOf,
      isDelivered: (key, name) => ports.bundleOf(key, madeName(HelmRelease.kind, name)) !== undefined,
    })
  }
  const scene: ReleaseScene = {
    target: targetOf(object, spec, ports),
    chart: chart.place,
    ...(await dataOf(object, spec.valuesFrom, { ports, context })),
  }
  const isWritten = await writeMade(object, compileRelease(object, spec, scene), { ports, context })
  const waitMs = await show(draft, { spec, chart, scene, isWritten }, { ports, context })
  const waits = [
    ...(spec.valuesFrom.length > 0 ? [POLL_MS] : []),
    ...(waitMs > 0 ? [waitMs] : []),
    ...(isWritten ? [RETRY_MS] : []),
  ]
  return waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) }
}

/** Flux leaves a suspended object and its status as they are; the Bundle stops following its source. */
async function suspend(object: HelmRelease, { ports, context }: Scene): Promise<Result> {
  const { namespace = '', name } = object.metadata
  const bundle = ports.bundleOf(namespace, madeName(HelmRelease.kind, name))
  if (!bundle) return {}
  if (bundle.spec.suspend) {
    await keepDeletionPolicy(object, { ports, context })
    return {}
  }
  const spec = { ...bundle.spec, suspend: true, delete: { ...bundle.spec.delete, bundleDeleted: 'Orphan' } }
  await writeMade(object, [madeFor(object, HelmRelease, { kind: Bundle, spec })], { ports, context })
  return {}
}

interface Shown {
  readonly spec: HelmReleaseSpec
  readonly chart: LocatedChart
  readonly scene: ReleaseScene
  /** Whether the Bundle was written in this pass. */
  readonly isWritten: boolean
}

/** Writes the status; returns the milliseconds until counts may be written again, or 0. */
async function show(
  draft: Draft<HelmRelease>,
  { spec, chart, scene, isWritten }: Shown,
  { ports, context }: Scene,
): Promise<number> {
  const { next, conditions } = draft
  const { namespace = '', name, annotations = {} } = next.metadata
  const bundle = ports.bundleOf(namespace, madeName(HelmRelease.kind, name))
  const counts = bundle && ports.countsOf(bundle)
  const built = bundle?.status?.sourceRevision
  const isNewest = built === undefined || built === chart.revision
  const delivered = readyState({
    bundle,
    counts,
    revision: isNewest ? chart.version : (built ?? ''),
    newest: chart.version,
    failure: bundle && ports.failureOf(bundle),
    isWritten,
  })
  const hasFailed = (counts?.failed ?? 0) > 0 && !bundle?.status?.held
  const isFailure = delivered.reason === 'ReconciliationFailed' && hasFailed
  const state = waitingFor(spec, ports) ?? (isFailure ? { ...delivered, reason: 'HealthCheckFailed' } : delivered)
  const isCurrent = !isWritten && bundle?.status?.observedGeneration === bundle?.metadata.generation
  const status = (next.status ??= {})
  const configDigest = digestOf(spec, scene, namespace)
  const history = releaseHistory({
    history: status.history ?? [],
    digest: isCurrent && bundle?.status?.release !== undefined ? bundle.status.revision?.set : undefined,
    state,
    most: spec.maxHistory,
    now: formatTime(context.clock.now()),
    release: spec.release,
    chart,
    configDigest,
  })
  const clusters = counts && { total: counts.total, ready: counts.ready }
  const [newest, previous] = history
  const shown = releaseConditions({
    state,
    newest,
    previous,
    release: spec.release,
    chart: `${chart.name}@${chart.version}`,
    timeout: spec.timeout,
    isTested: spec.isTested,
    clusters: counts?.total ?? 0,
  })
  const before = conditions.get('Ready')
  const waitMs = ports.statusThrottle.waitMs(`${HelmRelease.kind} ${keyOf(next)}`)
  const isOnlyCounts = before?.status === shown.Ready.status && before.reason === shown.Ready.reason
  const isSame = before?.message === shown.Ready.message && jsonEqual(status.clusters ?? null, clusters ?? null)
  if (waitMs > 0 && isOnlyCounts && !isSame) {
    keepReconciling(draft)
    return waitMs
  }
  ports.statusThrottle.note(`${HelmRelease.kind} ${keyOf(next)}`)
  if (history.length > 0) status.history = history
  if (clusters) status.clusters = clusters
  status.storageNamespace = spec.release.namespace
  if (isCurrent && bundle?.status?.release !== undefined) {
    status.lastAttemptedRevision = chart.version
    status.lastAttemptedGeneration = next.metadata.generation ?? 1
    status.lastAttemptedReleaseAction = (newest?.version ?? 1) === 1 ? 'install' : 'upgrade'
    if (configDigest === undefined) delete status.lastAttemptedConfigDigest
    else status.lastAttemptedConfigDigest = configDigest
  }
  if (shown.Ready.status === 'True') {
    status.lastAppliedRevision = chart.version
    const entries = bundle && (await ports.inventoryOf(bundle))
    if (entries) status.inventory = { entries }
    else delete status.inventory
  }
  const requested = annotations[REQUESTED]
  if (requested !== undefined) status.lastHandledReconcileAt = requested
  setConditions(draft, shown)
  return 0
}

function setConditions({ conditions }: Draft<HelmRelease>, shown: ReturnType<typeof releaseConditions>): void {
  const { Ready } = shown
  for (const type of ['Ready', 'Released', 'TestSuccess', 'Remediated'] as const) {
    const one = shown[type]
    if (one) conditions.set(type, one.status, one.reason, one.message.slice(0, 4096))
    // While an action runs, Flux keeps what was said about the action before.
    else if (Ready.status !== 'Unknown') conditions.remove(type)
  }
  if (Ready.status === 'Unknown') conditions.set('Reconciling', 'True', Ready.reason, Ready.message.slice(0, 4096))
}

/** A dependency that is not ready while the Bundle waits for it. */
function waitingFor({ dependsOn }: HelmReleaseSpec, ports: HelmReleasePorts) {
  const waiting = dependsOn.find(
    ({ readyExpr, namespace, name }) => readyExpr === '' && !isReady(ports.helmReleaseOf(namespace, name)),
  )
  if (!waiting) return undefined
  const message = `dependency '${waiting.namespace}/${waiting.name}' is not ready`
  return { status: 'False', reason: 'DependencyNotReady', message } as const
}

/** The digest of the values, as Flux writes it; none if Secrets take part: a digest tells about their content. */
function digestOf({ valuesFrom, fields }: HelmReleaseSpec, { configMaps }: ReleaseScene, namespace: string) {
  if (valuesFrom.some(({ kind }) => kind !== 'ConfigMap')) return undefined
  const values = fields['values']
  const read = (_kind: string, name: string) =>
    Object.hasOwn(configMaps, name) ? new Map(Object.entries(configMaps[name]!)) : undefined
  try {
    return releaseValues({ namespace, valuesFrom, read, ...(isObject(values) && { values }) }).digest
  } catch (caught) {
    if (!(caught instanceof ValuesError)) throw caught
    throw new Waiting('ValuesError', caught.message, RETRY_MS)
  }
}

/** The HelmChart of a release, for triggers. */
export function chartKey(object: HelmRelease): string {
  const { chart } = readHelmRelease(object).spec
  return `${chart.isMade ? HelmChart.kind : chart.kind} ${chart.namespace}/${chart.name}`
}
