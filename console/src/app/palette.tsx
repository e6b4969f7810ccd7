/** Search over pages, clusters, bundles and rollouts, by keyboard. */
import * as Dialog from '@radix-ui/react-dialog'
import { useDeferredValue, useMemo, useState } from 'react'
import type { KeyboardEvent } from 'react'
import { useLocation } from 'wouter'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { useLive } from '../data/use-live.ts'
import { useList } from '../data/queries.ts'
import { State } from '../ui/state.tsx'
import { findEntries } from './find-entries.ts'
import type { Entry } from './find-entries.ts'
import { PAGES } from './pages.ts'

export function Palette({
  isOpen,
  onOpenChange,
}: {
  readonly isOpen: boolean
  readonly onOpenChange: (isOpen: boolean) => void
}) {
  return (
    <Dialog.Root open={isOpen} onOpenChange={onOpenChange}>
      <Dialog.Portal>
        <Dialog.Overlay className="overlay" />
        <Dialog.Content className="palette" aria-describedby={undefined}>
          <Dialog.Title className="hidden">Search</Dialog.Title>
          <PaletteBody close={() => onOpenChange(false)} />
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function PaletteBody({ close }: { readonly close: () => void }) {
  const [text, setText] = useState('')
  const [at, setAt] = useState(0)
  const [, go] = useLocation()
  const { fleet } = useLive()
  const bundles = useList<Bundle>('bundles').data
  const rollouts = useList<Rollout>('rollouts').data
  const entries = useMemo(
    (): readonly Entry[] => [
      ...PAGES.map(({ to, title }) => ({ kind: 'Page', name: title, to })),
      ...fleet.rows.map(({ name, state }) => ({ kind: 'Cluster', name, state, to: `/clusters/${name}` })),
      ...(rollouts ?? []).map(({ metadata: { name, namespace = '' }, status }) => ({
        kind: 'Rollout',
        name: `${namespace}/${name}`,
        state: status?.phase ?? 'Pending',
        to: `/rollouts/${namespace}/${name}`,
      })),
      ...(bundles ?? []).map(({ metadata: { name, namespace = '' } }) => ({
        kind: 'Bundle',
        name: `${namespace}/${name}`,
        to: `/bundles/${namespace}/${name}`,
      })),
    ],
    [fleet, bundles, rollouts],
  )
  const wanted = useDeferredValue(text)
  const found = useMemo(() => findEntries(entries, wanted), [entries, wanted])
  const chosen = Math.min(at, found.length - 1)
  const open = (entry: Entry | undefined): void => {
    if (!entry) return
    close()
    go(entry.to)
  }
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter') open(found[chosen])
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    setAt(Math.max(0, Math.min(found.length - 1, chosen + step)))
  }
  return (
    <>
      <input
        className="palette-input"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        aria-label="Search pages, clusters, rollouts and bundles"
        placeholder="Search pages, clusters, rollouts and bundles"
        autoFocus
        value={text}
        onChange={({ target }) => {
          setText(target.value)
          setAt(0)
        }}
        onKeyDown={onKeyDown}
      />
      <ul id="palette-list" role="listbox" aria-label="Results" className="palette-list">
        {found.map((entry, index) => (
          <li
            key={`${entry.kind} ${entry.name}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === chosen}
            onClick={() => open(entry)}
          >
            <span className="quiet">{entry.kind}</span> <span className="name">{entry.name}</span>
            {entry.state !== undefined && <State state={entry.state} />}
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="palette-none">Nothing has this name.</p>}
    </>
  )
}
