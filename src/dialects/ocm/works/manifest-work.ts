// Tested by src/dialects/ocm/works/manifest-work.sim.test.ts
/** Compiles a ManifestWork to a Delivery, and writes the state of the Delivery into its status. */
import type { Digest } from '../../../core/crypto/digest.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { findCondition } from '../../../core/conditions.ts'
import { jsonEqual } from '../../../core/json.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import { apiVersionOf, keyOf } from '../../../kinds/meta.ts'
import type { Condition, UnknownObject } from '../../../kinds/meta.ts'
import { REMOVAL_FINALIZER } from '../../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Delivery, deliveryEntryId } from '../../../kinds/native/delivery.ts'
import { NAMESPACE_LABEL } from '../faces/face-status.ts'
import { compileWork } from './compile-work.ts'
import type { CompiledWork } from './compile-work.ts'
import { ManifestWork, OCM_WORK_GROUP } from './kinds.ts'
import type { ManifestStatus } from './kinds.ts'
import { feedbackAsked, workStatus } from './work-status.ts'
import type { ShownManifest, WorkCondition, WorkStatus } from './work-status.ts'

/** The finalizer of Open Cluster Management's agent, which other controllers look for. */
const WORK_FINALIZER = 'cluster.open-cluster-management.io/manifest-work-cleanup'
/** Label of a Delivery that a ManifestWork made. */
export const WORK_LABEL = `${OCM_WORK_GROUP}/manifestwork`
/** Label of works that a ManifestWorkReplicaSet made; they have no time to live of their own. */
const REPLICA_SET_LABEL = `${OCM_WORK_GROUP}/manifestworkreplicaset`

/** A stored set, or the sentence that says why it cannot be stored. */
export type StoredSet = { readonly set: Digest } | { readonly problem: string }

/** The ports of the reconciler. */
export interface ManifestWorkPorts {
  /** Stores objects as a set for an entry (`namespace/delivery:name`); values of Secrets are encrypted. */
  storeSet(entry: string, objects: readonly UnknownObject[]): Promise<StoredSet>
  deliveryOf(work: ManifestWork): Delivery | undefined
  applyDelivery(delivery: Delivery, signal: AbortSignal): Promise<void>
  deleteDelivery(delivery: Delivery, signal: AbortSignal): Promise<void>
  deleteWork(work: ManifestWork, signal: AbortSignal): Promise<void>
  /** Whether the namespace has the name of a cluster and certainly another purpose. */
  isForeign(namespace: string): boolean
  /** The newest report of the cluster that has this name. */
  reportOf(cluster: string): ClusterReport | undefined
  readonly pace: KeyedThrottle
}

interface Compiled {
  readonly digest: Digest
  readonly work: CompiledWork
  readonly set: Digest
}

export function manifestWorkReconciler(ports: ManifestWorkPorts): Reconciler<ManifestWork> {
  const known = new Map<string, Compiled>()

  /** Compiles and stores a work; the same work is stored once in the life of the process. */
  async function compiled(work: ManifestWork): Promise<Compiled | string> {
    const digest = digestOfJson(work.spec)
    const before = known.get(keyOf(work))
    if (before?.digest === digest) return before
    const read = compileWork(work)
    if (!read.ok) return read.problem
    const stored = await ports.storeSet(deliveryEntryId(work), read.work.objects)
    if ('problem' in stored) return stored.problem
    const next = { digest, work: read.work, set: stored.set }
    known.set(keyOf(work), next)
    return next
  }

  return {
    name: 'ocm-manifest-work',
    async reconcile(draft: Draft<ManifestWork>, context: Context): Promise<Result> {
      const work = draft.next
      const { metadata } = work
      const delivery = ports.deliveryOf(work)
      const isMine = delivery?.metadata.labels?.[WORK_LABEL] === metadata.name
      if (metadata.deletionTimestamp) {
        known.delete(keyOf(work))
        return remove(draft, isMine ? delivery : undefined, ports, context)
      }
      if (!metadata.finalizers?.includes(WORK_FINALIZER)) {
        metadata.finalizers = [...(metadata.finalizers ?? []), WORK_FINALIZER]
        return {}
      }
      if (delivery && !isMine)
        return refuse(draft, `Delivery ${keyOf(delivery)} exists and was not made for this work; rename the work`)
      const { namespace = '' } = metadata
      if (ports.isForeign(namespace)) {
        // Users of a namespace with another purpose have no say about the cluster. What runs stays.
        draft.conditions.set('Admitted', 'False', 'NamespaceTaken', foreignMessage(namespace))
        return {}
      }
      const now = await compiled(work)
      if (typeof now === 'string') return refuse(draft, now)
      const isComplete = findCondition(work.status?.conditions, 'Complete')?.status === 'True'
      // A completed work is frozen: an edit of it has no effect.
      if (!(isComplete && delivery)) {
        const wanted = deliveryFor(work, now.set, now.work.options)
        if (!delivery || !jsonEqual(delivery.spec, wanted.spec)) await ports.applyDelivery(wanted, context.signal)
      }
      const shown = ports.deliveryOf(work)
      // While the Delivery is about the content before, what is said of that stays, with its observedGeneration.
      if (!isComplete && isBehind(shown, now.set)) return {}
      return show(draft, now.work, { delivery: shown, ports, context })
    },
  }
}

