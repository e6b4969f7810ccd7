/** What needs a person, from the same function as `flotilla status`. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import { attentionItems } from '../../../src/plan/fleet/attention.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import type { Source } from '../../../src/kinds/native/source.ts'
import { useList } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { Words } from '../ui/words.tsx'
import { movingRollouts } from '../rollouts/rollout-rows.ts'
import { RolloutLine } from '../rollouts/rollout-line.tsx'

const MAX_SHOWN = 6
const NONE: readonly never[] = []

export function Attention() {
  const { fleet } = useLive()
  const rollouts = useList<Rollout>('rollouts')
  const sources = useList<Source>('sources').data ?? NONE
  const bundles = useList<Bundle>('bundles').data ?? NONE
  const placements = useList<Placement>('placements').data ?? NONE
  const all = rollouts.data ?? NONE
  const items = useMemo(
    () => attentionItems({ rollouts: all, sources, bundles, placements }),
    [all, sources, bundles, placements],
  )
  const moving = useMemo(() => movingRollouts(all).filter(({ status }) => status?.phase !== 'Failed'), [all])
  const waiting = fleet.rows.filter(({ waitsFor }) => waitsFor === 'acceptance')
  const isCalm = items.length === 0 && waiting.length === 0
  return (
    <Panel title="Needs a person" side={<span className="badge">{items.length + waiting.length}</span>}>
      {rollouts.error && <Failure error={rollouts.error} what="the rollouts" />}
      {isCalm && !rollouts.error && <p className="calm">✔ Nothing waits for a person.</p>}
      <ul className="attention">
        {waiting.slice(0, MAX_SHOWN).map(({ name }) => (
          <li key={name}>
            <Link href={`/clusters/${name}`}>{name}</Link> <State state="Pending" />
            <p>The cluster waits to be accepted.</p>
            <code>flotilla cluster accept {name}</code>
          </li>
        ))}
        {items.slice(0, MAX_SHOWN).map(({ kind, namespace, name, message, command }) => (
          <li key={`${kind} ${namespace}/${name}`}>
            <strong>
              {namespace}/{name}
            </strong>{' '}
            <State state={kind === 'HeldBack' ? 'HeldBack' : kind === 'HeldPlacement' ? 'Held' : 'Failed'} />
            <p className="clamp" title={message}>
              <Words text={message} />
            </p>
            <code>{command}</code>
          </li>
        ))}
      </ul>
      {items.length > MAX_SHOWN && <p className="quiet">and {items.length - MAX_SHOWN} more</p>}
      {moving.length > 0 && (
        <>
          <h3>In progress</h3>
          <ul className="attention">
            {moving.slice(0, MAX_SHOWN).map((rollout) => (
              <li key={`${rollout.metadata.namespace}/${rollout.metadata.name}`}>
                <RolloutLine rollout={rollout} />
              </li>
            ))}
          </ul>
        </>
      )}
    </Panel>
  )
}
