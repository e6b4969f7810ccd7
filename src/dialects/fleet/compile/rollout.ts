/** rolloutStrategy as rings. */
import { compact } from '../../../core/compact.ts'
import { fromFleet } from '../../rollout-strategies.ts'
import type { MappedRollout } from '../../rollout-strategies.ts'
import type { RingSpec } from '../../../plan/rollout/rings.ts'
import type { FleetRollout } from '../files/fleet-yaml.ts'
import { resolveTarget } from './targets.ts'
import type { Workspace } from './targets.ts'

/** The rings of a bundle with this number of clusters, and the differences from Fleet. */
export function ringsOf(strategy: FleetRollout, clusters: number, workspace: Workspace): MappedRollout {
  const notes: string[] = []
  const { partitions = [], maxUnavailable, autoPartitionSize, autoPartitionThreshold = 200 } = strategy
  const all = limitOf(maxUnavailable)
  const selected = partitions.flatMap((partition, at) => {
    const name = partition.name ?? `partition-${at}`
    const meaning = resolveTarget(partition, workspace)
    if ('problem' in meaning) {
      notes.push(`partition ${name}: ${meaning.problem}; its clusters come last`)
      return []
    }
    const own = limitOf(partition.maxUnavailable ?? maxUnavailable)
    return meaning.alternatives.flatMap(({ clusterSelector, clusters: names }) => {
      if (names) {
        notes.push(`partition ${name}: a ring cannot take a cluster by its name; give it a label, or it comes last`)
        return []
      }
      return [compact({ name, clusterSelector, maxUnavailable: own })]
    })
  })
  const mapped = fromFleet(
    compact({
      maxUnavailable: all,
      maxUnavailablePartitions: strategy.maxUnavailablePartitions,
      autoPartitionSize: shareOf(autoPartitionSize, clusters),
      autoPartitionThreshold,
      partitions: selected.length === 0 ? undefined : selected,
    }),
    partitions.length > 0 ? 0 : clusters,
  )
  // In Fleet, clusters without a partition never get content; here they are the last ring.
  const rest = partitions.length > 0 && selected.length > 0 ? restOf(mapped.rings, all) : []
  const within = partitions.length > 0 ? mapped.rings.map((ring) => withinBudget(ring, all)) : mapped.rings
  return { ...mapped, rings: named([...within, ...rest]), notes: [...mapped.notes, ...notes] }
}

/** A number of clusters for the whole bundle also limits a partition that allows more. */
function withinBudget(ring: RingSpec, all: number | string | undefined): RingSpec {
  if (typeof all !== 'number' || all === 0) return ring
  const { concurrency } = ring
  return { ...ring, concurrency: typeof concurrency === 'number' ? Math.min(concurrency, all) : all }
}

function restOf(rings: readonly RingSpec[], all: number | string | undefined): RingSpec[] {
  if (rings.some(({ selector }) => selector && Object.keys(selector).length === 0)) return []
  return fromFleet(all === undefined ? {} : { maxUnavailable: all }, 0).rings.map((ring) => ({
    ...ring,
    name: 'rest',
  }))
}

/** Ring names are unique. */
function named(rings: readonly RingSpec[]): RingSpec[] {
  const taken = new Map<string, number>()
  return rings.map((ring) => {
    const count = (taken.get(ring.name) ?? 0) + 1
    taken.set(ring.name, count)
    return count === 1 ? ring : { ...ring, name: `${ring.name.slice(0, 59)}-${count}` }
  })
}

// A plan has at most 32 rings.
const SMALLEST_SHARE = 4

function shareOf(size: number | string | undefined, clusters: number): string {
  const limit = limitOf(size) ?? '25%'
  if (limit === 0) return '100%'
  const share =
    typeof limit === 'number' ? Math.ceil((100 * limit) / Math.max(1, clusters)) : Number(limit.slice(0, -1))
  return `${Math.min(100, Math.max(SMALLEST_SHARE, share))}%`
}

/** A count, or a whole percentage from 1% to 100%; in Fleet, a smaller percentage is one cluster. */
function limitOf(limit: number | string | undefined): number | string | undefined {
  if (limit === undefined) return undefined
  if (typeof limit === 'number') return Math.max(0, limit)
  if (!limit.endsWith('%')) return Number(limit)
  const percent = Math.floor(Number(limit.slice(0, -1)))
  return percent < 1 ? 1 : `${Math.min(100, percent)}%`
}
