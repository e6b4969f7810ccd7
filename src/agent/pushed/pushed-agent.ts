// Tested by src/hub/push/pushed-agents.contract.test.ts
/** An agent that the hub runs for a cluster registered by a kubeconfig. It starts again after a failure. */
import { join } from 'node:path'
import { createFileBlobs } from '../../blobs/file-blobs.ts'
import type { Connection, SocketTransport } from '../../client/connection.ts'
import { generateKeyPair } from '../../core/bytes.ts'
import { toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import type { Clock } from '../../core/time/clock.ts'
import { createAgent } from '../create-agent.ts'
import type { ConnectHub } from '../link/hub-api.ts'
import type { ClusterRenderPort } from '../render/cluster-render.ts'
import { createFileStorage } from '../storage/file-storage.ts'
import { PUSH_TIMING } from '../timing.ts'
import type { AgentAccount } from './agent-account.ts'
import { createClusterAccess } from './cluster-access.ts'
import type { NoAccess } from './cluster-access.ts'
import { createReachability } from './reachability.ts'

export interface PushedAgentPorts {
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly hub: ConnectHub
  /** Opens connections to the cluster; throws for an address that the hub may not reach. */
  readonly connect: (connection: Connection) => SocketTransport
  readonly account: AgentAccount
  /** Shared by all agents of a thread, which renders one Bundle at a time. */
  readonly render: ClusterRenderPort
}

/** The state of an agent, for the condition Pushed of its Cluster. */
export interface PushedState {
  readonly reason: 'Running' | 'Starting' | 'Restarting' | NoAccess['reason']
  readonly message: string
}

export interface PushedAgent {
  state(): PushedState
  /** Follows a change of the user's Secret. */
  setCredential(credential: Connection): Promise<void>
  /** Resolves when the agent has stopped. */
  stop(): Promise<void>
}

/** Starts an agent with the files in `folder`, whose identity exists (pushed-identity.ts). */
export async function startPushedAgent(
  folder: string,
  credential: Connection,
  ports: PushedAgentPorts,
): Promise<PushedAgent> {
  const { clock, ids, log, hub, connect, account, render } = ports
  const storage = await createFileStorage(folder)
  const access = createClusterAccess({ storage, clock, log, connect, account }, credential)
  const reachability = createReachability({ access, clock, ids, log })
  const stopping = new AbortController()
  let crash: Error | undefined

  async function keepAgent(signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures++) {
      const began = clock.monotonicMs()
      try {
        const blobs = createFileBlobs({ folder: join(folder, 'blobs'), ids })
        const agent = await createAgent({
          cluster: reachability.cluster,
          hub: reachability.hub(hub),
          storage,
          blobs,
          clock,
          ids,
          newKeyPair: generateKeyPair,
          log,
          render,
        })
        crash = undefined
        // It ends by itself when the cluster has left the fleet.
        return await agent.run(signal)
      } catch (caught) {
        if (signal.aborted) return
        crash = toError(caught)
        log.error({ err: crash }, 'the agent failed and starts again')
        if (clock.monotonicMs() - began > PUSH_TIMING.stableMs) failures = 0
        await clock.sleep(backoffMs(failures, ids.fraction(), PUSH_TIMING.retry), signal).catch(() => {}) // aborted
      }
    }
  }

  const running = Promise.all([reachability.run(stopping.signal), keepAgent(stopping.signal)])
  return {
    state() {
      if (crash) return { reason: 'Restarting', message: `The agent failed and starts again: ${crash.message}` }
      const problem = reachability.problem()
      if (problem) return { reason: problem.reason, message: problem.message }
      return reachability.isUp()
        ? { reason: 'Running', message: 'The hub runs the agent of this cluster.' }
        : { reason: 'Starting', message: 'The agent connects to the cluster.' }
    },
    async setCredential(next) {
      await access.setCredential(next)
      reachability.wake()
    },
    async stop() {
      stopping.abort()
      await running
      await access.close()
    },
  }
}
