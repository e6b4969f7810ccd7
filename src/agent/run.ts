// Tested by src/agent/create-agent.contract.test.ts and test/e2e/join.real.test.ts
/** Runs an agent with real files, sockets and clock. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileBlobs } from '../blobs/file-blobs.ts'
import { clientOver } from '../client/create-client.ts'
import { readKubeconfig } from '../client/kubeconfig.ts'
import { createRest } from '../client/rest.ts'
import { createUndiciTransport } from '../client/undici-transport.ts'
import { compact } from '../core/compact.ts'
import { generateKeyPair } from '../core/bytes.ts'
import type { Transport } from '../core/http.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { systemIds } from '../core/system-ids.ts'
import { VERSION } from '../core/version.ts'
import { readLocalLimits } from './cluster/local-limits-file.ts'
import { createConnectHub } from './link/connect-hub.ts'
import { createAgent } from './create-agent.ts'
import { createFileStorage } from './storage/file-storage.ts'
import { createSecretStorage } from './storage/secret-storage.ts'
import type { AgentStorage } from './storage/storage.ts'
import { renderInThreads } from './render/render-in-threads.ts'
import { createJsonLogger } from './json-logger.ts'
import type { LogLevel } from './json-logger.ts'
import { proxyFor } from './link/proxy.ts'
import type { ProxyVariables } from './link/proxy.ts'

/** Options of the agent's process. */
export interface RunAgentOptions {
  /** Required at the first start only. */
  readonly joinCode?: string
  /** Name of the cluster, for join codes that register several clusters. */
  readonly clusterName?: string
  /** The kubeconfig file of the managed cluster. */
  readonly kubeconfig: string
  /** Context of the kubeconfig. Defaults to the current context. */
  readonly context?: string
  /** Directory for keys and content, used by this agent alone; created with mode 0700. */
  readonly dataDir: string
  /** File with the local limits, YAML or JSON. If omitted, nothing is limited. */
  readonly localLimitsFile?: string
  /** Name of the Secret in the cluster that keeps the identity. If omitted, the identity is in the data directory. */
  readonly identitySecret?: string
  readonly logLevel?: LogLevel
  /** HTTPS_PROXY and NO_PROXY. If omitted, the agent uses no proxy. */
  readonly proxyVariables?: ProxyVariables
  /** Receives log lines. Defaults to standard error. */
  readonly writeLog?: (line: string) => void
  readonly signal: AbortSignal
}

async function openStorage({ dataDir, identitySecret }: RunAgentOptions, transport: Transport): Promise<AgentStorage> {
  const disk = await createFileStorage(dataDir)
  if (identitySecret === undefined) return disk
  const client = clientOver(createRest({ transport, clock: systemClock, userAgent: `flotilla-agent/${VERSION}` }))
  return createSecretStorage(client, identitySecret, disk)
}

/** Runs an agent until the signal is aborted. */
export async function runAgent(options: RunAgentOptions): Promise<void> {
  const { joinCode, clusterName, kubeconfig, context, dataDir, signal } = options
  const clock = systemClock
  const write = options.writeLog ?? ((line: string) => void process.stderr.write(line))
  const log = createJsonLogger({ write, clock, level: options.logLevel ?? 'info' })
  const { connection } = await readKubeconfig({
    text: await readFile(kubeconfig, 'utf8'),
    file: kubeconfig,
    readFile: (path) => readFile(path, 'utf8'),
    ...compact({ context }),
  })
  const { localLimitsFile: file } = options
  const localLimits = file === undefined ? {} : readLocalLimits(await readFile(file, 'utf8'), file)
  const cluster = createUndiciTransport(connection)
  try {
    const agent = await createAgent({
      cluster: cluster.transport,
      hub: createConnectHub((endpoint) => proxyFor(endpoint, options.proxyVariables ?? {})),
      storage: await openStorage(options, cluster.transport),
      blobs: createFileBlobs({ folder: join(dataDir, 'blobs'), ids: systemIds }),
      clock,
      ids: systemIds,
      newKeyPair: generateKeyPair,
      log,
      localLimits,
      render: renderInThreads(clock),
      ...compact({ joinCode, clusterName }),
    })
    log.info({ version: VERSION, server: connection.server }, 'agent started')
    await agent.run(signal)
    log.info({}, 'agent stopped')
  } finally {
    await cluster.close()
  }
}
