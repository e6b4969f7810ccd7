/** Decides a Placement of Open Cluster Management and writes its PlacementDecisions and its status. */
import { jsonEqual } from '../../../core/json.ts'
import type { KeyedThrottle } from '../../../engine/keyed-throttle.ts'
import type { Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import { keyOf } from '../../../kinds/meta.ts'
import type { CompileCel } from '../../../plan/placement/types.ts'
import type { OcmPlacement, OcmPlacementDecision } from '../kinds.ts'
import type { PlacementObjects } from './object-store.ts'
import { orderPageWrites } from './page-writes.ts'
import { placeOnce } from './place.ts'
import type { PassAnswer } from './place.ts'
import { isPageOf } from './read-objects.ts'

/** The ports of the controller. */
export interface PlacementPorts extends Omit<PlacementObjects, 'replacePages'> {
  readonly compileCel: CompileCel
  /** Limits how often a Placement is decided while clusters change. */
  readonly throttle: KeyedThrottle
  /** Creates a page, or changes its labels and decisions. */
  writePage(page: OcmPlacementDecision, signal: AbortSignal): Promise<void>
  deletePage(page: OcmPlacementDecision, signal: AbortSignal): Promise<void>
}

/** Reconciles a Placement. */
export function ocmPlacementReconciler(ports: PlacementPorts): Reconciler<OcmPlacement> {
  return {
    name: 'ocm-placement',
    async reconcile(draft, { clock, signal }): Promise<Result> {
      const placement = draft.seen
      const waitMs = ports.throttle.waitMs(keyOf(placement))
      if (waitMs > 0) return { requeueAfterMs: waitMs, unchanged: true }
      ports.throttle.note(keyOf(placement))
      const present = ports.pages().filter((page) => isPageOf(page, placement))
      let wanted: readonly OcmPlacementDecision[] = present
      let until: number | undefined
      const objects: PlacementObjects = { ...ports, replacePages: (_before, after) => (wanted = after) }
      const noteUntil = (time: number) => (until = time)
      const { compileCel } = ports
      const answer = placeOnce(objects, placement, { now: clock.now(), compileCel, keepsSpread: true, noteUntil })
      if (answer.skipped !== undefined) return { unchanged: true }
      // A mistake in the Placement keeps the last good decisions instead of emptying them.
      const problem = problemOf(answer)
      if (problem === undefined) await writePages(placement, { present, wanted }, ports, signal)
      show(draft, answer, problem, problem === undefined ? wanted : present)
      return until === undefined ? {} : { requeueAfterMs: Math.max(1, until - clock.now()) }
    },
  }
}

function problemOf({ syncError, conditions = [] }: PassAnswer): string | undefined {
  if (syncError !== undefined) return syncError
  return conditions.find(({ type, status }) => type === 'PlacementMisconfigured' && status === 'True')?.message
}

async function writePages(
  placement: OcmPlacement,
  pages: { readonly present: readonly OcmPlacementDecision[]; readonly wanted: readonly OcmPlacementDecision[] },
  ports: PlacementPorts,
  signal: AbortSignal,
): Promise<void> {
  const byName = (list: readonly OcmPlacementDecision[]) => new Map(list.map((page) => [page.metadata.name, page]))
  const [present, wanted] = [byName(pages.present), byName(pages.wanted)]
  for (const { name, clusters } of orderPageWrites(pages.present.map(contentOf), pages.wanted.map(contentOf))) {
    if (clusters) await ports.writePage(withClusters(ownedBy(placement, wanted.get(name)!), clusters), signal)
    else await ports.deletePage(present.get(name)!, signal)
  }
  // A page with the right clusters may carry labels of another group.
  for (const page of pages.wanted) {
    const old = present.get(page.metadata.name)
    if (old && jsonEqual(contentOf(old), contentOf(page)) && !jsonEqual(old.metadata.labels, page.metadata.labels)) {
      await ports.writePage(ownedBy(placement, page), signal)
    }
  }
}

function contentOf({ metadata, status }: OcmPlacementDecision) {
  return { name: metadata.name, clusters: (status?.decisions ?? []).map(({ clusterName }) => clusterName) }
}

function withClusters(page: OcmPlacementDecision, clusters: readonly string[]): OcmPlacementDecision {
  return { ...page, status: { decisions: clusters.map((clusterName) => ({ clusterName, reason: '' })) } }
}

/** Pages go with their Placement. */
function ownedBy({ apiVersion, kind, metadata }: OcmPlacement, page: OcmPlacementDecision): OcmPlacementDecision {
  const { name, uid = '' } = metadata
  const owner = { apiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true }
  return { ...page, metadata: { ...page.metadata, ownerReferences: [owner] } }
}

function show(
  { next, conditions }: Draft<OcmPlacement>,
  answer: PassAnswer,
  problem: string | undefined,
  pages: readonly OcmPlacementDecision[],
): void {
  const clusters = pages.flatMap(({ status }) => status?.decisions ?? [])
  next.status = { ...next.status, numberOfSelectedClusters: clusters.length }
  if (problem !== undefined) {
    const kept = clusters.length === 0 ? '' : ` The last ${clusters.length} decisions are kept.`
    conditions.set('PlacementMisconfigured', 'True', 'Misconfigured', `${problem}${kept}`)
    return
  }
  next.status.decisionGroups = (answer.decisionGroups ?? []).map(({ index, name, decisions, clusterCount }) => ({
    decisionGroupIndex: index,
    decisionGroupName: name,
    decisions: [...decisions],
    clusterCount,
  }))
  for (const { type, status, reason, message } of answer.conditions ?? []) conditions.set(type, status, reason, message)
}
