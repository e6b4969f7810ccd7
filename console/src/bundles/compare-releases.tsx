/** The difference between two releases of a Bundle that the person chooses. */
import { useMemo } from 'react'
import type { Release } from '../../../src/kinds/native/release.ts'
import { useSearchValues } from '../fleet/use-search.ts'
import { Difference } from '../releases/difference-view.tsx'
import { Panel } from '../ui/parts.tsx'
import { releaseHistory } from './bundle-versions.ts'
import type { HistoryEntry } from './bundle-versions.ts'

const DEFAULTS = { from: '', to: '' } as const

export function CompareReleases({
  releases,
  bundle,
}: {
  readonly releases: readonly Release[]
  readonly bundle: string
}) {
  const history = useMemo(() => releaseHistory(releases, bundle), [releases, bundle])
  const [{ from, to }, set] = useSearchValues(DEFAULTS)
  const named = (name: string): HistoryEntry | undefined =>
    history.find(({ release }) => release.metadata.name === name)
  const after = named(to) ?? history[0]
  const before = named(from) ?? history[1]
  if (!after || !before) return null
  const choice = (label: string, chosen: HistoryEntry, onChange: (name: string) => void) => (
    <label>
      {label}{' '}
      <select value={chosen.release.metadata.name} onChange={({ target }) => onChange(target.value)}>
        {history.map(({ release }) => (
          <option key={release.metadata.name}>{release.metadata.name}</option>
        ))}
      </select>
    </label>
  )
  return (
    <Panel
      title="Difference"
      side={
        <span className="choices">
          {choice('From', before, (name) => set({ from: name }))}
          {choice('To', after, (name) => set({ to: name }))}
        </span>
      }
    >
      <Difference before={before} after={after} />
    </Panel>
  )
}