function foreignMessage(namespace: string): string {
  const confirm = `kubectl label namespace ${namespace} ${NAMESPACE_LABEL}=${namespace}`
  return `Namespace ${namespace} is of the system or of another cluster, so its works are not delivered to cluster ${namespace}. An administrator can confirm that it belongs to the cluster: ${confirm}`
}

/** The work stays until the Delivery is gone: its receipts are stored, or its cluster is offline. */
async function remove(
  { next: work }: Draft<ManifestWork>,
  delivery: Delivery | undefined,
  ports: ManifestWorkPorts,
  { signal }: Context,
): Promise<Result> {
  if (delivery) {
    if (!delivery.metadata.deletionTimestamp) await ports.deleteDelivery(delivery, signal)
    return {}
  }
  const { finalizers = [] } = work.metadata
  if (finalizers.includes(WORK_FINALIZER)) {
    work.metadata.finalizers = finalizers.filter((finalizer) => finalizer !== WORK_FINALIZER)
  }
  return {}
}

function refuse(draft: Draft<ManifestWork>, problem: string): Result {
  draft.conditions.set('Applied', 'False', 'AppliedManifestWorkFailed', `Failed to apply manifest work: ${problem}`)
  return {}
}

function deliveryFor({ metadata }: ManifestWork, set: Digest, options: BundleOptions): Delivery {
  const { namespace = '', name, uid = '' } = metadata
  const owner = { apiVersion: apiVersionOf(ManifestWork), kind: ManifestWork.kind, name, uid, controller: true }
  return {
    apiVersion: apiVersionOf(Delivery),
    kind: Delivery.kind,
    metadata: {
      namespace,
      name,
      labels: { [WORK_LABEL]: name },
      ownerReferences: [owner],
      // With the finalizer from the start, its controller need not write it.
      finalizers: [REMOVAL_FINALIZER],
    },
    // The namespace of a cluster delivers to that cluster alone.
    spec: { set, clusters: [namespace], options },
  }
}

/** Whether the status of the Delivery is about other content than this. */
function isBehind(delivery: Delivery | undefined, set: Digest): boolean {
  const { revision, observedGeneration = 0 } = delivery?.status ?? {}
  if (!delivery || !revision) return false
  return delivery.spec.set !== set || observedGeneration < (delivery.metadata.generation ?? 0)
}

interface Shown {
  readonly delivery: Delivery | undefined
  readonly ports: ManifestWorkPorts
  readonly context: Context
}

