// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** The controllers of the Karmada dialect, over the hub's shared informers. */
import type { Informer } from '../../../client/informer.ts'
import type { Informers } from '../../../client/informers.ts'
import { compact } from '../../../core/compact.ts'
import type { Ids } from '../../../core/ids.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { triggerOn } from '../../../engine/trigger.ts'
import type { Trigger } from '../../../engine/trigger.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { WorkloadRebalancer } from '../rebalance/kinds.ts'
import { bindingKeyOf, rebalanceReconciler } from '../rebalance/rebalance.ts'
import { ClusterTaintPolicy } from '../taints/kinds.ts'
import { taintClustersReconciler } from '../taints/taint-clusters.ts'
import { selectorsPriority } from '../resource-selector.ts'
import type { ResourceSelector } from '../resource-selector.ts'
import { dependenciesOf } from '../templates/dependencies.ts'
import { TEMPLATE_KINDS } from '../templates/template-kinds.ts'
import type { Template } from '../templates/template-kinds.ts'
import { askCapacityReconciler, askCapacityTriggers, capacityPlacements } from '../capacity/ask-capacity.ts'
import { bindingControllers, capacityIn } from './binding-controllers.ts'
import type { BindingParts } from './binding-controllers.ts'
import { clusterFaceReconciler } from './cluster-face-controller.ts'
import { bindingName, isClaimedBy } from './decide-claim.ts'
import {
  ClusterOverridePolicy,
  ClusterPropagationPolicy,
  ClusterResourceBinding,
  KarmadaClusterFace,
  OverridePolicy,
  PropagationPolicy,
  ResourceBinding,
} from './kinds.ts'
import type { ServedBinding, ServedOverride, ServedPropagation } from './kinds.ts'
import { overridePolicyReconciler, policiesInForce, propagationPolicyReconciler } from './policies.ts'
import { templateReconciler } from './template.ts'
import type { TemplatePorts } from './template.ts'
import { deleteSame } from '../../../client/find-object.ts'

/** The parts of the controllers. */
export interface KarmadaParts extends Pick<BindingParts, 'storeSet'> {
  readonly informers: Informers
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  laneOf(key: string): string
}

const MANAGER = 'flotilla-karmada'

/** Creates the controllers; nothing happens before `run`. */
export function createKarmadaControllers(parts: KarmadaParts): readonly Controller[] {
  const all = { ...parts, client: parts.informers.client }
  const templates = new Map(TEMPLATE_KINDS.map((kind) => [kindId(kind), parts.informers.of(kind)]))
  const templateAt = ({ spec }: ServedBinding): Template | undefined => {
    const { apiVersion, kind, namespace, name } = spec.resource
    const key = namespace === undefined ? name : `${namespace}/${name}`
    return templates.get(`${apiVersion} ${kind}`)?.lister.get(key)
  }
  return [
    ...policyControllers(all),
    faceController(all),
    capacityController(all),
    rebalanceController(all),
    taintController(all),
    ...TEMPLATE_KINDS.map((kind) => templateController(kind, all, { templates, templateAt })),
    ...bindingControllers({ ...all, templates, templateAt }),
  ]
}

type Parts = KarmadaParts & { readonly client: Informers['client'] }

function kindId({ group, version, kind }: Kind): string {
  return `${group === '' ? version : `${group}/${version}`} ${kind}`
}

function policyControllers(parts: Parts): readonly Controller[] {
  const { informers } = parts
  const common = { ...parts, failureCondition: false, notesGeneration: false } as const
  return [
    ...[PropagationPolicy, ClusterPropagationPolicy].map((type) =>
      createController({
        ...common,
        type,
        informer: informers.of(type),
        reconciler: propagationPolicyReconciler(type),
      }),
    ),
    ...[OverridePolicy, ClusterOverridePolicy].map((type) =>
      createController({ ...common, type, informer: informers.of(type), reconciler: overridePolicyReconciler(type) }),
    ),
  ]
}

function faceController(parts: Parts): Controller {
  const { informers, client } = parts
  const faces = informers.of(KarmadaClusterFace)
  const clusters = informers.of(Cluster)
  return createController({
    ...parts,
    type: Cluster,
    informer: clusters,
    reconciler: clusterFaceReconciler({
      faceOf: (name) => faces.lister.get(name),
      capacityOf: (cluster) => capacityIn(informers, cluster),
      create: async (face, signal) => await client.create(KarmadaClusterFace, face, { fieldManager: MANAGER, signal }),
      update: async (face, signal) => await client.update(KarmadaClusterFace, face, { fieldManager: MANAGER, signal }),
      writeStatus: async (face, signal) =>
        void (await client.update(KarmadaClusterFace, face, { fieldManager: MANAGER, signal, subresource: 'status' })),
      remove: (face, signal) => deleteSame(parts.client, KarmadaClusterFace, face, signal),
    }),
    triggers: [
      triggerOn(faces, ({ key }) => [key]),
      triggerOn(informers.of(ClusterReport), ({ key, before, after }) =>
        jsonEqual(before?.spec.capacity ?? null, after?.spec.capacity ?? null) ? [] : [key],
      ),
    ],
    failureCondition: false,
    notesGeneration: false,
  })
}

