// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** The Flux dialect's controllers, over the hub's shared informers. */
import type { Blobs } from '../../../blobs/blobs.ts'
import { findObject } from '../../../client/find-object.ts'
import type { Informer } from '../../../client/informer.ts'
import { findCondition } from '../../../core/conditions.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { isApiError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { createKeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import { ConfigMap, Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Release } from '../../../kinds/native/release.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Source } from '../../../kinds/native/source.ts'
import { readTree } from '../../../source/artifact.ts'
import { parseObjectSet } from '../../../wire/document/signed-document.ts'
import { readGitRepository } from '../compile/compile-git-repository.ts'
import { DECRYPTION_ANNOTATION, PLACEMENT_ANNOTATION, readKustomization } from '../compile/compile-kustomization.ts'
import { CLUSTERS_ANNOTATION } from '../compile/cluster-trees.ts'
import { COMPILED } from '../compile/made-objects.ts'
import { NESTED_IN } from '../compile/nested-objects.ts'
import { FLUX_KINDS, GitRepository, Kustomization } from '../kinds.ts'
import { Bucket, OCIRepository } from '../source-kinds.ts'
import { inventoryId } from '../status/kustomization-status.ts'
import type { FluxParts } from './flux-parts.ts'
import { gitRepositoryReconciler } from './git-repository.ts'
import { kustomizationReconciler } from './kustomization.ts'
import { ownerOf } from './owner-of.ts'
import type { GitRepositoryPorts, KustomizationPorts } from './ports.ts'
import { createReleaseController } from './release-controllers.ts'
import { createSourceControllers } from './source-controllers.ts'

/** A cluster without facts: what is built for it is the same for all clusters. */
const NO_CLUSTER = { name: '', labels: {}, annotations: {}, claims: {}, values: {} }

/** Annotations of a Namespace that its Kustomizations follow. */
const NAMESPACE_ANNOTATIONS = [PLACEMENT_ANNOTATION, DECRYPTION_ANNOTATION]

const MANAGER = 'flotilla-flux'
/** Time for which a change of counts alone waits before it is written: longer where many objects have counts. */
const SAVED_UP_MS = 3000
const SAVED_UP_PER_OBJECT_MS = 10
const MOST_SAVED_UP_MS = 30_000

