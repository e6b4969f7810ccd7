// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Compiles a Kustomization to a Bundle, and writes the state of the Bundle into its status. */
import { jsonEqual } from '../../../core/json.ts'
import { formatDuration } from '../../../core/time/duration.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { allowsSecrets } from '../../../kinds/fields/secrets-annotation.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { REQUESTED } from '../compile/compile-source.ts'
import {
  compiledTimeout,
  compileKustomization,
  readKustomization,
  waitsForHealth,
} from '../compile/compile-kustomization.ts'
import type { KustomizationScene, KustomizationSpec } from '../compile/compile-kustomization.ts'
import { madeFor, madeName } from '../compile/made-objects.ts'
import { Kustomization } from '../kinds.ts'
import { withResult } from '../status/kustomization-history.ts'
import { healthyState, readyState } from '../status/kustomization-status.ts'
import type { ReadyState } from '../status/kustomization-status.ts'
import { addFinalizer, keepDeletionPolicy, removeWithBundle } from './deletion-policy.ts'
import { checkDependency, isReady } from './dependencies.ts'
import { keepReconciling, refuseErrors, showFindings } from './git-repository.ts'
import { kustomizationSource } from './kustomization-source.ts'
import type { FoundSource } from './kustomization-source.ts'
import { dependencyBundles, isDeliveredOnce, nestedObjects, withNested } from './nested.ts'
import type { KustomizationPorts } from './ports.ts'
import { dataOf, decryptsInCluster, targetOf } from './target.ts'
import { writeMade } from './write-made.ts'

/** As in Flux: the time after which a dependency or a source is looked for again. */
const RETRY_MS = 30_000
/** Interval at which ConfigMaps and Secrets are read again, because the hub does not watch them. */
const POLL_MS = 60_000

interface Scene {
  readonly ports: KustomizationPorts
  readonly context: Context
}

/** Delivers a directory of a source to clusters. */
export function kustomizationReconciler(ports: KustomizationPorts): Reconciler<Kustomization> {
  const nested = nestedObjects(ports)
  return {
    name: 'flux-kustomization',
    async reconcile(draft: Draft<Kustomization>, context: Context): Promise<Result> {
      const object = draft.next
      if (object.metadata.deletionTimestamp) {
        nested.forget(keyOf(object))
        return removeWithBundle(draft, { ports, context })
      }
      if (addFinalizer(object)) return {}
      const { spec, findings } = readKustomization(object)
      if (spec.suspend) return suspend(object, { ports, context })
      try {
        return await deliver(draft, { spec, findings }, context)
      } catch (caught) {
        // The policy of a deletion does not wait for a source or a dependency.
        await keepDeletionPolicy(object, { ports, context })
        throw caught
      }
    },
  }

  async function deliver(
    draft: Draft<Kustomization>,
    read: ReturnType<typeof readKustomization>,
    context: Context,
  ): Promise<Result> {
    const object = draft.next
    const { spec, findings } = read
    showFindings(object, findings)
    refuseErrors(findings)
    const source = kustomizationSource(object, spec, ports)
    for (const dependency of spec.dependsOn) {
      checkDependency(object, dependency, {
        kind: Kustomization,
        find: ports.kustomizationOf,
        isDelivered: (key, other) => isDeliveredOnce(key, other, ports),
      })
    }
    const target = targetOf(object, spec, ports)
    const scene: KustomizationScene = {
      target,
      source,
      allowsSecrets: allowsSecrets(source.object),
      decryptsInCluster: decryptsInCluster(object, ports),
      ...(await dataOf(object, spec.substituteFrom, { ports, context })),
    }
    const depends = dependencyBundles(spec, ports)
    const desired = compileKustomization(object, spec, { ...scene, depends })
    const bundle = desired.at(-1)!.object.spec as Bundle['spec']
    const found = await nested.follow(object, bundle, { target, context })
    showFindings(object, [...findings, ...found.findings])
    const { namespace = '', name } = object.metadata
    const isDelivered = found.hasOthers || ports.bundleOf(namespace, madeName(Kustomization.kind, name)) !== undefined
    if (!isDelivered) return showNestedOnly(draft, { spec, source }, ports)
    const isWritten = await writeMade(object, desired, { ports, context })
    const waitMs = await show(draft, { spec, source, isWritten, now: context.clock.now() }, ports)
    const waits = [
      ...(spec.substituteFrom.length > 0 ? [POLL_MS] : []),
      ...(waitMs > 0 ? [waitMs] : []),
      ...(isWritten ? [RETRY_MS] : []),
    ]
    return waits.length === 0 ? {} : { requeueAfterMs: Math.min(...waits) }
  }
}

/** A build of nested objects alone is applied when they are written. */
function showNestedOnly(
  { next, conditions }: Draft<Kustomization>,
  { spec, source: { revision } }: Pick<Shown, 'spec' | 'source'>,
  ports: KustomizationPorts,
): Result {
  const status = (next.status ??= {})
  status.lastAttemptedRevision = revision
  delete status.clusters
  delete status.inventory
  const requested = next.metadata.annotations?.[REQUESTED]
  if (requested !== undefined) status.lastHandledReconcileAt = requested
  const state = withNested(next, spec, ports) ?? {
    status: 'True',
    reason: 'ReconciliationSucceeded',
    message: `Applied revision: ${revision}`,
  }
  if (state.status === 'True') status.lastAppliedRevision = revision
  conditions.set('Ready', state.status, state.reason, state.message.slice(0, 4096))
  if (state.status === 'Unknown') conditions.set('Reconciling', 'True', state.reason, state.message.slice(0, 4096))
  return {}
}

