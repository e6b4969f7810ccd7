/** The demo: a real hub in its own directory, embedded clusters, and a real agent for each over mutual TLS. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createConnectHub } from '../agent/connect-hub.ts'
import { createAgent } from '../agent/create-agent.ts'
import { createFileStorage } from '../agent/file-storage.ts'
import { createFileBlobs } from '../blobs/file-blobs.ts'
import { generateKeyPair } from '../core/bytes.ts'
import { toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { inviteCluster } from '../hub/join.ts'
import type { LogLevel } from '../hub/logger.ts'
import type { HubPorts } from '../hub/ports.ts'
import { startHub } from '../hub/run.ts'
import type { RunningHub } from '../hub/run.ts'
import { Bundle } from '../kinds/bundle.ts'
import { Placement } from '../kinds/placement.ts'
import { createEmbeddedCluster } from './cluster.ts'
import type { EmbeddedCluster } from './cluster.ts'
import { DEMO_BUNDLE, demoLabels, DEMO_PLACEMENT } from './demo-content.ts'

/** What a demo is made of. */
export interface DemoOptions extends HubPorts {
  readonly clusters: number
  /** Where the hub keeps its data; a temporary directory that goes with the demo when absent. */
  readonly data?: string
  readonly logLevel: LogLevel
}

/** A running demo. */
export interface Demo {
  readonly hub: RunningHub
  readonly clusters: readonly EmbeddedCluster[]
  /** Rejects when something died that should not; resolves when the demo was closed. */
  readonly ended: Promise<void>
  close(): Promise<void>
}

/** Starts the hub, joins the clusters and applies the bundle; does not wait for it to arrive. */
export async function startDemo(options: DemoOptions): Promise<Demo> {
  const { clock, ids, log } = options
  const agents = await mkdtemp(join(tmpdir(), 'flotilla-demo-'))
  const removeFiles = (): Promise<void> => rm(agents, { recursive: true, force: true, maxRetries: 3 })
  let hub: RunningHub
  try {
    const config = {
      data: options.data ?? join(agents, 'hub'),
      listen: '127.0.0.1:0',
      gatewayListen: '127.0.0.1:0',
      consoleListen: '127.0.0.1:0',
      logLevel: options.logLevel,
    }
    hub = await startHub(config, { clock, ids, log })
  } catch (caught) {
    await removeFiles()
    throw caught
  }
  const life = new AbortController()
  const running: Promise<void>[] = []
  const clusters: EmbeddedCluster[] = []
  const close = async (): Promise<void> => {
    life.abort()
    await Promise.allSettled(running)
    for (const cluster of clusters) await cluster.close()
    await hub.close()
    await removeFiles()
  }
  try {
    const names = Array.from({ length: options.clusters }, (_, index) => `store-${index + 1}`)
    for (const [index, name] of names.entries()) {
      const cluster = createEmbeddedCluster({ name, clock, ids, log })
      clusters.push(cluster)
      running.push(cluster.run(life.signal))
      const { code } = await inviteCluster(
        { cluster: name, labels: demoLabels(index), accept: 'Auto', ttlMs: 3_600_000 },
        { client: hub.client, clock, ids },
      )
      const data = join(agents, name)
      const agent = await createAgent({
        cluster: cluster.transport,
        hub: createConnectHub(),
        storage: await createFileStorage(data),
        blobs: createFileBlobs({ folder: join(data, 'blobs'), ids }),
        clock,
        ids,
        newKeyPair: generateKeyPair,
        log: agentLog(log, name),
        joinCode: code,
      })
      running.push(agent.run(life.signal))
    }
    await hub.client.apply(Placement, DEMO_PLACEMENT, { fieldManager: 'flotilla-demo', force: true })
    await hub.client.apply(Bundle, DEMO_BUNDLE, { fieldManager: 'flotilla-demo', force: true })
  } catch (caught) {
    await close()
    throw caught
  }
  const failed = Promise.all(running.map((work) => work.catch((caught: unknown) => Promise.reject(toError(caught)))))
  const ended = Promise.race([hub.ended, failed.then(() => hub.ended)])
  ended.catch(() => {}) // the caller listens when it wants to
  return { hub, clusters, ended, close }
}

function agentLog(log: Logger, cluster: string): Logger {
  return log.child({ agent: cluster })
}