/** Creates the controllers; nothing happens before `run`. */
export function createFluxControllers(parts: FluxParts): readonly Controller[] {
  const { informers } = parts
  const repositories = informers.of(GitRepository)
  const ociRepositories = informers.of(OCIRepository)
  const buckets = informers.of(Bucket)
  const kustomizations = informers.of(Kustomization)
  const sources = informers.of(Source)
  const bundles = informers.of(Bundle)
  const rollouts = informers.of(Rollout)
  const namespaces = informers.of(Namespace)
  const clusters = informers.of(Cluster)
  const placements = informers.of(Placement)
  rollouts.addIndex('flux-release', (rollout) => [releaseKey(rollout)])
  bundles.addIndex('flux-release', ({ metadata, status }) =>
    status?.release ? [`${metadata.namespace ?? ''}/${status.release}`] : [],
  )
  kustomizations.addIndex('flux-source', (one) => [sourceKey(one)])
  kustomizations.addIndex('flux-dependency', dependencyKeys)
  kustomizations.addIndex('flux-namespace', ({ metadata }) => [metadata.namespace ?? ''])
  repositories.addIndex('flux-include', includeKeys)
  for (const kind of FLUX_KINDS) informers.of(kind).addIndex('flux-nested', nestedKeys)
  repositories.addIndex('flux-clusters', ({ metadata }) =>
    metadata.annotations?.[CLUSTERS_ANNOTATION] === undefined ? [] : ['annotated'],
  )
  const ports = portsOf(parts)
  const all = { ...parts, client: informers.client }
  return [
    ...createSourceControllers(parts, ports),
    createReleaseController(parts, ports, releaseKey),
    createController({
      ...all,
      type: GitRepository,
      informer: repositories,
      reconciler: gitRepositoryReconciler(ports),
      triggers: [
        triggerOnObject(sources, (source) => ownerOf(source, GitRepository)),
        triggerOnObject(repositories, (one) => repositories.lister.by('flux-include', keyOf(one)).map(keyOf)),
        // A directory of a repository can be waiting for its Cluster.
        triggerOn(clusters, ({ before, after }) =>
          before && after ? [] : repositories.lister.by('flux-clusters', 'annotated').map(keyOf),
        ),
      ],
    }),
    createController({
      ...all,
      type: Kustomization,
      informer: kustomizations,
      reconciler: kustomizationReconciler(ports),
      triggers: [
        triggerOnObject(repositories, (one) =>
          kustomizations.lister.by('flux-source', `${GitRepository.kind} ${keyOf(one)}`).map(keyOf),
        ),
        triggerOnObject(ociRepositories, (one) =>
          kustomizations.lister.by('flux-source', `${OCIRepository.kind} ${keyOf(one)}`).map(keyOf),
        ),
        triggerOnObject(buckets, (one) =>
          kustomizations.lister.by('flux-source', `${Bucket.kind} ${keyOf(one)}`).map(keyOf),
        ),
        triggerOnObject(kustomizations, (one) => kustomizations.lister.by('flux-dependency', keyOf(one)).map(keyOf)),
        ...FLUX_KINDS.map((kind) => triggerOnObject(informers.of(kind), nestedKeys)),
        triggerOnObject(bundles, (bundle) => ownerOf(bundle, Kustomization)),
        triggerOn(placements, ({ before, after }) =>
          before?.metadata.generation === after?.metadata.generation ? [] : ownerOf((after ?? before)!, Kustomization),
        ),
        triggerOnObject(rollouts, (rollout) =>
          bundles.lister.by('flux-release', releaseKey(rollout)).flatMap((bundle) => ownerOf(bundle, Kustomization)),
        ),
        triggerOn(namespaces, ({ before, after }) =>
          NAMESPACE_ANNOTATIONS.every(
            (key) => before?.metadata.annotations?.[key] === after?.metadata.annotations?.[key],
          )
            ? []
            : kustomizations.lister.by('flux-namespace', (after ?? before)!.metadata.name).map(keyOf),
        ),
        triggerOn(clusters, ({ before, after }) =>
          jsonEqual(before?.spec.kubeconfigSecret ?? null, after?.spec.kubeconfigSecret ?? null)
            ? []
            : kustomizations.lister.list().map(keyOf),
        ),
      ],
    }),
  ]
}