/** Flux leaves a suspended object and its status as they are; the Bundle stops following its source. */
async function suspend(object: Kustomization, { ports, context }: Scene): Promise<Result> {
  const { namespace = '', name } = object.metadata
  const bundle = ports.bundleOf(namespace, madeName(Kustomization.kind, name))
  if (!bundle) return {}
  if (bundle.spec.suspend) {
    await keepDeletionPolicy(object, { ports, context })
    return {}
  }
  const spec = { ...bundle.spec, suspend: true, delete: { ...bundle.spec.delete, bundleDeleted: 'Orphan' } }
  const desired = madeFor(object, Kustomization, { kind: Bundle, spec })
  await writeMade(object, [desired], { ports, context })
  return {}
}

interface Shown {
  readonly spec: KustomizationSpec
  readonly source: FoundSource
  /** Whether the Bundle was written in this pass. */
  readonly isWritten: boolean
  readonly now: number
}

/** Writes the status; returns the milliseconds until counts may be written again, or 0. */
async function show(
  draft: Draft<Kustomization>,
  { spec, source, isWritten, now }: Shown,
  ports: KustomizationPorts,
): Promise<number> {
  const { next, conditions } = draft
  const { namespace = '', name, annotations = {} } = next.metadata
  const bundle = ports.bundleOf(namespace, madeName(Kustomization.kind, name))
  const counts = bundle && ports.countsOf(bundle)
  const built = bundle?.status?.sourceRevision
  const newest = source.revision
  const attempted = built === undefined ? newest : source.revisionOf(built)
  const failure = bundle && ports.failureOf(bundle)
  const state = readyState({ bundle, counts, revision: attempted, newest, failure, isWritten })
  const waiting =
    state.reason === 'Progressing'
      ? spec.dependsOn.find(
          ({ readyExpr, ...one }) => readyExpr === '' && !isReady(ports.kustomizationOf(one.namespace, one.name)),
        )
      : undefined
  const shown = waiting
    ? {
        status: 'False' as const,
        reason: 'DependencyNotReady',
        message: `dependency '${waiting.namespace}/${waiting.name}' is not ready. ${state.message}`,
      }
    : state.status === 'True'
      ? (withNested(next, spec, ports) ?? state)
      : state
  const clusters = counts && { total: counts.total, ready: counts.ready }
  const before = conditions.get('Ready')
  const key = keyOf(next)
  const waitMs = ports.statusThrottle.waitMs(key)
  const isOnlyCounts =
    before?.status === shown.status &&
    before.reason === shown.reason &&
    next.status?.lastAttemptedRevision === attempted
  const isSame = before?.message === shown.message && jsonEqual(next.status?.clusters ?? null, clusters ?? null)
  if (waitMs > 0 && isOnlyCounts && !isSame) {
    keepReconciling(draft)
    return waitMs
  }
  ports.statusThrottle.note(key)
  const status = (next.status ??= {})
  if (built !== undefined) status.lastAttemptedRevision = attempted
  if (clusters) status.clusters = clusters
  if (shown.status === 'True') status.lastAppliedRevision = attempted
  if (state.status === 'True') {
    const entries = bundle && (await ports.inventoryOf(bundle))
    if (entries) status.inventory = { entries }
    else delete status.inventory
  }
  const requested = annotations[REQUESTED]
  if (requested !== undefined) status.lastHandledReconcileAt = requested
  const digest = bundle?.status?.revision?.set ?? bundle?.status?.recipe
  if (digest !== undefined && built !== undefined && isResult(shown)) {
    const began = parseTime(before?.status === 'Unknown' ? before.lastTransitionTime : '') ?? now
    const duration = formatDuration(Math.max(0, now - began))
    const result = { digest, status: shown.reason, revision: attempted, now: formatTime(now), duration }
    status.history = withResult(status.history ?? [], result)
  }
  showHealth(conditions, { state: shown, spec, revision: attempted })
  conditions.set('Ready', shown.status, shown.reason, shown.message.slice(0, 4096))
  if (shown.status === 'Unknown') conditions.set('Reconciling', 'True', shown.reason, shown.message.slice(0, 4096))
  return 0
}

/** Whether delivered content has a result. As in Flux, content that could not be built is not in the history. */
function isResult({ status, reason }: ReadyState): boolean {
  return status === 'True' || (status === 'False' && reason === 'HealthCheckFailed')
}

/** Condition Healthy, which Flux has while a Kustomization waits for its objects. */
function showHealth(
  conditions: Draft<Kustomization>['conditions'],
  {
    state,
    spec,
    revision,
  }: { readonly state: ReadyState; readonly spec: KustomizationSpec; readonly revision: string },
): void {
  const healthy = waitsForHealth(spec.fields) ? healthyState(state, revision, compiledTimeout(spec.fields)) : undefined
  if (healthy) conditions.set('Healthy', healthy.status, healthy.reason, healthy.message.slice(0, 4096))
  else conditions.remove('Healthy')
}
