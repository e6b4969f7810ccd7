// Tested by src/dialects/ocm/faces/managed-cluster.sim.test.ts
/** The controllers of the Open Cluster Management dialect, over the hub's shared informers. */
import type { Client } from '../../client/client.ts'
import type { Change } from '../../client/cache.ts'
import type { Informers } from '../../client/informers.ts'
import type { Ids } from '../../core/ids.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Metrics } from '../../core/metrics.ts'
import type { Clock } from '../../core/time/clock.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import { triggerOn, triggerOnObject } from '../../engine/trigger.ts'
import { Namespace } from '../../kinds/builtin/core.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject } from '../../kinds/meta.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { clusterSetReconciler, createBuiltInSets, setBindingReconciler } from './clusters/sets.ts'
import { NAMESPACE_LABEL } from './faces/face-status.ts'
import { faceMakerReconciler, managedClusterReconciler } from './faces/managed-cluster.ts'
import {
  AddOnPlacementScore,
  ManagedCluster,
  ManagedClusterSet,
  ManagedClusterSetBinding,
  OcmPlacement,
  OcmPlacementDecision,
} from './kinds.ts'
import { createCelCompiler } from './placement/answer-case.ts'
import { groupByNamespace } from './placement/object-store.ts'
import { ocmPlacementReconciler } from './placement/placement.ts'
import { PLACEMENT_LABEL } from './placement/read-objects.ts'
import { deleteSame } from '../../client/find-object.ts'

/** The parts of the dialect's controllers. */
export interface OcmParts {
  readonly informers: Informers
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
}

const MANAGER = 'dialect-ocm'
/** A Placement is decided at most once in this time. */
const DECIDE_MS = 1000

/** Creates the controllers; nothing happens before `run`. */
export function createOcmControllers(parts: OcmParts): readonly Controller[] {
  const all = { ...parts, client: parts.informers.client }
  return [...faceControllers(all), ...setControllers(all), placementController(all)]
}

type Parts = OcmParts & { readonly client: Client }

function faceControllers(parts: Parts): readonly Controller[] {
  const { client, informers } = parts
  const clusters = informers.of(Cluster)
  const faces = informers.of(ManagedCluster)
  const namespaces = informers.of(Namespace)
  const write = (signal: AbortSignal) => ({ fieldManager: MANAGER, signal })
  const managed = managedClusterReconciler({
    clusterOf: (name) => clusters.lister.get(name),
    namespaceOf: (name) => namespaces.lister.get(name),
    patchCluster: async (name, body, signal) => {
      await client.patch(Cluster, { name }, { type: 'merge', body }, write(signal))
    },
    createNamespace: async (name, signal) => {
      const metadata = { name, labels: { [NAMESPACE_LABEL]: name } }
      await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata }, write(signal))
    },
    removeFace: (face, signal) => deleteSame(client, ManagedCluster, face, signal),
  })
  return [
    createController({
      ...parts,
      type: ManagedCluster,
      informer: faces,
      reconciler: managed,
      triggers: [triggerOn(clusters, ({ key }) => [key]), triggerOn(namespaces, ({ key }) => [key])],
      failureCondition: false,
    }),
    createController({
      ...parts,
      type: Cluster,
      informer: clusters,
      reconciler: faceMakerReconciler({
        faceOf: (name) => faces.lister.get(name),
        createFace: async (face, signal) => {
          await client.create(ManagedCluster, face, write(signal))
        },
      }),
      // A ManagedCluster that is gone comes back while its Cluster stays.
      triggers: [triggerOn(faces, ({ key, after }) => (after ? [] : [key]))],
      failureCondition: false,
      notesGeneration: false,
    }),
  ]
}

function setControllers(parts: Parts): readonly Controller[] {
  const { informers } = parts
  const sets = informers.of(ManagedClusterSet)
  const bindings = informers.of(ManagedClusterSetBinding)
  const faces = informers.of(ManagedCluster)
  return [
    createController({
      ...parts,
      type: ManagedClusterSet,
      informer: sets,
      reconciler: clusterSetReconciler({ clusters: () => faces.lister.list() }),
      triggers: [
        triggerOn(faces, ({ before, after }) =>
          jsonEqual(before?.metadata.labels, after?.metadata.labels) ? [] : sets.lister.list().map(keyOf),
        ),
      ],
      failureCondition: false,
    }),
    createController({
      ...parts,
      type: ManagedClusterSetBinding,
      informer: bindings,
      reconciler: setBindingReconciler({ sets: () => sets.lister.list() }),
      triggers: [triggerOn(sets, ({ before, after }) => (before && after ? [] : bindings.lister.list().map(keyOf)))],
      failureCondition: false,
    }),
    createBuiltInSets({ ...parts, sets }),
  ]
}

function placementController(parts: Parts): Controller {
  const { client, informers, clock } = parts
  const placements = informers.of(OcmPlacement)
  const pages = informers.of(OcmPlacementDecision)
  const faces = informers.of(ManagedCluster)
  const sets = informers.of(ManagedClusterSet)
  const bindings = informers.of(ManagedClusterSetBinding)
  const scores = informers.of(AddOnPlacementScore)
  const everyPlacement = () => placements.lister.list().map(keyOf)
  const write = (signal: AbortSignal) => ({ fieldManager: MANAGER, signal })
  const inNamespace = ({ metadata }: KubeObject) => placements.lister.list(metadata.namespace).map(keyOf)
  return createController({
    ...parts,
    type: OcmPlacement,
    informer: placements,
    reconciler: ocmPlacementReconciler({
      clusters: () => faces.lister.list(),
      sets: () => sets.lister.list(),
      bindingsIn: (namespace) => bindings.lister.list(namespace),
      pages: () => pages.lister.list(),
      scoresByCluster: () => groupByNamespace(scores.lister.list()),
      compileCel: createCelCompiler(),
      throttle: createKeyedThrottle(clock, DECIDE_MS),
      writePage: async (page, signal) => {
        const present = pages.lister.get(keyOf(page))
        const { labels, ownerReferences } = page.metadata
        const head = present
          ? { ...present, metadata: { ...present.metadata, labels, ownerReferences } }
          : { apiVersion: page.apiVersion, kind: page.kind, metadata: page.metadata }
        const isSame = present && jsonEqual(present.metadata, head.metadata)
        const stored = isSame
          ? present
          : present
            ? await client.update(OcmPlacementDecision, head, write(signal))
            : await client.create(OcmPlacementDecision, head, write(signal))
        const next = { ...stored, status: page.status! }
        await client.update(OcmPlacementDecision, next, { ...write(signal), subresource: 'status' })
      },
      deletePage: (page, signal) => deleteSame(client, OcmPlacementDecision, page, signal),
    }),
    triggers: [
      triggerOn(faces, (change) => (isPlacedAlike(change) ? [] : everyPlacement())),
      triggerOn(sets, everyPlacement),
      triggerOnObject(bindings, inNamespace),
      triggerOn(scores, everyPlacement),
      triggerOnObject(pages, ({ metadata }) => [`${metadata.namespace}/${metadata.labels?.[PLACEMENT_LABEL]}`]),
    ],
    failureCondition: false,
  })
}

/** Whether a change of a ManagedCluster leaves the parts alone that Placements read. */
function isPlacedAlike({ before, after }: Change<ManagedCluster>): boolean {
  const read = (face: ManagedCluster | undefined) => {
    if (!face) return undefined
    const { labels, deletionTimestamp } = face.metadata
    return [labels, deletionTimestamp, face.spec, face.status]
  }
  return jsonEqual(read(before), read(after))
}
