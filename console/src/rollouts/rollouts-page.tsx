/** All rollouts, those in progress first. */
import { useMemo } from 'react'
import { Link } from 'wouter'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { useList } from '../data/queries.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Command, Empty, Failure, Panel } from '../ui/parts.tsx'
import { State } from '../ui/state.tsx'
import { Age } from '../ui/time.tsx'
import { RolloutLine } from './rollout-line.tsx'
import { countsText, movingRollouts, newestFirst, rolloutLink } from './rollout-rows.ts'
import { scrollable } from '../ui/scrollable.ts'
import { FilterInput } from '../ui/filter-input.tsx'

const DEFAULTS = { q: '' } as const
const MAX_PAST = 200

export function RolloutsPage() {
  const { data, error, isPending } = useList<Rollout>('rollouts')
  const [{ q }, set] = useSearchValues(DEFAULTS)
  const found = useMemo(
    () => (data ?? []).filter(({ metadata }) => `${metadata.namespace}/${metadata.name}`.includes(q.trim())),
    [data, q],
  )
  const moving = useMemo(() => movingRollouts(found), [found])
  const past = useMemo(() => newestFirst(found).filter((rollout) => !moving.includes(rollout)), [found, moving])
  if (error) return <Failure error={error} what="the rollouts" />
  if (isPending) return <Empty title="Reading the rollouts…" />
  if (data.length === 0) {
    return (
      <Empty title="There is no rollout yet.">
        <p>A Bundle that is applied makes the first one.</p>
        <Command>flotilla apply -f FILE</Command>
      </Empty>
    )
  }
  return (
    <div className="page">
      <h1 className="hidden">Rollouts</h1>
      <Panel
        title="In progress"
        side={
          <FilterInput label="Filter rollouts" hint="Filter by name" value={q} onChange={(text) => set({ q: text })} />
        }
      >
        {moving.length === 0 && <Empty title="No rollout is in progress." />}
        <div className="cards">
          {moving.map((rollout) => (
            <article className="card" key={`${rollout.metadata.namespace}/${rollout.metadata.name}`}>
              <RolloutLine rollout={rollout} />
            </article>
          ))}
        </div>
      </Panel>
      <Panel title="Ended">
        {past.length === 0 && <Empty title="No rollout has ended." />}
        {past.length > 0 && (
          <div className="scroll-x" ref={scrollable}>
            <table className="plain">
              <thead>
                <tr>
                  <th>Rollout</th>
                  <th>Phase</th>
                  <th>Clusters</th>
                  <th>Age</th>
                </tr>
              </thead>
              <tbody>
                {past.slice(0, MAX_PAST).map((rollout) => (
                  <tr
                    key={rollout.metadata.uid}
                    data-rollout={`${rollout.metadata.namespace}/${rollout.metadata.name}`}
                  >
                    <td>
                      <Link href={rolloutLink(rollout)}>
                        {rollout.metadata.namespace}/{rollout.metadata.name}
                      </Link>
                    </td>
                    <td>
                      <State state={rollout.status?.phase ?? 'Pending'} />
                    </td>
                    <td>{countsText(rollout)}</td>
                    <td>
                      <Age at={rollout.metadata.creationTimestamp} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Panel>
    </div>
  )
}
