import { jsonEqual } from '../../core/json.ts'
import type { Context, Draft, Reconciler, Result } from '../../engine/reconciler.ts'
import { apiVersionOf, keyOf } from '../../kinds/meta.ts'
import { PlacementDecision } from '../../kinds/placement-decision.ts'
import { Placement } from '../../kinds/placement.ts'
import { decidePlacement } from '../../plan/placement.ts'
import type { PlacementAnswer } from '../../plan/placement.ts'
import type { PlacementDecidePorts } from './ports.ts'

/** Writes a Placement's answer on pages. It decides nothing itself: see plan/placement.ts. */
export function placementDecideReconciler(ports: PlacementDecidePorts): Reconciler<Placement> {
  return {
    name: 'placement-decide',
    async reconcile(draft: Draft<Placement>, context: Context): Promise<Result> {
      const placement = draft.next
      if (placement.metadata.deletionTimestamp) return {}
      const generation = placement.metadata.generation ?? 1
      const present = new Map(ports.pagesOf(keyOf(placement)).map((page) => [page.spec.page, page]))
      const answer = decidePlacement(placement.spec, ports.clusters(), placesOf([...present.values()], generation))

      let written = 0
      for (const page of pagesFor(placement, answer)) {
        const before = present.get(page.spec.page)
        if (before && jsonEqual(before.spec, page.spec)) continue
        if (before) await ports.updatePage({ ...before, spec: page.spec }, context.signal)
        else await ports.createPage(page, context.signal)
        written++
      }
      // Readers never look past `pages`; these are left from an earlier, longer answer.
      for (const page of present.values()) {
        if (page.spec.page >= answer.pages.length) await ports.deletePage(page, context.signal)
      }
      if (written > 0) context.log.info({ selected: answer.decisions.length, written }, 'placement decided')

      placement.status ??= {}
      placement.status.selected = answer.decisions.length
      placement.status.decisionsGeneration = generation
      placement.status.pages = answer.pages.length
      const reason = answer.decisions.length === 0 ? 'NoClusters' : 'Decided'
      draft.conditions.set('Ready', 'True', reason, answer.message)
      return {}
    },
  }
}

/** Who stood on which page, as long as the question is the same. */
function placesOf(pages: readonly PlacementDecision[], generation: number): string[][] {
  const places: string[][] = []
  for (const { spec } of pages) {
    if (spec.placementGeneration === generation && spec.page < spec.pages) {
      places[spec.page] = spec.decisions.map((decision) => decision.cluster)
    }
  }
  return Array.from(places, (names) => names ?? [])
}

function pagesFor(placement: Placement, answer: PlacementAnswer): PlacementDecision[] {
  const { name, namespace, uid, generation = 1 } = placement.metadata
  return answer.pages.map((decisions, page) => ({
    apiVersion: apiVersionOf(PlacementDecision),
    kind: PlacementDecision.kind,
    metadata: {
      name: `${name}-${page}`,
      ...(namespace ? { namespace } : {}),
      ...(uid
        ? {
            ownerReferences: [
              { apiVersion: apiVersionOf(Placement), kind: Placement.kind, name, uid, controller: true },
            ],
          }
        : {}),
    },
    spec: {
      placement: name,
      placementGeneration: generation,
      page,
      pages: answer.pages.length,
      decisions: decisions.map((decision) => ({ ...decision })),
    },
  }))
}
