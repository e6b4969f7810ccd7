// Tested by src/dialects/karmada/served/karmada.sim.test.ts
/** Keeps the `cluster.karmada.io` Cluster equal to the Cluster of the same name. */
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Reconciler, Result } from '../../../engine/reconciler.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { Capacity } from '../capacity/reported-capacity.ts'
import { faceOf } from './cluster-face.ts'
import { KarmadaClusterFace } from './kinds.ts'

/** The ports of the reconciler. */
export interface ClusterFacePorts {
  faceOf(name: string): KarmadaClusterFace | undefined
  /** The free resources that the agent of the cluster reports. */
  capacityOf(cluster: Cluster): Capacity | undefined
  create(face: KarmadaClusterFace, signal: AbortSignal): Promise<KarmadaClusterFace>
  update(face: KarmadaClusterFace, signal: AbortSignal): Promise<KarmadaClusterFace>
  writeStatus(face: KarmadaClusterFace, signal: AbortSignal): Promise<void>
  remove(face: KarmadaClusterFace, signal: AbortSignal): Promise<void>
}

export function clusterFaceReconciler(ports: ClusterFacePorts): Reconciler<Cluster> {
  return {
    name: 'karmada-cluster',
    async reconcile({ seen }, { signal }): Promise<Result> {
      const present = ports.faceOf(seen.metadata.name)
      if (seen.metadata.deletionTimestamp !== undefined || !seen.spec.accepted) {
        if (present) await ports.remove(present, signal)
        return { unchanged: true }
      }
      const { metadata, spec, status = {} } = faceOf(seen, ports.capacityOf(seen))
      const head = { apiVersion: apiVersionOf(KarmadaClusterFace), kind: KarmadaClusterFace.kind }
      try {
        const isSame = present && jsonEqual(present.spec, spec) && jsonEqual(present.metadata.labels, metadata.labels)
        const labels = compact({ labels: metadata.labels })
        const written = !present
          ? await ports.create({ ...head, metadata, spec }, signal)
          : isSame
            ? present
            : await ports.update({ ...present, metadata: { ...withoutLabels(present), ...labels }, spec }, signal)
        if (!jsonEqual(written.status ?? {}, status)) await ports.writeStatus({ ...written, status }, signal)
      } catch (caught) {
        if (!isApiError(caught, 'AlreadyExists')) throw caught
      }
      return { unchanged: true }
    },
  }
}

function withoutLabels({ metadata: { labels: _labels, ...metadata } }: KarmadaClusterFace) {
  return metadata
}
