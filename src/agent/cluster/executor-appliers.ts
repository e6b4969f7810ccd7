/** Writers by executor: the agent's own rights, or a ServiceAccount of the cluster by impersonation. */
import { clientOver } from '../../client/create-client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createRest } from '../../client/rest.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Transport } from '../../core/http.ts'
import { executorRefusal, userOf } from '../../plan/apply/local-limits.ts'
import type { LocalLimits, Executor } from '../../plan/apply/local-limits.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { createApplier, isBundleManager } from './applier.ts'
import type { Applier, ObjectHolders } from './applier.ts'
import { createReads } from './cluster-reads.ts'
import type { Read, Reads } from './cluster-reads.ts'
import { createObjectWatches } from './object-watches.ts'
import type { ObjectWatches } from './object-watches.ts'

/** What writers are made of. */
export interface ApplierFactoryPorts {
  readonly transport: Transport
  readonly userAgent: string
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly discovery: Discovery
  readonly ceiling: LocalLimits
  readonly neighbours: ObjectHolders
  /** An object that a bundle has changed; see watches.ts. */
  readonly onChange: (key: string, isNews: boolean) => void
  /** Something that a bundle's rendering read changed; see cluster-reads.ts. */
  readonly onRead: (bundle: string) => void
}

/** What is done as one identity. */
interface Hand {
  readonly applier: Applier
  readonly watches: ObjectWatches
  readonly reads: Reads
}

/** A bundle's executor that the cluster's ceiling does not allow. */
export class ExecutorRefused extends Error {
  override readonly name = 'ExecutorRefused'
}

/** Makes writers; the same executor has the same one. */
export function createAppliers(ports: ApplierFactoryPorts) {
  const { clock, ids, log, userAgent, discovery, ceiling, neighbours, onChange } = ports
  const known = new Map<string, Hand>()

  function handOf(executor: Executor | undefined): Hand {
    const refusal = executorRefusal(ceiling, executor)
    if (refusal !== undefined) throw new ExecutorRefused(refusal)
    const user = executor ? userOf(executor) : ''
    let found = known.get(user)
    if (!found) {
      const transport = user === '' ? ports.transport : withImpersonation(ports.transport, user)
      const client = clientOver(createRest({ transport, clock, userAgent }))
      const watches = createObjectWatches({ client, discovery, clock, ids, log, isManager: isBundleManager, onChange })
      const reads = createReads({ client, discovery, ceiling, clock, ids, log, onChange: ports.onRead })
      found = { applier: createApplier({ client, discovery, ceiling, neighbours, watches }), watches, reads }
      known.set(user, found)
    }
    return found
  }

  return {
    /** Throws when the ceiling does not allow the executor. */
    as: (executor: Executor | undefined): Applier => handOf(executor).applier,
    /** What rendering reads as the executor; throws when the ceiling does not allow it. */
    reads: (executor: Executor | undefined): Reads => handOf(executor).reads,
    /** Follows what was read for a bundle as this executor, and nothing else of it; without an executor's reads, nothing at all. */
    async follow(
      bundle: string,
      now?: { readonly executor: Executor | undefined; readonly reads: readonly Read[]; readonly signal: AbortSignal },
    ): Promise<boolean> {
      const own = now && handOf(now.executor)
      for (const hand of known.values()) if (hand !== own) hand.reads.drop(bundle)
      return own === undefined || (await own.reads.follow(bundle, now!.reads, now!.signal))
    },
    /** Ends all watches: what they know is of another time. */
    reset(): void {
      for (const { watches, reads } of known.values()) {
        watches.stop()
        reads.stop()
      }
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

/** Speaks in the name of a user. The groups of a ServiceAccount follow from its name; naming them would need the right to impersonate groups. */
export function withImpersonation(transport: Transport, user: string): Transport {
  return (request, signal) =>
    transport({ ...request, headers: { ...request.headers, 'impersonate-user': user } }, signal)
}