function capacityController(parts: Parts): Controller {
  const clusters = parts.informers.of(Cluster)
  const bindings = [parts.informers.of(ResourceBinding), parts.informers.of(ClusterResourceBinding)]
  return createController({
    ...parts,
    name: 'karmada-ask-capacity',
    type: Cluster,
    informer: clusters,
    reconciler: askCapacityReconciler(capacityPlacements(bindings)),
    triggers: askCapacityTriggers(bindings, clusters),
    failureCondition: false,
    notesGeneration: false,
  })
}

function rebalanceController(parts: Parts): Controller {
  const { informers, client } = parts
  const rebalancers = informers.of(WorkloadRebalancer)
  const bindings = { own: informers.of(ResourceBinding), cluster: informers.of(ClusterResourceBinding) }
  const isMissing = ({ status }: WorkloadRebalancer) =>
    (status?.observedWorkloads ?? []).some(({ result }) => result === 'Failed')
  return createController({
    ...parts,
    type: WorkloadRebalancer,
    informer: rebalancers,
    reconciler: rebalanceReconciler({
      bindingAt: (name, namespace) =>
        namespace === undefined ? bindings.cluster.lister.get(name) : bindings.own.lister.get(`${namespace}/${name}`),
      updateBinding: async (binding, signal) => {
        const type = binding.metadata.namespace ? ResourceBinding : ClusterResourceBinding
        await client.update(type, binding, { fieldManager: MANAGER, signal })
      },
      remove: (rebalancer, signal) => deleteSame(client, WorkloadRebalancer, rebalancer, signal),
    }),
    triggers: Object.values(bindings).map((informer) =>
      triggerOn(informer, ({ key, before }) =>
        before
          ? []
          : rebalancers.lister
              .list()
              .filter((one) => isMissing(one) && one.spec.workloads.some((workload) => bindingKeyOf(workload) === key))
              .map(keyOf),
      ),
    ),
    failureCondition: false,
    notesGeneration: false,
  })
}

function taintController(parts: Parts): Controller {
  const clusters = parts.informers.of(Cluster)
  const policies = parts.informers.of(ClusterTaintPolicy)
  return createController({
    ...parts,
    name: 'karmada-taint-clusters',
    type: Cluster,
    informer: clusters,
    reconciler: taintClustersReconciler(() => policies.lister.list()),
    triggers: [triggerOn(policies, () => clusters.lister.list().map(keyOf))],
    failureCondition: false,
    notesGeneration: false,
  })
}

interface Templates {
  readonly templates: ReadonlyMap<string, Informer<Template>>
  readonly templateAt: (binding: ServedBinding) => Template | undefined
}

function templateController(kind: Kind<Template>, parts: Parts, { templates, templateAt }: Templates): Controller {
  const { informers, client } = parts
  const informer = informers.of(kind)
  const isNamespaced = kind.scope === 'Namespaced'
  const type = isNamespaced ? ResourceBinding : ClusterResourceBinding
  const bindings = informers.of(type)
  const policies = [informers.of(PropagationPolicy), informers.of(ClusterPropagationPolicy)]
  const overrides = [informers.of(OverridePolicy), informers.of(ClusterOverridePolicy)]
  const write = (signal: AbortSignal) => ({ fieldManager: MANAGER, signal })
  const ports: TemplatePorts = {
    bindingOf: ({ metadata }) => {
      const name = bindingName({ kind: kind.kind, name: metadata.name })
      return bindings.lister.get(isNamespaced ? `${metadata.namespace}/${name}` : name)
    },
    factsOf: (template) => ({
      ...policiesInForce(policies.flatMap(({ lister }) => lister.list())),
      overrides: overrides
        .flatMap(({ lister }) => lister.list())
        .map(({ kind: of, metadata }) => ({ kind: of, metadata })),
      requiredBy: isNamespaced
        ? requirersOf(template, bindings.lister.list(template.metadata.namespace), templateAt)
        : [],
    }),
    createBinding: async (binding, signal) => void (await client.create(type, binding, write(signal))),
    updateBinding: async (binding, signal) => void (await client.update(type, binding, write(signal))),
    deleteBinding: (binding, signal) => deleteSame(parts.client, type, binding, signal),
  }
  const keyAt = ({ namespace, name }: ServedBinding['spec']['resource']) =>
    namespace === undefined ? name : `${namespace}/${name}`
  const isMine = ({ spec }: ServedBinding) => `${spec.resource.apiVersion} ${spec.resource.kind}` === kindId(kind)
  const triggers: Trigger[] = [
    triggerOn(bindings, ({ before, after }) => {
      const one = after ?? before
      return one && isMine(one) ? [keyAt(one.spec.resource)] : []
    }),
    ...policies.map((policy) =>
      triggerOn<ServedPropagation>(policy, ({ before, after }) => {
        if (jsonEqual(before?.spec, after?.spec) && before && after) return []
        const claimed = bindings.lister
          .list()
          .filter((binding) => isMine(binding) && isClaimedBy(binding, before ?? after))
          .map(({ spec }) => keyAt(spec.resource))
        const selected = [before, after].flatMap((one) => (one ? selectedKeys(informer, one, isNamespaced) : []))
        return new Set([...claimed, ...selected])
      }),
    ),
    ...overrides.map((override) =>
      // A policy can wait for an override.
      triggerOn<ServedOverride>(override, ({ before, after }) =>
        Boolean(before) === Boolean(after)
          ? []
          : informer.lister.list((after ?? before)?.metadata.namespace).map(keyOf),
      ),
    ),
    ...(DEPENDENCY_KINDS.has(kindId(kind)) ? dependencyTriggers(kind, { templates, templateAt, bindings }) : []),
  ]
  return createController({
    ...parts,
    name: `karmada-template-${kind.plural}`,
    type: kind,
    informer,
    reconciler: templateReconciler(`karmada-template-${kind.plural}`, ports),
    triggers,
    failureCondition: false,
    notesGeneration: false,
  })
}

