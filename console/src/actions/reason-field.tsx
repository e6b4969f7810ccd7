import { useId } from 'react'
import type { Action } from './action.ts'

/** The reason for a change, where the action asks for one. */
export function ReasonField({
  asks,
  value,
  onChange,
}: {
  readonly asks: Action['asks']
  readonly value: string
  readonly onChange: (value: string) => void
}) {
  const id = useId()
  if (asks === 'none') return undefined
  return (
    <label htmlFor={id}>
      Reason {asks === 'reason' && <span className="quiet">(optional, recorded in the audit log)</span>}
      <input
        id={id}
        value={value}
        maxLength={900}
        autoComplete="off"
        required={asks === 'requiredReason'}
        onChange={({ target }) => onChange(target.value)}
      />
    </label>
  )
}
