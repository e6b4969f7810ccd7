// Tested by src/dialects/argo/served/application.sim.test.ts
/** The controllers of the Argo CD dialect, over the hub's shared informers. */
import type { Blobs } from '../../../blobs/blobs.ts'
import type { Change } from '../../../client/cache.ts'
import type { Client } from '../../../client/client.ts'
import type { Informer } from '../../../client/informer.ts'
import type { Informers } from '../../../client/informers.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Ids } from '../../../core/ids.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import type { Trigger } from '../../../engine/trigger.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { ConfigMap, Secret } from '../../../kinds/builtin/core.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { ClusterSetBinding } from '../../../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Project } from '../../../kinds/native/project.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Source } from '../../../kinds/native/source.ts'
import { asPlacementCluster, asPlacementSet } from '../../../plan/placement/read-objects.ts'
import { placementReach } from '../../../plan/projects/placement-question.ts'
import { indexProjects, projectOf } from '../../../plan/projects/project-of.ts'
import type { VariantsRequest, VariantsResult } from '../../../render/bundle/render-variants.ts'
import { parseObjectSet } from '../../../wire/document/signed-document.ts'
import type { HttpGet } from '../../../source/http-get.ts'
import { lazyFiles } from '../../lazy-files.ts'
import { LOCAL_NAME, LOCAL_SERVER } from '../applicationset/clusters.ts'
import { COMPILED, NESTED_IN } from '../annotations.ts'
import { AppProject, Application, ApplicationSet, ARGO_NAMESPACE } from '../kinds.ts'
import { createClusterSecretControllers } from '../clusters/cluster-secret-controller.ts'
import { applicationSetReconciler } from './application-set.ts'
import { applicationReconciler } from './application.ts'
import { readDecisions } from './decisions.ts'
import { argoNameOf, createDestinations, serverOf } from '../clusters/destinations.ts'
import { NESTED_KINDS } from './nested/nested-content.ts'
import { MANAGER, STARTED } from './ports.ts'
import type { ArgoPorts } from './ports.ts'
import { argoOwnerOf, isOwnedBy, MADE_KINDS } from './served-objects.ts'
import { createCredentialPorts, repositoryInformers, SETTINGS_KEY } from './repository-credentials.ts'
import { createServicePort } from '../scm/service-answers.ts'
import { createStateRows } from './state-rows.ts'

/** The parts of the dialect's controllers. */
export interface ArgoParts {
  readonly informers: Informers
  readonly blobs: Pick<Blobs, 'get'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
  readonly httpGet?: HttpGet | undefined
  /** Renders a Bundle. */
  readonly render: (request: VariantsRequest, signal: AbortSignal) => Promise<VariantsResult>
}

const OWNER = 'argo-owner'
const REMOVED = 'argo-removed'
const DESTINATION = 'argo-destination'
const PROJECT = 'argo-project'
const USES = 'argo-source'
const NESTED = 'argo-nested'

