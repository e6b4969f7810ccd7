// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** The controllers of policies, over the hub's shared informers. */
import type { Client } from '../../../../client/client.ts'
import type { Informers } from '../../../../client/informers.ts'
import { compact } from '../../../../core/compact.ts'
import { findCondition } from '../../../../core/conditions.ts'
import type { Ids } from '../../../../core/ids.ts'
import { jsonEqual } from '../../../../core/json.ts'
import type { Logger } from '../../../../core/log.ts'
import { silentMetrics } from '../../../../core/metrics.ts'
import type { Metrics, Observe } from '../../../../core/metrics.ts'
import type { Clock } from '../../../../core/time/clock.ts'
import { createController } from '../../../../engine/controller.ts'
import type { Controller } from '../../../../engine/controller.ts'
import { createKeyedThrottle } from '../../../../engine/keyed-throttle.ts'
import { triggerOn, triggerOnObject } from '../../../../engine/trigger.ts'
import { ConfigMap } from '../../../../kinds/builtin/core.ts'
import { SubjectAccessReview } from '../../../../kinds/builtin/reviews.ts'
import { apiVersionOf, keyOf } from '../../../../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../../../../kinds/meta.ts'
import { Bundle } from '../../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../../kinds/native/cluster.ts'
import { Placement } from '../../../../kinds/native/placement.ts'
import {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  OcmPlacementDecision,
} from '../../kinds.ts'
import { createCelCompiler } from '../../placement/answer-case.ts'
import { groupByNamespace } from '../../placement/object-store.ts'
import { isPageOf } from '../../placement/read-objects.ts'
import { countDuties, DUTY_STATES } from '../../../../plan/fleet/duties.ts'
import type { Duty, DutyState } from '../../../../plan/fleet/duties.ts'
import type { BindingWorld } from './bind-policy.ts'
import { PlacementBinding, PlacementRule, Policy, PolicySet } from './kinds.ts'
import { placementRuleReconciler } from './placement-rule.ts'
import { policyReconciler } from './policy.ts'
import type { AccountRead } from './policy.ts'
import { checksByBundle } from './policy-status.ts'
import type { Check, KnownCluster } from './policy-status.ts'
import { policySetReconciler } from './policy-set.ts'
import { deleteSame } from '../../../../client/find-object.ts'

/** The parts of the controllers. */
export interface PolicyParts {
  readonly informers: Informers
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
}

const MANAGER = 'flotilla-ocm'
/** Time for which a change of rows alone waits before it is written. */
const SAVED_UP_MS = 5000
const POLICY_BUNDLE = /^(?<namespace>[^/]+)\/policy-(?<name>[^.]+)(?:\.enforced)?$/

