// Tested by src/cli/commands/placement/placement.test.ts.
/** The state of a Placement's Bundles on one cluster: kept, being removed or removed, and why. */
import { settleAll } from '../../../core/async/settle-all.ts'
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import { removalState } from '../../../plan/document/removal-messages.ts'
import { ASSIGNMENTS, BUNDLES, listAll, REPORTS, ROLLOUTS } from '../../api/flotilla-resources.ts'

/** A line for each Bundle that the cluster has, loses or lost. */
export async function bundleOutcomeLines(
  client: Client,
  placement: Placement,
  on: { readonly cluster: string; readonly isSelected: boolean },
): Promise<string> {
  const { namespace = 'default', name: placementName } = placement.metadata
  const [bundles, rollouts, assignment, report] = await settleAll([
    listAll(client, BUNDLES, { namespace }),
    listAll(client, ROLLOUTS, { namespace }),
    client.get(ASSIGNMENTS, { name: on.cluster }).catch(absent),
    client.get(REPORTS, { name: on.cluster }).catch(absent),
  ])
  const lines = bundles
    .filter(({ spec }) => spec.placement === placementName)
    .flatMap(({ metadata: { name } }) => {
      const key = `${namespace}/${name}`
      const assigned = assignment?.spec.entries?.find((entry) => entry.bundle === key)
      const buried = assignment?.spec.tombstones?.find((tombstone) => tombstone.bundle === key)
      const removal = report?.spec.removals?.find((row) => row.bundle === key)
      const remover = rollouts.find(
        ({ spec, status }) =>
          spec.removal?.bundle === name &&
          spec.removal.clusters.includes(on.cluster) &&
          !status?.settled?.includes(on.cluster),
      )
      const leaving = removalState(
        compact({
          availability: { state: 'Available', message: '' },
          assigned,
          buried,
          removal,
          removedBy: remover?.metadata.name,
        }),
      )
      if (leaving) {
        const why = remover?.spec.removal ? ` ${remover.spec.removal.reason}` : ''
        return [`  ${name}  ${leaving.message}${why}`]
      }
      if (!assigned) return []
      return on.isSelected
        ? [`  ${name}  generation ${assigned.generation}`]
        : [`  ${name}  generation ${assigned.generation} stays: ${keptBecause(placement)}`]
    })
  return lines.length === 0 ? '' : `Bundles assigned to this cluster:\n${lines.join('\n')}\n`
}

/** Which clusters have Bundles of the Placement, and which have no other Bundle, as the guard reads them. */
export async function bundlesOnClusters(
  client: Client,
  { metadata: { name, namespace = 'default' } }: Placement,
): Promise<{ readonly holds: (cluster: string) => boolean; readonly empties: (cluster: string) => boolean }> {
  const [bundles, assignments] = await settleAll([
    listAll(client, BUNDLES, { namespace }),
    listAll(client, ASSIGNMENTS),
  ])
  const own = new Set(
    bundles.filter(({ spec }) => spec.placement === name).map(({ metadata }) => `${namespace}/${metadata.name}`),
  )
  const on = new Map(assignments.map(({ metadata, spec }) => [metadata.name, spec.entries ?? []]))
  const isOwn = ({ bundle }: { readonly bundle: string }) => own.has(bundle)
  return {
    holds: (cluster) => on.get(cluster)?.some(isOwn) ?? false,
    empties: (cluster) => on.get(cluster)?.every(isOwn) ?? false,
  }
}

/** Why a cluster that is no longer selected keeps its Bundles. */
function keptBecause({ status }: Placement): string {
  if (status?.held) return 'the guard stopped the change that drops the cluster'
  return 'only a change of the Placement, of labels or of sets removes a Bundle; taints, claims and scores do not'
}

function absent(caught: unknown): undefined {
  if (!isApiError(caught, 'NotFound')) throw caught
}
