/** How bundles leave a cluster: for their tombstones, and for nothing else. */
import type { Clock } from '../../../core/time/clock.ts'
import { toError, Waiting } from '../../../core/errors.ts'
import type { Logger } from '../../../core/log.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import { fullName } from '../../../plan/apply/dependencies.ts'
import { describeObject, objectKey } from '../../../plan/objects/object-id.ts'
import type { WindowDecision, WindowSubject } from '../../../plan/windows/window.ts'
import type { ClusterDocument, Tombstone } from '../../../wire/document/cluster-document.ts'
import type { RemovalRow } from '../../../wire/link/frames.ts'
import { LIMITS } from '../../../wire/limits.ts'
import { ObjectFailure } from '../../cluster/applier.ts'
import type { Applier } from '../../cluster/applier.ts'
import type { Appliers } from '../../cluster/executor-appliers.ts'
import type { ClusterState, Inventory } from '../../cluster/cluster-state.ts'
import { truncateMessage } from '../report-row.ts'
import type { Content } from '../../documents/content.ts'
import type { Documents } from '../../documents/documents.ts'
import { createUninstallHooks } from './uninstall-hooks.ts'
import type { HubTime } from '../../link/hub-time.ts'
import { rowOfFailure } from '../outcome.ts'
import type { PlanLoader } from '../plan-loader.ts'
import { pruneObjects } from '../../cluster/prune.ts'
import type { Pruned } from '../../cluster/prune.ts'
import type { Receipts } from './receipts.ts'
import type { BundleTable } from '../bundle-table.ts'

/** What removing needs. */
export interface RemovalPorts {
  readonly bundles: BundleTable
  readonly documents: Pick<Documents, 'current'>
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly content: Content
  readonly plans: PlanLoader
  readonly clock: Clock
  readonly windowsNow: (subject: WindowSubject) => WindowDecision
  readonly receipts: Receipts
  readonly hubTime: Pick<HubTime, 'now'>
  readonly log: Logger
  /** The most objects of one bundle that the cluster lets be deleted at once. */
  readonly maxPrune: () => number | undefined
}

const AGAIN_MS = 1000

/** What has become of a bundle's objects so far: in the same write as those that are still to go, so that nothing is counted twice. */
type SoFar = NonNullable<Inventory['removed']>