/** Creates the controllers; nothing happens before `run`. */
export function createArgoControllers(parts: ArgoParts): readonly Controller[] {
  const { informers } = parts
  const { client } = informers
  const applications = informers.of(Application)
  const sets = informers.of(ApplicationSet)
  const projects = informers.of(AppProject)
  const clusters = informers.of(Cluster)
  const bundles = informers.of(Bundle)
  const rollouts = informers.of(Rollout)
  applications.addIndex(DESTINATION, ({ spec }) =>
    [spec.destination?.name ?? '', spec.destination?.server ?? ''].filter((word) => word !== ''),
  )
  applications.addIndex(PROJECT, ({ spec }) => [spec.project ?? ''])
  const ports = createPorts(parts)
  bundles.addIndex('argo-release', ({ metadata, status }) =>
    status?.release === undefined ? [] : [`${metadata.namespace ?? ''}/${status.release}`],
  )
  const ownersOf = (object: KubeObject, kind: string): string[] => {
    const owner = argoOwnerOf(object)
    return owner?.kind === kind ? [owner.key] : []
  }
  const bundlesOf = ({ metadata, spec }: Rollout) =>
    bundles.lister.by('argo-release', `${metadata.namespace ?? ''}/${spec.release}`)
  const reported = ({ before, after }: Change<ClusterReport>) =>
    changedBundles(before, after).flatMap((key) => bundles.lister.get(key) ?? [])
  return [
    createController({
      ...parts,
      client,
      type: Application,
      informer: applications,
      reconciler: applicationReconciler(ports),
      failureCondition: false,
      notesGeneration: false,
      triggers: [
        triggerOnObject(informers.of(Source), (source) => [
          ...ownersOf(source, Application.kind),
          ...(source.metadata.ownerReferences ?? []).flatMap(({ uid }) =>
            applications.lister.by(OWNER, uid).map(keyOf),
          ),
        ]),
        triggerOnObject(bundles, (bundle) => ownersOf(bundle, Application.kind)),
        triggerOnObject(informers.of(Placement), (placement) => ownersOf(placement, Application.kind)),
        triggerOnObject(rollouts, (rollout) => bundlesOf(rollout).flatMap((one) => ownersOf(one, Application.kind))),
        triggerOn(informers.of(ClusterReport), (change) =>
          reported(change).flatMap((one) => ownersOf(one, Application.kind)),
        ),
        triggerOn(clusters, (change) => placedOn(change, applications)),
        triggerOn(applications, (change) => blockedWith(change, applications)),
        triggerOn(applications, parentOf),
        triggerOn(sets, parentOf),
        ...accessTriggers(informers, applications),
        triggerOnObject(projects, ({ metadata }) => applications.lister.by(PROJECT, metadata.name).map(keyOf)),
      ],
    }),
    createController({
      ...parts,
      client,
      type: ApplicationSet,
      informer: sets,
      reconciler: applicationSetReconciler(ports),
      failureCondition: false,
      notesGeneration: false,
      triggers: [
        triggerOnObject(informers.of(Source), (source) => ownersOf(source, ApplicationSet.kind)),
        triggerOn(applications, (change) => setsOf(change)),
        // Generators see names, labels, annotations and aliases of the Clusters that their namespace may select.
        triggerOn(clusters, (change) => (isSeen(change) ? sets.lister.list().map(keyOf) : [])),
        ...accessTriggers(informers, sets),
        ...reachTriggers(informers, sets),
      ],
    }),
    ...createClusterSecretControllers(parts),
  ]
}

/** Triggers on what the credentials of repositories come from. */
function accessTriggers(informers: Informers, owners: Informer<Application> | Informer<ApplicationSet>): Trigger[] {
  const ownersIn = (namespace: string): string[] => owners.lister.list(namespace).map(keyOf)
  const isOther = ({ before, after }: Change<Secret> | Change<ConfigMap>): boolean =>
    !jsonEqual(before?.data, after?.data) || !jsonEqual(before?.metadata.labels, after?.metadata.labels)
  const { secrets, configMaps, derived } = repositoryInformers(informers)
  const namespaceOf = ({ before, after }: Change<KubeObject>): string => (after ?? before)?.metadata.namespace ?? ''
  return [
    triggerOn(secrets, (change) => (isOther(change) ? ownersIn(namespaceOf(change)) : [])),
    triggerOn(configMaps, (change) => {
      if (!isOther(change)) return []
      const isSettings = keyOf((change.after ?? change.before)!) === SETTINGS_KEY
      return isSettings ? owners.lister.list().map(keyOf) : ownersIn(namespaceOf(change))
    }),
    triggerOn(derived, (change) => (change.after ? [] : ownersIn(namespaceOf(change)))),
  ]
}

/** Triggers on what decides which Clusters a namespace may select. */
function reachTriggers(informers: Informers, sets: Informer<ApplicationSet>): readonly Trigger[] {
  const isOther = ({ before, after }: Change<Project> | Change<ClusterSet>) => !jsonEqual(before?.spec, after?.spec)
  const setsIn = (namespace: string) => sets.lister.list(namespace).map(keyOf)
  return [
    triggerOn(informers.of(Project), (change) =>
      isOther(change)
        ? [...(change.before?.spec.namespaces ?? []), ...(change.after?.spec.namespaces ?? [])].flatMap(setsIn)
        : [],
    ),
    triggerOn(informers.of(ClusterSet), (change) => (isOther(change) ? sets.lister.list().map(keyOf) : [])),
    triggerOnObject(informers.of(ClusterSetBinding), ({ metadata }) => setsIn(metadata.namespace ?? '')),
  ]
}

