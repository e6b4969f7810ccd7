// Tested by src/agent/bundles/handover/handover.contract.test.ts
/** What each step of a handover does in the cluster, and how far it is. Each may be repeated at any time. */
import { nameSome, plural } from '../../../core/text/name-some.ts'
import { readComparison } from '../../../plan/handover/comparison.ts'
import type { HandoverRule } from '../../../plan/handover/handover-rule.ts'
import { describeListed, unwantedObjects } from '../../../plan/handover/peer-records.ts'
import type { PeerRecord } from '../../../plan/handover/peer-records.ts'
import type { Peer } from '../../../plan/handover/peers.ts'
import { ownerReferencesWithout, releaseMarksPatch } from '../../../plan/handover/release-marks.ts'
import type { ReportedHandover } from '../../../wire/link/frames.ts'
import type { ClusterState } from '../../cluster/cluster-state.ts'
import { loadInventory } from '../bundle-run.ts'
import type { TrackedBundle } from '../bundle-table.ts'
import { createGiveBack } from './give-back.ts'
import type { GiveBackPorts } from './give-back.ts'
import { createHandoverObjects } from './handover-objects.ts'
import type { HandoverObjectPorts } from './handover-objects.ts'
import type { PeerCluster } from './peer-cluster.ts'

/** Ports of the steps. */
export interface HandoverStepPorts extends HandoverObjectPorts, Omit<GiveBackPorts, 'eachObject' | 'state'> {
  readonly peers: PeerCluster
  readonly state: Pick<ClusterState, 'readInventory' | 'writeInventory' | 'deleteInventory'>
}

/** How far a step is. */
export type HandoverOutcome = Omit<ReportedHandover, 'from' | 'step' | 'since'>
type Outcome = HandoverOutcome

const LEFT_SHOWN = 20
const NAME_CHARS = 300

