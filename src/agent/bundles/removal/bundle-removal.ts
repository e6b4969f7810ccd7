// Tested by src/agent/bundles/removal/removal.contract.test.ts
/** Removes one bundle for its tombstone: uninstall hooks, objects in reverse order, then the receipt. */
import { Waiting } from '../../../core/errors.ts'
import type { Logger } from '../../../core/log.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { BundleOptions } from '../../../kinds/fields/bundle-options.ts'
import { fullName } from '../../../plan/apply/dependencies.ts'
import { describeObject, objectKey } from '../../../plan/objects/object-id.ts'
import type { Tombstone } from '../../../wire/document/cluster-document.ts'
import { LIMITS } from '../../../wire/limits.ts'
import type { RemovalRow } from '../../../wire/link/frames.ts'
import type { ClusterState } from '../../cluster/cluster-state.ts'
import type { Appliers } from '../../cluster/executor-appliers.ts'
import type { Inventory } from '../../cluster/inventory.ts'
import { pruneObjects } from '../../cluster/prune.ts'
import type { Pruned } from '../../cluster/prune.ts'
import type { Content } from '../../documents/content.ts'
import type { Documents } from '../../documents/documents.ts'
import type { HubTime } from '../../link/hub-time.ts'
import type { PolicyLoop } from '../../policies/policy-loop.ts'
import { STEP_TIMING } from '../../timing.ts'
import type { BundleTable } from '../bundle-table.ts'
import type { PlanLoader } from '../plan-loader.ts'
import { truncateMessage } from '../report-row.ts'
import type { Receipts } from './receipts.ts'
import { createUninstallHooks } from './uninstall-hooks.ts'

/** Ports of a removal. */
export interface BundleRemovalPorts {
  readonly table: BundleTable
  readonly documents: Pick<Documents, 'current'>
  readonly appliers: Appliers
  readonly state: ClusterState
  readonly content: Content
  readonly plans: PlanLoader
  readonly clock: Clock
  readonly receipts: Receipts
  readonly hubTime: Pick<HubTime, 'now'>
  readonly log: Logger
  /** Maximum number of objects of a bundle that may be deleted at once. */
  readonly maxPrune: () => number | undefined
  /** Removes what the enforced policies of a bundle created. */
  readonly removeChecks: PolicyLoop['remove']
}

/**
 * What the removal has done so far. The inventory has it in the same write as the remaining objects, so that no object
 * is counted twice.
 */
export type RemovalProgress = NonNullable<Inventory['removed']>

