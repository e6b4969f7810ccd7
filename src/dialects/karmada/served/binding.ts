// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Schedules a binding, delivers its template through a Delivery, and shows what its clusters report. */
import { StoredDigests } from '../../../blobs/stored-digests.ts'
import { compact } from '../../../core/compact.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { findCondition } from '../../../core/conditions.ts'
import { jsonEqual } from '../../../core/json.ts'
import { formatTime, parseTime } from '../../../core/time/time.ts'
import { isRescheduleAsked } from '../schedule/schedule-binding.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { apiVersionOf, keyOf } from '../../../kinds/meta.ts'
import { REMOVAL_FINALIZER } from '../../../kinds/native/bundle.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { deliveredTo, Delivery, deliveryEntryId } from '../../../kinds/native/delivery.ts'
import type { AskedCluster } from '../capacity/reported-capacity.ts'
import type { OverridePolicy } from '../override/apply-overrides.ts'
import { aggregateStatus } from '../templates/template-status.ts'
import type { Template } from '../templates/template-kinds.ts'
import type { KarmadaCluster } from '../types.ts'
import type { Move, MoveFacts } from '../failover/decide-failover.ts'
import { droppedTasks } from '../failover/decide-failover.ts'
import { decideMove, writePlaced } from './binding-move.ts'
import { fullyApplied, showTarget } from './binding-status.ts'
import type { ShownTarget } from './binding-status.ts'
import { compileBinding, deletedPolicy, deliveryOptions, targetsOf } from './compile-binding.ts'
import type { ClusterContent } from './compile-binding.ts'
import { CLUSTER_NAMESPACE, DELIVERY_LABEL } from './delivery-label.ts'
import type { ServedBinding } from './kinds.ts'
import { scheduleGuarded } from './guard-drops.ts'
import { afterCapacity, scheduledAnnotations } from './schedule-served.ts'
import type { ServedSchedule } from './schedule-served.ts'

/** Keeps a binding until its Delivery is gone. */
const BINDING_FINALIZER = 'karmada.io/binding-controller'

/** A stored set, or the sentence that says why it cannot be stored. */
export type StoredSet = { readonly set: Digest } | { readonly problem: string }

/** The accepted clusters, as a namespace may use them. */
export interface AllowedClusters {
  readonly clusters: readonly KarmadaCluster[]
  /** Clusters that get nothing new; a target among them keeps what it has. */
  readonly outside: readonly KarmadaCluster[]
  /** Clusters in reach whose agents have not reported free resources. */
  readonly asked: readonly AskedCluster[]
}

/** The ports of the reconciler. */
export interface BindingPorts {
  templateOf(binding: ServedBinding): Template | undefined
  /** The clusters that the Project and the ClusterSets allow to the namespace, or why they allow none. */
  clustersFor(namespace: string): AllowedClusters | { readonly refusal: string }
  clusterOf(name: string): KarmadaCluster | undefined
  isUnreachable(cluster: string): boolean
  /** Override policies that are valid. */
  overrides(): readonly OverridePolicy[]
  storeSet(entry: string, objects: readonly UnknownObject[]): Promise<StoredSet>
  deliveryOf(key: string): Delivery | undefined
  applyDelivery(delivery: Delivery, signal: AbortSignal): Promise<void>
  deleteDelivery(delivery: Delivery, signal: AbortSignal): Promise<void>
  reportOf(cluster: string): ClusterReport | undefined
  /** Whether the agent of a cluster of the fleet is in reach, and since when. */
  reachOf: MoveFacts['reachOf']
  /** Why replicas are not moved now: too many clusters are out of reach at once. */
  heldMoves(): string | undefined
  readonly failoverPace: KeyedThrottle
  writeStatus(template: Template, status: Record<string, unknown>, signal: AbortSignal): Promise<void>
  readonly pace: KeyedThrottle
}

/** The namespace of the Delivery of a binding, whose Project allows what it may do. */
function deliveryNamespace({ metadata }: ServedBinding): string {
  return metadata.namespace || CLUSTER_NAMESPACE
}

