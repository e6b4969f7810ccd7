// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** The controllers of bindings: what they read, and whose changes concern them. */
import type { Informer } from '../../../client/informer.ts'
import type { Informers } from '../../../client/informers.ts'
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Ids } from '../../../core/ids.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { createKeyedThrottle } from '../../../engine/keyed-throttle.ts'
import { triggerOn } from '../../../engine/trigger.ts'
import type { Trigger } from '../../../engine/trigger.ts'
import { parseTime } from '../../../core/time/time.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { ClusterSetBinding } from '../../../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Delivery, deliveryKeyOf } from '../../../kinds/native/delivery.ts'
import { Project } from '../../../kinds/native/project.ts'
import { asPlacementCluster, asPlacementSet } from '../../../plan/placement/read-objects.ts'
import { placementReach } from '../../../plan/projects/placement-question.ts'
import { indexProjects, projectOf } from '../../../plan/projects/project-of.ts'
import type { ProjectIndex } from '../../../plan/projects/project-of.ts'
import { patienceFor } from '../capacity/reported-capacity.ts'
import type { Capacity } from '../capacity/reported-capacity.ts'
import { snapshotOf } from '../schedule/cluster-snapshot.ts'
import { readsCapacity } from '../schedule/schedule-binding.ts'
import { selectorsPriority } from '../resource-selector.ts'
import type { ResourceSelector } from '../resource-selector.ts'
import { templateKind } from '../templates/template-kinds.ts'
import type { Template } from '../templates/template-kinds.ts'
import { bindingReconciler } from './binding.ts'
import type { BindingPorts } from './binding.ts'
import { heldByLoss, isLeaving, isUnreachable, schedulerCluster } from './cluster-face.ts'
import { bindingName } from './decide-claim.ts'
import { CLUSTER_NAMESPACE, DELIVERY_LABEL } from './delivery-label.ts'
import { ClusterOverridePolicy, ClusterResourceBinding, OverridePolicy, ResourceBinding } from './kinds.ts'
import type { ServedBinding, ServedOverride } from './kinds.ts'
import { isTouched } from './touched-bindings.ts'
import { validOverrides } from './policies.ts'
import { deleteSame } from '../../../client/find-object.ts'

/** The parts of the controllers. */
export interface BindingParts {
  readonly informers: Informers
  readonly client: Informers['client']
  readonly storeSet: BindingPorts['storeSet']
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  laneOf(key: string): string
  readonly templates: ReadonlyMap<string, Informer<Template>>
  readonly templateAt: (binding: ServedBinding) => Template | undefined
}

const MANAGER = 'flotilla-karmada'
/** Time for which a change of reported values alone waits before it is written. */
const SAVED_UP_MS = 5000
/** The shortest time between two moves of replicas away from, or back to, a cluster. */
const MOVE_EVERY_MS = 2000

/** The controllers of ResourceBindings and ClusterResourceBindings. */
export function bindingControllers(parts: BindingParts): readonly Controller[] {
  const ports = bindingPorts(parts)
  return [ResourceBinding, ClusterResourceBinding].map((type) =>
    createController({
      ...parts,
      name: `karmada-${type.plural}`,
      type,
      informer: parts.informers.of(type),
      reconciler: bindingReconciler(`karmada-${type.plural}`, ports),
      triggers: bindingTriggers(parts, type === ResourceBinding),
      failureCondition: false,
      notesGeneration: false, // its status has no such field; the conditions have it
    }),
  )
}

