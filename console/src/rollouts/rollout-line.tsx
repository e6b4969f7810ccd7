/** A rollout in a few lines: phase, rings and counts. */
import { Link } from 'wouter'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { State } from '../ui/state.tsx'
import { Words } from '../ui/words.tsx'
import { countsText, messageOf, rolloutLink } from './rollout-rows.ts'

export function RolloutLine({
  rollout,
  isBrief = false,
}: {
  readonly rollout: Rollout
  /** Without its message, where that is said beside it. */
  readonly isBrief?: boolean
}) {
  const { metadata, status } = rollout
  const message = messageOf(rollout)
  return (
    <div className="rollout-line" data-rollout={`${metadata.namespace}/${metadata.name}`}>
      <p>
        <strong>
          <Link href={rolloutLink(rollout)}>
            {metadata.namespace}/{metadata.name}
          </Link>
        </strong>{' '}
        <State state={status?.phase ?? 'Pending'} />
      </p>
      <RingBar rollout={rollout} />
      <p className="quiet">{countsText(rollout)}</p>
      {message !== '' && !isBrief && status?.phase !== 'Completed' && (
        <p className="clamp" title={message}>
          <Words text={message} />
        </p>
      )}
    </div>
  )
}

/** The rings from left to right, each as wide as its share of the clusters. */
function RingBar({ rollout: { spec, status } }: { readonly rollout: Rollout }) {
  const rings = spec.rings.map(({ name }) => ({ name, ...status?.rings?.find((ring) => ring.name === name) }))
  return (
    <ol className="ring-bar" aria-label="Rings">
      {rings.map(({ name, members = 0, ready = 0, failed = 0, passedAt }) => (
        <li key={name} style={{ flexGrow: Math.max(1, members) }} data-current={status?.ring === name || undefined}>
          <span className="ring-fill">
            <span data-tone="good" style={{ flexGrow: ready }} />
            <span data-tone="bad" style={{ flexGrow: failed }} />
            <span style={{ flexGrow: Math.max(0, members - ready - failed) }} />
          </span>
          <span className="ring-name">
            {passedAt ? '✔ ' : ''}
            {name} {ready}/{members}
          </span>
        </li>
      ))}
    </ol>
  )
}