/** Creates the removal of single bundles; it throws Waiting until the bundle is removed. */
export function createBundleRemoval(ports: BundleRemovalPorts) {
  const { table, documents, appliers, state, receipts, log } = ports
  const uninstallHooks = createUninstallHooks({ ...ports, onWrite: table.keepFormer })

  /** Deletes the records of a bundle that has its receipt; the inventory last, because it names the other records. */
  async function forget(bundle: string): Promise<void> {
    await state.deleteFrozen(bundle)
    await state.deleteInventory(bundle)
    table.dropFormer(bundle)
  }

  async function removeUnrecorded({ bundle, generation }: Tombstone): Promise<void> {
    table.dropFormer(bundle)
    // Rendering freezes random values before the first record of the inventory.
    await state.deleteFrozen(bundle)
    const message = 'the cluster has no record of this bundle'
    await receipts.note({ bundle, generation, state: 'Removed', message, ...timeNow() }, true)
  }

  async function remove(tombstone: Tombstone, signal: AbortSignal): Promise<void> {
    const { bundle, generation, policy, cause } = tombstone
    let inventory = await state.readInventory(bundle, signal)
    if (!inventory) return removeUnrecorded(tombstone)
    if (inventory.generation > generation) {
      const here = `the cluster has generation ${inventory.generation}, newer than the removal of generation ${generation}`
      throw new Waiting('Later', here, STEP_TIMING.removalRetryMs)
    }
    const keepsAll = policy === 'Orphan' && cause === undefined
    if (!keepsAll) waitForDependent(bundle)
    const { options = {} } = inventory
    const applier = appliers.as(options.executor)
    const rules = deletionRules(tombstone, options)
    // A bundle whose objects stay runs no uninstall hooks.
    const isUninstalled = !keepsAll && rules.delete?.[cause ?? 'bundleDeleted'] !== 'Orphan'
    if (isUninstalled) inventory = await uninstallHooks.before({ inventory, generation, applier }, signal)
    const pruned = keepsAll
      ? orphanAll(inventory)
      : await pruneObjects(
          {
            bundle,
            objects: inventory.objects,
            options: rules,
            cause: cause ?? 'bundleDeleted',
            isHealthy: true,
            maxPrune: ports.maxPrune(),
            applier,
            wanted: table.wantedElsewhere,
            log,
          },
          signal,
        )
    const { rest, progress } = afterPrune(inventory, pruned, { generation, keepsAll })
    if (rest.length > 0) {
      const message = pruned.waits ?? pruned.held ?? 'waiting until another bundle owns the remaining objects'
      const next = { ...inventory, objects: rest, removed: progress }
      if (rest.length < inventory.objects.length) await state.writeInventory(next)
      table.keepFormer(next)
      throw new Waiting('Removing', message, STEP_TIMING.removalRetryMs)
    }
    await ports.removeChecks({ bundle, executor: options.executor, keeps: !isUninstalled }, signal)
    if (isUninstalled) await uninstallHooks.after({ inventory, generation, applier }, signal, progress)
    const { deleted, left, leftTotal } = progress
    const removedAs = deleted === 0 && leftTotal > 0 ? 'Orphaned' : 'Removed'
    // The receipt comes first: a crash after the deletion of the inventory would lose what was left in place.
    await receipts.note({ bundle, generation, state: removedAs, deleted, left, leftTotal, ...timeNow() }, true)
    await forget(bundle)
    log.info({ bundle, generation, policy, deleted, left: leftTotal }, 'bundle removed')
  }

  function timeNow(): Pick<RemovalRow, 'at'> {
    const now = ports.hubTime.now()
    return now === undefined ? {} : { at: formatTime(now) }
  }

  function waitForDependent(bundle: string): void {
    const dependent = [...table.former().values()].find(({ bundle: other, options }) =>
      options?.dependsOn?.some((dependency) => fullName(other, dependency.bundle) === bundle),
    )
    if (dependent && isTombstoned(dependent.bundle)) {
      const message = `bundle ${dependent.bundle} depends on ${bundle} and is removed first`
      throw new Waiting('Dependent', message, STEP_TIMING.removalRetryMs)
    }
  }

  function isTombstoned(bundle: string): boolean {
    return documents.current()?.document.content.tombstones.some((tombstone) => tombstone.bundle === bundle) ?? false
  }

  return { remove, forget }
}

/** The progress of a removal of this generation, as the inventory has it. */
export function removalProgress(inventory: Inventory | undefined, generation: number): RemovalProgress {
  const known = inventory?.removed?.generation === generation ? inventory.removed : undefined
  return known ?? { generation, deleted: 0, left: [], leftTotal: 0 }
}

function afterPrune(
  inventory: Inventory,
  { forgotten, released }: Pruned,
  { generation, keepsAll }: { readonly generation: number; readonly keepsAll: boolean },
) {
  const gone = new Set(forgotten)
  const rest = keepsAll ? [] : inventory.objects.filter((object) => !gone.has(objectKey(object)))
  const before = removalProgress(inventory, generation)
  const left = released.map(({ object, why }) => truncateMessage(`${describeObject(object)}: ${why}`))
  const progress: RemovalProgress = {
    generation,
    deleted: before.deleted + inventory.objects.length - rest.length - left.length,
    left: [...new Set([...before.left, ...left])].slice(0, LIMITS.rowDetails),
    leftTotal: before.leftTotal + left.length,
  }
  return { rest, progress }
}

/**
 * The deletion rules of a removal. Without a cause, a user decided for exactly this removal, and only the rules of
 * single objects apply. A policy of Orphan in the tombstone applies also where the cluster does not have that option
 * yet.
 */
function deletionRules({ policy, cause }: Tombstone, options: BundleOptions): BundleOptions {
  const key = cause ?? 'bundleDeleted'
  const rule = cause === undefined ? 'Delete' : policy === 'Orphan' ? 'Orphan' : options.delete?.[key]
  return rule === undefined ? options : { ...options, delete: { ...options.delete, [key]: rule } }
}

function orphanAll({ objects }: Inventory): Pruned {
  return {
    forgotten: objects.map(objectKey),
    released: objects.map((object) => ({ object, why: 'the removal keeps all objects of the bundle' })),
  }
}