function bindingPorts(parts: BindingParts): BindingPorts {
  const { informers, client, clock, templateAt } = parts
  const clusters = informers.of(Cluster)
  const reports = informers.of(ClusterReport)
  const deliveries = informers.of(Delivery)
  const overrides = [informers.of(OverridePolicy), informers.of(ClusterOverridePolicy)]
  const startedAt = clock.now()
  return {
    templateOf: templateAt,
    clustersFor: clustersOfProjects(informers, clock),
    clusterOf: (name) => {
      const cluster = clusters.lister.get(name)
      return cluster && schedulerCluster(cluster)
    },
    isUnreachable: (name) => {
      const cluster = clusters.lister.get(name)
      return !cluster || isUnreachable(cluster)
    },
    overrides: () => validOverrides(overrides.flatMap(({ lister }): readonly ServedOverride[] => lister.list())),
    storeSet: parts.storeSet,
    deliveryOf: (key) => deliveries.lister.get(key),
    applyDelivery: async (delivery, signal) => {
      await client.apply(Delivery, delivery, { fieldManager: MANAGER, force: true, signal })
    },
    deleteDelivery: (delivery, signal) => deleteSame(client, Delivery, delivery, signal),
    reportOf: (name) => {
      const report = reports.lister.get(name)
      return report?.spec.clusterId === clusters.lister.get(name)?.spec.id ? report : undefined
    },
    reachOf: (name) => {
      const cluster = clusters.lister.get(name)
      if (!cluster || isLeaving(cluster)) return undefined
      const at = parseTime(findCondition(cluster.status?.conditions, 'Available')?.lastTransitionTime ?? '') ?? 0
      // An outage of the hub itself does not count.
      return { isReachable: !isUnreachable(cluster), since: Math.max(at, startedAt) }
    },
    heldMoves: () => {
      const accepted = clusters.lister.list().filter((cluster) => cluster.spec.accepted && !isLeaving(cluster))
      return heldByLoss(accepted.filter(isUnreachable).length, accepted.length)
    },
    failoverPace: createKeyedThrottle(clock, MOVE_EVERY_MS),
    writeStatus: async (template, status, signal) => {
      const { metadata } = template
      const type = templateKind(template)!
      const key = compact({ name: metadata.name, namespace: metadata.namespace || undefined })
      const body = { metadata: { uid: metadata.uid }, status }
      await client.patch(type, key, { type: 'merge', body }, { fieldManager: MANAGER, signal, subresource: 'status' })
    },
    pace: createKeyedThrottle(clock, SAVED_UP_MS),
  }
}

/** The clusters that a Placement of the namespace may select, and the others, which keep what they have. */
function clustersOfProjects(informers: Informers, clock: Clock): BindingPorts['clustersFor'] {
  const clusters = informers.of(Cluster)
  const projects = informers.of(Project)
  const sets = informers.of(ClusterSet)
  const bindings = informers.of(ClusterSetBinding)
  let index: ProjectIndex<Project> | undefined
  projects.onChange(() => (index = undefined))
  return (namespace) => {
    const reach = placementReach(projectOf((index ??= indexProjects(projects.lister.list())), namespace), {
      sets: sets.lister.list().map(asPlacementSet),
      bound: bindings.lister.list(namespace).map(({ spec }) => spec.clusterSet),
    })
    if ('refusal' in reach) return reach
    const accepted = clusters.lister.list().filter(({ spec }) => spec.accepted)
    const { yes = [], no = [] } = Object.groupBy(accepted, (cluster) =>
      reach.reaches(asPlacementCluster(cluster)) ? 'yes' : 'no',
    )
    const now = clock.now()
    return {
      clusters: yes.map((cluster) => schedulerCluster(cluster, capacityIn(informers, cluster))),
      outside: no.map((cluster) => schedulerCluster(cluster, capacityIn(informers, cluster))),
      asked: yes
        .filter((cluster) => !isUnreachable(cluster) && !isLeaving(cluster) && !capacityIn(informers, cluster))
        .map((cluster) => ({ cluster: snapshotOf(schedulerCluster(cluster)), waitMs: patienceFor(cluster, now) })),
    }
  }
}

/** The free resources in the newest report of a cluster. */
export function capacityIn(informers: Informers, { metadata, spec }: Cluster): Capacity | undefined {
  const report = informers.of(ClusterReport).lister.get(metadata.name)
  return report?.spec.clusterId === spec.id ? report.spec.capacity : undefined
}