/** The number of Applications that look at their turn when another of their set is done. */
const MAX_TURNS = 25

/** Applications that wait for a step of their set, when another Application of the set is done, failed or gone. */
function blockedWith({ before, after }: Change<Application>, applications: Informer<Application>): string[] {
  const owner = (after ?? before)?.metadata.ownerReferences?.find(({ kind }) => kind === ApplicationSet.kind)
  const shown = (one: Application | undefined) => [one?.status?.sync?.status, one?.status?.health?.status]
  if (!owner || (after && jsonEqual(shown(before), shown(after)))) return []
  return applications.lister
    .by(OWNER, owner.uid)
    .filter(({ status }) => status?.conditions?.some(({ type }) => type === 'SyncBlocked'))
    .slice(0, MAX_TURNS)
    .map(keyOf)
}

/** The set of an Application whose sync or health changed, or that came or went. */
function setsOf({ before, after }: Change<Application>): string[] {
  const shown = (one: Application | undefined) =>
    one && [
      one.status?.sync?.status,
      one.status?.health?.status,
      one.metadata.generation,
      one.metadata.deletionTimestamp,
    ]
  if (before && after && jsonEqual(shown(before), shown(after))) return []
  const owner = argoOwnerOf((after ?? before)!)
  return owner?.kind === ApplicationSet.kind ? [owner.key] : []
}

function isSeen({ before, after }: Change<Cluster>): boolean {
  const seen = (cluster: Cluster | undefined) =>
    cluster && [cluster.metadata.labels, cluster.metadata.annotations, cluster.spec.aliases, isAccepted(cluster)]
  return !before || !after || !jsonEqual(seen(before), seen(after))
}

function isAccepted({ spec }: Cluster): boolean {
  return spec.accepted && !spec.refused
}