export function bindingReconciler(name: string, ports: BindingPorts): Reconciler<ServedBinding> {
  const sets = new StoredDigests(MAX_SETS)

  async function storedSet(entry: string, object: Template, now: number): Promise<StoredSet> {
    const key = `${entry} ${digestOfJson(object)}`
    const known = sets.get(key, now)
    if (known) return { set: known }
    const stored = await ports.storeSet(entry, [object])
    if ('set' in stored) sets.set(key, stored.set, now)
    return stored
  }

  return {
    name,
    async reconcile(draft, context): Promise<Result> {
      const binding = draft.next
      const { metadata } = binding
      const delivery = ports.deliveryOf(`${deliveryNamespace(binding)}/${metadata.name}`)
      const isMine = delivery?.metadata.labels?.[DELIVERY_LABEL] !== undefined
      if (metadata.deletionTimestamp !== undefined) return remove(draft, isMine ? delivery : undefined, ports, context)
      if (!metadata.finalizers?.includes(BINDING_FINALIZER)) {
        metadata.finalizers = [...(metadata.finalizers ?? []), BINDING_FINALIZER]
        return {}
      }
      const template = ports.templateOf(binding)
      if (!template) {
        draft.conditions.set('Scheduled', 'False', 'TemplateNotFound', TEMPLATE_NOT_FOUND)
        return {}
      }
      const allowed = ports.clustersFor(deliveryNamespace(binding))
      if ('refusal' in allowed) {
        draft.conditions.set('Admitted', 'False', 'ProjectRefuses', `${allowed.refusal} What runs stays.`)
        return {}
      }
      const guard = { ...guardOf(template, isMine ? delivery : undefined), isMove: isRescheduleAsked(binding) }
      const decided = binding.spec.placement
        ? afterCapacity(
            binding,
            scheduleGuarded(binding, { ...guard, clusters: candidatesFor(binding, allowed) }),
            allowed.asked,
          )
        : undefined
      if (decided && writeDecision(draft, decided, context.clock.now())) return {}
      if (delivery && !isMine) {
        const message = `Delivery ${keyOf(delivery)} exists and was not made for this binding; delete or rename it.`
        draft.conditions.set('Admitted', 'False', 'NameTaken', message)
        return {}
      }
      const compiled = await deliver({ binding, template, delivery, allowed }, { ports, storedSet, context })
      // Read again: the decision must see each cluster once, and time has passed.
      const current = ports.clustersFor(deliveryNamespace(binding))
      const clusters = candidatesFor(binding, 'refusal' in current ? allowed : current)
      const now = context.clock.now()
      const move = decideMove(binding, { guard: { ...guard, clusters }, ports, delivery: compiled.delivery, now })
      if (move?.placed) {
        writePlaced(binding, move.placed)
        ports.failoverPace.note(ALL_BINDINGS)
        return {}
      }
      const shown = await show(draft, { template, decided, ...compiled, move }, ports, context)
      return { ...shown, ...soonest(shown, move, decided) }
    },
  }
}

/** What the guard against dropping clusters reads of a binding. */
function guardOf(template: Template, delivery: Delivery | undefined) {
  return { template, holds: (cluster: string) => delivery !== undefined && specSet(delivery, cluster) !== undefined }
}

/** The clusters that are asked: those that are allowed, and targets that were allowed before. */
function candidatesFor({ spec }: ServedBinding, { clusters, outside }: AllowedClusters): readonly KarmadaCluster[] {
  const targets = new Set((spec.clusters ?? []).map(({ name }) => name))
  return [...clusters, ...outside.filter(({ metadata }) => targets.has(metadata.name))]
}

const MAX_SETS = 20_000
const TEMPLATE_NOT_FOUND =
  'The object is not on the hub, and it was not deleted there: what runs stays. Delete the binding to remove it from its clusters.'

/** Moves of all bindings share one rate. */
const ALL_BINDINGS = 'all'

function soonest({ requeueAfterMs = Infinity }: Result, move: Move | undefined, decided?: ServedSchedule): Result {
  const ms = Math.min(requeueAfterMs, move?.retryAfterMs ?? Infinity, decided?.waitMs ?? Infinity)
  return Number.isFinite(ms) ? { requeueAfterMs: ms } : {}
}

