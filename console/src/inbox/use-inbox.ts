/** The Inbox of the signed-in user: items of the kinds that the user may list. */
import { useMemo } from 'react'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import type { Source } from '../../../src/kinds/native/source.ts'
import { ApiFailure } from '../data/api-failure.ts'
import { useList } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { inboxItems } from './inbox-items.ts'
import type { AttentionFacts } from '../../../src/plan/fleet/attention.ts'
import type { InboxItems } from './inbox-items.ts'

/** The objects that items are made of. */
export type InboxFacts = Pick<AttentionFacts, 'rollouts' | 'sources' | 'bundles' | 'placements'>

const NONE: readonly never[] = []

/** The items, and the kinds of which nothing is known, in a sentence each. */
export interface Inbox extends InboxItems {
  readonly facts: InboxFacts
  readonly unknown: readonly string[]
  readonly isReading: boolean
}

export function useInbox(): Inbox {
  const { fleet, link } = useLive()
  const rollouts = useList<Rollout>('rollouts')
  const sources = useList<Source>('sources')
  const bundles = useList<Bundle>('bundles')
  const placements = useList<Placement>('placements')
  const facts = useMemo(
    () => ({
      rollouts: rollouts.data ?? NONE,
      sources: sources.data ?? NONE,
      bundles: bundles.data ?? NONE,
      placements: placements.data ?? NONE,
    }),
    [rollouts.data, sources.data, bundles.data, placements.data],
  )
  const items = useMemo(() => inboxItems(facts, fleet.rows), [facts, fleet.rows])
  const asked = { rollouts, sources, bundles, placements }
  const errors = Object.entries(asked).flatMap(([plural, { error }]) => (error ? [{ plural, error }] : []))
  const isForbidden = (error: Error): boolean => error instanceof ApiFailure && error.code === 403
  const refused = [
    ...(link === 'refused' ? ['clusters'] : []),
    ...errors.filter(({ error }) => isForbidden(error)).map(({ plural }) => plural),
  ]
  const unread = errors.filter(({ error }) => !isForbidden(error)).map(({ plural }) => plural)
  const unknown = [
    ...(refused.length > 0 ? [`Not shown, because you may not list them: ${refused.join(', ')}.`] : []),
    ...(unread.length > 0 ? [`Not shown, because the hub did not return them: ${unread.join(', ')}.`] : []),
  ]
  return { ...items, facts, unknown, isReading: Object.values(asked).some(({ isPending }) => isPending) }
}