function selectedKeys(
  informer: Informer<Template>,
  { metadata, spec }: ServedPropagation,
  isNamespaced: boolean,
): string[] {
  if (metadata.namespace && !isNamespaced) return []
  const selectors = spec.resourceSelectors as readonly ResourceSelector[]
  return informer.lister
    .list(metadata.namespace || undefined)
    .filter((template) => selectorsPriority(template, selectors) > 0)
    .map(keyOf)
}

const DEPENDENCY_KINDS: ReadonlySet<string> = new Set([
  'v1 ConfigMap',
  'v1 Secret',
  'v1 ServiceAccount',
  'v1 PersistentVolumeClaim',
])

type Requirers = NonNullable<ServedBinding['spec']['requiredBy']>

/**
 * The bindings of workloads that name an object, with the clusters that it follows them to. A workload that vanished
 * without a deletion runs on, so it goes on needing what it needed.
 */
function requirersOf(
  { kind, metadata }: Template,
  bindings: readonly ServedBinding[],
  templateAt: (binding: ServedBinding) => Template | undefined,
): Requirers {
  const own = bindings.find(({ metadata: { name } }) => name === bindingName({ kind, name: metadata.name }))
  const before = new Set((own?.spec.requiredBy ?? []).map(({ name }) => name))
  return bindings
    .filter((binding) => {
      if (binding.spec.propagateDeps !== true || binding.metadata.deletionTimestamp !== undefined) return false
      const workload = templateAt(binding)
      if (!workload) return before.has(binding.metadata.name)
      return dependenciesOf(workload).some((one) => one.kind === kind && one.name === metadata.name)
    })
    .map((binding) => compact({ ...refOf(binding), clusters: copiesOf(binding) }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

function refOf({ metadata: { name, namespace } }: ServedBinding) {
  return { namespace, name }
}

/** The clusters with a copy of a workload: its targets, and those that it leaves gracefully. */
function copiesOf({ spec }: ServedBinding): Requirers[number]['clusters'] {
  const leaving = (spec.gracefulEvictionTasks ?? []).map(({ fromCluster }) => fromCluster)
  if (!spec.clusters && leaving.length === 0) return undefined
  const names = new Set([...(spec.clusters ?? []).map(({ name }) => name), ...leaving])
  return [...names].toSorted().map((name) => ({ name }))
}

/** Objects that a workload names are looked at when the workload, or its clusters, change. */
function dependencyTriggers(
  { kind }: Kind,
  { templates, templateAt, bindings }: Templates & { readonly bindings: Informer<ServedBinding> },
): readonly Trigger[] {
  const keysOf = (template: Template | undefined): string[] =>
    template
      ? dependenciesOf(template)
          .filter((one) => one.kind === kind)
          .map(({ name }) => `${template.metadata.namespace}/${name}`)
      : []
  const workloads = [...templates].filter(([id]) => WORKLOADS.has(id)).map(([, informer]) => informer)
  return [
    ...workloads.map((informer) =>
      triggerOn(informer, ({ before, after }) => {
        const [was, is] = [keysOf(before), keysOf(after)]
        return jsonEqual(was, is) && before && after ? [] : new Set([...was, ...is])
      }),
    ),
    triggerOn(bindings, ({ before, after }) => {
      const one = after ?? before
      if (one?.spec.propagateDeps !== true && before?.spec.propagateDeps !== true) return []
      const isSame =
        jsonEqual(before && copiesOf(before), after && copiesOf(after)) &&
        before?.spec.propagateDeps === after?.spec.propagateDeps
      return isSame && before?.metadata.deletionTimestamp === after?.metadata.deletionTimestamp
        ? []
        : keysOf(templateAt(one!))
    }),
  ]
}

const WORKLOADS: ReadonlySet<string> = new Set([
  'apps/v1 Deployment',
  'apps/v1 StatefulSet',
  'apps/v1 DaemonSet',
  'batch/v1 Job',
  'batch/v1 CronJob',
  'networking.k8s.io/v1 Ingress',
])