function createPorts({ informers, blobs, httpGet, render, clock }: ArgoParts): ArgoPorts {
  const { client } = informers
  const made = new Map(MADE_KINDS.map((kind) => [kind, informers.of(kind)]))
  for (const informer of made.values()) {
    informer.addIndex(OWNER, ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid))
  }
  const sources = informers.of(Source)
  const bundles = informers.of(Bundle)
  const rollouts = informers.of(Rollout)
  const clusters = informers.of(Cluster)
  const projects = informers.of(AppProject)
  const nativeProjects = informers.of(Project)
  const clusterSets = informers.of(ClusterSet)
  const bindings = informers.of(ClusterSetBinding)
  const applications = informers.of(Application)
  const sets = informers.of(ApplicationSet)
  applications.addIndex(OWNER, ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid))
  bundles.addIndex(USES, ({ metadata, spec }) =>
    [spec.source?.name, ...(spec.source?.include ?? []).map(({ source }) => source)].flatMap((name) =>
      name === undefined ? [] : [`${metadata.namespace ?? ''}/${name}`],
    ),
  )
  rollouts.addIndex(REMOVED, ({ metadata, spec }) =>
    spec.removal ? [`${metadata.namespace ?? ''}/${spec.removal.bundle}`] : [],
  )
  const find: ArgoPorts['find'] = (kind, namespace, name) => made.get(kind)?.lister.get(`${namespace}/${name}`)
  return {
    ...createStateRows(informers),
    ...createCredentialPorts(informers, MANAGER),
    ...createServicePort(client, { httpGet, clock }),
    ...createNestedPorts(informers),
    render: async (recipe, cluster, signal) =>
      (await render({ recipe, clusters: [cluster], frozen: {} }, signal)).variants[0],
    find,
    isTaken(kind, owner, name) {
      const present = find(kind, owner.metadata.namespace ?? '', name)
      return present !== undefined && !isOwnedBy(present, owner)
    },
    madeFor: (uid) =>
      [...made].flatMap(([kind, informer]) => informer.lister.by(OWNER, uid).map((object) => ({ kind, object }))),
    apply: async (kind, object, signal) => {
      await client.apply(kind, object, { fieldManager: MANAGER, force: true, signal })
    },
    ...writes(client),
    sourceOf: (namespace, name) => sources.lister.get(`${namespace}/${name}`),
    bundleOf: (namespace, name) => bundles.lister.get(`${namespace}/${name}`),
    removalsOf: (namespace, bundle) => rollouts.lister.by(REMOVED, `${namespace}/${bundle}`),
    isOnline: (name) =>
      clusters.lister
        .get(name)
        ?.status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'True') ?? false,
    filesOf: (artifact) => lazyFiles(artifact, blobs),
    setOf: async (digest) => {
      const bytes = await blobs.get(digest)
      return bytes && parseObjectSet(bytes)
    },
    projectOf: (namespace, name) =>
      projects.lister.get(`${ARGO_NAMESPACE}/${name}`) ?? projects.lister.get(`${namespace}/${name}`),
    applicationsOf: (uid) => applications.lister.by(OWNER, uid),
    setFor: ({ metadata }) => {
      const { ownerReferences = [], namespace = '' } = metadata
      const owner = ownerReferences.find(({ kind }) => kind === ApplicationSet.kind)
      const set = owner && sets.lister.get(`${namespace}/${owner.name}`)
      return set?.metadata.uid === owner?.uid ? set : undefined
    },
    setOwnerOf: (namespace, name) =>
      applications.lister
        .get(`${namespace}/${name}`)
        ?.metadata.ownerReferences?.find(
          ({ kind, uid, name: owner }) =>
            kind === ApplicationSet.kind && sets.lister.get(`${namespace}/${owner}`)?.metadata.uid === uid,
        ),
    applyApplication: async (application, signal) => {
      await client.apply(Application, application as Application, { fieldManager: MANAGER, force: true, signal })
    },
    removeApplication: async ({ metadata }, signal) => {
      const { name, namespace = '', uid } = metadata
      await ignoringGone(client.delete(Application, { name, namespace }, compact({ uid: uid || undefined, signal })))
    },
    clusters: (namespace) => {
      const reach = placementReach(projectOf(indexProjects(nativeProjects.lister.list()), namespace), {
        sets: clusterSets.lister.list().map(asPlacementSet),
        bound: bindings.lister.list(namespace).map(({ spec }) => spec.clusterSet),
      })
      if ('refusal' in reach) return reach
      return clusters.lister
        .list()
        .filter((cluster) => isAccepted(cluster) && reach.reaches(asPlacementCluster(cluster)))
    },
    projects: (namespace) =>
      new Set([
        'default',
        ...[ARGO_NAMESPACE, namespace].flatMap((one) => projects.lister.list(one)).map(({ metadata }) => metadata.name),
      ]),
    decisions: (namespace, configMaps, signal) => readDecisions(client, { namespace, configMaps }, signal),
    isUsed: (namespace, source) => bundles.lister.by(USES, `${namespace}/${source}`).length > 0,
    destinations: () => createDestinations(clusters.lister.list().filter(isAccepted)),
  }
}

function writes(client: Client): Pick<ArgoPorts, 'annotate' | 'start' | 'pause' | 'stop' | 'deletePolicy' | 'remove'> {
  const options = (signal: AbortSignal) => ({ fieldManager: MANAGER, signal })
  const keyed = ({ metadata }: KubeObject) => ({ name: metadata.name, namespace: metadata.namespace ?? '' })
  const merge = (body: object) => ({ type: 'merge' as const, body })
  return {
    annotate: async (kind, object, annotations, signal) => {
      await ignoringGone(client.patch(kind, keyed(object), merge({ metadata: { annotations } }), options(signal)))
    },
    start: async (rollout, reason, signal) => {
      const { resourceVersion } = rollout.metadata
      const body = { metadata: { resourceVersion, annotations: { [STARTED]: reason } }, spec: { paused: false } }
      await ignoringGone(client.patch(Rollout, keyed(rollout), merge(body), options(signal)))
    },
    pause: async (rollout, signal) => {
      const { resourceVersion } = rollout.metadata
      await client.patch(
        Rollout,
        keyed(rollout),
        merge({ metadata: { resourceVersion }, spec: { paused: true } }),
        options(signal),
      )
    },
    // A conflict is an error here: what the pause makes safe must not be written before it.
    stop: async (rollout, signal) => {
      const { resourceVersion } = rollout.metadata
      const body = { metadata: { resourceVersion, annotations: { [STARTED]: null } }, spec: { paused: true } }
      await client.patch(Rollout, keyed(rollout), merge(body), options(signal))
    },
    deletePolicy: async (bundle, policy, signal) => {
      const body = { spec: { delete: { bundleDeleted: policy, unplaced: policy } } }
      await ignoringGone(client.patch(Bundle, keyed(bundle), merge(body), options(signal)))
    },
    remove: async (kind, object, signal) => {
      const { uid } = object.metadata
      await ignoringGone(client.delete(kind, keyed(object), compact({ uid: uid || undefined, signal })))
    },
  }
}

