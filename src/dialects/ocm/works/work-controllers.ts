// Tested by src/dialects/ocm/works/manifest-work.sim.test.ts
/** The controllers of works, over the hub's shared informers. */
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
import { Namespace } from '../../../kinds/builtin/core.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import { keyOf } from '../../../kinds/meta.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Delivery, deliveryKeyOf } from '../../../kinds/native/delivery.ts'
import { isForeignNamespace } from '../faces/face-status.ts'
import { ManagedCluster } from '../kinds.ts'
import { ManifestWork } from './kinds.ts'
import { manifestWorkReconciler, WORK_LABEL } from './manifest-work.ts'
import type { ManifestWorkPorts } from './manifest-work.ts'
import { deleteSame } from '../../../client/find-object.ts'

/** The parts of the controllers. */
export interface WorkParts {
  readonly informers: Informers
  readonly storeSet: ManifestWorkPorts['storeSet']
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly metrics?: Metrics
}

const MANAGER = 'flotilla-ocm'
/** Time for which a change of values and messages alone waits before it is written. */
const SAVED_UP_MS = 5000

/** Creates the controllers; nothing happens before `run`. */
export function createWorkControllers(parts: WorkParts): readonly Controller[] {
  const { informers, clock, storeSet } = parts
  const { client } = informers
  const works = informers.of(ManifestWork)
  const deliveries = informers.of(Delivery)
  const clusters = informers.of(Cluster)
  const reports = informers.of(ClusterReport)
  const namespaces = informers.of(Namespace)
  const faces = informers.of(ManagedCluster)
  const worksIn = (namespace: string): string[] => works.lister.list(namespace).map(keyOf)
  const remove = (type: ResourceType<KubeObject>, object: KubeObject, signal: AbortSignal) =>
    deleteSame(client, type, object, signal)
  const reconciler = manifestWorkReconciler({
    storeSet,
    deliveryOf: (work) => deliveries.lister.get(keyOf(work)),
    applyDelivery: async (delivery, signal) => {
      await client.apply(Delivery, delivery, { fieldManager: MANAGER, force: true, signal })
    },
    deleteDelivery: (delivery, signal) => remove(Delivery, delivery, signal),
    deleteWork: (work, signal) => remove(ManifestWork, work, signal),
    isForeign: (name) => {
      const namespace = namespaces.lister.get(name)
      return faces.lister.get(name) !== undefined && namespace !== undefined && isForeignNamespace(name, namespace)
    },
    reportOf: (name) => {
      const report = reports.lister.get(name)
      return report?.spec.clusterId === clusters.lister.get(name)?.spec.id ? report : undefined
    },
    pace: createKeyedThrottle(clock, SAVED_UP_MS),
  })
  return [
    createController({
      ...parts,
      client,
      type: ManifestWork,
      informer: works,
      reconciler,
      failureCondition: 'Applied',
      notesGeneration: false, // its status has no such field; the conditions have it
      triggers: [
        triggerOnObject(deliveries, (delivery) => (delivery.metadata.labels?.[WORK_LABEL] ? [keyOf(delivery)] : [])),
        triggerOn(namespaces, ({ key, before, after }) =>
          jsonEqual(before?.metadata.labels ?? {}, after?.metadata.labels ?? {}) ? [] : worksIn(key),
        ),
        triggerOn(faces, ({ key, before, after }) => (Boolean(before) === Boolean(after) ? [] : worksIn(key))),
        triggerOn(reports, ({ before, after }) => changedWorks(before, after)),
      ],
    }),
  ]
}

/** Keys of the Deliveries that a report says something new about. */
function changedWorks(before: ClusterReport | undefined, after: ClusterReport | undefined): string[] {
  const parts = (report: ClusterReport | undefined) => {
    const { bundles = [], feedback = [] } = report?.spec ?? {}
    const found = new Map<string, unknown[]>()
    for (const one of [...bundles, ...feedback]) found.set(one.bundle, [...(found.get(one.bundle) ?? []), one])
    return found
  }
  const [was, is] = [parts(before), parts(after)]
  return [...new Set([...was.keys(), ...is.keys()])]
    .filter((id) => !jsonEqual(was.get(id), is.get(id)))
    .flatMap((id) => deliveryKeyOf(id) ?? [])
}