/** Makes it. */
export function createRemoval(ports: RemovalPorts) {
  const { bundles, documents, appliers, state, windowsNow, receipts, log } = ports
  const { slots } = bundles
  const farewell = createUninstallHooks({ ...ports, onWrite: bundles.keepFormer })
  const warned = new Map<string, string>()

  /** Tombstones: the only way a bundle leaves a cluster. Returns how many are not done. */
  async function bury(document: ClusterDocument, signal: AbortSignal): Promise<number> {
    let left = await tidy(signal)
    for (const tombstone of document.content.tombstones) {
      if (hasReceipt(tombstone) || slots.has(tombstone.bundle)) continue
      const windows = windowsNow(tombstone)
      try {
        if (windows.kind === 'Closed') throw new Waiting('WindowClosed', windows.message, AGAIN_MS)
        await remove(tombstone, signal)
        warned.delete(tombstone.bundle)
      } catch (caught) {
        if (signal.aborted) throw caught
        left += 1
        // It stays in the document until it is done, so the next round tries again; the other bundles go on.
        if (caught instanceof ObjectFailure) warn(tombstone.bundle, caught.message)
        log.debug({ err: toError(caught), bundle: tombstone.bundle }, 'bundle could not be removed yet')
        const isRefused = rowOfFailure(caught)?.state === 'Failed'
        const message = truncateMessage(rowOfFailure(caught)?.message ?? toError(caught).message)
        const row = rowFor(tombstone, isRefused ? 'Failed' : 'Removing', { message })
        if (!hasReceipt(tombstone)) await receipts.note(row, false)
      }
    }
    return left
  }

  /**
   * A receipt beside an inventory: a crash, or an answer that was lost, came between the two. The hub may have heard of the receipt and have no
   * tombstone any more, so this asks for none. Returns how many could not be forgotten now.
   */
  async function tidy(signal: AbortSignal): Promise<number> {
    let left = 0
    for (const inventory of bundles.former().values()) {
      if (slots.has(inventory.bundle) || !hasReceipt(inventory)) continue
      await forget(inventory.bundle).catch((caught: unknown) => {
        if (signal.aborted) throw caught
        left += 1
        log.debug(
          { err: toError(caught), bundle: inventory.bundle },
          'what was recorded of it could not be deleted yet',
        )
      })
    }
    return left
  }

  /** Deletes what was recorded of a bundle that has its receipt; the inventory last, for it tells that there is something to delete. */
  async function forget(bundle: string): Promise<void> {
    await state.deleteFrozen(bundle)
    await state.deleteInventory(bundle)
    bundles.dropFormer(bundle)
  }

  // Once, not in every round.
  function warn(bundle: string, message: string): void {
    if (warned.get(bundle) === message) return
    warned.set(bundle, message)
    log.warn({ bundle }, `bundle cannot be removed: ${message}`)
  }

  function hasReceipt({ bundle, generation }: Pick<Tombstone, 'bundle' | 'generation'>): boolean {
    const row = receipts.of(bundle)
    return row !== undefined && row.generation >= generation && isReceipt(row)
  }

  /** A row that keeps what is known of the removal so far. */
  function rowFor({ bundle, generation }: Tombstone, is: RemovalRow['state'], more: Partial<RemovalRow>): RemovalRow {
    const { deleted, left, leftTotal } = soFar(bundles.former().get(bundle), generation)
    const counts = deleted + leftTotal > 0 ? { deleted, left, leftTotal } : {}
    return { bundle, generation, state: is, ...counts, ...more }
  }

  function soFar(inventory: Inventory | undefined, generation: number): SoFar {
    const known = inventory?.removed?.generation === generation ? inventory.removed : undefined
    return known ?? { generation, deleted: 0, left: [], leftTotal: 0 }
  }

  async function remove(tombstone: Tombstone, signal: AbortSignal): Promise<void> {
    const { bundle, generation, policy, cause } = tombstone
    let inventory = await state.readInventory(bundle, signal)
    if (!inventory) {
      bundles.dropFormer(bundle)
      // What is rendered here is drawn before anything is recorded.
      await state.deleteFrozen(bundle)
      const message = 'nothing of it was recorded here'
      return receipts.note({ bundle, generation, state: 'Removed', message, ...timeNow() }, true)
    }
    if (inventory.generation > generation) {
      const here = `the cluster has generation ${inventory.generation}, later than the removal of ${generation}`
      throw new Waiting('Later', here, AGAIN_MS)
    }
    const keepsAll = policy === 'Orphan' && cause === undefined
    if (!keepsAll) refuseBeforeDependent(bundle)
    const { options = {} } = inventory
    const applier = appliers.as(options.executor)
    const rules = rulesFor(tombstone, options)
    // What keeps its objects is not ended.
    const isEnded = !keepsAll && rules.delete?.[cause ?? 'bundleDeleted'] !== 'Orphan'
    if (isEnded) inventory = await farewell.before({ inventory, generation, applier }, signal)
    const pruned = keepsAll ? keepAll(inventory) : await prune(tombstone, inventory, { applier, rules, signal })
    const gone = new Set(pruned.forgotten)
    const rest = keepsAll ? [] : inventory.objects.filter((object) => !gone.has(objectKey(object)))
    const before = soFar(inventory, generation)
    const released = pruned.released.map(({ object, why }) => truncateMessage(`${describeObject(object)}: ${why}`))
    const counts: SoFar = {
      generation,
      deleted: before.deleted + inventory.objects.length - rest.length - released.length,
      left: [...new Set([...before.left, ...released])].slice(0, LIMITS.rowDetails),
      leftTotal: before.leftTotal + released.length,
    }
    if (rest.length > 0) {
      const message = pruned.waits ?? pruned.held ?? 'its objects move to another bundle'
      const less = { ...inventory, objects: rest, removed: counts }
      if (rest.length < inventory.objects.length) await state.writeInventory(less)
      bundles.keepFormer(less)
      throw new Waiting('Removing', message, AGAIN_MS)
    }
    if (isEnded) await farewell.after({ inventory, generation, applier }, signal, counts)
    const is = counts.deleted === 0 && counts.leftTotal > 0 ? 'Orphaned' : 'Removed'
    // First the receipt: without it a crash would forget what was left.
    const { deleted, left, leftTotal } = counts
    await receipts.note({ bundle, generation, state: is, deleted, left, leftTotal, ...timeNow() }, true)
    await forget(bundle)
    log.info({ bundle, generation, policy, deleted, left: leftTotal }, 'bundle removed')
  }

  function timeNow(): Pick<RemovalRow, 'at'> {
    const now = ports.hubTime.now()
    return now === undefined ? {} : { at: formatTime(now) }
  }

  function refuseBeforeDependent(bundle: string): void {
    const dependent = [...bundles.former().values()].find(({ bundle: other, options }) =>
      options?.dependsOn?.some((dependency) => fullName(other, dependency.bundle) === bundle),
    )
    if (dependent && isBuried(dependent.bundle)) {
      throw new Waiting('Dependent', `bundle ${dependent.bundle} depends on ${bundle} and goes first`, AGAIN_MS)
    }
  }

  async function prune(
    { bundle, cause }: Tombstone,
    { objects }: Inventory,
    how: { readonly applier: Applier; readonly rules: BundleOptions; readonly signal: AbortSignal },
  ): Promise<Pruned> {
    return pruneObjects(
      {
        bundle,
        objects,
        options: how.rules,
        cause: cause ?? 'bundleDeleted',
        isHealthy: true,
        ceiling: ports.maxPrune(),
        applier: how.applier,
        wanted: bundles.wantedElsewhere,
        log,
      },
      how.signal,
    )
  }

  function isBuried(bundle: string): boolean {
    return documents.current()?.document.content.tombstones.some((tombstone) => tombstone.bundle === bundle) ?? false
  }

  return { bury, tidy }
}

/**
 * The rules that count. Without a cause somebody decided for this very removal: then only rules about single objects do. A Bundle that says
 * Orphan by now is heard, also where the cluster has not got that word yet.
 */
function rulesFor({ policy, cause }: Tombstone, options: BundleOptions): BundleOptions {
  const why = cause ?? 'bundleDeleted'
  const said = cause === undefined ? 'Delete' : policy === 'Orphan' ? 'Orphan' : options.delete?.[why]
  return said === undefined ? options : { ...options, delete: { ...options.delete, [why]: said } }
}

function isReceipt({ state }: RemovalRow): boolean {
  return state === 'Removed' || state === 'Orphaned'
}

function keepAll({ objects }: Inventory): Pruned {
  return {
    forgotten: objects.map(objectKey),
    released: objects.map((object) => ({ object, why: 'everything of the bundle is kept' })),
  }
}
