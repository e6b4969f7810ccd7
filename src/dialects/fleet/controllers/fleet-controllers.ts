/** The Fleet dialect's controllers, over the hub's shared informers. */
import type { Blobs } from '../../../blobs/blobs.ts'
import type { Change } from '../../../client/cache.ts'
import { findObject } from '../../../client/find-object.ts'
import type { Informer } from '../../../client/informer.ts'
import type { Informers } from '../../../client/informers.ts'
import { compact } from '../../../core/compact.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Ids } from '../../../core/ids.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import { createController } from '../../../engine/controller.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import type { Controller } from '../../../engine/controller.ts'
import { createKeyedThrottle } from '../../../engine/keyed-throttle.ts'
import { Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { Source } from '../../../kinds/native/source.ts'
import { URLS_ANNOTATION } from '../../../source/credentials.ts'
import { lazyFiles } from '../../lazy-files.ts'
import { makerOf, MADE_KINDS } from '../compile/desired-objects.ts'
import { ClusterGroup, FleetBundle, FleetCluster, GitRepo, GitRepoRestriction, HelmOp } from '../kinds.ts'
import { BundleNamespaceMapping } from '../registration-kinds.ts'
import { firstClusters } from '../status/first-clusters.ts'
import type { RolloutCounts } from '../status/states.ts'
import { fleetBundleReconciler } from './fleet-bundle.ts'
import { clusterGroupReconciler } from './cluster-group.ts'
import { createFleetCluster } from './fleet-cluster-controller.ts'
import { knownWorkspaces, workspaceOf, workspaceTriggers } from './known-workspace.ts'
import type { WorkspaceWorld } from './known-workspace.ts'
import { createRegistration } from './registration-controllers.ts'
import { gitRepoReconciler } from './git-repo.ts'
import { helmOpReconciler } from './helm-op.ts'
import type { GitRepoPorts } from './ports.ts'

/** The parts of the dialect's controllers. */
export interface FleetParts {
  readonly informers: Informers
  readonly blobs: Pick<Blobs, 'get'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
}

const MANAGER = 'flotilla-fleet'

/** The files that decide which directories are bundles. */
const SETTINGS = /(^|\/)(fleet\.ya?ml|\.fleetignore)$/

/** Time for which a change of counts alone waits before it is written. */
const SAVED_UP_MS = 3000

/** Creates the controllers; nothing happens before `run`. */
export function createFleetControllers(parts: FleetParts): readonly Controller[] {
  const { informers, blobs } = parts
  const { client } = informers
  const repos = informers.of(GitRepo)
  const helmOps = informers.of(HelmOp)
  const groups = informers.of(ClusterGroup)
  const restrictions = informers.of(GitRepoRestriction)
  const rows = informers.of(FleetBundle)
  const clusters = informers.of(Cluster)
  const bundles = informers.of(Bundle)
  const rollouts = informers.of(Rollout)
  const sources = informers.of(Source)
  const reports = informers.of(ClusterReport)
  const made = new Map(MADE_KINDS.map((kind) => [kind, informers.of(kind)]))
  for (const informer of made.values()) informer.addIndex('fleet-owner', ownersOf)
  rollouts.addIndex('fleet-release', ({ metadata, spec }) => [`${metadata.namespace ?? ''}/${spec.release}`])
  rollouts.addIndex('fleet-plan', ({ metadata, spec }) =>
    spec.plan === undefined ? [] : [`${metadata.namespace ?? ''}/${spec.plan}`],
  )
  bundles.addIndex('fleet-release', ({ metadata, status }) =>
    status?.release ? [`${metadata.namespace ?? ''}/${status.release}`] : [],
  )
  repos.addIndex('namespace', ({ metadata }) => [metadata.namespace ?? ''])
  const mappings = informers.of(BundleNamespaceMapping)
  const namespaces = informers.of(Namespace)
  const workspaces = knownWorkspaces({ clusters, groups, bundles, mappings, namespaces })
  const clustersOf = (namespace: string) => clusters.lister.by('fleet-workspace', namespace)
  const ports: Omit<GitRepoPorts, 'statusThrottle'> = {
    find: (kind, namespace, name) => made.get(kind)?.lister.get(`${namespace}/${name}`),
    madeFor: (uid) =>
      [...made].flatMap(([kind, informer]) =>
        informer.lister.by('fleet-owner', uid).map((object) => ({ kind, object })),
      ),
    apply: async (kind, object, signal) => {
      await client.apply(kind, object, { fieldManager: MANAGER, force: true, signal })
    },
    remove: async (kind, { metadata }, signal) => {
      const key = compact({ name: metadata.name, namespace: metadata.namespace || undefined })
      try {
        await client.delete(kind, key, compact({ uid: metadata.uid || undefined, signal }))
      } catch (caught) {
        if (!isApiError(caught, 'NotFound') && !isApiError(caught, 'Conflict')) throw caught
      }
    },
    rolloutsOf: (namespace, plan) => rollouts.lister.by('fleet-plan', `${namespace}/${plan}`),
    pause: async ({ metadata }, paused, signal) => {
      const { name, namespace = '', resourceVersion } = metadata
      const body = { metadata: { resourceVersion }, spec: { paused } }
      await client.patch(Rollout, { namespace, name }, { type: 'merge', body }, { fieldManager: MANAGER, signal })
    },
    sourceOf: (namespace, name) => sources.lister.get(`${namespace}/${name}`),
    secret: (namespace, name, signal) => findObject(client, Secret, { namespace, name }, signal),
    bind: async ({ metadata }, urls, { signal, log }) => {
      const { name, namespace = '', resourceVersion } = metadata
      const annotations = { [URLS_ANNOTATION]: urls }
      const body = { metadata: { resourceVersion, annotations } }
      try {
        await client.patch(Secret, { namespace, name }, { type: 'merge', body }, { fieldManager: MANAGER, signal })
        log.info({ secret: name, urls }, 'secret bound to the server it is used for')
      } catch (caught) {
        if (!isApiError(caught, 'Conflict') && !isApiError(caught, 'NotFound')) throw caught
      }
    },
    workspace: (namespace) => workspaces.of(namespace),
    restrictionsOf: (namespace) => restrictions.lister.list(namespace),
    filesOf: (artifact) => lazyFiles(artifact, blobs, SETTINGS),
    bundleOf: (namespace, name) => bundles.lister.get(`${namespace}/${name}`),
    countsOf: (bundle) => countsOf(bundle, rollouts),
    firstsOf: (bundle) =>
      firstClusters(bundle, rolloutOf(bundle, rollouts), (cluster) => messageIn(reports.lister.get(cluster), bundle)),
  }
  const all = { ...parts, client }
  const world = { groups, clusters, mappings, namespaces, workspaces }
  return [
    createController({
      ...all,
      type: GitRepo,
      informer: repos,
      reconciler: gitRepoReconciler({ ...ports, statusThrottle: createKeyedThrottle(parts.clock, SAVED_UP_MS) }),
      triggers: [
        triggerOnObject(sources, repoOf),
        triggerOnObject(bundles, repoOf),
        triggerOnObject(made.get(Placement)!, repoOf),
        triggerOnObject(rollouts, (rollout) => bundles.lister.by('fleet-release', releaseOf(rollout)).flatMap(repoOf)),
        ...workspaceTriggers(world, repos),
        triggerOnObject(restrictions, ({ metadata }) =>
          repos.lister.by('namespace', metadata.namespace ?? '').map(keyOf),
        ),
      ],
    }),
    createHelmOp({ ...all, world, helmOps, sources, bundles, rollouts, placements: made.get(Placement)! }, ports),
    createFleetBundle({ ...all, world, rows, sources, bundles, rollouts, placements: made.get(Placement)! }, ports),
    createController({
      ...all,
      type: ClusterGroup,
      informer: groups,
      reconciler: clusterGroupReconciler({ clustersOf }),
      triggers: [triggerOn(clusters, (change) => groupsTouched(change, groups))],
    }),
    ...createRegistration(parts),
    createFleetCluster({ ...all, clusters, faces: informers.of(FleetCluster) }),
  ]
}

interface HelmOpParts extends FleetParts {
  readonly client: Informers['client']
  readonly helmOps: Informer<HelmOp>
  readonly sources: Informer<Source>
  readonly bundles: Informer<Bundle>
  readonly rollouts: Informer<Rollout>
  readonly world: WorkspaceWorld
  readonly placements: Informer<KubeObject>
}

function createHelmOp(parts: HelmOpParts, ports: Omit<GitRepoPorts, 'statusThrottle'>): Controller {
  const { helmOps, sources, bundles, rollouts, world, placements } = parts
  helmOps.addIndex('namespace', ({ metadata }) => [metadata.namespace ?? ''])
  return createController({
    ...parts,
    type: HelmOp,
    informer: helmOps,
    reconciler: helmOpReconciler({ ...ports, statusThrottle: createKeyedThrottle(parts.clock, SAVED_UP_MS) }),
    triggers: [
      triggerOnObject(sources, helmOpOf),
      triggerOnObject(bundles, helmOpOf),
      triggerOnObject(placements, helmOpOf),
      triggerOnObject(rollouts, (rollout) => bundles.lister.by('fleet-release', releaseOf(rollout)).flatMap(helmOpOf)),
      ...workspaceTriggers(world, helmOps),
    ],
  })
}

interface FleetBundleParts extends Omit<HelmOpParts, 'helmOps'> {
  readonly rows: Informer<FleetBundle>
}

function createFleetBundle(parts: FleetBundleParts, ports: Omit<GitRepoPorts, 'statusThrottle'>): Controller {
  const { rows, sources, bundles, rollouts, world, placements } = parts
  rows.addIndex('namespace', (row) => (makerOf(row) ? [] : [row.metadata.namespace ?? '']))
  return createController({
    ...parts,
    type: FleetBundle,
    informer: rows,
    reconciler: fleetBundleReconciler({ ...ports, statusThrottle: createKeyedThrottle(parts.clock, SAVED_UP_MS) }),
    triggers: [
      triggerOnObject(sources, fleetBundleOf),
      triggerOnObject(placements, fleetBundleOf),
      // The Bundle of flotilla.dev has the same name.
      triggerOnObject(bundles, (bundle) => (makerOf(bundle) ? [keyOf(bundle)] : [])),
      triggerOnObject(rollouts, (rollout) => bundles.lister.by('fleet-release', releaseOf(rollout)).map(keyOf)),
      ...workspaceTriggers(world, rows),
    ],
  })
}

function ownersOf(object: KubeObject): string[] {
  const maker = makerOf(object)
  return maker ? [maker.uid] : []
}

const repoOf = keyOfMaker(GitRepo.kind)
const helmOpOf = keyOfMaker(HelmOp.kind)
const fleetBundleOf = keyOfMaker(FleetBundle.kind)

/** The key of the GitRepo, HelmOp or Bundle that an object was made for. */
function keyOfMaker(wanted: string) {
  return (object: KubeObject): string[] => {
    const maker = makerOf(object)
    return maker?.kind === wanted ? [`${object.metadata.namespace ?? ''}/${maker.name}`] : []
  }
}

function releaseOf({ metadata, spec }: Rollout): string {
  return `${metadata.namespace ?? ''}/${spec.release}`
}

/** The counts of a Bundle in its Rollout, which may carry several Bundles. */
function countsOf(bundle: Bundle, rollouts: Informer<Rollout>): RolloutCounts | undefined {
  const status = rolloutOf(bundle, rollouts)?.status
  return status?.bundles?.find(({ name }) => name === bundle.metadata.name) ?? status?.counts
}

/** The Rollout of the newest Release of a Bundle. */
function rolloutOf({ metadata, status }: Bundle, rollouts: Informer<Rollout>): Rollout | undefined {
  if (!status?.release) return undefined
  return rollouts.lister.by('fleet-release', `${metadata.namespace ?? ''}/${status.release}`)[0]
}

function messageIn(report: ClusterReport | undefined, { metadata }: Bundle): string | undefined {
  const key = `${metadata.namespace ?? ''}/${metadata.name}`
  return report?.spec.bundles?.find(({ bundle }) => bundle === key)?.message
}

/** ClusterGroups whose members or counts a change of a Cluster concerns. */
function groupsTouched({ before, after }: Change<Cluster>, groups: Informer<ClusterGroup>): string[] {
  const seen = (cluster: Cluster | undefined): unknown =>
    cluster && [cluster.metadata.labels, cluster.status?.state, cluster.status?.bundles]
  if (before && after && jsonEqual(seen(before), seen(after))) return []
  const spaces = new Set([before, after].flatMap((cluster) => (cluster ? [workspaceOf(cluster)] : [])))
  return [...spaces].flatMap((space) => groups.lister.by('namespace', space).map(keyOf))
}
