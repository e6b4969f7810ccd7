/** How bundles leave a cluster: for their tombstones, and for nothing else. */
import type { Clock } from '../core/clock.ts'
import { toError, Waiting } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { fullName } from '../plan/dependencies.ts'
import { objectKey } from '../plan/object-id.ts'
import type { WindowDecision } from '../plan/window.ts'
import type { ClusterDocument, Tombstone } from '../wire/document.ts'
import { LIMITS } from '../wire/limits.ts'
import { ObjectFailure } from './applier.ts'
import type { Appliers } from './appliers.ts'
import type { ClusterState, Inventory } from './cluster-state.ts'
import type { Content } from './content.ts'
import type { Documents } from './documents.ts'
import { createFarewell } from './farewell.ts'
import { pruneObjects } from './prune.ts'
import type { Slots } from './slots.ts'

/** What removing needs. */
export interface RemovalPorts {
  readonly bundles: Slots
  readonly documents: Pick<Documents, 'current'>
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly content: Content
  readonly clock: Clock
  readonly windowsNow: (bundle: string) => WindowDecision
  readonly log: Logger
  /** The most objects of one bundle that the cluster lets be deleted at once. */
  readonly maxPrune?: number | undefined
}

const AGAIN_MS = 1000

/** Makes it. */
export function createRemoval(ports: RemovalPorts) {
  const { bundles, documents, appliers, state, windowsNow, log } = ports
  const { slots } = bundles
  const farewell = createFarewell({ ...ports, onWrite: bundles.keepFormer })
  let removed = new Set<string>()
  const warned = new Map<string, string>()

  /** Tombstones: the only way a bundle leaves a cluster. */
  async function bury(document: ClusterDocument, signal: AbortSignal): Promise<number> {
    let left = 0
    for (const tombstone of document.content.tombstones) {
      const id = `${tombstone.bundle}@${tombstone.generation}`
      if (removed.has(id) || slots.has(tombstone.bundle)) continue
      if (windowsNow(tombstone.bundle).kind === 'Closed') {
        left += 1
        continue
      }
      try {
        await remove(tombstone, signal)
        removed.add(id)
        warned.delete(tombstone.bundle)
      } catch (caught) {
        left += 1
        // It stays in the document until it is done, so the next round tries again; the other bundles go on.
        if (caught instanceof ObjectFailure) warn(tombstone.bundle, caught.message)
        log.debug({ err: toError(caught), bundle: tombstone.bundle }, 'bundle could not be removed yet')
      }
    }
    removed = new Set([...removed].slice(-2 * LIMITS.bundles))
    return left
  }

  // Once, not in every round.
  function warn(bundle: string, message: string): void {
    if (warned.get(bundle) === message) return
    warned.set(bundle, message)
    log.warn({ bundle }, `bundle cannot be removed: ${message}`)
  }

  async function remove(tombstone: Tombstone, signal: AbortSignal): Promise<void> {
    const { bundle, generation, policy, cause } = tombstone
    let inventory = await state.readInventory(bundle, signal)
    if (!inventory || inventory.generation > generation) return
    const dependent = [...bundles.former().values()].find(({ bundle: other, options }) =>
      options?.dependsOn?.some((dependency) => fullName(other, dependency.bundle) === bundle),
    )
    if (dependent && policy === 'Delete' && isBuried(dependent.bundle)) {
      throw new Waiting('Dependent', `bundle ${dependent.bundle} depends on ${bundle} and goes first`, AGAIN_MS)
    }
    if (policy === 'Delete') {
      const options = inventory.options ?? {}
      const applier = appliers.as(options.executor)
      // What keeps its objects is not ended.
      const isKept = cause !== undefined && options.delete?.[cause] === 'Orphan'
      if (!isKept) inventory = await farewell.before({ inventory, generation, applier }, signal)
      const pruned = await pruneObjects(
        {
          bundle,
          objects: inventory.objects,
          // Without a cause somebody decided for this very removal; then only rules about single objects count.
          options: cause ? options : { ...options, delete: { ...options.delete, bundleDeleted: 'Delete' } },
          cause: cause ?? 'bundleDeleted',
          isHealthy: true,
          ceiling: ports.maxPrune,
          applier,
          wanted: bundles.wantedElsewhere,
          log,
        },
        signal,
      )
      const left = await leftOf(inventory, pruned.forgotten, signal)
      if (left.length > 0) {
        const rest = { ...inventory, objects: left }
        if (left.length < inventory.objects.length) await state.writeInventory(rest)
        bundles.keepFormer(rest)
        throw new Waiting('Removing', pruned.waits ?? 'its objects move to another bundle', AGAIN_MS)
      }
      if (!isKept) inventory = await farewell.after({ inventory, generation, applier }, signal)
    }
    await state.deleteInventory(bundle)
    bundles.dropFormer(bundle)
    log.info({ bundle, generation, policy, objects: inventory.objects.length }, 'bundle removed')
  }

  /** What a bundle that leaves still has: what is not gone, and what another one wants and has not taken over yet. */
  async function leftOf(inventory: Inventory, forgotten: readonly string[], signal: AbortSignal) {
    const gone = new Set(forgotten)
    const wanted = await bundles.wantedElsewhere(inventory.bundle, signal)
    const taken = new Set([...slots.values()].flatMap(({ run }) => (run.inventory?.objects ?? []).map(objectKey)))
    return inventory.objects.filter((object) => {
      const key = objectKey(object)
      return !gone.has(key) || (wanted.has(key) && !taken.has(key))
    })
  }

  function isBuried(bundle: string): boolean {
    return documents.current()?.document.content.tombstones.some((tombstone) => tombstone.bundle === bundle) ?? false
  }

  return { bury }
}
