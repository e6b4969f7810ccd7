/** What an edit of a Placement would change: clusters gained and lost, and whether its guard would stop it. */
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { Assignment } from '../../../src/kinds/native/assignment.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import { simulateEdit } from '../../../src/plan/projects/placement-verdicts.ts'
import type { SimulatedPlacement } from '../../../src/plan/projects/placement-verdicts.ts'
import { ApiFailure } from '../data/api-failure.ts'
import { read, send } from '../data/api.ts'
import { listPath, objectPath } from '../data/paths.ts'
import { Button, Command, Panel } from '../ui/parts.tsx'
import { usePlacementView } from './use-placement-view.ts'

const MAX_NAMED = 50

export function Simulate({ placement }: { readonly placement: Placement }) {
  const { name, namespace = 'default' } = placement.metadata
  const [text, setText] = useState(() => JSON.stringify(placement.spec, undefined, 2))
  const { view, projects } = usePlacementView(placement)
  const simulate = useMutation({
    mutationFn: async () => {
      if (!view) throw new ApiFailure(0, 'Unknown', 'the clusters are not known yet')
      const spec = parseSpec(text)
      // A dry run: the API validates the edit and sets defaults, and stores nothing.
      const { value: edited } = await send<Placement>(
        `${objectPath('placements', name, namespace)}?fieldManager=flotilla-console&dryRun=All`,
        { method: 'PUT', body: { ...placement, spec } },
      )
      const bundles = await bundlesOn(placement)
      return simulateEdit({ present: placement, edited }, { view, projects, bundles })
    },
  })
  return (
    <Panel title="Simulate an edit" side={<span className="quiet">nothing is stored</span>}>
      <label className="edit">
        Spec
        <textarea value={text} rows={12} spellCheck={false} onChange={({ target }) => setText(target.value)} />
      </label>
      <p className="actions">
        <Button look="main" onClick={() => simulate.mutate()}>
          Simulate
        </Button>
        <Button onClick={() => setText(JSON.stringify(placement.spec, undefined, 2))}>Reset</Button>
        <Command>flotilla simulate placement -f FILE</Command>
      </p>
      {simulate.error && (
        <div className="failure" role="alert">
          <strong>The edit cannot be simulated.</strong>
          <span>{simulate.error.message}</span>
        </div>
      )}
      {simulate.data && <Outcome outcome={simulate.data} />}
    </Panel>
  )
}

function parseSpec(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (caught) {
    throw new ApiFailure(
      400,
      'Invalid',
      `the text is not JSON: ${caught instanceof Error ? caught.message : 'unreadable'}`,
    )
  }
}

/** Which clusters have Bundles of the Placement, and which have no other Bundle, as the guard reads them. */
async function bundlesOn({ metadata: { name, namespace = 'default' } }: Placement) {
  const [bundles, assignments] = await Promise.all([
    read<{ items: readonly Bundle[] }>(listPath('bundles', { namespace })),
    read<{ items: readonly Assignment[] }>(listPath('assignments')),
  ])
  const own = new Set(
    bundles.items.filter(({ spec }) => spec.placement === name).map(({ metadata }) => `${namespace}/${metadata.name}`),
  )
  const on = new Map(assignments.items.map(({ metadata, spec }) => [metadata.name, spec.entries ?? []]))
  const isOwn = ({ bundle }: { readonly bundle: string }): boolean => own.has(bundle)
  return {
    holds: (cluster: string) => on.get(cluster)?.some(isOwn) ?? false,
    empties: (cluster: string) => on.get(cluster)?.every(isOwn) ?? false,
  }
}

function Outcome({ outcome }: { readonly outcome: ReturnType<typeof simulateEdit> }) {
  if ('problem' in outcome) {
    return (
      <div className="failure" role="alert">
        <strong>The hub would keep the last decisions.</strong>
        <span>{outcome.problem}</span>
      </div>
    )
  }
  return <Changes outcome={outcome} />
}

function Changes({ outcome: { selected, gained, lost, guard, message } }: { readonly outcome: SimulatedPlacement }) {
  return (
    <div className="plan" role="status">
      <p>
        <strong>{selected} selected</strong>: {gained.length} gained, {lost.length} lost
      </p>
      {guard.kind === 'Held' && <p>{guard.message} The hub would guard the change until a user releases it.</p>}
      {guard.kind !== 'Held' && selected === 0 && <p>{message}</p>}
      <ul>
        {gained.slice(0, MAX_NAMED).map(({ cluster, why }) => (
          <li key={cluster} data-gained={cluster}>
            <span className="state" data-tone="good">
              + {cluster}
            </span>{' '}
            {why}
          </li>
        ))}
        {lost.slice(0, MAX_NAMED).map(({ cluster, why, removed }) => (
          <li key={cluster} data-lost={cluster}>
            <span className="state" data-tone="bad">
              − {cluster}
            </span>{' '}
            {why}; its Bundles {removed ? 'are removed' : 'stay'}
          </li>
        ))}
      </ul>
      {gained.length + lost.length > 2 * MAX_NAMED && <p className="quiet">Only the first ones are listed.</p>}
    </div>
  )
}
