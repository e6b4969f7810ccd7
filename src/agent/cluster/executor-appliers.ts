// Tested by src/agent/bundles/operation.contract.test.ts
/** Appliers by executor: with the agent's own rights, or as a ServiceAccount of the cluster by impersonation. */
import type { Client } from '../../client/client.ts'
import { clientOver } from '../../client/create-client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { createRest } from '../../client/rest.ts'
import type { Transport } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { executorRefusal, userOf } from '../../plan/apply/local-limits.ts'
import type { LocalLimits, Executor } from '../../plan/apply/local-limits.ts'
import type { DocumentRules } from '../../wire/document/cluster-document.ts'
import { createPolicyAccess } from '../policies/policy-access.ts'
import type { PolicyAccess } from '../policies/policy-access.ts'
import { createPolicyWatches } from '../policies/policy-watches.ts'
import type { ChangedObject, PolicyWatches } from '../policies/policy-watches.ts'
import { createApplier, refuseByProject, writableAddress } from './applier.ts'
import type { Applier, ApplierPorts } from './applier.ts'
import { createReads } from './cluster-reads.ts'
import type { LookupLimit, Lookups, Reads } from './cluster-reads.ts'
import { isBundleManager } from './field-manager.ts'
import { createObjectWatches } from './object-watches.ts'
import type { ObjectWatches } from './object-watches.ts'
import { createProjectRules } from './project-rules.ts'
import type { Read } from './read-watches.ts'
import type { ObjectHolders } from './write-methods.ts'

/** Ports of all appliers. */
export interface ApplierFactoryPorts {
  readonly transport: Transport
  readonly userAgent: string
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
  readonly discovery: Discovery
  readonly localLimits: LocalLimits
  /** The rules of the signed document, with the limits of Projects. */
  readonly rules: () => DocumentRules | undefined
  readonly neighbours: ObjectHolders
  /** An object of a bundle changed; see object-watches.ts. */
  readonly onChange: (key: string, isNews: boolean) => void
  /** An object that the rendering of a bundle read changed; see read-watches.ts. */
  readonly onRead: (bundle: string) => void
  /** An object of a kind that policies read changed; see policies/policy-watches.ts. */
  readonly onPolicyRead: (changed: ChangedObject) => void
}

/** All access to the cluster as a single identity. */
interface ExecutorAccess {
  readonly applier: Applier
  readonly watches: ObjectWatches
  readonly reads: Reads
  readonly client: Client
  readonly policyWatches: PolicyWatches
}

/** The local limits do not allow the executor of a bundle. */
export class ExecutorRefused extends Error {
  override readonly name = 'ExecutorRefused'
}

/** Creates one applier for each executor, at its first use. */
export function createAppliers(ports: ApplierFactoryPorts) {
  const { clock, ids, log, userAgent, discovery, localLimits, neighbours, onChange } = ports
  const projects = createProjectRules(ports.rules)
  const known = new Map<string, ExecutorAccess>()

  function accessAs(executor: Executor | undefined): ExecutorAccess {
    const refusal = executorRefusal(localLimits, executor)
    if (refusal !== undefined) throw new ExecutorRefused(refusal)
    const user = executor ? userOf(executor) : ''
    let found = known.get(user)
    if (!found) {
      const transport = user === '' ? ports.transport : withImpersonation(ports.transport, user)
      const client = clientOver(createRest({ transport, clock, userAgent }))
      const watches = createObjectWatches({ client, discovery, clock, ids, log, isManager: isBundleManager, onChange })
      const reads = createReads({ client, discovery, localLimits, clock, ids, log, onChange: ports.onRead })
      const projectRefusal: ApplierPorts['projectRefusal'] = (bundle, id) => projects.writeRefusal(bundle, executor, id)
      const applier = createApplier({ client, discovery, localLimits, projectRefusal, neighbours, watches })
      const onRead = ports.onPolicyRead
      const policyWatches = createPolicyWatches({ client, discovery, clock, ids, log, onChange: onRead })
      found = { applier, watches, reads, client, policyWatches }
      known.set(user, found)
    }
    return found
  }

  return {
    /** Throws ExecutorRefused when the local limits do not allow the executor. */
    as: (executor: Executor | undefined): Applier => accessAs(executor).applier,
    /** The lookups of a bundle's rendering as the executor; throws ExecutorRefused as `as` does. */
    lookups(bundle: string, executor: Executor | undefined): Lookups {
      const { reads } = accessAs(executor)
      const limit: LookupLimit = (lookup) => projects.lookupRefusal(bundle, executor, lookup)
      return {
        find: (query, signal) => reads.find(query, signal, limit),
        list: (query, signal) => reads.list(query, signal, limit),
      }
    },
    /** The reads and writes of a bundle's policies as the executor; throws ExecutorRefused as `as` does. */
    policies(bundle: string, executor: Executor | undefined): PolicyAccess {
      const { client } = accessAs(executor)
      const projectRefusal: ApplierPorts['projectRefusal'] = (name, id) => projects.writeRefusal(name, executor, id)
      return createPolicyAccess({
        client,
        discovery,
        localLimits,
        checkWrite: (type, id) =>
          refuseByProject({ projectRefusal }, bundle, id, writableAddress(localLimits, type, id)),
        lookupRefusal: (lookup) => projects.lookupRefusal(bundle, executor, lookup),
      })
    },
    /** The watches of the objects that policies read as this executor. */
    policyWatches: (executor: Executor | undefined): PolicyWatches => accessAs(executor).policyWatches,
    /** Follows exactly these reads for a bundle, as this executor. Without `now`, follows nothing for the bundle. */
    async follow(
      bundle: string,
      now?: { readonly executor: Executor | undefined; readonly reads: readonly Read[]; readonly signal: AbortSignal },
    ): Promise<boolean> {
      const own = now && accessAs(now.executor)
      for (const access of known.values()) if (access !== own) access.reads.drop(bundle)
      return own === undefined || (await own.reads.follow(bundle, now!.reads, now!.signal))
    },
    /** Stops all watches: the cluster was restored, and their objects are of another time. */
    reset(): void {
      for (const { watches, reads, policyWatches } of known.values()) {
        watches.stop()
        reads.stop()
        policyWatches.stop()
      }
      known.clear()
    },
    /** Stops watches that no bundle needs any more. */
    sweep(): void {
      for (const { watches } of known.values()) watches.sweep()
    },
  }
}

/** Appliers by executor. */
export type Appliers = ReturnType<typeof createAppliers>

/**
 * Sends requests as a user. The groups of a ServiceAccount follow from its name; naming them would need the right to
 * impersonate groups.
 */
export function withImpersonation(transport: Transport, user: string): Transport {
  return (request, signal) =>
    transport({ ...request, headers: { ...request.headers, 'impersonate-user': user } }, signal)
}
