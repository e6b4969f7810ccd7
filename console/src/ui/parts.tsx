/** Small parts that pages are made of. */
import { useId } from 'react'
import type { ButtonHTMLAttributes, ReactNode } from 'react'
import { ApiFailure } from '../data/api-failure.ts'
import { useMay } from '../data/access.ts'
import type { Wanted } from '../data/access.ts'

/** A titled section. */
export function Panel({
  title,
  side,
  children,
  isBare = false,
}: {
  readonly title: ReactNode
  readonly side?: ReactNode
  readonly children: ReactNode
  readonly isBare?: boolean
}) {
  const id = useId()
  return (
    <section className={isBare ? 'panel bare' : 'panel'} aria-labelledby={id}>
      <header className="panel-head">
        <h2 id={id}>{title}</h2>
        {side}
      </header>
      {children}
    </section>
  )
}

/** What a page shows where there is nothing to show: why, and what to do. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ReactNode }) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children !== undefined && <div className="quiet">{children}</div>}
    </div>
  )
}

/** A failure in the API's own words. */
export function Failure({ error, what }: { readonly error: Error; readonly what: string }) {
  const isForbidden = error instanceof ApiFailure && error.code === 403
  return (
    <div className="failure" role="alert">
      <strong>{isForbidden ? `You may not see ${what}.` : `The hub did not return ${what}.`}</strong>
      <span>{error.message}</span>
    </div>
  )
}

/** Why a change was not made, in the API's own words. */
export function Refusal({ error }: { readonly error: Error }) {
  const isAnswered = error instanceof ApiFailure && error.code > 0
  return (
    <div className="failure" role="alert">
      <strong>{isAnswered ? 'The hub refused the change.' : 'It is unknown whether the change was made.'}</strong>
      <span>{error.message}</span>
    </div>
  )
}

/** A command to copy. */
export function Command({ children }: { readonly children: string }) {
  return (
    <span className="command">
      <code>{children}</code>
      <button
        type="button"
        className="copy"
        aria-label={`Copy the command ${children}`}
        onClick={() => void navigator.clipboard.writeText(children)}
      >
        Copy
      </button>
    </span>
  )
}

type ButtonProps = Omit<ButtonHTMLAttributes<HTMLButtonElement>, 'type'> & {
  readonly look?: 'plain' | 'main' | 'danger'
  readonly right?: Wanted | undefined
}

/** A button. With a right that the user does not have it is off, and says which right that is. */
export function Button({ look = 'plain', right, ...props }: ButtonProps) {
  return right === undefined ? (
    <button type="button" className={`button ${look}`} {...props} />
  ) : (
    <RightButton {...props} look={look} right={right} />
  )
}

function RightButton({ look, right, ...props }: ButtonProps & { readonly right: Wanted }) {
  const { isAllowed, missing } = useMay(right)
  const id = useId()
  if (isAllowed !== false) return <button type="button" className={`button ${look}`} {...props} />
  // Still reachable by keyboard, so that its reason can be read.
  return (
    <span className="off">
      <button
        {...props}
        type="button"
        className={`button ${look}`}
        aria-disabled="true"
        aria-describedby={id}
        title={missing}
        onClick={undefined}
      />
      <span id={id} className="off-reason">
        {missing}
      </span>
    </span>
  )
}

/** Facts as a list of names and values. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  )
}