function portsOf({ informers, blobs, clock, render }: FluxParts): KustomizationPorts & GitRepositoryPorts {
  const { client } = informers
  const made = new Map<string, Informer<KubeObject>>(
    [Source, Placement, Bundle, ...FLUX_KINDS].map((kind) => [kind.kind, informers.of(kind)]),
  )
  const repositories = informers.of(GitRepository)
  const ociRepositories = informers.of(OCIRepository)
  const buckets = informers.of(Bucket)
  const kustomizations = informers.of(Kustomization)
  const namespaces = informers.of(Namespace)
  const clusters = informers.of(Cluster)
  const sources = informers.of(Source)
  const bundles = informers.of(Bundle)
  const rollouts = informers.of(Rollout)
  const releases = informers.of(Release)
  clusters.addIndex('flux-kubeconfig', ({ spec }) =>
    spec.kubeconfigSecret ? [`${spec.kubeconfigSecret.namespace}/${spec.kubeconfigSecret.name}`] : [],
  )
  const rolloutOf = ({ metadata, status }: Bundle): Rollout | undefined =>
    status?.release ? rollouts.lister.by('flux-release', `${metadata.namespace ?? ''}/${status.release}`)[0] : undefined
  return {
    find: (kind, namespace, name) => made.get(kind.kind)?.lister.get(`${namespace}/${name}`),
    apply: async ({ kind, object }, signal) => {
      await client.apply(kind, object, { fieldManager: MANAGER, force: true, signal })
    },
    replaceSpec: async ({ kind, object }, signal) => {
      const { name, namespace = '' } = object.metadata
      const operations = [{ op: 'replace', path: '/spec', value: object.spec }]
      return client.patch(kind, { name, namespace }, { type: 'json', operations }, { fieldManager: MANAGER, signal })
    },
    replaced: new Map(),
    sourceOf: (namespace, name) => sources.lister.get(`${namespace}/${name}`),
    repositoryOf: (namespace, name) => repositories.lister.get(`${namespace}/${name}`),
    ociRepositoryOf: (namespace, name) => ociRepositories.lister.get(`${namespace}/${name}`),
    bucketOf: (namespace, name) => buckets.lister.get(`${namespace}/${name}`),
    kustomizationOf: (namespace, name) => kustomizations.lister.get(`${namespace}/${name}`),
    bundleOf: (namespace, name) => bundles.lister.get(`${namespace}/${name}`),
    nestedIn: (namespace, name) =>
      FLUX_KINDS.flatMap((kind) =>
        informers
          .of(kind)
          .lister.by('flux-nested', `${namespace}/${name}`)
          .map((object) => ({ ...object, kind: kind.kind })),
      ),
    setDeletionPolicies: async ({ metadata }, policies, signal) => {
      const { name, namespace = '' } = metadata
      // Without its digest the Bundle is written again when the Kustomization can be compiled.
      const body = { metadata: { annotations: { [COMPILED]: null } }, spec: { delete: policies } }
      const patch = { type: 'merge' as const, body }
      await client.patch(Bundle, { name, namespace }, patch, { fieldManager: MANAGER, signal }).catch((caught) => {
        if (!isApiError(caught, 'NotFound')) throw caught
      })
    },
    namespaceAnnotation: (namespace, key) => namespaces.lister.get(namespace)?.metadata.annotations?.[key],
    clusterOfSecret: (namespace, secret) =>
      clusters.lister.by('flux-kubeconfig', `${namespace}/${secret}`)[0]?.metadata.name,
    pathsIn: async (artifact) => (await readTree(artifact, blobs))?.files.map(({ path }) => path) ?? [],
    isCluster: (name) => clusters.lister.get(name) !== undefined,
    configMapData: async (namespace, name, signal) => {
      const found = await findObject(client, ConfigMap, { namespace, name }, signal)
      return found && (found.data ?? {})
    },
    hasSecret: async (namespace, name, signal) =>
      Boolean(await findObject(client, Secret, { namespace, name }, signal)),
    render: async (recipe, signal) =>
      (await render({ recipe, clusters: [NO_CLUSTER], frozen: {} }, signal)).variants[0],
    countsOf: (bundle) => {
      const status = rolloutOf(bundle)?.status
      return status?.bundles?.find(({ name }) => name === bundle.metadata.name) ?? status?.counts
    },
    failureOf: (bundle) => findCondition(rolloutOf(bundle)?.status?.conditions, 'Ready')?.message,
    inventoryOf: async ({ metadata, status }) => {
      const release = releases.lister.get(`${metadata.namespace ?? ''}/${status?.release ?? ''}`)
      const content = release?.spec.bundles.find(({ name }) => name === metadata.name)
      return content && !content.variants ? await inventoryIn(content.set, blobs) : undefined
    },
    statusThrottle: paced(createKeyedThrottle(clock, SAVED_UP_MS), () => kustomizations.lister.size()),
  }
}

function paced(throttle: KeyedThrottle, size: () => number): KeyedThrottle {
  const own = () => Math.min(MOST_SAVED_UP_MS, SAVED_UP_MS + SAVED_UP_PER_OBJECT_MS * size())
  return { ...throttle, note: (key, forMs = own()) => throttle.note(key, forMs) }
}

async function inventoryIn(set: Digest, blobs: Pick<Blobs, 'get'>): Promise<{ id: string; v: string }[] | undefined> {
  const bytes = await blobs.get(set)
  const found = bytes && parseObjectSet(bytes)
  // The hub knows the files that agents render, and not their objects.
  return found && !found.render ? found.objects.map(inventoryId) : undefined
}

function releaseKey({ metadata, spec }: Rollout): string {
  return `${metadata.namespace ?? ''}/${spec.release}`
}

function sourceKey(object: Kustomization): string {
  const { source } = readKustomization(object).spec
  return `${source.kind} ${source.namespace}/${source.name}`
}

function dependencyKeys(object: Kustomization): string[] {
  return readKustomization(object).spec.dependsOn.map(({ namespace, name }) => `${namespace}/${name}`)
}

/** The Kustomization that an object is nested in. */
function nestedKeys({ metadata }: KubeObject): string[] {
  const outer = metadata.annotations?.[NESTED_IN]
  return outer === undefined ? [] : [`${metadata.namespace ?? ''}/${outer}`]
}

function includeKeys(object: GitRepository): string[] {
  const { namespace = '' } = object.metadata
  return readGitRepository(object).spec.include.map(({ repository }) => `${namespace}/${repository}`)
}
