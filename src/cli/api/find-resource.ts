// Tested by src/cli/commands/objects/objects.test.ts.
/** Finds a kind by the discovery of the API: by plural, singular, short name or kind, with or without group. */
import { settleAll } from '../../core/async/settle-all.ts'
import type { Rest } from '../../client/rest.ts'
import { isApiError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import type { ResourceType } from '../../kinds/meta.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import { didYouMean } from '../errors/did-you-mean.ts'

/** A kind as discovery describes it. */
export interface ApiResource extends ResourceType {
  readonly singular: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly verbs: readonly string[]
}

const OWN = 'flotilla.dev/v1alpha1'

/** The kinds that a word names: one kind, or all kinds of a category like `flotilla`. */
export async function findResources(rest: Rest, word: string): Promise<readonly ApiResource[]> {
  // Flotilla's own kinds first: one request suffices for most commands, and `clusters` means Flotilla's.
  const own = await resourcesOf(rest, OWN)
  const found = matching(own, word)
  if (found.length > 0) return found
  const all = [...own, ...(await otherResources(rest))]
  const foundElsewhere = matching(all, word)
  if (foundElsewhere.length > 0) return foundElsewhere
  throw unknownKind(word, all)
}

/** The single kind that a word names. */
export async function findResource(rest: Rest, word: string): Promise<ApiResource> {
  const found = await findResources(rest, word)
  const first = found[0]
  if (found.length === 1 && first) return first
  throw new CliError(EXIT.usage, {
    what: `${JSON.stringify(word)} names ${found.length} kinds, but one kind is required`,
    todo: `use one of ${found.map(fullName).join(', ')}`,
  })
}

/** `clusters.flotilla.dev`, or `namespaces` for Kubernetes' own. */
export function fullName({ plural, group }: Pick<ApiResource, 'plural' | 'group'>): string {
  return group === '' ? plural : `${plural}.${group}`
}

/** `cluster.flotilla.dev/name`, as kubectl names objects in what it prints. */
export function objectName(resource: Pick<ApiResource, 'singular' | 'group'>, name: string): string {
  return `${resource.singular}${resource.group === '' ? '' : `.${resource.group}`}/${name}`
}

/** The kinds of a group version. Empty if the hub does not serve the group version. */
export async function resourcesOf(rest: Rest, apiVersion: string): Promise<readonly ApiResource[]> {
  try {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    return parseResources(apiVersion, await rest.json({ method: 'GET', path }))
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return []
    throw caught
  }
}

function matching(resources: readonly ApiResource[], word: string): ApiResource[] {
  const wanted = word.toLowerCase()
  const byName = resources.filter((resource) => {
    const names = [resource.plural, resource.singular, resource.kind.toLowerCase(), ...resource.shortNames]
    const suffixes = resource.group === '' ? [''] : ['', `.${resource.group}`, `.${resource.version}.${resource.group}`]
    return names.some((name) => suffixes.some((suffix) => wanted === name + suffix))
  })
  if (byName.length > 0) return byName.slice(0, 1)
  return resources.filter(({ categories, verbs }) => categories.includes(wanted) && verbs.includes('list'))
}

async function otherResources(rest: Rest): Promise<readonly ApiResource[]> {
  const answer = await rest.json({ method: 'GET', path: '/apis' })
  const groups = isObject(answer) && Array.isArray(answer['groups']) ? answer['groups'].filter(isObject) : []
  const versions = groups.flatMap(({ preferredVersion }) =>
    isObject(preferredVersion) && typeof preferredVersion['groupVersion'] === 'string'
      ? [preferredVersion['groupVersion']]
      : [],
  )
  const lists = await settleAll(
    ['v1', ...versions].filter((version) => version !== OWN).map((version) => resourcesOf(rest, version)),
  )
  return lists.flat()
}

function parseResources(apiVersion: string, answer: unknown): ApiResource[] {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion]
  const resources = isObject(answer) && Array.isArray(answer['resources']) ? answer['resources'].filter(isObject) : []
  return resources.flatMap(({ name, kind, namespaced, singularName, shortNames, categories, verbs }) => {
    if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/')) return []
    return {
      group: group!,
      version: version!,
      kind,
      plural: name,
      scope: namespaced === true ? ('Namespaced' as const) : ('Cluster' as const),
      singular: typeof singularName === 'string' && singularName !== '' ? singularName : kind.toLowerCase(),
      shortNames: texts(shortNames),
      categories: texts(categories),
      verbs: texts(verbs),
    }
  })
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

function unknownKind(word: string, all: readonly ApiResource[]): CliError {
  const names = all.flatMap(({ plural, singular, shortNames }) => [plural, singular, ...shortNames])
  const own = all.filter(({ categories }) => categories.includes('flotilla')).map(({ plural }) => plural)
  if (word === 'all') {
    return new CliError(EXIT.usage, {
      what: 'unknown kind "all"',
      todo: 'use "flotilla status" or "flotilla tree" for the whole fleet, or a kind such as "flotilla get clusters"',
    })
  }
  return new CliError(EXIT.usage, {
    what: `unknown kind ${JSON.stringify(word)}`,
    todo: didYouMean(word, names) ?? `use one of ${own.join(', ')}`,
  })
}
