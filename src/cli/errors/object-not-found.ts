/** The error for a named object that does not exist. */
import type { Rest } from '../../client/rest.ts'
import { collectionPath, withQuery } from '../../client/resource-paths.ts'
import { isObject } from '../../core/json.ts'
import { CliError, EXIT } from './cli-error.ts'
import { fullName } from '../api/find-resource.ts'
import type { ApiResource } from '../api/find-resource.ts'
import { didYouMean } from './did-you-mean.ts'

export interface ObjectQuery {
  readonly resource: ApiResource
  readonly name: string
  /** Namespace of the object. If omitted, all namespaces. */
  readonly namespace?: string | undefined
}

const MAX_CANDIDATES = 500

/** Reports that an object does not exist, with the nearest existing name. */
export async function noSuchObject(
  { resource, name, namespace }: ObjectQuery,
  rest: Pick<Rest, 'json'>,
  signal?: AbortSignal,
): Promise<CliError> {
  const isNamespaced = resource.scope === 'Namespaced'
  const path = withQuery(collectionPath(resource, isNamespaced ? namespace : undefined), { limit: MAX_CANDIDATES })
  const list = await rest.json({ method: 'GET', path, ...(signal && { signal }) })
  const items = isObject(list) && Array.isArray(list['items']) ? list['items'].filter(isObject) : []
  const names = items.flatMap(({ metadata }) => (isObject(metadata) ? [String(metadata['name'])] : []))
  const flag = isNamespaced ? (namespace === undefined ? ' -A' : ` -n ${namespace}`) : ''
  const place = isNamespaced ? (namespace === undefined ? ' in any namespace' : ` in namespace "${namespace}"`) : ''
  return new CliError(EXIT.notFound, {
    what: `${resource.singular} ${JSON.stringify(name)} not found${place}`,
    todo: didYouMean(name, names) ?? `list ${resource.plural} with "flotilla get ${fullName(resource)}${flag}"`,
  })
}
