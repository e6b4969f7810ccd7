// Tested by src/dialects/ocm/replica-sets/replica-set.sim.test.ts
/** The controllers of ManifestWorkReplicaSets, over the hub's shared informers. */
import type { Change } from '../../../client/cache.ts'
import type { Informer } from '../../../client/informer.ts'
import type { Informers } from '../../../client/informers.ts'
import type { Ids } from '../../../core/ids.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Logger } from '../../../core/log.ts'
import type { Metrics } from '../../../core/metrics.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { createController } from '../../../engine/controller.ts'
import type { Controller } from '../../../engine/controller.ts'
import { createKeyedThrottle } from '../../../engine/keyed-throttle.ts'
import { triggerOn, triggerOnObject } from '../../../engine/trigger.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../../kinds/native/rollout.ts'
import { isOwnTaint } from '../faces/sync-faces.ts'
import { ManagedCluster, OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import { isPageOf, PLACEMENT_LABEL } from '../placement/read-objects.ts'
import { ManifestWorkReplicaSet } from './kinds.ts'
import { replicaSetReconciler } from './replica-set.ts'
import { deleteSame } from '../../../client/find-object.ts'

/** The parts of the controllers. */
export interface ReplicaSetParts {
  readonly informers: Informers
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
}

const MANAGER = 'flotilla-ocm'
/** Time for which a change of counts waits before it is written. */
const SAVED_UP_MS = 5000
const BY_PLACEMENT = 'ocm-placement'
const BY_OWNER = 'ocm-owner'
const ENDED: ReadonlySet<string> = new Set(['Completed', 'Aborted'])

/** Creates the controllers; nothing happens before `run`. */
export function createReplicaSetControllers(parts: ReplicaSetParts): readonly Controller[] {
  const { informers, clock } = parts
  const { client } = informers
  const sets = informers.of(ManifestWorkReplicaSet)
  const placements = informers.of(OcmPlacement)
  const pages = informers.of(OcmPlacementDecision)
  const faces = informers.of(ManagedCluster)
  const bundles = informers.of(Bundle)
  const clusters = informers.of(Cluster)
  const reports = informers.of(ClusterReport)
  const rollouts = informers.of(Rollout)
  const made = new Map<string, Informer<KubeObject>>(
    [Bundle, Placement, RolloutPlan].map((kind) => [kind.kind, informers.of(kind as unknown as Kind)]),
  )
  for (const informer of made.values()) {
    informer.addIndex(BY_OWNER, ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid))
  }
  sets.addIndex(BY_PLACEMENT, ({ metadata, spec }) =>
    spec.placementRefs.map(({ name }) => `${metadata.namespace ?? ''}/${name}`),
  )
  const setsOfPlacement = (key: string): string[] => sets.lister.by(BY_PLACEMENT, key).map(keyOf)
  const write = (signal: AbortSignal) => ({ fieldManager: MANAGER, signal })
  const reconciler = replicaSetReconciler({
    placementOf: (namespace, name) => placements.lister.get(`${namespace}/${name}`),
    pagesOf: (placement) => pages.lister.list(placement.metadata.namespace).filter((page) => isPageOf(page, placement)),
    faceOf: (cluster) => faces.lister.get(cluster),
    find: (kind, namespace, name) => made.get(kind.kind)?.lister.get(`${namespace}/${name}`),
    madeFor: (kind, uid) => made.get(kind.kind)?.lister.by(BY_OWNER, uid) ?? [],
    apply: async (kind, object, signal) => {
      await client.apply(kind, object, { ...write(signal), force: true })
    },
    remove: (kind, object, signal) => deleteSame(client, kind, object, signal),
    reportOf: (name) => {
      const report = reports.lister.get(name)
      return report?.spec.clusterId === clusters.lister.get(name)?.spec.id ? report : undefined
    },
    isLeft: (namespace, bundle) =>
      rollouts.lister
        .list(namespace)
        .some(({ spec, status }) => spec.removal?.bundle === bundle && !ENDED.has(status?.phase ?? '')),
    pace: createKeyedThrottle(clock, SAVED_UP_MS),
  })
  return [
    createController({
      ...parts,
      client,
      type: ManifestWorkReplicaSet,
      informer: sets,
      reconciler,
      failureCondition: 'ManifestworkApplied',
      notesGeneration: false, // its status has no such field; the conditions have it
      triggers: [
        triggerOnObject(placements, (placement) => setsOfPlacement(keyOf(placement))),
        triggerOnObject(pages, ({ metadata }) =>
          setsOfPlacement(`${metadata.namespace ?? ''}/${metadata.labels?.[PLACEMENT_LABEL] ?? ''}`),
        ),
        triggerOn(faces, (change) => (isAwayChanged(change) ? sets.lister.list().map(keyOf) : [])),
        ...[...made.values()].map((informer) => triggerOnObject(informer, ownerOf)),
        triggerOn(reports, ({ before, after }) =>
          changedBundles(before, after).flatMap((key) => {
            const bundle = bundles.lister.get(key)
            return bundle ? ownerOf(bundle) : []
          }),
        ),
      ],
    }),
  ]
}

/** The set that an object was made for. */
function ownerOf({ metadata }: KubeObject): string[] {
  const owner = (metadata.ownerReferences ?? []).find(({ kind }) => kind === ManifestWorkReplicaSet.kind)
  return owner ? [`${metadata.namespace ?? ''}/${owner.name}`] : []
}

/** Whether a cluster went away or came back. */
function isAwayChanged({ before, after }: Change<ManagedCluster>): boolean {
  const isAway = (face: ManagedCluster | undefined): boolean => (face?.spec.taints ?? []).some(isOwnTaint)
  return isAway(before) !== isAway(after) || before?.spec.hubAcceptsClient !== after?.spec.hubAcceptsClient
}

/** Keys of the Bundles that a report says something new about. */
function changedBundles(before: ClusterReport | undefined, after: ClusterReport | undefined): string[] {
  const parts = (report: ClusterReport | undefined) => {
    const { bundles = [], feedback = [] } = report?.spec ?? {}
    return Map.groupBy<string, unknown>([...bundles, ...feedback], (one) => (one as { bundle: string }).bundle)
  }
  const [was, is] = [parts(before), parts(after)]
  return [...new Set([...was.keys(), ...is.keys()])].filter((id) => !jsonEqual(was.get(id) ?? [], is.get(id) ?? []))
}
