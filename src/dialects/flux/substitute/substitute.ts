/** Variables in texts, as Flux's `postBuild` and `flux envsubst` replace them. */
import { fromByteText, toByteText } from '../text/byte-text.ts'
import { applyFunction, isDefault } from './functions.ts'
import { parseSubstitutions } from './parse-substitutions.ts'
import type { Piece } from './parse-substitutions.ts'
import { SubstituteError } from './substitute-error.ts'

/** How a text is substituted. */
export interface SubstituteOptions {
  readonly vars: ReadonlyMap<string, string>
  /** If true, a variable that is not set and has no default is an error. */
  readonly strict?: boolean
  /** The value of a variable that `vars` has not. */
  readonly fact?: (name: string) => string | undefined
}

const MAX_OUTPUT_BYTES = 64 * 1024 * 1024

/** Replaces the variables of a text; throws SubstituteError. */
export function substitute(text: string, options: SubstituteOptions): string {
  const bytes = substituteBytes(toByteText(text), options)
  const result = fromByteText(bytes)
  if (result === undefined) throw new SubstituteError('the result is not valid UTF-8: a substitution cut a character')
  return result
}

/** The same on byte texts; see byte-text.ts. */
export function substituteBytes(text: string, options: SubstituteOptions): string {
  const vars = new Map([...options.vars].map(([name, value]) => [name, toByteText(value)]))
  const valueOf = (name: string): string | undefined => {
    const value = vars.get(name)
    if (value !== undefined || !options.fact) return value
    const fact = options.fact(name)
    return fact === undefined ? undefined : toByteText(fact)
  }
  return evaluate(parseSubstitutions(text), valueOf, options.strict ?? false)
}

function evaluate(pieces: readonly Piece[], valueOf: (name: string) => string | undefined, strict: boolean): string {
  let result = ''
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      result += piece
      continue
    }
    const args = piece.args.map((arg) => evaluate([arg], valueOf, strict))
    const name = fromByteText(piece.name) ?? piece.name
    const value = valueOf(name)
    if (value === undefined && strict && !isDefault(piece.operator)) {
      throw new SubstituteError(`variable not set (strict mode): "${name}"`)
    }
    result += applyFunction(piece.operator, value ?? '', args)
    if (result.length > MAX_OUTPUT_BYTES) throw new SubstituteError('the result is larger than 64 MiB')
  }
  return result
}
