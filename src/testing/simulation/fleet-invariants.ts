/**
 * What must hold in a fleet after every write (design: I-04, I-08, I-11, I-24), read from the stores themselves, and
 * what must hold when everything has come to rest (I-12, I-14).
 */
import assert from 'node:assert/strict'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { ConfigMap, Secret } from '../../kinds/builtin/core.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { Kind, ObjectOfKind } from '../../kinds/define-kind.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import type { Store } from '../../store/store.ts'

/** All objects of a kind, read from the store without waiting. */
export async function listStored<K extends Kind>(store: Store, kind: K): Promise<ObjectOfKind<K>[]> {
  const { entries } = await store.list({ prefix: storePrefix(kind) })
  return entries.map(({ value }) => JSON.parse(value) as ObjectOfKind<K>)
}

/**
 * What an agent has recorded of bundles in its own namespace, by name: inventories, their pages, and what charts drew.
 */
export async function recordedIn(store: Store): Promise<string[]> {
  const objects = [...(await listStored(store, ConfigMap)), ...(await listStored(store, Secret))]
  const roles = new Set(['inventory', 'page', 'frozen'])
  return objects
    .filter(({ metadata }) => roles.has(metadata.labels?.['flotilla.dev/agent-state'] ?? ''))
    .map(({ metadata }) => metadata.name)
}

/** Whether the hub calls a cluster offline. */
export function isOffline({ status }: Cluster): boolean {
  return status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'False') ?? false
}

/** A question to a store that is asked again only when something was written. */
export function recheckOnWrite(store: Store, holds: () => Promise<boolean>): () => Promise<boolean> {
  let asked = -1
  return async () => {
    if (store.revision() === asked) return false
    asked = store.revision()
    return holds()
  }
}

/** Follows a hub's store and collects every broken promise. */
export interface FleetWatch {
  /** Throws the first violation, if there was one. */
  check(): void
  readonly violations: readonly string[]
  /** How many changes were looked at: a watch that saw nothing proves nothing. */
  seen(): number
  /** The most clusters that held a slot of one Rollout at once. */
  mostInFlight(): number
}

/** Starts watching; it sees every change, also between two looks of a scenario. */
export function watchFleet(store: Store, signal: AbortSignal): FleetWatch {
  const violations: string[] = []
  let seen = 0
  let mostInFlight = 0
  /** The last receipt of each cluster and bundle; reports are stored before documents follow from them. */
  const receipts = new Map<string, { readonly generation: number; readonly revision: number }>()

  const follow = async (kind: Kind, look: (before: unknown, after: unknown) => void): Promise<void> => {
    for await (const { previous, value } of store.watch(storePrefix(kind), 0, signal)) {
      seen += 1
      look(previous && JSON.parse(previous), value && JSON.parse(value))
    }
  }
  const violated = (what: string): void => void violations.push(what)

  const onRollout = (_before: unknown, after: unknown): void => {
    const rollout = after as Rollout | undefined
    for (const ring of rollout?.spec.rings ?? []) {
      const mine = (rollout?.status?.admissions ?? []).filter((admission) => admission.ring === ring.name)
      const failed = mine.filter(({ failedAt }) => failedAt !== undefined).length
      // Who failed keeps its record, and its slot unless the ring tolerates it.
      const inFlight = mine.length - Math.min(failed, typeof ring.maxFailed === 'number' ? ring.maxFailed : 0)
      mostInFlight = Math.max(mostInFlight, inFlight)
      if (typeof ring.concurrency === 'number' && inFlight > ring.concurrency) {
        violated(
          `I-04: ${inFlight} clusters in flight in ring ${ring.name} of ${rollout!.metadata.name}, ${ring.concurrency} allowed`,
        )
      }
    }
  }
  const onAssignment = (before: unknown, after: unknown): void => {
    const [was, is] = [before as Assignment | undefined, after as Assignment | undefined]
    if (!is) return violated(`I-08: the Assignment of ${was?.metadata.name} was deleted`)
    if (!was) return
    if (is.spec.revision < was.spec.revision)
      violated(`I-11: ${is.metadata.name} went back to revision ${is.spec.revision}`)
    if (is.spec.revision === was.spec.revision && is.spec.document !== was.spec.document) {
      violated(`I-24: ${is.metadata.name} has two documents of revision ${is.spec.revision}`)
    }
    for (const { bundle, generation } of was.spec.entries) {
      const isBuried = is.spec.tombstones?.some((one) => one.bundle === bundle && one.generation >= generation)
      if (!isBuried && !is.spec.entries.some((entry) => entry.bundle === bundle))
        violated(`I-08: ${bundle} vanished from ${is.metadata.name}`)
    }
    for (const grave of was.spec.tombstones ?? []) {
      const { bundle, generation, since } = grave
      if (is.spec.tombstones?.some((one) => one.bundle === bundle && one.generation >= generation)) continue
      if (is.spec.entries.some((entry) => entry.bundle === bundle && entry.generation > generation)) continue
      const receipt = receipts.get(`${is.metadata.name} ${bundle}`)
      if (!receipt || receipt.generation < generation || receipt.revision < since) {
        violated(`I-08: the tombstone of ${bundle} left ${is.metadata.name} without a receipt`)
      }
    }
  }
  const onReport = (before: unknown, after: unknown): void => {
    const [was, is] = [before as ClusterReport | undefined, after as ClusterReport | undefined]
    for (const { bundle, generation, state } of is?.spec.removals ?? []) {
      if (state !== 'Removed' && state !== 'Orphaned') continue
      receipts.set(`${is!.metadata.name} ${bundle}`, { generation, revision: is!.spec.revision })
    }
    if (was && is && is.spec.epoch === was.spec.epoch && is.spec.revision < was.spec.revision) {
      violated(`I-11: the report of ${is.metadata.name} went back from ${was.spec.revision} to ${is.spec.revision}`)
    }
  }
  for (const [kind, look] of [
    [Rollout, onRollout],
    [Assignment, onAssignment],
    [ClusterReport, onReport],
  ] as const) {
    follow(kind, look).catch((error: unknown) => {
      if (!signal.aborted) violated(`the watch on ${kind.plural} failed: ${String(error)}`)
    })
  }
  return {
    violations,
    seen: () => seen,
    mostInFlight: () => mostInFlight,
    check: () => assert.deepEqual(violations, []),
  }
}
