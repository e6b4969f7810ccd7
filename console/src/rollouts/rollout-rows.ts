/** Rollouts as the pages list them: pure functions over the objects of the API. */
import { findCondition } from '../../../src/core/conditions.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'

const MOVING: ReadonlySet<string> = new Set(['Pending', 'Progressing', 'Paused', 'Failed'])

/** Rollouts that have not ended, the newest first. */
export function movingRollouts(rollouts: readonly Rollout[]): readonly Rollout[] {
  return newestFirst(rollouts).filter(({ status }) => MOVING.has(status?.phase ?? 'Pending'))
}

/** The newest first; equal times by name, the higher generation first. */
export function newestFirst(rollouts: readonly Rollout[]): readonly Rollout[] {
  const key = ({ metadata }: Rollout): string => metadata.creationTimestamp ?? ''
  return [...rollouts].sort(
    (a, b) => key(b).localeCompare(key(a)) || b.metadata.name.localeCompare(a.metadata.name, 'en', { numeric: true }),
  )
}

/** What a rollout says: why it waits, or how it stands. */
export function messageOf({ status }: Rollout): string {
  const held = findCondition(status?.conditions, 'Held')
  if (held?.status === 'True' && held.message) return held.message
  return findCondition(status?.conditions, 'Ready')?.message ?? ''
}

/** Counts of a rollout with the words of the CLI: `40 of 43 ready · 2 failed · 5 offline now`. */
export function countsText({ spec, status }: Rollout): string {
  const counts = status?.counts
  if (!counts) return 'no counts yet'
  const offlineNow = counts.states?.['Offline'] ?? 0
  const parts = [
    `${counts.ready} of ${counts.total} ${spec.removal ? 'removed' : 'ready'}`,
    ...(counts.progressing > 0 ? [`${counts.progressing} progressing`] : []),
    ...(counts.pending > 0 ? [`${counts.pending} pending`] : []),
    ...(counts.failed > 0 ? [`${counts.failed} failed`] : []),
    ...(counts.offline > 0 ? [`${counts.offline} offline without it`] : []),
    ...(offlineNow > 0 ? [`${offlineNow} offline now`] : []),
  ]
  return parts.join(' · ')
}

/** Names of rings in the order of the newest rollout that has several: groups by the label `ring` follow it. */
export function ringOrder(rollouts: readonly Rollout[]): readonly string[] {
  const staged = newestFirst(rollouts).find(({ spec }) => spec.rings.length > 1)
  return staged?.spec.rings.map(({ name }) => name) ?? []
}

/** The address of the page of a rollout. */
export function rolloutLink({ metadata: { name, namespace = 'default' } }: Rollout): string {
  return `/rollouts/${namespace}/${name}`
}