async function show(
  draft: Draft<ManifestWork>,
  compiled: CompiledWork,
  { delivery, ports, context }: Shown,
): Promise<Result> {
  const work = draft.next
  const key = keyOf(work)
  const status = workStatus({
    ids: compiled.ids,
    hasFeedback: feedbackAsked(compiled.options),
    entry: delivery && deliveryEntryId(delivery),
    revision: delivery?.status?.revision,
    notAdmitted: notAdmitted(delivery),
    report: ports.reportOf(work.metadata.namespace ?? ''),
    findings: compiled.findings,
  })
  const manifests = status.manifests.map((one, index) =>
    timed(one, work.status?.resourceStatus?.manifests?.[index], context),
  )
  const isSame = jsonEqual(work.status?.resourceStatus?.manifests ?? [], manifests) && hasConditions(draft, status)
  const waitMs = ports.pace.waitMs(key)
  if (!isSame && waitMs > 0 && hasTypes(draft, status)) return { unchanged: true, requeueAfterMs: waitMs }
  // Before the agent has reported anything there is nothing to say.
  const isSilent = status.conditions.length === 0 && status.manifests.every(({ conditions }) => conditions.length === 0)
  if (isSilent && !work.status?.conditions?.length) return {}
  if (!isSame) {
    ports.pace.note(key)
    work.status = { ...work.status, resourceStatus: { manifests } }
    const types = new Set(status.conditions.map(({ type }) => type))
    for (const { type } of draft.seen.status?.conditions ?? []) if (!types.has(type)) draft.conditions.remove(type)
    for (const { type, status: is, reason, message } of status.conditions)
      draft.conditions.set(type, is, reason, message)
  }
  return expire(work, ports, context)
}

/** Why the work does not reach its cluster; undefined while it does. */
function notAdmitted(delivery: Delivery | undefined): WorkCondition | undefined {
  const admitted = findCondition(delivery?.status?.conditions, 'Admitted')
  if (admitted?.status !== 'False') return undefined
  const { type, status, reason, message } = admitted
  return { type, status, reason, message }
}

function hasConditions({ seen }: Draft<ManifestWork>, { conditions }: WorkStatus): boolean {
  const shown = (seen.status?.conditions ?? []).map(({ type, status, reason, message }) => ({
    type,
    status,
    reason,
    message,
  }))
  return jsonEqual(sorted(shown), sorted(conditions)) && observes(seen)
}

/** Whether the conditions are about the present spec. */
function observes({ metadata, status }: ManifestWork): boolean {
  return (status?.conditions ?? []).every(({ observedGeneration }) => observedGeneration === metadata.generation)
}

/** Whether only messages and values differ, which can wait. */
function hasTypes({ seen }: Draft<ManifestWork>, { conditions }: WorkStatus): boolean {
  const words = (all: readonly WorkCondition[]) => sorted(all).map(({ type, status }) => `${type} ${status}`)
  return jsonEqual(words(seen.status?.conditions ?? []), words(conditions)) && observes(seen)
}

function sorted<T extends WorkCondition>(conditions: readonly T[]): T[] {
  return conditions.toSorted((a, b) => (a.type < b.type ? -1 : 1))
}

/** The conditions of a manifest with the time of their last change. */
function timed(shown: ShownManifest, before: ManifestStatus | undefined, { clock }: Context): ManifestStatus {
  const conditions = shown.conditions.map((one): Condition => {
    const known = findCondition(before?.conditions, one.type)
    const lastTransitionTime = known?.status === one.status ? known.lastTransitionTime : formatTime(clock.now())
    return { ...one, lastTransitionTime }
  })
  return { ...shown, conditions }
}

/** Deletes a completed work after its time to live; the next pass is when the time is over. */
async function expire(work: ManifestWork, ports: ManifestWorkPorts, { clock, signal }: Context): Promise<Result> {
  const seconds = work.spec.deleteOption?.ttlSecondsAfterFinished
  const complete = findCondition(work.status?.conditions, 'Complete')
  if (seconds === undefined || complete?.status !== 'True' || work.metadata.labels?.[REPLICA_SET_LABEL]) return {}
  const leftMs = (parseTime(complete.lastTransitionTime) ?? clock.now()) + seconds * 1000 - clock.now()
  if (leftMs > 0) return { requeueAfterMs: leftMs }
  await ports.deleteWork(work, signal)
  return {}
}
