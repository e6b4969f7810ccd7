/** A Kubernetes cluster as its users see it: our API server over memory, with workloads that live. */
import { createApiServer } from '../../apiserver/server/api-server.ts'
import type { Client } from '../../client/client.ts'
import { createClient } from '../../client/create-client.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Handler, HttpRequest, Transport } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { inProcessTransport } from '../../hub/compose/in-process-transport.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import type { ResourceType } from '../../kinds/meta.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import type { Store } from '../../store/store.ts'
import { createWorkloads } from '../workloads/workloads.ts'
import type { WorkloadBehaviour } from '../workloads/workloads.ts'

/** What an embedded cluster is made of. */
export interface EmbeddedClusterOptions {
  readonly name: string
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  /** Where it keeps its objects; memory unless told. */
  readonly store?: Store
  readonly behaviour?: Partial<WorkloadBehaviour>
  /** ReplicaSets, pods and revisions of workloads are there, too. */
  readonly parts?: boolean
  /** For many clusters in a long-lived process: no roles of absent controllers, no audit chain, little history. */
  readonly isSmall?: boolean
}

/** A cluster in this process. */
export interface EmbeddedCluster {
  readonly name: string
  /** The API itself, for transports that authenticate callers themselves. */
  readonly handle: Handler
  /** The API for an agent with all rights. */
  readonly transport: Transport
  /** The same API for observers. */
  readonly client: Client
  /** Lets workloads live until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

// Watchers are in the same process and keep up; a watcher that falls behind lists again.
const SMALL = { history: 50, audit: false } as const

/** Makes a cluster; its API answers at once, its workloads move while `run` does. */
export function createEmbeddedCluster(options: EmbeddedClusterOptions): EmbeddedCluster {
  const { name, clock, ids } = options
  const log = options.log.child({ cluster: name })
  const { isSmall = false } = options
  const store = options.store ?? createMemoryStore(isSmall ? SMALL : {})
  const api = createApiServer({ store, clock, ids, log, kinds: BUILTIN_KINDS, controllerRoles: !isSmall })
  const uses = createUses(options.store !== undefined)
  const handle: Handler = (request, caller, signal) => {
    uses.see(request)
    return api.handle(request, caller, signal)
  }
  const as = (user: string): Transport =>
    inProcessTransport(handle, { commonName: user, organizations: ['system:masters'] })
  const clientOf = (user: string): Client => createClient({ transport: as(user), clock, userAgent: user })
  const workloads = createWorkloads({
    client: clientOf('system:kube-controller-manager'),
    clock,
    ids,
    log,
    used: uses.used,
    parts: options.parts ?? false,
    ...(options.behaviour && { behaviour: options.behaviour }),
  })
  return {
    name,
    handle,
    transport: as('system:flotilla:agent'),
    client: clientOf('admin'),
    run: (signal) => workloads.run(signal),
    close: async () => {
      await api.close()
      if (!options.store) await store.close()
    },
  }
}

/** The kinds that have been written: ten watches on each of many clusters cost more than the rest of the clusters. */
function createUses(fromTheStart: boolean) {
  const seen = new Set<string>()
  const waiting = new Map<string, () => void>()
  return {
    see: ({ method, path }: HttpRequest): void => {
      if (method === 'GET' || waiting.size === 0) return
      for (const part of path.split('?', 1)[0]!.split('/')) {
        seen.add(part)
        waiting.get(part)?.()
        waiting.delete(part)
      }
    },
    used: async ({ plural }: ResourceType, signal: AbortSignal): Promise<void> => {
      if (fromTheStart || seen.has(plural) || signal.aborted) return
      await new Promise<void>((resolve) => {
        waiting.set(plural, resolve)
        signal.addEventListener('abort', () => resolve(), { once: true })
      })
    },
  }
}