/** Writes targets that changed; the status follows in the next pass. */
function writeDecision({ next: binding }: Draft<ServedBinding>, decided: ServedSchedule, now: number): boolean {
  const annotations = scheduledAnnotations(binding, decided)
  const isSame =
    jsonEqual(binding.spec.clusters ?? [], decided.clusters) &&
    jsonEqual(binding.metadata.annotations ?? {}, annotations)
  if (isSame) return false
  // A copy that a user moves goes when the others are healthy.
  const keepsCopies = binding.spec.failover?.cluster !== undefined || isRescheduleAsked(binding)
  const gone = keepsCopies ? droppedTasks(binding.spec.clusters ?? [], decided.clusters, now) : []
  const tasks = [...(binding.spec.gracefulEvictionTasks ?? []), ...gone]
  binding.spec = {
    ...binding.spec,
    clusters: decided.clusters.map((one) => ({ ...one })),
    ...(gone.length > 0 ? { gracefulEvictionTasks: tasks.map((one) => ({ ...one })) } : {}),
  }
  binding.metadata.annotations = annotations
  return true
}

/** The binding stays until the Delivery is gone: its receipts are stored, or its clusters are offline. */
async function remove(
  { next: binding }: Draft<ServedBinding>,
  delivery: Delivery | undefined,
  ports: BindingPorts,
  { signal }: Context,
): Promise<Result> {
  if (delivery) {
    if (delivery.metadata.deletionTimestamp !== undefined) return {}
    const { options } = delivery.spec
    const bundleDeleted = deletedPolicy(binding)
    // A Delivery that was held back, for example by a suspension, has the older choice.
    if (options?.delete?.bundleDeleted !== bundleDeleted) {
      const chosen = { ...delivery.spec, options: { ...options, delete: { ...options?.delete, bundleDeleted } } }
      await ports.applyDelivery({ ...appliedHead(delivery), spec: chosen }, signal)
    }
    await ports.deleteDelivery(delivery, signal)
    return {}
  }
  const { finalizers = [] } = binding.metadata
  if (finalizers.includes(BINDING_FINALIZER)) {
    binding.metadata.finalizers = finalizers.filter((one) => one !== BINDING_FINALIZER)
  }
  return {}
}

interface Delivering {
  readonly binding: ServedBinding
  readonly template: Template
  readonly delivery: Delivery | undefined
  readonly allowed: AllowedClusters
}

interface Delivered {
  readonly delivery: Delivery | undefined
  readonly problems: ReadonlyMap<string, string>
}

interface DeliverParts {
  readonly ports: BindingPorts
  readonly storedSet: (entry: string, object: Template, now: number) => Promise<StoredSet>
  readonly context: Context
}

/** Stores the contents and writes the Delivery; a cluster whose content cannot be made keeps what it has. */
async function deliver(
  { binding, template, delivery, allowed }: Delivering,
  { ports, storedSet, context }: DeliverParts,
): Promise<Delivered> {
  const id = deliveryEntryId({ metadata: { namespace: deliveryNamespace(binding), name: binding.metadata.name } })
  const contents = compileBinding({ binding, template, clusterOf: ports.clusterOf, overrides: ports.overrides() })
  const problems = new Map<string, string>()
  const setOf = new Map<string, Digest>()
  const isHeld = heldClusters(binding)
  const now = context.clock.now()
  const outside = new Set(allowed.outside.map(({ metadata }) => metadata.name))
  for (const content of contents) {
    const { cluster } = content
    const made = await contentSet(content, (object) => storedSet(id, object, now))
    const before = delivery && specSet(delivery, cluster)
    const held = outside.has(cluster) ? OUTSIDE : isHeld(cluster) ? SUSPENDED : undefined
    const problem = held ?? ('problem' in made ? made.problem : undefined)
    if (problem !== undefined) problems.set(cluster, problem)
    const set = problem !== undefined || 'problem' in made ? before : made.set
    if (set !== undefined) setOf.set(cluster, set)
  }
  const wanted = deliveryFor(binding, setOf, template) ?? withoutClusters(delivery, contents.length)
  if (!wanted) return { delivery, problems }
  const kept = isHeld(undefined) && delivery ? { ...wanted, spec: { ...delivery.spec } } : wanted
  const isSame = delivery && jsonEqual(delivery.spec, kept.spec)
  if (!isSame) await ports.applyDelivery(kept, context.signal)
  return { delivery: ports.deliveryOf(keyOf(wanted)), problems }
}

