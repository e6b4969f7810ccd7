// Tested by src/dialects/ocm/faces/managed-cluster.sim.test.ts
/** The status of ManagedClusterSets and their bindings, and the sets that always exist. */
import type { Informer } from '../../../client/informer.ts'
import type { Client } from '../../../client/client.ts'
import { isApiError, toError } from '../../../core/errors.ts'
import type { Logger } from '../../../core/log.ts'
import type { Clock } from '../../../core/time/clock.ts'
import type { Controller } from '../../../engine/controller.ts'
import type { Reconciler } from '../../../engine/reconciler.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { ManagedClusterSet } from '../kinds.ts'
import type { ManagedCluster, ManagedClusterSetBinding } from '../kinds.ts'
import { bindingPass, builtInSetPass, setPass } from './cluster-passes.ts'
import type { PassResult } from './cluster-passes.ts'

/** Writes the condition ClusterSetEmpty, with the number of clusters of the set. */
export function clusterSetReconciler(ports: { clusters(): readonly ManagedCluster[] }): Reconciler<ManagedClusterSet> {
  return {
    name: 'ocm-cluster-set',
    async reconcile({ seen, conditions }) {
      const pass = setPass(seen, ports.clusters())
      if (pass.error === undefined) show(pass, conditions)
      else conditions.set('ClusterSetEmpty', 'Unknown', 'InvalidSelector', pass.error)
      const isIgnored = (seen.spec?.managedNamespaces ?? []).length > 0
      if (isIgnored) conditions.set('FieldsHonored', 'False', 'FieldsIgnored', 'No effect: spec.managedNamespaces.')
      else conditions.remove('FieldsHonored')
      return {}
    },
  }
}

/** Writes the condition Bound of a binding. */
export function setBindingReconciler(ports: {
  sets(): readonly ManagedClusterSet[]
}): Reconciler<ManagedClusterSetBinding> {
  return {
    name: 'ocm-cluster-set-binding',
    async reconcile({ seen, conditions }) {
      show(bindingPass(seen, ports.sets()), conditions)
      return {}
    },
  }
}

function show(
  pass: PassResult,
  conditions: { set(type: string, status: 'True' | 'False' | 'Unknown', reason: string, message: string): void },
): void {
  for (const { type, status, reason, message } of pass.conditions ?? []) conditions.set(type, status, reason, message)
}

const BUILT_IN = ['default', 'global'] as const
const RETRY_MS = 5_000

/** Creates the sets `default` and `global`, and restores them when they are changed or deleted. */
export function createBuiltInSets(parts: {
  readonly client: Pick<Client, 'create' | 'patch'>
  readonly sets: Informer<ManagedClusterSet>
  readonly clock: Clock
  readonly log: Logger
}): Controller {
  const { client, sets, clock, log } = parts
  let changed = Promise.withResolvers<void>()
  const enqueue = () => changed.resolve()

  async function ensure(signal: AbortSignal): Promise<void> {
    const write = { fieldManager: 'dialect-ocm', signal }
    for (const name of BUILT_IN) {
      const { writes, clusterSelector } = builtInSetPass(name, sets.lister.list())
      if (writes.length === 0) continue
      const spec = { clusterSelector } as NonNullable<ManagedClusterSet['spec']>
      if (sets.lister.get(name)) {
        await client.patch(ManagedClusterSet, { name }, { type: 'merge', body: { spec } }, write)
        continue
      }
      const head: KubeObject = {
        apiVersion: apiVersionOf(ManagedClusterSet),
        kind: ManagedClusterSet.kind,
        metadata: { name },
      }
      try {
        await client.create(ManagedClusterSet, { ...head, spec }, write)
      } catch (caught) {
        if (!isApiError(caught, 'AlreadyExists')) throw caught
      }
    }
  }

  return {
    name: 'ocm-built-in-sets',
    enqueue,
    async run(signal) {
      const stop = sets.onChange(enqueue)
      signal.addEventListener('abort', enqueue, { once: true })
      try {
        await sets.whenSynced(signal)
        while (!signal.aborted) {
          changed = Promise.withResolvers<void>()
          try {
            await ensure(signal)
          } catch (caught) {
            if (signal.aborted) return
            log.warn({ err: toError(caught) }, 'the sets default and global could not be written')
            await clock.sleep(RETRY_MS, signal)
            continue
          }
          await changed.promise
        }
      } catch (caught) {
        if (!signal.aborted) throw caught
      } finally {
        stop()
      }
    },
  }
}
