// Tested by src/agent/bundles/handover/handover.contract.test.ts
/** Gives the objects of a bundle back to the system that had them before. */
import type { Clock } from '../../../core/time/clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Peer } from '../../../plan/handover/peers.ts'
import { managedFieldsWithout } from '../../../plan/handover/release-marks.ts'
import { restorePatch } from '../../../plan/handover/saved-fields.ts'
import type { ClusterState } from '../../cluster/cluster-state.ts'
import { MANAGED_LABEL } from '../../cluster/object-watches.ts'
import { loadInventory } from '../bundle-run.ts'
import type { BundleRun } from '../bundle-run.ts'
import type { HandoverObjects } from './handover-objects.ts'
import type { PeerCluster } from './peer-cluster.ts'

/** Ports of the way back. */
export interface GiveBackPorts {
  readonly peers: Pick<PeerCluster, 'patch'>
  readonly eachObject: HandoverObjects['eachObject']
  readonly state: Pick<ClusterState, 'writeInventory' | 'deleteInventory'>
  readonly clock: Clock
}

/** Creates the way back of a bundle. */
export function createGiveBack({ peers, eachObject, state, clock }: GiveBackPorts) {
  /**
   * Gives adopted objects back: the bundle owns no field of them any more, and has no record. `owners` has the UIDs of
   * the records that are still there.
   */
  return async function giveBack(
    run: BundleRun,
    { peer, owners }: { readonly peer: Peer; readonly owners: ReadonlySet<string> },
    signal: AbortSignal,
  ): Promise<void> {
    if (!run.inventory) return
    const all = [...run.records.values()]
    const adopted = all.filter((record) => record.adopted === true || record.uid === undefined)
    if (adopted.length === 0) return
    await eachObject(adopted, signal, (live) =>
      peers.patch(live, givenBack(live, run.manager, owners), signal, formerManager(live, peer)),
    )
    const kept = all.filter((record) => !adopted.includes(record))
    if (kept.length === 0) {
      await state.deleteInventory(run.entry.bundle)
      loadInventory(run, undefined)
      return
    }
    // The bundle created these objects: they stay its objects, and a new takeover begins anew.
    const operation = { kind: 'Install' as const, wave: 0, since: formatTime(clock.now()), isGivenBack: true }
    const inventory = { ...run.inventory, phase: 'Applying' as const, operation, objects: kept }
    await state.writeInventory(inventory)
    loadInventory(run, inventory)
  }
}

/** The patch of an object that goes back: without the bundle as a manager, and as it was before. */
function givenBack(live: UnknownObject, manager: string, owners: ReadonlySet<string>): object | undefined {
  const former = restorePatch(live, owners) as { metadata: object } | undefined
  const managedFields = managedFieldsWithout(live, manager)
  if (!managedFields) return former
  const { resourceVersion } = live.metadata
  const labels = { [MANAGED_LABEL]: null }
  return { ...former, metadata: { ...former?.metadata, resourceVersion, managedFields, labels } }
}

/** Restored fields are fields of the system's manager again; undefined when it has written no field by updates. */
function formerManager({ metadata }: UnknownObject, { managers }: Peer): string | undefined {
  return metadata.managedFields?.find(
    ({ manager, operation, subresource }) =>
      operation === 'Update' && subresource === undefined && managers.test(manager),
  )?.manager
}
