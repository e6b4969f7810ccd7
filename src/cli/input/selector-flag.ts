import { isApiError } from '../../core/errors.ts'
import { parseSelector } from '../../core/text/label-selector.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'

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

/** Who is meant by `-l` or `--all-clusters`, as `matchExpressions`; one of both must be said, and nobody else is guessed. */
export function clustersOf({ selector, allClusters }: { readonly selector?: string; readonly allClusters?: boolean }) {
  if ((selector === undefined) === !allClusters) {
    throw new CliError(EXIT.usage, {
      what: allClusters ? '-l and --all-clusters exclude each other' : 'nobody is named who should get it',
      todo: 'say -l LABELS, such as -l tier=store, or --all-clusters',
    })
  }
  return selector === undefined ? [] : requirementsOf(selector)
}
