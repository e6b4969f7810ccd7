// Tested by src/dialects/argo/clusters/cluster-secrets.sim.test.ts
/** The ClusterWindows of clusters whose cluster Secret has a maintenance window. */
import type { Informers } from '../../../client/informers.ts'
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { isApiError } from '../../../core/errors.ts'
import { jsonEqual } from '../../../core/json.ts'
import { ClusterWindow } from '../../../kinds/native/cluster-window.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { COMPILED, DIALECT_MANAGER, SECRET_OF_CLUSTER } from '../annotations.ts'
import type { ReadClusterSecret } from './cluster-secret.ts'

const BY_OWNER = 'argo-window'

/** Writes and removes the windows, over the hub's caches. */
export function createClusterWindows(informers: Informers) {
  const { client } = informers
  const windows = informers.of(ClusterWindow)
  windows.addIndex(BY_OWNER, ({ metadata }) => (metadata.ownerReferences ?? []).map(({ uid }) => uid))
  const windowOf = ({ metadata }: Cluster): ClusterWindow | undefined =>
    windows.lister.by(BY_OWNER, metadata.uid ?? '')[0]

  /** Makes, changes or removes the ClusterWindow of a cluster. */
  async function write(
    cluster: Cluster,
    { read, key }: { readonly read: ReadClusterSecret; readonly key: string },
    signal: AbortSignal,
  ): Promise<void> {
    const { name, uid = '' } = cluster.metadata
    const present = windowOf(cluster)
    if (read.isWindowBroken) return
    if (!read.window) {
      if (present) await remove(present, signal)
      return
    }
    const spec: ClusterWindow['spec'] = {
      mode: 'Open',
      ...read.window,
      clusters: [name],
      reason: `maintenance window of cluster ${name}`,
    }
    const compiled = digestOfJson(spec)
    if (present?.metadata.annotations?.[COMPILED] === compiled && jsonEqual(present.spec, spec)) return
    const window: ClusterWindow = {
      apiVersion: `${ClusterWindow.group}/${ClusterWindow.version}`,
      kind: ClusterWindow.kind,
      metadata: {
        name: windowName(name),
        annotations: { [COMPILED]: compiled, [SECRET_OF_CLUSTER]: key },
        ownerReferences: [{ apiVersion: cluster.apiVersion, kind: cluster.kind, name, uid }],
      },
      spec,
    }
    await client.apply(ClusterWindow, window, { fieldManager: DIALECT_MANAGER, force: true, signal })
  }

  async function remove({ metadata }: ClusterWindow, signal: AbortSignal): Promise<void> {
    try {
      await client.delete(ClusterWindow, { name: metadata.name }, { signal })
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
    }
  }

  return {
    write,
    /** Removes the window that a Secret made; the annotation of a Cluster alone must not remove it. */
    async removeOf(cluster: Cluster, { key, signal }: { readonly key: string; readonly signal: AbortSignal }) {
      const window = windowOf(cluster)
      if (window?.metadata.annotations?.[SECRET_OF_CLUSTER] === key) await remove(window, signal)
    },
  }
}

/** Names of objects have at most 253 characters. */
function windowName(cluster: string): string {
  return `argo-${cluster}`.length <= 253 ? `argo-${cluster}` : `argo-${digestOfJson(cluster).slice(7, 39)}`
}
