/** A store of the demo: an embedded cluster, a real agent, and a line to the hub. */
import { join } from 'node:path'
import { compact } from '../../core/compact.ts'
import type { ClusterRenderPort } from '../../agent/render/cluster-render.ts'
import { createAgent } from '../../agent/create-agent.ts'
import { createFileStorage } from '../../agent/storage/file-storage.ts'
import { createFileBlobs } from '../../blobs/file-blobs.ts'
import { generateKeyPair } from '../../core/bytes.ts'
import type { HubPorts } from '../../hub/ports.ts'
import { Deployment } from '../../kinds/builtin/apps.ts'
import { createEmbeddedCluster } from '../fleet/embedded-cluster.ts'
import type { EmbeddedCluster } from '../fleet/embedded-cluster.ts'
import { DEFAULT_BEHAVIOUR } from '../workloads/workloads.ts'
import { createStoreUplink } from './store-uplink.ts'
import type { StoreUplink } from './store-uplink.ts'
import type { Store } from './stores.ts'

/** A store that runs. */
export interface Site {
  readonly store: Store
  readonly cluster: EmbeddedCluster
  readonly line: StoreUplink
  /** Whether its nodes can pull images. */
  setBroken(isBroken: boolean): Promise<void>
  isBroken(): boolean
  /** How long an image takes to arrive. */
  setPull(ms: number): void
  /** Runs cluster and agent until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
}

/** What a site is made of. */
export interface SiteOptions extends HubPorts {
  readonly store: Store
  /** For a store that has not joined yet. */
  readonly joinCode?: string
  /** Where its agent keeps what it must not forget. */
  readonly folder: string
}

/** Builds a store; it joins when it runs. */
export async function createSite(options: SiteOptions): Promise<Site> {
  const { store, folder, clock, ids, log } = options
  let isBroken = false
  let pullMs = DEFAULT_BEHAVIOUR.progressMs
  let nudges = 0
  const cluster = createEmbeddedCluster({
    name: store.name,
    clock,
    ids,
    log,
    isSmall: true,
    behaviour: {
      get progressMs() {
        return pullMs
      },
      isBroken: (image) => isBroken || DEFAULT_BEHAVIOUR.isBroken(image),
    },
  })
  const line = createStoreUplink({ clock, ids })
  const data = join(folder, store.name)
  // Most demos render nothing in a cluster, and the engine is a fifth of the program.
  const render: ClusterRenderPort = async (request) => {
    const { renderInPlace } = await import('../../agent/render/render-in-place.ts')
    return await renderInPlace({ clock, ids })(request)
  }
  const agent = await createAgent(
    compact({
      cluster: cluster.transport,
      hub: line.connect,
      storage: await createFileStorage(data),
      blobs: createFileBlobs({ folder: join(data, 'blobs'), ids }),
      clock,
      ids,
      newKeyPair: generateKeyPair,
      render,
      log: log.child({ agent: store.name }),
      joinCode: options.joinCode,
    }),
  )
  return {
    store,
    cluster,
    line,
    setBroken: async (next) => {
      isBroken = next
      // Nodes look again: nothing in the cluster's API says that a registry went away.
      const annotations = { 'demo.flotilla.dev/looked': String(++nudges) }
      for (const { metadata } of (await cluster.client.list(Deployment)).items) {
        await cluster.client.patch(
          Deployment,
          { name: metadata.name, namespace: metadata.namespace ?? '' },
          { type: 'merge', body: { metadata: { annotations } } },
        )
      }
    },
    isBroken: () => isBroken,
    setPull: (ms) => void (pullMs = ms),
    run: async (signal) => {
      await Promise.all([cluster.run(signal), agent.run(signal)])
    },
  }
}
