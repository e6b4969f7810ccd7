/** What needs a person, in short, and the rollouts in progress. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { useList } from '../data/queries.ts'
import { stateOfItem } from '../inbox/inbox-items.ts'
import { useInbox } from '../inbox/use-inbox.ts'
import { Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { Words } from '../ui/words.tsx'
import { RolloutLine } from '../rollouts/rollout-line.tsx'
import { movingRollouts, rolloutLink } from '../rollouts/rollout-rows.ts'

const MAX_SHOWN = 5
const MAX_MOVING = 3
const NONE: readonly never[] = []

interface Short {
  readonly key: string
  readonly to: string
  readonly title: string
  readonly state: string
  readonly message: string
}

export function Attention() {
  const { approvals, clusters, held, broken, warnings, count, unknown, isReading } = useInbox()
  const all = useList<Rollout>('rollouts').data ?? NONE
  const moving = useMemo(() => movingRollouts(all).filter(({ status }) => status?.phase !== 'Failed'), [all])
  const items: readonly Short[] = [
    ...approvals.map(({ rollout, ring, message }) => ({
      key: `approval ${rollout.metadata.namespace}/${rollout.metadata.name}`,
      to: rolloutLink(rollout),
      title: `Approve ring ${ring} of ${rollout.metadata.name}`,
      state: 'Waiting',
      message,
    })),
    ...clusters.map(({ name }) => ({
      key: `cluster ${name}`,
      to: `/clusters/${name}`,
      title: `Accept ${name}`,
      state: 'Waiting',
      message: 'The cluster waits to be accepted.',
    })),
    ...[...broken, ...held, ...warnings].map(({ kind, namespace, name, message }) => ({
      key: `${kind} ${namespace}/${name}`,
      to: kind === 'FailedRollout' ? `/rollouts/${namespace}/${name}` : '/inbox',
      title: `${namespace}/${name}`,
      state: stateOfItem(kind),
      message,
    })),
  ]
  return (
    <Panel title="Needs a person" side={<Link href="/inbox">Inbox {count}</Link>}>
      {count === 0 && !isReading && unknown.length === 0 && <p className="calm">✔ Nothing waits for a person.</p>}
      {unknown.map((text) => (
        <p className="quiet" key={text}>
          {text}
        </p>
      ))}
      <ul className="attention">
        {items.slice(0, MAX_SHOWN).map(({ key, to, title, state, message }) => (
          <li key={key}>
            <Link href={to}>{title}</Link> <State state={state} />
            <p className="clamp" title={message}>
              <Words text={message} />
            </p>
          </li>
        ))}
      </ul>
      {items.length > MAX_SHOWN && <p className="quiet">and {items.length - MAX_SHOWN} more</p>}
      {moving.length > 0 && (
        <>
          <h3>In progress</h3>
          <ul className="attention">
            {moving.slice(0, MAX_MOVING).map((rollout) => (
              <li key={`${rollout.metadata.namespace}/${rollout.metadata.name}`}>
                <RolloutLine rollout={rollout} isBrief={approvals.some((item) => item.rollout === rollout)} />
              </li>
            ))}
          </ul>
          {moving.length > MAX_MOVING && (
            <p className="quiet">
              and <Link href="/rollouts">{moving.length - MAX_MOVING} more</Link>
            </p>
          )}
        </>
      )}
    </Panel>
  )
}
