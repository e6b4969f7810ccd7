/** An agent with real parts: files, sockets, clock. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createFileBlobs } from '../blobs/file-blobs.ts'
import { readKubeconfig } from '../client/kubeconfig.ts'
import { createUndiciTransport } from '../client/undici-transport.ts'
import { generateKeyPair } from '../core/bytes.ts'
import { systemClock } from '../core/time/system-clock.ts'
import { systemIds } from '../core/system-ids.ts'
import { VERSION } from '../core/version.ts'
import { readLocalLimits } from './cluster/local-limits-file.ts'
import { createConnectHub } from './link/connect-hub.ts'
import { createAgent } from './create-agent.ts'
import { createFileStorage } from './storage/file-storage.ts'
import { renderInThreads } from './render/render-in-threads.ts'
import { createJsonLogger } from './json-logger.ts'
import type { LogLevel } from './json-logger.ts'
import { proxyFor } from './link/proxy.ts'
import type { ProxyVariables } from './link/proxy.ts'

/** How to run an agent beside a cluster. */
export interface RunAgentOptions {
  /** Needed at the first start only. */
  readonly joinCode?: string
  /** For codes made for several clusters. */
  readonly clusterName?: string
  /** The kubeconfig file of the managed cluster. */
  readonly kubeconfig: string
  /** The context to use; the current one when absent. */
  readonly context?: string
  /** A directory of its own; made with mode 0700. */
  readonly dataDir: string
  /** YAML or JSON with what this cluster's own people allow; everything when absent. */
  readonly ceilingFile?: string
  readonly logLevel?: LogLevel
  /** Where HTTPS_PROXY and NO_PROXY are looked up; none when absent. */
  readonly proxyVariables?: ProxyVariables
  /** Where log lines go; standard error when absent. */
  readonly writeLog?: (line: string) => void
  readonly signal: AbortSignal
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
    ...(context === undefined ? {} : { context }),
  })
  const { ceilingFile } = options
  const ceiling = ceilingFile === undefined ? {} : readLocalLimits(await readFile(ceilingFile, 'utf8'), ceilingFile)
  const cluster = createUndiciTransport(connection)
  try {
    const agent = await createAgent({
      cluster: cluster.transport,
      hub: createConnectHub((endpoint) => proxyFor(endpoint, options.proxyVariables ?? {})),
      storage: await createFileStorage(dataDir),
      blobs: createFileBlobs({ folder: join(dataDir, 'blobs'), ids: systemIds }),
      clock,
      ids: systemIds,
      newKeyPair: generateKeyPair,
      log,
      ceiling,
      render: renderInThreads(clock),
      ...(joinCode === undefined ? {} : { joinCode }),
      ...(clusterName === undefined ? {} : { clusterName }),
    })
    log.info({ version: VERSION, server: connection.server }, 'agent started')
    await agent.run(signal)
    log.info({}, 'agent stopped')
  } finally {
    await cluster.close()
  }
}
