/** Writers by executor: the agent's own rights, or a ServiceAccount of the cluster by impersonation. */
import { clientOver } from '../client/create-client.ts'
import type { Discovery } from '../client/discovery.ts'
import { createRest } from '../client/rest.ts'
import type { Clock } from '../core/clock.ts'
import type { Transport } from '../core/http.ts'
import { executorRefusal, userOf } from '../plan/ceiling.ts'
import type { Ceiling, Executor } from '../plan/ceiling.ts'
import { createApplier } from './applier.ts'
import type { Applier, Neighbours } from './applier.ts'

/** What writers are made of. */
export interface ApplierFactoryPorts {
  readonly transport: Transport
  readonly userAgent: string
  readonly clock: Clock
  readonly discovery: Discovery
  readonly ceiling: Ceiling
  readonly neighbours: Neighbours
}

/** A bundle's executor that the cluster's ceiling does not allow. */
export class ExecutorRefused extends Error {
  override readonly name = 'ExecutorRefused'
}

/** Makes writers; the same executor has the same one. */
export function createAppliers(ports: ApplierFactoryPorts) {
  const { clock, userAgent, discovery, ceiling, neighbours } = ports
  const known = new Map<string, Applier>()

  return {
    /** Throws when the ceiling does not allow the executor. */
    as(executor: Executor | undefined): Applier {
      const refusal = executorRefusal(ceiling, executor)
      if (refusal !== undefined) throw new ExecutorRefused(refusal)
      const user = executor ? userOf(executor) : ''
      let applier = known.get(user)
      if (!applier) {
        const transport = user === '' ? ports.transport : impersonating(ports.transport, user)
        const client = clientOver(createRest({ transport, clock, userAgent }))
        applier = createApplier({ client, discovery, ceiling, neighbours })
        known.set(user, applier)
      }
      return applier
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