const OUTSIDE =
  'The Project of the namespace, or a ClusterSet to which the namespace is not bound, does not allow this cluster. What runs stays.'
const SUSPENDED = 'Dispatching to this cluster is suspended by the policy.'

/** Whether dispatching to a cluster, or without a name to all clusters, is suspended. */
function heldClusters({ spec }: ServedBinding): (cluster: string | undefined) => boolean {
  const { dispatching = false, dispatchingOnClusters } = spec.suspension ?? {}
  const names = new Set(dispatchingOnClusters?.clusterNames)
  return (cluster) => dispatching || (cluster !== undefined && names.has(cluster))
}

async function contentSet(
  content: ClusterContent,
  store: (object: Template) => Promise<StoredSet>,
): Promise<StoredSet> {
  if ('problem' in content) return { problem: `overrides cannot be applied: ${content.problem}` }
  return store(content.object)
}

/** The set that a Delivery has for a cluster now. */
function specSet({ spec }: Delivery, cluster: string): Digest | undefined {
  if (!spec.clusters.includes(cluster)) return undefined
  return spec.variants?.find(({ clusters }) => clusters.includes(cluster))?.set ?? spec.set
}

/** One Delivery for all clusters: the set that most of them have, and the others as variants. */
function deliveryFor(
  binding: ServedBinding,
  setOf: ReadonlyMap<string, Digest>,
  template: Template,
): Delivery | undefined {
  const groups = Map.groupBy(setOf.keys(), (cluster) => setOf.get(cluster)!)
  const bySize = [...groups].toSorted((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1))
  const [first, ...others] = bySize
  if (!first) return undefined
  return {
    apiVersion: apiVersionOf(Delivery),
    kind: Delivery.kind,
    metadata: {
      namespace: deliveryNamespace(binding),
      name: binding.metadata.name,
      labels: { [DELIVERY_LABEL]: digestOfJson([binding.kind, keyOf(binding)]).slice(7, 39) },
      finalizers: [REMOVAL_FINALIZER],
    },
    spec: {
      set: first[0],
      clusters: [...setOf.keys()].toSorted(),
      variants: others.map(([set, clusters]) => ({ set, clusters: clusters.toSorted() })),
      order: binding.spec.requiredBy ? -1 : 0,
      options: deliveryOptions(binding, template),
    },
  }
}

/** A binding without targets: its Delivery removes the object everywhere. */
function withoutClusters(delivery: Delivery | undefined, targets: number): Delivery | undefined {
  if (!delivery || targets > 0) return undefined
  return { ...appliedHead(delivery), spec: { ...delivery.spec, clusters: [], variants: [] } }
}

/** The parts of a Delivery besides its spec that the controller applies. */
function appliedHead({ apiVersion, kind, metadata }: Delivery): Omit<Delivery, 'spec' | 'status'> {
  const { namespace = '', name, labels } = metadata
  return { apiVersion, kind, metadata: { ...compact({ namespace, name, labels }), finalizers: [REMOVAL_FINALIZER] } }
}

interface Showing extends Delivered {
  readonly move: Move | undefined
  readonly template: Template
  readonly decided: ServedSchedule | undefined
}

async function show(
  draft: Draft<ServedBinding>,
  { template, decided, delivery, problems, move }: Showing,
  ports: BindingPorts,
  { clock, signal }: Context,
): Promise<Result> {
  const binding = draft.next
  const key = `${binding.kind} ${keyOf(binding)}`
  const entry = deliveryEntryId({ metadata: { namespace: deliveryNamespace(binding), name: binding.metadata.name } })
  const shown = targetsOf(binding).map(({ name }) =>
    showTarget(template, entry, {
      cluster: name,
      report: ports.reportOf(name),
      isUnreachable: ports.isUnreachable(name),
      wanted: delivery && wantedOn(delivery, name),
      problem: problems.get(name),
    }),
  )
  const aggregatedStatus = shown.map(({ item }) => item)
  const isNew = !jsonEqual(binding.status?.aggregatedStatus ?? [], aggregatedStatus)
  const isDecided = decisionShown(draft, decided)
  const waitMs = ports.pace.waitMs(key)
  if (isNew && isDecided && waitMs > 0) return { unchanged: true, requeueAfterMs: waitMs }
  if (isNew) ports.pace.note(key)
  await showOnTemplate(template, shown, ports, signal)
  showDecision(draft, decided, clock.now())
  binding.status = { ...binding.status, ...(shown.length > 0 ? { aggregatedStatus } : { aggregatedStatus: [] }) }
  const applied = fullyApplied(aggregatedStatus)
  draft.conditions.set('FullyApplied', applied.status, applied.reason, applied.message)
  showAdmission(draft, delivery)
  showMove(draft, move)
  return {}
}