/** Creates the controllers; nothing happens before `run`. */
export function createPolicyControllers(parts: PolicyParts): readonly Controller[] {
  const { informers, clock } = parts
  const { client } = informers
  const policies = informers.of(Policy)
  const sets = informers.of(PolicySet)
  const bindings = informers.of(PlacementBinding)
  const rules = informers.of(PlacementRule)
  const ocmPlacements = informers.of(OcmPlacement)
  const pages = informers.of(OcmPlacementDecision)
  const bundles = informers.of(Bundle)
  const placements = informers.of(Placement)
  const clusters = informers.of(Cluster)
  const reports = informers.of(ClusterReport)
  const duties = countedDuties(parts)
  policies.onChange(({ key, after }) => {
    if (!after) duties.count(key, [])
  })

  const clustersOf =
    (namespace: string): BindingWorld['clustersOf'] =>
    (kind, name) => {
      const known = (kind === 'Placement' ? ocmPlacements : rules).lister.get(`${namespace}/${name}`)
      if (!known) return { unknown: `${kind} ${name} does not exist` }
      if (kind !== 'Placement') {
        const decisions = (known as PlacementRule).status?.decisions
        return (
          decisions?.flatMap(({ clusterName }) => clusterName ?? []) ?? {
            unknown: `${kind} ${name} is not decided yet`,
          }
        )
      }
      const placement = known as OcmPlacement
      if (!placement.status) return { unknown: `Placement ${name} is not decided yet` }
      return pages.lister
        .list(namespace)
        .filter((page) => isPageOf(page, placement))
        .flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => clusterName))
    }
  const clusterOf = (name: string): KnownCluster => {
    const cluster = clusters.lister.get(name)
    const report = reports.lister.get(name)
    const isSame = cluster !== undefined && report?.spec.clusterId === cluster.spec.id
    const isHeard = findCondition(cluster?.status?.conditions, 'Available')?.status === 'True'
    const checks = isSame ? checksIn(report) : undefined
    return { name, isHeard, checksOf: (bundle) => checks?.get(bundle) ?? [] }
  }
  const typeOf = (object: Bundle | Placement) =>
    (object.kind === 'Bundle' ? Bundle : Placement) as ResourceType<KubeObject>
  const inNamespace = (namespace: string | undefined) => policies.lister.list(namespace).map(keyOf)
  const ownerOf = ({ metadata }: KubeObject) =>
    (metadata.ownerReferences ?? []).flatMap(({ kind, name }) => (kind === 'Policy' ? [`${metadata.namespace}/${name}`] : [])) // prettier-ignore
  const bound = (name: string): string[] =>
    policies.lister
      .list()
      .filter(({ status }) => status?.status?.some(({ clustername }) => clustername === name))
      .map(keyOf)
  return [
    createController({
      ...parts,
      client,
      type: Policy,
      informer: policies,
      reconciler: policyReconciler({
        worldOf: (namespace) => ({
          bindings: bindings.lister.list(namespace),
          sets: sets.lister.list(namespace),
          clustersOf: clustersOf(namespace),
        }),
        bundleOf: (namespace, name) => bundles.lister.get(`${namespace}/${name}`),
        placementOf: (namespace, name) => placements.lister.get(`${namespace}/${name}`),
        apply: async (object, signal) => {
          await client.apply(typeOf(object), object, { fieldManager: MANAGER, force: true, signal })
        },
        remove: (object, signal) => deleteSame(client, typeOf(object), object, signal),
        clusterOf,
        mayRead: (read, signal) => mayRead(client, read, signal),
        configMapsOf: async (query, signal) => (await client.list(ConfigMap, query, signal)).items,
        now: () => clock.now(),
        count: duties.count,
        pace: createKeyedThrottle(clock, SAVED_UP_MS),
      }),
      failureCondition: 'Compiled',
      notesGeneration: false, // its status has no such field; the condition has it
      triggers: [
        triggerOnObject(bindings, ({ metadata }) => inNamespace(metadata.namespace)),
        triggerOnObject(sets, ({ metadata }) => inNamespace(metadata.namespace)),
        triggerOnObject(rules, ({ metadata }) => inNamespace(metadata.namespace)),
        triggerOnObject(ocmPlacements, ({ metadata }) => inNamespace(metadata.namespace)),
        triggerOnObject(pages, ({ metadata }) => inNamespace(metadata.namespace)),
        triggerOnObject(bundles, ownerOf),
        triggerOnObject(placements, ownerOf),
        triggerOn(reports, ({ before, after }) => changedPolicies(before, after)),
        triggerOn(clusters, ({ key, before, after }) =>
          availability(before) === availability(after) ? [] : bound(key),
        ),
      ],
    }),
    createController({
      ...parts,
      client,
      type: PolicySet,
      informer: sets,
      reconciler: policySetReconciler({
        policyOf: (namespace, name) => policies.lister.get(`${namespace}/${name}`),
        bindingsIn: (namespace) => bindings.lister.list(namespace),
      }),
      failureCondition: false,
      notesGeneration: false,
      triggers: [
        triggerOnObject(policies, ({ metadata }) => sets.lister.list(metadata.namespace).map(keyOf)),
        triggerOnObject(bindings, ({ metadata }) => sets.lister.list(metadata.namespace).map(keyOf)),
      ],
    }),
    placementRules(parts),
  ]
}

