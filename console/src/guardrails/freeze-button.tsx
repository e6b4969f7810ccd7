/** Creates a freeze: the form asks for its name, end, clusters and exception, and shows what it stops. */
import { useState } from 'react'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { compileWindow, isForCluster } from '../../../src/plan/windows/window-rules.ts'
import { ActionButton } from '../actions/action-button.tsx'
import { freezeAction, freezeOf } from '../actions/freeze-actions.ts'
import type { FreezeWish } from '../actions/freeze-actions.ts'
import { hubNow } from '../data/live-state.ts'
import { useList } from '../data/queries.ts'
import { useLive } from '../data/use-live.ts'
import { movingRollouts } from '../rollouts/rollout-rows.ts'

const EMPTY: FreezeWish = { name: '', until: '', selector: '', role: '' }
const HERE = Intl.DateTimeFormat().resolvedOptions().timeZone

export function FreezeButton({ selector = '' }: { readonly selector?: string }) {
  const [wish, setWish] = useState(EMPTY)
  const { fleet } = useLive()
  const rollouts = useList<Rollout>('rollouts').data
  const nowMs = hubNow()
  // The selector alone decides which clusters are concerned.
  const window = freezeOf({ ...wish, name: 'x', until: '9999-12-31T00:00:00Z' }, { nowMs, reason: 'x' })
  const clusters = window ? fleet.rows.filter((row) => !row.isApart && isForCluster(compileWindow(window), row)) : []
  const change = (part: Partial<FreezeWish>): void => setWish({ ...wish, ...part })
  const moving = movingRollouts(rollouts ?? [])
  const field = (name: keyof FreezeWish, title: string, hint: string) => (
    <label>
      {title}
      <input
        value={wish[name]}
        placeholder={hint}
        autoComplete="off"
        spellCheck={false}
        onChange={({ target }) => change({ [name]: target.value })}
      />
    </label>
  )
  return (
    <ActionButton
      action={freezeAction(wish, { nowMs, count: clusters.length })}
      onOpenChange={(isOpen) => isOpen && setWish({ ...EMPTY, selector })}
      plan={
        <>
          {field('name', 'Name', 'black-friday')}
          <label>
            Until ({HERE})
            <input
              type="datetime-local"
              onChange={({ target }) =>
                change({ until: target.value === '' ? '' : new Date(target.value).toISOString() })
              }
            />
          </label>
          {field('selector', 'Labels of the clusters (all if empty)', 'tier=store,region!=north')}
          {field('role', 'Role that may use an exception (none if empty)', 'incident-commander')}
          {moving.length > 0 && (
            <ul className="plan" aria-label="Rollouts in progress">
              {moving.slice(0, 5).map(({ metadata }) => (
                <li key={metadata.uid}>
                  Rollout {metadata.name} is in progress. It admits none of these clusters until the freeze ends.
                </li>
              ))}
            </ul>
          )}
        </>
      }
    />
  )
}