/** The content that a cluster should have; none while the Delivery was not looked at, or the cluster not admitted. */
function wantedOn(delivery: Delivery, cluster: string): ReturnType<typeof deliveredTo> {
  const { metadata, status } = delivery
  if (status?.observedGeneration === undefined || status.observedGeneration !== metadata.generation) return undefined
  const { set, variants = [] } = status.revision ?? {}
  const newest = variants.find(({ clusters }) => clusters.includes(cluster))?.set ?? set
  const delivered = deliveredTo(delivery, cluster)
  return delivered?.set === newest ? delivered : undefined
}

/** Why clusters do not receive what they should, from the Delivery. */
function showAdmission({ conditions }: Draft<ServedBinding>, delivery: Delivery | undefined): void {
  const admitted = findCondition(delivery?.status?.conditions, 'Admitted')
  if (admitted?.status === 'False') conditions.set('Admitted', 'False', admitted.reason, admitted.message)
  else conditions.remove('Admitted')
}

/** Says why replicas stay on clusters that are out of reach, although the policy asks to move them. */
function showMove({ conditions }: Draft<ServedBinding>, move: Move | undefined): void {
  if (move?.message === undefined) conditions.remove('Moved')
  else conditions.set('Moved', 'False', 'ManyClustersUnreachable', move.message)
}

function decisionShown({ seen }: Draft<ServedBinding>, decided: ServedSchedule | undefined): boolean {
  if (!decided) return true
  const shown = findCondition(seen.status?.conditions, 'Scheduled')
  const { status, reason, message } = decided.scheduled
  return shown?.status === status && shown.reason === reason && shown.message === message
}

function showDecision(draft: Draft<ServedBinding>, decided: ServedSchedule | undefined, now: number): void {
  if (!decided) return
  const binding = draft.next
  const { status, reason, message } = decided.scheduled
  const generation = binding.metadata.generation ?? 0
  const isObserved = binding.status?.schedulerObservedGeneration === generation
  const isScheduled = status === 'True' && !(isObserved && binding.status?.lastScheduledTime !== undefined)
  binding.status = {
    ...binding.status,
    ...compact({
      schedulerObservedGeneration: generation,
      schedulerObservingAffinityName: decided.affinity,
      // A request that this decision answers is not later than it.
      lastScheduledTime: isScheduled
        ? formatTime(Math.max(now, parseTime(binding.spec.rescheduleTriggeredAt ?? '') ?? 0))
        : binding.status?.lastScheduledTime,
    }),
  }
  draft.conditions.set('Scheduled', status, reason, message)
}

/** Writes the sum of all clusters into the status of the template. */
async function showOnTemplate(
  template: Template,
  shown: readonly ShownTarget[],
  { writeStatus }: BindingPorts,
  signal: AbortSignal,
): Promise<void> {
  const status = aggregateStatus(
    template,
    shown.map((one) => one.status),
  )
  if (!status) return
  const before = template.status ?? {}
  const isSame = [...new Set([...Object.keys(status), ...countedIn(before)])].every((field) =>
    jsonEqual(before[field], status[field]),
  )
  if (!isSame) await writeStatus(template, { ...nulls(countedIn(before)), ...status }, signal)
}

/** Numbers in the status, which a new sum replaces or removes. */
function countedIn(status: Record<string, unknown>): string[] {
  return Object.keys(status).filter((field) => typeof status[field] === 'number')
}

function nulls(fields: readonly string[]): Record<string, null> {
  return Object.fromEntries(fields.map((field) => [field, null]))
}
