// Tested by src/controllers/bundle-render/bundle-sources.sim.test.ts
import type { Blobs } from '../../blobs/blobs.ts'
import { findObject } from '../../client/find-object.ts'
import { fromBase64, fromUtf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { findCondition } from '../../core/conditions.ts'
import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { ConfigMap, Secret } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { allowsSecrets } from '../../kinds/fields/secrets-annotation.ts'
import { apiVersionOf, keyOf } from '../../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { clusterInputsOf } from '../../plan/release/variants.ts'
import type { FrozenRecord } from '../../render/helm/frozen-random.ts'
import { readTree } from '../../source/artifact.ts'
import { BUNDLE_SECRET_DATA, BUNDLE_SECRET_MAKER, bundleSecret } from '../secrets/bundle-secrets.ts'
import { assignmentOf, highestAssigned, inNamespaceOf } from '../caches/caches.ts'
import type { Caches } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { selectedClusters } from '../caches/selected-clusters.ts'
import { isProjectReason } from '../../plan/projects/project-of.ts'
import { bundleRefusal, namespaceProjects, triggerOnProjects } from '../caches/namespace-projects.ts'
import { triggerOn } from '../../engine/trigger.ts'
import type { ValuesKeys } from '../secrets/values-keys.ts'
import type { SelectedCluster } from '../../plan/release/release-content.ts'
import type { OfferPort } from '../release-gather/release-maker.ts'
import type { RenderQuota } from '../../plan/projects/quotas.ts'
import type { RenderPort } from './ports.ts'
import { bundleRenderReconciler } from './reconcile.ts'
import { createRuleBook } from './rules/rule-book.ts'
import type { RuleBook } from './rules/rule-book.ts'

const MANAGER = BUNDLE_SECRET_MAKER
const FROZEN_KEY = BUNDLE_SECRET_DATA.frozen

/** Creates the controller that renders Bundles. */
export function createBundleRender(
  parts: ControllerParts & {
    readonly blobs: Pick<Blobs, 'put' | 'get'>
    readonly render: RenderPort
    readonly valuesKeys: ValuesKeys
    readonly offers: OfferPort
    readonly renderQuota: RenderQuota
  },
): Controller {
  const { caches, client, blobs, render, valuesKeys } = parts
  const find = <T extends KubeObject>(type: ResourceType<T>, namespace: string, name: string) =>
    findObject(client, type, { namespace, name })
  const projectOf = namespaceProjects(caches)
  const ruleBook = createRuleBook(caches)
  const reconciler = bundleRenderReconciler({
    render,
    projectOf,
    refusalOf: (bundle) => bundleRefusal(caches, bundle),
    renderQuota: parts.renderQuota,
    releasesOf: (bundle) => caches.releases.lister.by('bundle', bundle),
    rolloutOf: (bundle, release) => caches.rollouts.lister.by('release', inNamespaceOf(bundle, release))[0],
    sourceOf: (namespace, name) => caches.sources.lister.get(`${namespace}/${name}`),
    planOf: (namespace, name) => caches.rolloutPlans.lister.get(`${namespace}/${name}`),
    overridesOf: (bundle) => caches.overrides.lister.by('bundle', bundle),
    selectedBy: (namespace, placement, bundle) => selectedFor(caches, `${namespace}/${placement}`, bundle),
    isDeciding: (namespace, name) => {
      const placement = caches.placements.lister.get(`${namespace}/${name}`)
      return placement !== undefined && findCondition(placement.status?.conditions, 'Ready')?.status !== 'False'
    },
    assignedTo: (cluster) => caches.assignments.lister.get(cluster)?.spec.entries ?? [],
    highestAssigned: (bundle) => highestAssigned(caches, bundle),
    treeOf: (artifact) => readTree(artifact, blobs),
    configMapData: async (namespace, name) => {
      const found = await find(ConfigMap, namespace, name)
      return found && (found.data ?? {})
    },
    secret: (namespace, name) => find(Secret, namespace, name),
    frozenOf: async (bundle) => {
      // Only charts use random values; a request for each Bundle in each pass would be wasted.
      if (!caches.bundles.lister.get(bundle)?.spec.source) return {}
      const { namespace, name } = bundleSecret(bundle, 'frozen')
      const text = (await find(Secret, namespace, name))?.data?.[FROZEN_KEY]
      return text === undefined ? {} : (JSON.parse(fromUtf8(fromBase64(text))) as FrozenRecord)
    },
    keepFrozen: async (bundle, frozen) => {
      const metadata = bundleSecret(bundle, 'frozen')
      const object = {
        apiVersion: apiVersionOf(Secret),
        kind: Secret.kind,
        metadata,
        stringData: { [FROZEN_KEY]: JSON.stringify(frozen) },
      } as unknown as Secret
      await client.apply(Secret, object, { fieldManager: MANAGER, force: true })
    },
    valuesKeyOf: (bundle) => valuesKeys.make(bundle),
    ruleBook,
    putBlob: (bytes) => blobs.put(bytes),
    getBlob: (digest) => blobs.get(digest),
    offers: parts.offers,
  })
  const triggers = [...triggersOf(caches), ...ruleTriggers(caches, ruleBook)]
  return createController({
    ...parts,
    type: Bundle,
    informer: caches.bundles,
    reconciler,
    triggers,
    // A pass lasts as long as its rendering: the slow content of one tenant leaves workers to the others.
    workers: 16,
    workersPerLane: 2,
  })
}

function selectedFor(caches: Caches, placement: string, bundle: string): SelectedCluster[] | undefined {
  return selectedClusters(caches, placement)?.flatMap((name) => {
    const cluster = caches.clusters.lister.get(name)
    if (!cluster) return []
    const assigned = assignmentOf(caches, cluster)?.spec.entries.find((entry) => entry.bundle === bundle)
    return [compact({ inputs: clusterInputsOf(cluster), assigned })]
  })
}

function triggersOf(caches: Caches) {
  const bundlesOfPlacement = (placement: string): string[] =>
    caches.bundles.lister.by('placement', placement).map(keyOf)
  return [
    // A deleted Bundle leaves room in the quota of its Project.
    triggerOn(caches.bundles, ({ before, after }) => (before && !after ? refusedBeside(caches, before) : [])),
    triggerOnProjects(caches, (namespace) => caches.bundles.lister.list(namespace).map(keyOf)),
    triggerOn(caches.rollouts, ({ before, after }) =>
      shownOf(before) === shownOf(after) ? [] : bundlesOf(caches, after ?? before),
    ),
    triggerOn(caches.releases, ({ before, after }) =>
      before && after && jsonEqual(before.status?.bad, after.status?.bad)
        ? []
        : (after ?? before)!.spec.bundles.map(({ name }) => inNamespaceOf((after ?? before)!, name)),
    ),
    triggerOn(caches.sources, ({ before, after }) => {
      const source = after ?? before
      const isSame = before?.status?.artifact?.digest === after?.status?.artifact?.digest
      const isAllowed = before !== undefined && after !== undefined && allowsSecrets(before) === allowsSecrets(after)
      if (!source || (isSame && isAllowed)) return []
      return caches.bundles.lister.by('source', keyOf(source)).map(keyOf)
    }),
    triggerOn(caches.rolloutPlans, ({ before, after }) => {
      const plan = after ?? before
      if (!plan || jsonEqual(before?.spec, after?.spec)) return []
      return caches.bundles.lister.by('plan', keyOf(plan)).map(keyOf)
    }),
    triggerOn(caches.overrides, ({ before, after }) =>
      [before, after].flatMap((override) => (override ? [inNamespaceOf(override, override.spec.bundle)] : [])),
    ),
    triggerOn(caches.decisions, ({ before, after }) => {
      const page = after ?? before
      return page ? bundlesOfPlacement(inNamespaceOf(page, page.spec.placement)) : []
    }),
    triggerOn(caches.clusters, ({ before, after }) => {
      // The decisions announce new and deleted clusters.
      if (!before || !after || jsonEqual(clusterInputsOf(before), clusterInputsOf(after))) return []
      const pages = caches.decisions.lister.by('cluster', after.metadata.name)
      return [...new Set(pages.flatMap((page) => bundlesOfPlacement(inNamespaceOf(page, page.spec.placement))))]
    }),
  ]
}

/** A change of the rules concerns all Bundles; other policies and bindings concern none. */
function ruleTriggers(caches: Caches, ruleBook: () => RuleBook) {
  let seen = ruleBook().digest
  const all = (): string[] => {
    const { digest } = ruleBook()
    if (digest === seen) return []
    seen = digest
    return caches.bundles.lister.list().map(keyOf)
  }
  return [triggerOn(caches.rules, all), triggerOn(caches.ruleBindings, all)]
}

/** The Bundles that the Project of a Bundle refuses now. */
function refusedBeside(caches: Caches, { metadata }: Bundle): string[] {
  const { project } = namespaceProjects(caches)(metadata.namespace ?? '')
  return (project?.spec.namespaces ?? [])
    .flatMap((namespace) => caches.bundles.lister.list(namespace))
    .filter(({ status }) => isProjectReason(findCondition(status?.conditions, 'Ready')?.reason))
    .map(keyOf)
}

// The part of a Rollout that a Bundle's conditions repeat; the counts in between need no pass.
function shownOf(rollout: Rollout | undefined): string {
  const phase = rollout?.status?.phase ?? ''
  if (phase !== 'Completed' && phase !== 'Failed') return phase
  return `${phase} ${findCondition(rollout?.status?.conditions, 'Ready')?.message}`
}

function bundlesOf(caches: Caches, rollout: Rollout | undefined): string[] {
  if (!rollout) return []
  const release = caches.releases.lister.get(inNamespaceOf(rollout, rollout.spec.release))
  return release ? release.spec.bundles.map(({ name }) => inNamespaceOf(release, name)) : []
}
