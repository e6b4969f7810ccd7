/** The Inbox of the signed-in user: items of the kinds that the user may list. */
import { useMemo } from 'react'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import type { Source } from '../../../src/kinds/native/source.ts'
import { useList } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { inboxItems } from './inbox-items.ts'
import type { InboxItems } from './inbox-items.ts'

const NONE: readonly never[] = []

/** The items, and the kinds that the user may not list. */
export function useInbox(): InboxItems & { readonly refused: readonly string[]; readonly isReading: boolean } {
  const { fleet, link } = useLive()
  const rollouts = useList<Rollout>('rollouts')
  const sources = useList<Source>('sources')
  const bundles = useList<Bundle>('bundles')
  const placements = useList<Placement>('placements')
  const items = useMemo(
    () =>
      inboxItems(
        {
          rollouts: rollouts.data ?? NONE,
          sources: sources.data ?? NONE,
          bundles: bundles.data ?? NONE,
          placements: placements.data ?? NONE,
        },
        fleet.rows,
      ),
    [rollouts.data, sources.data, bundles.data, placements.data, fleet.rows],
  )
  const asked = { rollouts, sources, bundles, placements }
  const refused = [
    ...(link === 'refused' ? ['clusters'] : []),
    ...Object.entries(asked).flatMap(([plural, { error }]) => (error ? [plural] : [])),
  ]
  return { ...items, refused, isReading: Object.values(asked).some(({ isPending }) => isPending) }
}