/** Asks the API of the hub about a ServiceAccount. */
async function mayRead(
  client: Client,
  { account, namespace, name }: AccountRead,
  signal: AbortSignal,
): Promise<boolean> {
  const { kind } = SubjectAccessReview
  const spec: SubjectAccessReview['spec'] = {
    user: `system:serviceaccount:${account.namespace}:${account.name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`, 'system:authenticated'],
    resourceAttributes: compact({
      namespace,
      group: '',
      version: 'v1',
      resource: 'configmaps',
      verb: name === undefined ? 'list' : 'get',
      name,
    }),
  }
  const review = { apiVersion: apiVersionOf(SubjectAccessReview), kind, metadata: { name: '' }, spec }
  const { status } = await client.create(SubjectAccessReview, review, { signal })
  return status?.allowed === true
}

/** The duties of all Policies as a metric. */
function countedDuties({ clock, metrics }: PolicyParts) {
  const gauge = declareDuties(metrics ?? silentMetrics)
  const known = new Map<string, Readonly<Record<DutyState, number>>>()
  return {
    count(key: string, duties: readonly Duty[]): void {
      if (duties.length === 0) known.delete(key)
      else known.set(key, countDuties(duties, clock.now()))
      for (const state of DUTY_STATES)
        gauge(
          { state },
          [...known.values()].reduce((sum, one) => sum + one[state], 0),
        )
    },
  }
}

/** Declares the metric of duties. */
export function declareDuties(metrics: Metrics): Observe {
  return metrics.gauge({
    name: 'flotilla_policy_duties',
    help: 'Clusters that have to comply with a Policy by a deadline, by the state of the duty. Served with the dialect ocm.',
    labels: ['state'],
  })
}

function placementRules(parts: PolicyParts): Controller {
  const { informers } = parts
  const rules = informers.of(PlacementRule)
  const faces = informers.of(ManagedCluster)
  const sets = informers.of(ManagedClusterSet)
  const bindings = informers.of(ManagedClusterSetBinding)
  const scores = informers.of(AddOnPlacementScore)
  const every = () => rules.lister.list().map(keyOf)
  return createController({
    ...parts,
    client: informers.client,
    type: PlacementRule,
    informer: rules,
    reconciler: placementRuleReconciler({
      clusters: () => faces.lister.list(),
      sets: () => sets.lister.list(),
      bindingsIn: (namespace) => bindings.lister.list(namespace),
      pages: () => [],
      scoresByCluster: () => groupByNamespace(scores.lister.list()),
      compileCel: createCelCompiler(),
    }),
    failureCondition: false,
    notesGeneration: false,
    triggers: [
      triggerOn(faces, ({ before, after }) => (isPlacedAlike(before, after) ? [] : every())),
      triggerOn(sets, every),
      triggerOn(bindings, every),
    ],
  })
}

function isPlacedAlike(before: ManagedCluster | undefined, after: ManagedCluster | undefined): boolean {
  if (!before || !after) return false
  const read = ({ metadata, status }: ManagedCluster) => [
    metadata.labels,
    metadata.deletionTimestamp,
    (status?.conditions ?? []).map(({ type, status: is }) => `${type} ${is}`),
  ]
  return jsonEqual(read(before), read(after))
}

function availability(cluster: Cluster | undefined): string | undefined {
  return findCondition(cluster?.status?.conditions, 'Available')?.status
}

// A report says something about many Policies, each of which asks for its part.
const grouped = new WeakMap<ClusterReport, ReadonlyMap<string, readonly Check[]>>()

function checksIn(report: ClusterReport): ReadonlyMap<string, readonly Check[]> {
  const found = grouped.get(report) ?? checksByBundle(report)
  grouped.set(report, found)
  return found
}

/** Keys of the Policies that a report says something new about. */
function changedPolicies(before: ClusterReport | undefined, after: ClusterReport | undefined): string[] {
  const none: ReadonlyMap<string, readonly Check[]> = new Map()
  const [was, is] = [before ? checksIn(before) : none, after ? checksIn(after) : none]
  const words = (checks: readonly Check[] = []) => checks.map(({ kind, name, state }) => `${kind}/${name} ${state}`)
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((bundle) => !jsonEqual(words(was.get(bundle)), words(is.get(bundle))))
    .flatMap((bundle) => {
      const { namespace, name } = POLICY_BUNDLE.exec(bundle)?.groups ?? {}
      return namespace === undefined ? [] : [`${namespace}/${name}`]
    })
}
