/** The agents that the hub runs, as the controllers see them: their files, and the threads they run in. */
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { PushedAgentsPort } from '../../controllers/controllers.ts'
import { generateKeyPair } from '../../core/bytes.ts'
import { toError } from '../../core/errors.ts'
import type { EgressRules } from '../../core/text/egress.ts'
import type { HubTrust } from '../../wire/trust/hub-keys.ts'
import { agentRbac } from '../join/agent-rbac.ts'
import type { LogLevel } from '../logger.ts'
import type { HubPorts } from '../ports.ts'
import type { PushInit } from '../threads/messages.ts'
import { plainConnection } from '../threads/plain-connection.ts'
import type { Supervisor } from '../threads/supervisor.ts'
import { startThread } from '../threads/thread.ts'
import { createPushPool } from './push-pool.ts'

export interface PushedAgentsOptions extends HubPorts {
  /** Directory of the files of all agents. */
  readonly folder: string
  readonly trust: Pick<HubTrust, 'root' | 'newest'>
  /** `https://…` of the gateway of this process. */
  readonly gateway: string
  /** Which servers agents may connect to. */
  readonly egress: EgressRules
  readonly noteEnd: Supervisor['noteEnd']
  readonly logLevel: LogLevel
}

export interface PushedAgents extends PushedAgentsPort {
  /** Runs the agents until the signal is aborted. */
  serve(signal: AbortSignal): Promise<void>
}

/** Memory of a thread of agents; one that needs more ends and is started again. */
const THREAD_MEMORY = { maxOldGenerationSizeMb: 1024 }

const NAMESPACE = 'flotilla-agent'
const ACCOUNT = 'flotilla-agent'
const LABELS = { 'app.kubernetes.io/name': 'flotilla-agent' }

/** The account of the join manifest, so that a later agent in the cluster finds its rights there. */
const ACCOUNT_OBJECTS = [
  { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE, labels: LABELS } },
  { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: ACCOUNT, namespace: NAMESPACE, labels: LABELS } },
  ...agentRbac({ profile: 'full', namespaces: [], home: NAMESPACE, account: ACCOUNT, labels: LABELS }),
]

/** Creates the port; no thread runs before the first cluster needs one. */
export async function createPushedAgents(options: PushedAgentsOptions): Promise<PushedAgents> {
  const { folder, trust, gateway, egress, logLevel, log } = options
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const withFiles = new Set(await readdir(folder))
  const listeners = new Set<(name: string) => void>()
  const changes = new Map<string, Promise<unknown>>()
  const init: PushInit = {
    folder,
    gateway,
    egress,
    account: { namespace: NAMESPACE, name: ACCOUNT, objects: ACCOUNT_OBJECTS as PushInit['account']['objects'] },
    logLevel,
  }
  const pool = createPushPool({
    ...options,
    startThread: () => startThread('push', init, THREAD_MEMORY),
    onChange: (name) => {
      for (const listener of listeners) listener(name)
    },
  })

  /** Changes of the files of an agent happen one at a time. */
  function inTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
    const turn = (changes.get(name) ?? Promise.resolve()).then(work)
    const settled = settle()
    changes.set(name, settled)
    return turn

    async function settle(): Promise<void> {
      try {
        await turn
      } catch {
        // The caller hears of it.
      }
      if (changes.get(name) === settled) changes.delete(name)
    }
  }

  return {
    keysOf: (name, clusterId) =>
      inTurn(name, async () => {
        const { openPushedIdentity } = await import('../../agent/pushed/pushed-identity.ts')
        withFiles.add(name)
        return await openPushedIdentity(join(folder, name), clusterId, {
          root: trust.root.keyId,
          endpoints: trust.newest.bundle.endpoints,
          newKeyPair: generateKeyPair,
        })
      }),
    run: ({ name, clusterId, credential }) => pool.run({ name, clusterId, credential: plainConnection(credential) }),
    stop: (name) => void inTurn(name, () => pool.stop(name)),
    forget(name) {
      if (!withFiles.delete(name)) return
      inTurn(name, async () => {
        await pool.stop(name)
        await rm(join(folder, name), { recursive: true, force: true })
      }).catch((caught: unknown) => {
        log.warn({ cluster: name, err: toError(caught) }, 'the files of an agent were not deleted')
      })
    },
    stateOf: (name) => pool.stateOf(name),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    serve: (signal) => pool.serve(signal),
  }
}
