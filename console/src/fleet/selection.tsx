/** The selected clusters and what can be done with all of them. */
import { useMemo } from 'react'
import type { FleetRow } from '../../../src/hub/console/fleet-row.ts'
import { bulkActions } from '../actions/bulk-actions.ts'
import { BulkButton } from '../actions/bulk-button.tsx'
import { Button } from '../ui/parts.tsx'

export function Selection({
  rows,
  selected,
  onClear,
}: {
  readonly rows: readonly FleetRow[]
  readonly selected: ReadonlySet<string>
  readonly onClear: () => void
}) {
  // Clusters that are gone are no longer selected.
  const members = useMemo(() => rows.filter(({ name }) => selected.has(name)), [rows, selected])
  const actions = useMemo(() => bulkActions(members), [members])
  if (members.length === 0) return null
  return (
    <div className="selection" role="group" aria-label="Selected clusters">
      <strong role="status">{members.length.toLocaleString('en')} selected</strong>
      {actions.map((action) => (
        <BulkButton key={action.sample.title} action={action} />
      ))}
      <Button onClick={onClear}>Clear</Button>
    </div>
  )
}