/** Reading and writing the objects of the hub that are in the content of Applications. */
function createNestedPorts(
  informers: Informers,
): Pick<ArgoPorts, 'nestedIn' | 'findNested' | 'writeNested' | 'removeNested'> {
  const { client } = informers
  const all = NESTED_KINDS.map((kind) => ({ kind, informer: informers.of(kind) }))
  for (const { informer } of all) {
    informer.addIndex(NESTED, (object) => {
      const parent = object.metadata.annotations?.[NESTED_IN]
      return parent === undefined ? [] : [`${object.metadata.namespace ?? ''}/${parent}`]
    })
  }
  return {
    nestedIn: (namespace, name) =>
      all.flatMap(({ kind, informer }) =>
        informer.lister
          .by(NESTED, `${namespace}/${name}`)
          .map((object) => ({ kind, object: object as KubeObject & { readonly spec: unknown } })),
      ),
    findNested: (kind, namespace, name) => informers.of(kind).lister.get(`${namespace}/${name}`),
    writeNested: async (kind, object, signal) => {
      const options = { fieldManager: MANAGER, signal }
      if (object.metadata.resourceVersion === undefined) await client.create(kind, object, options)
      else await client.update(kind, object, options)
    },
    removeNested: async (kind, { metadata }, signal) => {
      const { name, namespace = '', uid } = metadata
      await ignoringGone(client.delete(kind, { name, namespace }, compact({ uid: uid || undefined, signal })))
    },
  }
}

/** The Application whose content an object is from, when the object came, went or was changed. */
function parentOf({ before, after }: Change<Application> | Change<ApplicationSet>): string[] {
  const seen = (one: Application | ApplicationSet | undefined) =>
    one && [
      one.spec,
      one.metadata.labels,
      one.metadata.annotations?.[COMPILED],
      one.metadata.annotations?.[NESTED_IN],
      one.metadata.deletionTimestamp,
    ]
  if (before && after && jsonEqual(seen(before), seen(after))) return []
  const object = (after ?? before)!
  const parents = [before, after].flatMap((one) => one?.metadata.annotations?.[NESTED_IN] ?? [])
  return [...new Set(parents)].map((name) => `${object.metadata.namespace ?? ''}/${name}`)
}

async function ignoringGone(write: Promise<unknown>): Promise<void> {
  try {
    await write
  } catch (caught) {
    // Another pass follows the change that came in between.
    if (!isApiError(caught, 'NotFound') && !isApiError(caught, 'Conflict')) throw caught
  }
}

/** Keys of the Bundles that a report says something new about. */
function changedBundles(before: ClusterReport | undefined, after: ClusterReport | undefined): string[] {
  const rows = (report: ClusterReport | undefined) =>
    new Map((report?.spec.bundles ?? []).map((row) => [row.bundle, row]))
  const [was, is] = [rows(before), rows(after)]
  return [...new Set([...was.keys(), ...is.keys()])].filter((key) => !jsonEqual(was.get(key), is.get(key)))
}

/** Applications whose destination a change of a Cluster concerns. */
function placedOn({ before, after }: Change<Cluster>, applications: Informer<Application>): string[] {
  const seen = (cluster: Cluster | undefined): unknown =>
    cluster && [
      cluster.spec.aliases,
      isAccepted(cluster),
      cluster.status?.conditions?.map(({ type, status }) => [type, status]),
    ]
  if (before && after && jsonEqual(seen(before), seen(after))) return []
  const words = new Set(
    [before, after].flatMap((cluster) =>
      cluster
        ? [
            cluster.metadata.name,
            argoNameOf(cluster),
            serverOf(cluster),
            `${serverOf(cluster)}/`,
            LOCAL_NAME,
            LOCAL_SERVER,
          ]
        : [],
    ),
  )
  return [...words].flatMap((word) => applications.lister.by(DESTINATION, word).map(keyOf))
}
