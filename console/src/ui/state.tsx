/** A state as sign, word and colour. */
import { lookOf, wordsOf } from './states.ts'

export function State({ state, count }: { readonly state: string; readonly count?: number }) {
  const { sign, tone } = lookOf(state)
  return (
    <span className="state" data-tone={tone} data-state={state}>
      <span className="sign" aria-hidden="true">
        {sign}
      </span>
      {wordsOf(state)}
      {count !== undefined && <span className="count">{count.toLocaleString('en')}</span>}
    </span>
  )
}

/** Badges beside a state. */
export function Badges({ badges }: { readonly badges: string }) {
  const names = badges.split(',').filter((badge) => badge !== '')
  return (
    <>
      {names.map((badge) => (
        <span className="badge" key={badge} data-tone={lookOf(badge).tone}>
          <span aria-hidden="true">{lookOf(badge).sign}</span> {badge}
        </span>
      ))}
    </>
  )
}