/** Creates the steps. */
export function createHandoverSteps(ports: HandoverStepPorts) {
  const { peers, table } = ports
  const { wantedByBundles, eachObject } = createHandoverObjects(ports)
  const giveBack = createGiveBack({ ...ports, eachObject })

  async function compared(rule: HandoverRule, peer: Peer, signal: AbortSignal): Promise<Outcome> {
    const all = [...table.tracked.values()]
    const open = all.find(({ row }) => readComparison(row.message) === undefined)
    if (open) {
      const { row, run } = open
      const why = row.message === undefined ? 'not compared yet' : row.message
      return { state: row.state === 'Failed' ? 'Failed' : 'Working', message: `${run.entry.bundle}: ${why}` }
    }
    const { records } = await peers.records(rule.from, peer, signal)
    const { keys } = await wantedByBundles(signal)
    const found = all.flatMap(({ row }) => readComparison(row.message) ?? [])
    const objects = found.reduce((sum, one) => sum + one.objects, 0)
    const differing = found.reduce((sum, one) => sum + one.differing, 0)
    const message = `${plural(objects, 'object')} of ${plural(all.length, 'Bundle')} compared, ${differing === 0 ? 'no differences' : `${differing} with differences`}`
    return { state: 'Complete', message, objects, differing, ...leftOf(records, keys) }
  }

  /** `isFree`: the peer is stopped and its records are disarmed, so bundles may take over. */
  async function take(
    rule: HandoverRule,
    peer: Peer,
    signal: AbortSignal,
  ): Promise<{ readonly isFree: boolean; readonly outcome: Outcome }> {
    const waiting = (outcome: Outcome) => ({ isFree: false, outcome })
    const { records, otherCluster } = await peers.records(rule.from, peer, signal)
    if (!rule.peerStopped) {
      const todo = `stop ${peer.title} for this cluster yourself, then state so with --peer-stopped`
      if (otherCluster !== undefined) return waiting({ state: 'Failed', message: `${otherCluster}; ${todo}` })
      const { found, waitsFor } = await peers.stop(peer, signal)
      if (waitsFor !== undefined) return waiting({ state: 'Working', message: waitsFor })
      if (found === 0) {
        return waiting({ state: 'Failed', message: `the cluster has no controllers of ${peer.title}; ${todo}` })
      }
    }
    const wanted = await wantedByBundles(signal)
    // A record that is being deleted goes with its last finalizer, and the objects that have it as owner go with it.
    await eachObject(wanted.objects, signal, async (live) => {
      const value = ownerReferencesWithout(live, peer)
      if (value) await peers.change(live, [{ path: ['metadata', 'ownerReferences'], value }], signal)
    })
    for (const record of records) if (isCovered(record, wanted.keys)) await peers.disarm(record, signal)
    return { isFree: true, outcome: { ...takenOver(), ...leftOf(records, wanted.keys) } }
  }

  function takenOver(): Outcome {
    const all = [...table.tracked.values()]
    const open = all.filter((bundle) => !isTakenOver(bundle))
    const failed = open.find(({ row, run }) => row.state === 'Failed' && run.handoverHold === undefined)
    if (failed) return { state: 'Failed', message: `${failed.run.entry.bundle}: ${failed.row.message ?? 'failed'}` }
    if (open.length > 0) {
      const names = nameSome(open.map(({ run }) => run.entry.bundle))
      return { state: 'Working', message: `${plural(open.length, 'Bundle')} not taken over yet: ${names}` }
    }
    return { state: 'Complete', message: `${plural(all.length, 'Bundle')} taken over` }
  }

  async function finish(rule: HandoverRule, peer: Peer, signal: AbortSignal): Promise<Outcome> {
    const before = takenOver()
    if (before.state !== 'Complete') return before
    for (const { run } of table.tracked.values()) {
      const adopted = [...run.records.values()].filter((record) => record.adopted)
      await eachObject(adopted, signal, (live) => peers.patch(live, releaseMarksPatch(live, peer, run.manager), signal))
    }
    const { records } = await peers.records(rule.from, peer, signal)
    const { keys } = await wantedByBundles(signal)
    for (const record of records) if (isCovered(record, keys)) await peers.finish(record, signal)
    return { state: 'Complete', message: `the marks of ${peer.title} are removed`, ...leftOf(records, keys) }
  }

  async function undo(rule: HandoverRule, peer: Peer, signal: AbortSignal): Promise<Outcome> {
    const all = [...table.tracked.values()]
    for (const { run } of all) {
      // A step that fails, for example where the ceiling refuses the bundle, makes its inventory unread again.
      if (!run.inventoryRead) loadInventory(run, await ports.state.readInventory(run.entry.bundle, signal))
    }
    const { records } = await peers.records(rule.from, peer, signal)
    const present = records.filter(({ object }) => object.metadata.deletionTimestamp === undefined)
    const owners = new Set(present.flatMap(({ object }) => object.metadata.uid ?? []))
    for (const { run } of all) await giveBack(run, { peer, owners }, signal)
    // A record that is being deleted gets no finalizer any more.
    for (const record of present) await peers.restore(record, signal)
    await peers.start(peer, signal)
    return { state: 'Complete', message: `${peer.title} manages the cluster again` }
  }

  return { compared, take, takenOver, finish, undo }
}

function isTakenOver({ run: { inventory, entry, handoverHold } }: TrackedBundle): boolean {
  const isCurrent = inventory?.generation === entry.generation && inventory.set === entry.set
  return isCurrent && inventory.phase !== 'Applying' && handoverHold === undefined
}

/** True when bundles have all objects of a record. A record that lists nothing is left alone. */
function isCovered({ lists }: PeerRecord, keys: ReadonlySet<string>): boolean {
  return lists.length > 0 && unwantedObjects(lists, keys).length === 0
}

function leftOf(records: readonly PeerRecord[], keys: ReadonlySet<string>): Pick<Outcome, 'left' | 'leftObjects'> {
  const names = new Set(
    records.flatMap(({ lists }) => unwantedObjects(lists, keys).map((one) => describeListed(one).slice(0, NAME_CHARS))),
  )
  return { left: names.size, ...(names.size > 0 ? { leftObjects: [...names].toSorted().slice(0, LEFT_SHOWN) } : {}) }
}
