// Tested by src/agent/bundles/handover/handover.contract.test.ts
/** The objects that a handover is about. */
import type { Discovery } from '../../../client/discovery.ts'
import { inParallel } from '../../../core/async/in-parallel.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { wantedKeys } from '../../../plan/handover/peer-records.ts'
import type { NamedObject } from '../../../plan/handover/peer-records.ts'
import type { ObjectId } from '../../../plan/objects/object-id.ts'
import { objectAddress } from '../../cluster/object-address.ts'
import type { BundleTable } from '../bundle-table.ts'
import type { PlanLoader } from '../plan-loader.ts'
import type { PeerCluster } from './peer-cluster.ts'

/** Ports of the objects. */
export interface HandoverObjectPorts {
  readonly peers: Pick<PeerCluster, 'get'>
  readonly table: Pick<BundleTable, 'tracked'>
  readonly plans: Pick<PlanLoader, 'upToDate'>
  readonly discovery: Discovery
}

const AT_ONCE = 8

/** Creates the access to the objects. */
export function createHandoverObjects({ peers, table, plans, discovery }: HandoverObjectPorts) {
  /** All objects that the bundles of the document write. */
  async function wantedByBundles(
    signal: AbortSignal,
  ): Promise<{ readonly objects: readonly ObjectId[]; readonly keys: ReadonlySet<string> }> {
    const objects: ObjectId[] = []
    for (const { run } of table.tracked.values()) {
      const { plan } = await plans.upToDate(run, signal)
      objects.push(...plan.objects.filter(({ options }) => options.method !== 'ReadOnly'))
    }
    const named: NamedObject[] = []
    for (const id of objects) {
      const type = await discovery.typeOf(id.apiVersion, id.kind, signal)
      // Without the kind there is no object, and no record lists one.
      if (type) named.push({ group: type.group, kind: type.kind, plural: type.plural, ...objectAddress(type, id) })
    }
    return { objects, keys: wantedKeys(named) }
  }

  async function eachObject(
    objects: readonly (ObjectId & { readonly uid?: string })[],
    signal: AbortSignal,
    act: (live: UnknownObject) => Promise<unknown>,
  ): Promise<void> {
    await inParallel(objects, AT_ONCE, async (id) => {
      const live = await peers.get(id, signal)
      if (live && (id.uid === undefined || id.uid === live.metadata.uid)) await act(live)
    })
  }

  return { wantedByBundles, eachObject }
}

/** The objects that a handover is about. */
export type HandoverObjects = ReturnType<typeof createHandoverObjects>
