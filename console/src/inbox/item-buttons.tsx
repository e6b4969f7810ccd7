/** The buttons of an item that waits for a person or is broken. */
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Release } from '../../../src/kinds/native/release.ts'
import type { AttentionItem } from '../../../src/plan/fleet/attention.ts'
import type { Action } from '../actions/action.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { liftMarkAction, releaseChangeAction, sourceAction } from '../actions/held-actions.ts'
import { rolloutActions } from '../actions/rollout-actions.ts'
import { useObject } from '../data/queries.ts'
import { RollBack } from '../rollouts/rollback-plan.tsx'
import type { InboxFacts } from './use-inbox.ts'

/** Actions on a rollout that help when it failed or was held. */
const ROLLOUT_ACTIONS: ReadonlySet<string> = new Set(['Retry', 'Resume'])

export function ItemButtons({ item, facts }: { readonly item: AttentionItem; readonly facts: InboxFacts }) {
  const { kind, name, namespace } = item
  const of = ({ metadata }: Pick<Bundle, 'metadata'>): boolean =>
    metadata.name === name && metadata.namespace === namespace
  const bundle = facts.bundles.find(of)
  const rollout = facts.rollouts.find(of)
  const source = facts.sources.find(of)
  const placement = facts.placements.find(of)
  const actions: readonly (Action | undefined)[] =
    kind === 'HeldPlacement'
      ? [placement && releaseChangeAction('placement', placement)]
      : kind === 'UnbuiltBundle'
        ? [bundle && releaseChangeAction('bundle', bundle)]
        : kind === 'FailingSource'
          ? [source && sourceAction(source)]
          : kind === 'FailedRollout' || kind === 'HeldChange'
            ? rollout
              ? rolloutActions(rollout).filter(({ title }) => ROLLOUT_ACTIONS.has(title))
              : []
            : []
  return (
    <div className="actions">
      {actions.map((action) => action && <ActionButton key={action.title} action={action} />)}
      {kind === 'FailedRollout' && rollout && !rollout.spec.removal && <RollBack rollout={rollout} />}
      {kind === 'HeldBack' && bundle && <LiftMark bundle={bundle} />}
    </div>
  )
}

function LiftMark({ bundle: { metadata, status } }: { readonly bundle: Bundle }) {
  const release = useObject<Release>('releases', status?.reverted?.[0] ?? '', metadata.namespace).data
  const action = release && liftMarkAction(release, metadata.name)
  return action ? <ActionButton action={action} /> : undefined
}