function bindingTriggers(parts: BindingParts, isNamespaced: boolean): readonly Trigger[] {
  const { informers, templates } = parts
  const bindings = informers.of(isNamespaced ? ResourceBinding : ClusterResourceBinding)
  const all = (): string[] => bindings.lister.list().map(keyOf)
  const inNamespace = (namespace: string): string[] =>
    isNamespaced ? bindings.lister.list(namespace).map(keyOf) : namespace === CLUSTER_NAMESPACE ? all() : []
  const ofDelivery = (key: string): string[] => {
    const [namespace = '', name = ''] = key.split('/')
    if (!isNamespaced) return namespace === CLUSTER_NAMESPACE ? [name] : []
    return namespace === CLUSTER_NAMESPACE ? [] : [key]
  }
  return [
    triggerOn(informers.of(Delivery), ({ key, before, after }) =>
      (after ?? before)?.metadata.labels?.[DELIVERY_LABEL] === undefined ? [] : ofDelivery(key),
    ),
    ...[...templates.values()].map((informer) =>
      triggerOn(informer, ({ before, after }) => {
        const { kind, metadata } = (after ?? before)!
        if (before && after && isSameContent(before, after)) return []
        const name = bindingName({ kind, name: metadata.name })
        return (metadata.namespace ?? '') === ''
          ? isNamespaced
            ? []
            : [name]
          : isNamespaced
            ? [`${metadata.namespace}/${name}`]
            : []
      }),
    ),
    ...[informers.of(OverridePolicy), informers.of(ClusterOverridePolicy)].map((overrides) =>
      triggerOn(overrides, ({ before, after }) =>
        before && after && jsonEqual(before.spec, after.spec) ? [] : touched(bindings, parts, [before, after]),
      ),
    ),
    triggerOn(informers.of(Cluster), ({ before, after }) => {
      if (before && after && jsonEqual(clusterFacts(before), clusterFacts(after))) return []
      const change = {
        name: (after ?? before)!.metadata.name,
        before: before && schedulerCluster(before),
        after: after && schedulerCluster(after),
      }
      return bindings.lister
        .list()
        .filter((binding) => isTouched(binding, change))
        .map(keyOf)
    }),
    triggerOn(informers.of(ClusterReport), ({ before, after }) =>
      jsonEqual(before?.spec.capacity ?? null, after?.spec.capacity ?? null)
        ? []
        : bindings.lister.list().filter(waitsForRoom).map(keyOf),
    ),
    triggerOn(informers.of(ClusterSet), ({ before, after }) => (jsonEqual(before?.spec, after?.spec) ? [] : all())),
    triggerOn(informers.of(ClusterSetBinding), ({ before, after }) =>
      jsonEqual(before?.spec, after?.spec) ? [] : inNamespace((after ?? before)?.metadata.namespace ?? ''),
    ),
    triggerOn(informers.of(Project), ({ before, after }) => {
      if (jsonEqual(before?.spec, after?.spec)) return []
      const names = new Set([...(before?.spec.namespaces ?? []), ...(after?.spec.namespaces ?? [])])
      return [...names].flatMap(inNamespace)
    }),
    triggerOn(informers.of(ClusterReport), ({ before, after }) => changedDeliveries(before, after).flatMap(ofDelivery)),
  ]
}

/** Whether a decision failed that free resources of clusters can change. */
function waitsForRoom({ spec: { placement }, status }: ServedBinding): boolean {
  if (!placement || !readsCapacity(placement)) return false
  return findCondition(status?.conditions, 'Scheduled')?.status !== 'True'
}

/** Whether a change of a template is of its status alone, which bindings write. */
function isSameContent(before: Template, after: Template): boolean {
  const content = ({ status: _status, metadata, ...rest }: Template) => {
    const { labels, annotations, deletionTimestamp, uid, generation } = metadata
    return [rest, labels, annotations, deletionTimestamp, uid, generation]
  }
  return jsonEqual(content(before), content(after))
}

/** The bindings whose templates an override policy selects, before or after its change. */
function touched(
  bindings: Informer<ServedBinding>,
  { templateAt }: BindingParts,
  changed: readonly (ServedOverride | undefined)[],
): string[] {
  const policies = changed.filter((one) => one !== undefined)
  const namespace = policies[0]?.metadata.namespace || undefined
  return bindings.lister
    .list(namespace)
    .filter((binding) => {
      const template = templateAt(binding)
      return (
        template &&
        policies.some(({ spec }) => {
          const selectors = (spec.resourceSelectors ?? []) as readonly ResourceSelector[]
          return selectors.length === 0 || selectorsPriority(template, selectors) > 0
        })
      )
    })
    .map(keyOf)
}

function clusterFacts(cluster: Cluster): unknown {
  const { metadata, spec, status } = cluster
  const available = findCondition(status?.conditions, 'Available')?.status
  return [spec.accepted, spec.cordon !== undefined, spec.taints, metadata.labels, isLeaving(cluster), available]
}

/** Keys of the Deliveries that a report has news about. */
function changedDeliveries(before: ClusterReport | undefined, after: ClusterReport | undefined): string[] {
  const parts = (report: ClusterReport | undefined) => {
    const { bundles = [], feedback = [] } = report?.spec ?? {}
    return Map.groupBy([...bundles, ...feedback] as readonly { readonly bundle: string }[], ({ bundle }) => bundle)
  }
  const [was, is] = [parts(before), parts(after)]
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((id) => !jsonEqual(was.get(id), is.get(id)))
    .flatMap((id) => deliveryKeyOf(id) ?? [])
}
