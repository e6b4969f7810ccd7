import { Link } from 'wouter'
import { ApiFailure } from '../data/api-failure.ts'
import { Empty, Failure } from './parts.tsx'

/** The page of an object that is not there, cannot be read, or is being read. */
export function NoObject({
  error,
  noun,
  namespace,
  name,
  list,
}: {
  readonly error: Error | null
  /** What it is, for example `bundle`. */
  readonly noun: string
  readonly namespace?: string
  readonly name: string
  /** The page that lists all of its kind. */
  readonly list: string
}) {
  if (error instanceof ApiFailure && error.code === 404) {
    const where = namespace === undefined ? '' : ` in namespace "${namespace}"`
    return (
      <Empty title={`There is no ${noun} "${name}"${where}.`}>
        <Link href={list}>All {noun}s</Link>
      </Empty>
    )
  }
  if (error) return <Failure error={error} what={`${noun} "${name}"`} />
  return <Empty title={`Reading ${noun} "${name}"…`} />
}
