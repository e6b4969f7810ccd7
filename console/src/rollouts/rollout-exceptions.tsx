/** What is excepted from the usual course of a rollout, each by name: who, why, and until when. */
import { Link } from 'wouter'
import type { Override } from '../../../src/kinds/native/override.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import type { BundleStateRow } from '../cluster/bundles-tab.tsx'
import { StopReason } from '../cluster/stop-reason.tsx'
import { useList } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { Failure, Panel } from '../ui/parts.tsx'
import { Badges } from '../ui/state.tsx'
import { Age } from '../ui/time.tsx'

const MAX_SHOWN = 20
const NONE: readonly never[] = []

export function RolloutExceptions({
  rollout,
  rows,
  bundles,
}: {
  readonly rollout: Rollout
  readonly rows: readonly BundleStateRow[]
  readonly bundles: readonly string[]
}) {
  const { namespace = 'default' } = rollout.metadata
  const overrides = useList<Override>('overrides', { namespace })
  const { byName } = useLive().fleet
  const passing = rollout.spec.exceptions ?? NONE
  const mine = (overrides.data ?? NONE).filter(({ spec }) => bundles.includes(spec.bundle))
  const clusters = [...new Set(rows.filter(({ state }) => state !== undefined).map(({ cluster }) => cluster))]
  const stopped = clusters.filter((name) => /Held|Cordoned|Frozen/.test(byName.get(name)?.badges ?? ''))
  const count = passing.length + mine.length + stopped.length
  return (
    <Panel title="Exceptions" side={<span className="badge">{count}</span>}>
      {overrides.error && <Failure error={overrides.error} what="the overrides" />}
      {count === 0 && !overrides.error && !overrides.isPending && <p className="calm">✔ There is no exception.</p>}
      {count > 0 && (
        <ul className="exceptions">
          {passing.map(({ kind, name, reason }) => (
            <li key={`${kind} ${name}`}>
              The rollout passes windows and freezes as {kind.toLowerCase()} <strong>{name}</strong>
              {reason !== undefined && `: ${reason}`}
            </li>
          ))}
          {mine.slice(0, MAX_SHOWN).map(({ metadata, spec }) => (
            <li key={metadata.uid ?? metadata.name}>
              Override <strong>{metadata.name}</strong> of bundle {spec.bundle}
              {spec.clusters !== undefined && <> on {spec.clusters.slice(0, 5).join(', ')}</>}
              {spec.clusters !== undefined && spec.clusters.length > 5 && <> and {spec.clusters.length - 5} more</>}
              {spec.owner !== undefined && <>, by {spec.owner}</>}
              {spec.reason !== undefined && <>: {spec.reason}</>}
              {spec.expiresAt !== undefined && (
                <>
                  {' '}
                  (ends <Age at={spec.expiresAt} />)
                </>
              )}
            </li>
          ))}
          {stopped.slice(0, MAX_SHOWN).map((name) => (
            <li key={name} data-exception={name}>
              <Link href={`/clusters/${name}`}>{name}</Link> <Badges badges={byName.get(name)?.badges ?? ''} />{' '}
              <StopReason name={name} />
            </li>
          ))}
        </ul>
      )}
      {Math.max(mine.length, stopped.length) > MAX_SHOWN && (
        <p className="quiet">The first {MAX_SHOWN} of each kind are shown.</p>
      )}
    </Panel>
  )
}
