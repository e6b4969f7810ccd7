/** Writers by executor: the agent's own rights, or a ServiceAccount of the cluster by impersonation. */
import { clientOver } from '../client/create-client.ts'
import type { Discovery } from '../client/discovery.ts'
import { createRest } from '../client/rest.ts'
import type { Clock } from '../core/clock.ts'
import type { Transport } from '../core/http.ts'
import { executorRefusal, userOf } from '../plan/ceiling.ts'
import type { Ceiling, Executor } from '../plan/ceiling.ts'
import type { Ids } from '../core/ids.ts'
import type { Logger } from '../core/log.ts'
import { createApplier, isBundleManager } from './applier.ts'
import type { Applier, Neighbours } from './applier.ts'
import { createWatches } from './watches.ts'
import type { Watches } from './watches.ts'

/** What writers are made of. */
export interface ApplierFactoryPorts {
  readonly transport: Transport
  readonly userAgent: string
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly discovery: Discovery
  readonly ceiling: Ceiling
  readonly neighbours: Neighbours
  /** An object that a bundle has changed; see watches.ts. */
  readonly onChange: (key: string, isNews: boolean) => void
}

/** A bundle's executor that the cluster's ceiling does not allow. */
export class ExecutorRefused extends Error {
  override readonly name = 'ExecutorRefused'
}

/** Makes writers; the same executor has the same one. */
export function createAppliers(ports: ApplierFactoryPorts) {
  const { clock, ids, log, userAgent, discovery, ceiling, neighbours, onChange } = ports
  const known = new Map<string, { readonly applier: Applier; readonly watches: Watches }>()

  return {
    /** Throws when the ceiling does not allow the executor. */
    as(executor: Executor | undefined): Applier {
      const refusal = executorRefusal(ceiling, executor)
      if (refusal !== undefined) throw new ExecutorRefused(refusal)
      const user = executor ? userOf(executor) : ''
      let found = known.get(user)
      if (!found) {
        const transport = user === '' ? ports.transport : impersonating(ports.transport, user)
        const client = clientOver(createRest({ transport, clock, userAgent }))
        const watches = createWatches({ client, discovery, clock, ids, log, isManager: isBundleManager, onChange })
        found = { applier: createApplier({ client, discovery, ceiling, neighbours, watches }), watches }
        known.set(user, found)
      }
      return found.applier
    },
    /** Ends all watches: what they know is of another time. */
    reset(): void {
      for (const { watches } of known.values()) watches.stop()
      known.clear()
    },
    /** Ends watches that no bundle needs any more. */
    sweep(): void {
      for (const { watches } of known.values()) watches.sweep()
    },
  }
}

/** Writers by executor. */
export type Appliers = ReturnType<typeof createAppliers>

// The groups of a ServiceAccount follow from its name; naming them would need the right to impersonate groups.
function impersonating(transport: Transport, user: string): Transport {
  return (request, signal) =>
    transport({ ...request, headers: { ...request.headers, 'impersonate-user': user } }, signal)
}
