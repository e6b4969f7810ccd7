import { isApiError } from '../core/errors.ts'
import { parseSelector } from '../core/selector.ts'
import { CliError, EXIT } from './exit.ts'

/** What `-l` says, as the `matchExpressions` of an object. */
export function requirementsOf(selector: string) {
  try {
    return parseSelector(selector).map(({ values, ...rest }) => ({
      ...rest,
      ...(values ? { values: [...values] } : {}),
    }))
  } catch (caught) {
    if (isApiError(caught, 'BadRequest'))
      throw new CliError(EXIT.usage, { what: `-l ${selector}`, why: caught.message })
    throw caught
  }
}
