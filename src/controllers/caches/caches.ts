// Tested by src/controllers/controllers.sim.test.ts
/**
 * The caches that all controllers share: one per kind, with indexes so that a change costs only the objects it
 * concerns.
 */
import type { Informer } from '../../client/informer.ts'
import type { Informers } from '../../client/informers.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../kinds/builtin/admission.ts'
import { Approval } from '../../kinds/native/approval.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../../kinds/native/cluster-set.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Delivery } from '../../kinds/native/delivery.ts'
import { JoinToken } from '../../kinds/native/join-token.ts'
import { PlacementDecision } from '../../kinds/native/placement-decision.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Project } from '../../kinds/native/project.ts'
import { Release } from '../../kinds/native/release.ts'
import { Override } from '../../kinds/native/override.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Source } from '../../kinds/native/source.ts'
import { Window } from '../../kinds/native/window.ts'
import { clusterInputsOf } from '../../plan/release/variants.ts'
import { unsettledClusters } from '../../plan/rollout/rollout-status.ts'
import { findDecision } from '../../plan/placement/decisions/find-decision.ts'

/** The caches; `createCaches` names the indexes of each. */
export interface Caches {
  readonly sources: Informer<Source>
  readonly overrides: Informer<Override>
  readonly clusters: Informer<Cluster>
  readonly clusterSets: Informer<ClusterSet>
  readonly clusterSetBindings: Informer<ClusterSetBinding>
  readonly projects: Informer<Project>
  readonly joinTokens: Informer<JoinToken>
  readonly bundles: Informer<Bundle>
  readonly deliveries: Informer<Delivery>
  readonly placements: Informer<Placement>
  readonly decisions: Informer<PlacementDecision>
  readonly releases: Informer<Release>
  readonly rolloutPlans: Informer<RolloutPlan>
  readonly rollouts: Informer<Rollout>
  readonly approvals: Informer<Approval>
  readonly assignments: Informer<Assignment>
  readonly reports: Informer<ClusterReport>
  readonly windows: Informer<Window>
  readonly clusterWindows: Informer<ClusterWindow>
  readonly rules: Informer<ValidatingAdmissionPolicy>
  readonly ruleBindings: Informer<ValidatingAdmissionPolicyBinding>
}

/** Creates the caches and their indexes. */
export function createCaches(informers: Informers): Caches {
  const caches: Caches = {
    sources: informers.of(Source),
    overrides: informers.of(Override),
    clusters: informers.of(Cluster),
    clusterSets: informers.of(ClusterSet),
    clusterSetBindings: informers.of(ClusterSetBinding),
    projects: informers.of(Project),
    joinTokens: informers.of(JoinToken),
    bundles: informers.of(Bundle),
    deliveries: informers.of(Delivery),
    placements: informers.of(Placement),
    decisions: informers.of(PlacementDecision),
    releases: informers.of(Release),
    rolloutPlans: informers.of(RolloutPlan),
    rollouts: informers.of(Rollout),
    approvals: informers.of(Approval),
    assignments: informers.of(Assignment),
    reports: informers.of(ClusterReport),
    windows: informers.of(Window),
    clusterWindows: informers.of(ClusterWindow),
    rules: informers.of(ValidatingAdmissionPolicy),
    ruleBindings: informers.of(ValidatingAdmissionPolicyBinding),
  }
  caches.decisions.addIndex('placement', (page) => [inNamespaceOf(page, page.spec.placement)])
  caches.decisions.addIndex('cluster', (page) => page.spec.decisions.map((decision) => decision.cluster))
  caches.releases.addIndex('bundle', (release) => release.spec.bundles.map(({ name }) => inNamespaceOf(release, name)))
  caches.releases.addIndex('placement', (release) => [
    ...new Set(release.spec.bundles.map(({ placement }) => inNamespaceOf(release, placement))),
  ])
  caches.bundles.addIndex('plan', (bundle) =>
    bundle.spec.rollout?.plan ? [inNamespaceOf(bundle, bundle.spec.rollout.plan)] : [],
  )
  // A Rollout with `spec.removal` delivers no Release, so it is not in the index of Rollouts by Release.
  caches.rollouts.addIndex('release', (rollout) =>
    rollout.spec.removal ? [] : [inNamespaceOf(rollout, rollout.spec.release)],
  )
  caches.rollouts.addIndex('removes', (rollout) =>
    rollout.spec.removal ? [inNamespaceOf(rollout, rollout.spec.removal.bundle)] : [],
  )
  caches.rollouts.addIndex('removesFrom', unsettledClusters)
  caches.rollouts.addIndex('cluster', (rollout) => [
    ...new Set((rollout.status?.admissions ?? []).map(({ cluster }) => cluster)),
  ])
  caches.rollouts.addIndex('gateBundle', (rollout) => [
    ...new Set(
      rollout.spec.rings.flatMap(({ gates = [] }) =>
        gates.flatMap(({ bundleReady }) => (bundleReady ? [inNamespaceOf(rollout, bundleReady.bundle)] : [])),
      ),
    ),
  ])
  caches.deliveries.addIndex('cluster', ({ spec, status }) => [
    ...new Set([...spec.clusters, ...(status?.admissions ?? []).map(({ cluster }) => cluster)]),
  ])
  caches.approvals.addIndex('rollout', (approval) => [inNamespaceOf(approval, approval.spec.rollout)])
  caches.bundles.addIndex('placement', (bundle) => [inNamespaceOf(bundle, bundle.spec.placement)])
  caches.bundles.addIndex('source', ({ metadata, spec }) =>
    spec.source
      ? [spec.source.name, ...(spec.source.include ?? []).map(({ source }) => source)].map((name) =>
          inNamespaceOf({ metadata }, name),
        )
      : [],
  )
  caches.overrides.addIndex('bundle', (override) => [inNamespaceOf(override, override.spec.bundle)])
  caches.clusters.addIndex('label', ({ metadata }) =>
    Object.entries(metadata.labels ?? {}).map(([key, value]) => `${key}=${value}`),
  )
  caches.assignments.addIndex('bundle', (assignment) => assignment.spec.entries.map(({ bundle }) => bundle))
  caches.assignments.addIndex('tombstone', ({ spec }) => (spec.tombstones ?? []).map(({ bundle }) => bundle))
  return caches
}

