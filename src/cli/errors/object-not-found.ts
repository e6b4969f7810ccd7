/** What a person is told who named an object that is not there. */
import type { Rest } from '../../client/rest.ts'
import { collectionPath, withQuery } from '../../client/resource-paths.ts'
import { isObject } from '../../core/json.ts'
import { CliError, EXIT } from './cli-error.ts'
import { fullName } from '../api/find-resource.ts'
import type { ApiResource } from '../api/find-resource.ts'
import { didYouMean } from './did-you-mean.ts'

/** What was asked for. */
export interface ObjectQuery {
  readonly resource: ApiResource
  readonly name: string
  /** Where it was looked for; everywhere when absent. */
  readonly namespace?: string | undefined
}

const LOOKED_AT = 500

/** The error for an object that does not exist, with the nearest name of one that does. */
export async function noSuchObject(
  { resource, name, namespace }: ObjectQuery,
  rest: Pick<Rest, 'json'>,
  signal?: AbortSignal,
): Promise<CliError> {
  const isNamespaced = resource.scope === 'Namespaced'
  const path = withQuery(collectionPath(resource, isNamespaced ? namespace : undefined), { limit: LOOKED_AT })
  const list = await rest.json({ method: 'GET', path, ...(signal && { signal }) })
  const items = isObject(list) && Array.isArray(list['items']) ? list['items'].filter(isObject) : []
  const names = items.flatMap(({ metadata }) => (isObject(metadata) ? [String(metadata['name'])] : []))
  const where = isNamespaced ? (namespace === undefined ? ' -A' : ` -n ${namespace}`) : ''
  return new CliError(EXIT.notFound, {
    what: `there is no ${resource.singular} ${JSON.stringify(name)}`,
    ...(isNamespaced && { where: namespace === undefined ? 'in any namespace' : `namespace ${namespace}` }),
    why:
      names.length === 0
        ? `there are no ${resource.plural} there`
        : `none of the ${resource.plural} there is called so`,
    todo: didYouMean(name, names) ?? `see them all: flotilla get ${fullName(resource)}${where}`,
  })
}
