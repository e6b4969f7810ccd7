/** Rolls a rollout back, after it has shown what that means for each cluster: the plan of `flotilla rollback`. */
import { useMemo, useState } from 'react'
import type { Assignment } from '../../../src/kinds/native/assignment.ts'
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import type { PlacementDecision } from '../../../src/kinds/native/placement-decision.ts'
import type { Release } from '../../../src/kinds/native/release.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { planRequest } from '../../../src/plan/release/rollback-request.ts'
import { rollbackWorld } from '../../../src/plan/release/rollback-world.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { rollBackAction } from '../actions/rollout-actions.ts'
import type { RollBackScope } from '../actions/rollout-actions.ts'
import { useList } from '../data/queries.ts'
import { Empty, Failure } from '../ui/parts.tsx'
import { movesText } from './moves-text.ts'

const EFFECT =
  'Clusters return to the content they ran before. The content of this release is not rolled out again until it changes, or until the mark of the release is lifted.'
const EFFECT_ON_CLUSTERS =
  'These clusters return to the content they ran before, and do not receive the content of this release again until it changes, or until the mark of the release is lifted.'

export function RollBack({ rollout }: { readonly rollout: Rollout }) {
  const [isOpen, setOpen] = useState(false)
  const [ring, setRing] = useState('')
  const [names, setNames] = useState('')
  const scope = useMemo(() => scopeOf(ring, names), [ring, names])
  const { namespace = 'default' } = rollout.metadata
  const releases = useList<Release>('releases', { namespace }, isOpen)
  const pages = useList<PlacementDecision>('placementdecisions', { namespace }, isOpen)
  const clusters = useList<Cluster>('clusters', {}, isOpen)
  const assignments = useList<Assignment>('assignments', {}, isOpen)
  const error = releases.error ?? pages.error ?? clusters.error ?? assignments.error
  const moves = useMemo(() => {
    if (!releases.data || !pages.data || !clusters.data || !assignments.data) return undefined
    const release = releases.data.find(({ metadata }) => metadata.name === rollout.spec.release)
    if (!release) return { lines: [], problem: `The release "${rollout.spec.release}" does not exist.` }
    const world = rollbackWorld(namespace, {
      releases: releases.data,
      pages: pages.data,
      clusters: clusters.data,
      assignments: assignments.data,
    })
    return movesText(planRequest(rollout, release, scope, world))
  }, [releases.data, pages.data, clusters.data, assignments.data, rollout, namespace, scope])
  const problem = error ? 'The plan could not be made.' : moves === undefined ? 'Reading…' : moves.problem
  return (
    <ActionButton
      action={rollBackAction(rollout, scope.clusters ? EFFECT_ON_CLUSTERS : EFFECT, { problem, scope })}
      onOpenChange={setOpen}
      plan={
        <>
          <label>
            Ring
            <select value={ring} disabled={names.trim() !== ''} onChange={({ target }) => setRing(target.value)}>
              <option value="">all rings</option>
              {rollout.spec.rings.map(({ name }) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          <label>
            Clusters (all if empty)
            <input
              value={names}
              placeholder="store-1, store-2"
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => setNames(target.value)}
            />
          </label>
          {error ? (
            <Failure error={error} what="what the plan is made of" />
          ) : moves === undefined ? (
            <Empty title="Making the plan…" />
          ) : (
            <ul className="plan" aria-label="Plan">
              {moves.lines.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ul>
          )}
        </>
      }
    />
  )
}

/** Clusters win over the ring, as in the CLI. */
function scopeOf(ring: string, names: string): RollBackScope {
  const clusters = names.split(/[\s,]+/).filter((name) => name !== '')
  if (clusters.length > 0) return { clusters }
  return ring === '' ? {} : { ring }
}
