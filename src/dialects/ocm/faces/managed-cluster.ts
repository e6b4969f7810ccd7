/** Keeps a ManagedCluster and its Cluster equal, and writes the status of the ManagedCluster. */
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import type { Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { ManagedCluster } from '../kinds.ts'
import { changeFace, clusterPatch, leavingPatch, withDefaultSet } from './face-changes.ts'
import { faceConditions, isNamespaceName, namespaceCondition, reportedStatus } from './face-status.ts'
import { changedLabels, createLabelFights } from './label-fights.ts'
import { fieldsOfCluster, formatSynced, SYNCED_ANNOTATION, syncFaces } from './sync-faces.ts'

/** The ports of the controller. */
export interface FacePorts {
  clusterOf(name: string): Cluster | undefined
  namespaceOf(name: string): KubeObject | undefined
  /** Changes a Cluster, unless it changed meanwhile. */
  patchCluster(name: string, patch: object, signal: AbortSignal): Promise<void>
  createNamespace(cluster: string, signal: AbortSignal): Promise<void>
  /** Deletes a ManagedCluster whose Cluster is gone. */
  removeFace(face: ManagedCluster, signal: AbortSignal): Promise<void>
}

/** Keeps a ManagedCluster until its Cluster was told to leave. */
const FINALIZER = 'ocm.flotilla.dev/cluster'

/** Reconciles a ManagedCluster with the Cluster of the same name. */
export function managedClusterReconciler(ports: FacePorts): Reconciler<ManagedCluster> {
  const fights = createLabelFights()
  return {
    name: 'ocm-managed-cluster',
    async reconcile(draft, { clock, signal }): Promise<Result> {
      const face = draft.next
      const { name } = face.metadata
      const cluster = ports.clusterOf(name)
      if (face.metadata.deletionTimestamp !== undefined) {
        const isStaying = cluster && !cluster.spec.decommission && cluster.metadata.deletionTimestamp === undefined
        if (isStaying) await ports.patchCluster(name, leavingPatch(cluster, clock.now()), signal)
        face.metadata.finalizers = (face.metadata.finalizers ?? []).filter((one) => one !== FINALIZER)
        fights.forget(name)
        return {}
      }
      if (!cluster) {
        // The Cluster was forgotten; a ManagedCluster that waits for its first join was never synchronized.
        if (face.metadata.annotations?.[SYNCED_ANNOTATION] !== undefined) await ports.removeFace(face, signal)
        return {}
      }
      const fields = withDefaultSet(syncFaces(cluster, face))
      const now = clock.now()
      if (!jsonEqual(fields, fieldsOfCluster(cluster))) {
        fights.note(name, changedLabels(fields.labels, cluster.metadata.labels ?? {}), 'Cluster', now)
        await ports.patchCluster(name, clusterPatch(cluster, fields, now), signal)
        return {}
      }
      const conditions = faceConditions(cluster, {
        ...face,
        spec: { ...face.spec, hubAcceptsClient: fields.isAccepted },
      })
      fights.note(name, changedLabels(fields.labels, face.metadata.labels ?? {}), 'ManagedCluster', now)
      changeFace(face, fields, { now, conditions })
      face.metadata.finalizers = [...new Set([...(face.metadata.finalizers ?? []), FINALIZER])]
      // Metadata and spec are written first; the change leads to the next pass.
      if (isChanged(draft)) return {}
      await showStatus(draft, { cluster, conditions }, ports, signal)
      return showFights(draft, fights.contested(name, now))
    },
  }
}

function isChanged({ seen, next }: Draft<ManagedCluster>): boolean {
  return !jsonEqual(seen.spec, next.spec) || !jsonEqual(seen.metadata, next.metadata)
}

async function showStatus(
  { next: face, conditions }: Draft<ManagedCluster>,
  shown: {
    readonly cluster: Cluster
    readonly conditions: ReturnType<typeof faceConditions>
  },
  ports: FacePorts,
  signal: AbortSignal,
): Promise<void> {
  const { name } = face.metadata
  for (const { type, status, reason, message } of shown.conditions) conditions.set(type, status, reason, message)
  const others = { conditions: [], ...face.status }
  for (const field of REPORTED) delete others[field]
  face.status = { ...others, ...reportedStatus(shown.cluster) }
  if (!face.spec.hubAcceptsClient) return
  const isMissing = isNamespaceName(name) && ports.namespaceOf(name) === undefined
  if (isMissing) await ports.createNamespace(name, signal)
  const { type, status, reason, message } = namespaceCondition(name, ports.namespaceOf(name))
  conditions.set(type, status, reason, message)
}

/** Fields of the status that follow the Cluster. */
const REPORTED = ['allocatable', 'capacity', 'clusterClaims', 'version'] as const

const LOOK_AGAIN_MS = 60_000

/** Says which labels two writers change in turns. */
function showFights({ conditions }: Draft<ManagedCluster>, labels: readonly string[]): Result {
  if (labels.length > 0) {
    const message = `Two writers change ${labels.map((label) => JSON.stringify(label)).join(', ')} in turns, one on the ManagedCluster and one on the Cluster. Remove the label from one of them.`
    conditions.set('LabelContested', 'True', 'ChangedInTurns', message)
    return { requeueAfterMs: LOOK_AGAIN_MS }
  }
  if (conditions.get('LabelContested')?.status === 'True') {
    conditions.set('LabelContested', 'False', 'Settled', 'No label was changed in turns during the last 10 minutes.')
  }
  return {}
}

/** The ports of the controller that creates ManagedClusters. */
export interface FaceMakerPorts {
  faceOf(name: string): ManagedCluster | undefined
  createFace(face: ManagedCluster, signal: AbortSignal): Promise<void>
}

/** Creates the ManagedCluster of a Cluster that has none. */
export function faceMakerReconciler(ports: FaceMakerPorts): Reconciler<Cluster> {
  return {
    name: 'ocm-cluster',
    async reconcile({ seen }, { signal }): Promise<Result> {
      const isLeaving = seen.spec.decommission !== undefined || seen.metadata.deletionTimestamp !== undefined
      if (isLeaving || ports.faceOf(seen.metadata.name)) return { unchanged: true }
      try {
        await ports.createFace(newFace(seen), signal)
      } catch (caught) {
        if (!isApiError(caught, 'AlreadyExists')) throw caught
      }
      return { unchanged: true }
    },
  }
}

function newFace(cluster: Cluster): ManagedCluster {
  const { labels, taints, isAccepted, leaseDurationSeconds } = fieldsOfCluster(cluster)
  return {
    apiVersion: apiVersionOf(ManagedCluster),
    kind: ManagedCluster.kind,
    metadata: {
      name: cluster.metadata.name,
      labels: { ...labels },
      annotations: { [SYNCED_ANNOTATION]: formatSynced(fieldsOfCluster(cluster)) },
      finalizers: [FINALIZER],
    },
    spec: compact({
      hubAcceptsClient: isAccepted,
      leaseDurationSeconds,
      taints: Object.keys(taints).length > 0 ? Object.values(taints) : undefined,
    }),
  }
}