/** `namespace/name` of a name in the namespace of an object. */
export function inNamespaceOf(object: { readonly metadata: { readonly namespace?: string } }, name: string): string {
  return `${object.metadata.namespace ?? ''}/${name}`
}

/** The Rollouts of all Releases of a Bundle (`namespace/name`). */
export function rolloutsOfBundle(caches: Pick<Caches, 'releases' | 'rollouts'>, bundle: string): Rollout[] {
  return caches.releases.lister
    .by('bundle', bundle)
    .flatMap((release) => caches.rollouts.lister.by('release', inNamespaceOf(release, release.metadata.name)))
}

/** The Bundles of a Source (`namespace/name`) that are not being deleted. */
export function bundlesOfSource(caches: Pick<Caches, 'bundles'>, source: string): Bundle[] {
  return caches.bundles.lister.by('source', source).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
}

/** The decision groups of a cluster in a Placement (`namespace/name`). */
export function decisionGroupsOf(caches: Pick<Caches, 'decisions'>, placement: string, cluster: string): string[] {
  return caches.decisions.lister
    .by('cluster', cluster)
    .filter((page) => inNamespaceOf(page, page.spec.placement) === placement)
    .flatMap((page) => findDecision(page.spec.decisions, cluster)?.group || [])
}

/** The highest generation of a Bundle (`namespace/name`) in the documents of all clusters. */
export function highestAssigned(caches: Pick<Caches, 'assignments'>, bundle: string): number {
  const { lister } = caches.assignments
  return [...lister.by('bundle', bundle), ...lister.by('tombstone', bundle)]
    .flatMap(({ spec }) => [...spec.entries, ...(spec.tombstones ?? [])])
    .reduce((highest, entry) => (entry.bundle === bundle ? Math.max(highest, entry.generation) : highest), 0)
}

/** The values of a cluster that templates read. */
export function inputsOf(caches: Pick<Caches, 'clusters'>, name: string): ClusterInputs | undefined {
  const cluster = caches.clusters.lister.get(name)
  return cluster && clusterInputsOf(cluster)
}

/** The Cluster's Assignment; undefined when the Assignment was made for another cluster of the same name. */
export function assignmentOf(caches: Pick<Caches, 'assignments'>, cluster: Cluster): Assignment | undefined {
  const assignment = caches.assignments.lister.get(cluster.metadata.name)
  return assignment?.spec.clusterId === cluster.spec.id ? assignment : undefined
}

/** The Cluster's report; undefined when the report is of another cluster of the same name. */
export function reportOf(caches: Pick<Caches, 'reports'>, cluster: Cluster): ClusterReport | undefined {
  const report = caches.reports.lister.get(cluster.metadata.name)
  return report?.spec.clusterId === cluster.spec.id ? report : undefined
}
