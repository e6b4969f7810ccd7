/** Bytes of the other side become typed values here, or a WireError that says what is wrong with them. */
import type { Static, TSchema } from 'typebox'
import { fromUtf8 } from '../core/bytes.ts'
import { firstSchemaProblem } from '../core/schema/check-schema.ts'

/** Why something from the other side was refused. */
export type WireReason = 'Malformed' | 'TooLarge' | 'BadSignature' | 'UnknownSigner' | 'WrongType' | 'WrongDigest'

/** Something from the other side that is not what it should be. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly reason: WireReason

  constructor(reason: WireReason, message: string) {
    super(message)
    this.reason = reason
  }
}

/** Checks a value against a schema; `what` names it in the error. */
export function checkValue<S extends TSchema>(schema: S, value: unknown, what: string): Static<S> {
  const problem = firstSchemaProblem(schema, value)
  if (problem === undefined) return value as Static<S>
  const place = problem.path.map((name) => `.${name}`).join('')
  throw new WireError('Malformed', `${what}${place}: ${problem.message}`)
}

/** Parses JSON bytes of at most `maxBytes` and checks them. */
export function parseJson<S extends TSchema>(
  schema: S,
  bytes: Uint8Array,
  options: { readonly what: string; readonly maxBytes: number },
): Static<S> {
  const { what, maxBytes } = options
  if (bytes.byteLength > maxBytes) throw new WireError('TooLarge', `${what} is larger than ${maxBytes} bytes`)
  let value: unknown
  try {
    value = JSON.parse(fromUtf8(bytes))
  } catch {
    throw new WireError('Malformed', `${what} is not JSON`)
  }
  return checkValue(schema, value, what)
}
