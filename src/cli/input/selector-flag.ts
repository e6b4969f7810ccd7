import { compact } from '../../core/compact.ts'
import { isApiError } from '../../core/errors.ts'
import { parseSelector } from '../../core/text/label-selector.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'

/** A label selector as `matchExpressions`. */
export function requirementsOf(selector: string) {
  try {
    return parseSelector(selector).map(({ values, ...rest }) => ({
      ...rest,
      ...compact({ values: values ? [...values] : undefined }),
    }))
  } catch (caught) {
    if (isApiError(caught, 'BadRequest'))
      throw new CliError(EXIT.usage, { what: `invalid selector ${JSON.stringify(selector)}`, why: caught.message })
    throw caught
  }
}

/** The clusters of `-l` or `--all-clusters` as `matchExpressions`. Exactly one of the flags is required. */
export function clustersOf({ selector, allClusters }: { readonly selector?: string; readonly allClusters?: boolean }) {
  if ((selector === undefined) === !allClusters) {
    throw new CliError(EXIT.usage, {
      what: allClusters ? '-l and --all-clusters exclude each other' : 'missing -l or --all-clusters',
      todo: 'select clusters with -l LABELS, for example -l tier=store, or with --all-clusters',
    })
  }
  return selector === undefined ? [] : requirementsOf(selector)
}
