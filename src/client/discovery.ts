import { compact } from '../core/compact.ts'
import { isApiError } from '../core/errors.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import type { ResourceType, Scope } from '../kinds/meta.ts'
import type { Rest } from './rest.ts'

/** What an API serves: how to address a kind that is known by apiVersion and kind alone. */
export interface Discovery {
  /** undefined: the API does not serve it (now). A found kind is remembered; a missing one is asked for again. */
  typeOf(apiVersion: string, kind: string, signal?: AbortSignal): Promise<ResourceType | undefined>
  /** The preferred version of each group, such as `apps/v1`; asked anew each time. */
  groupVersions(signal?: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** The kinds of a group version; asked anew each time. */
  kindsOf(apiVersion: string, signal?: AbortSignal): Promise<readonly ResourceType[]>
  /** All that is served, as charts see it: `apps/v1` and `apps/v1/Deployment`; asked anew each time. */
  apiVersions(signal?: AbortSignal): Promise<readonly string[]>
  /** The server's version, like `v1.36.2`. */
  version(signal?: AbortSignal): Promise<string>
}

/** Makes a discovery that asks each group version once. */
export function createDiscovery(rest: Rest): Discovery {
  const known = new Map<string, ReadonlyMap<string, ResourceType>>()

  async function load(apiVersion: string, signal?: AbortSignal): Promise<ReadonlyMap<string, ResourceType>> {
    const path = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
    try {
      const kinds = kindsOf(apiVersion, await rest.json(compact({ method: 'GET', path, signal })))
      known.set(apiVersion, kinds)
      return kinds
    } catch (caught) {
      if (isApiError(caught, 'NotFound')) return new Map()
      throw caught
    }
  }

  return {
    typeOf: async (apiVersion, kind, signal) =>
      known.get(apiVersion)?.get(kind) ?? (await load(apiVersion, signal)).get(kind),
    groupVersions: async (signal) => {
      const answer = await rest.json(compact({ method: 'GET', path: '/apis', signal }))
      return new Map(listOf(answer, 'groups').flatMap((group) => preferredOf(group)))
    },
    kindsOf: async (apiVersion, signal) => [...(await load(apiVersion, signal)).values()],
    apiVersions: async (signal) => {
      const ask = (path: string) => rest.json(compact({ method: 'GET', path, accept: AGGREGATED, signal }))
      return [await ask('/api'), await ask('/apis')].flatMap(servedIn).sort()
    },
    version: async (signal) => {
      const answer = await rest.json(compact({ method: 'GET', path: '/version', signal }))
      const version = isObject(answer) ? answer['gitVersion'] : undefined
      return typeof version === 'string' ? version : 'unknown'
    },
  }
}

const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json'

function listOf(value: unknown, field: string): JsonObject[] {
  const list = isObject(value) ? value[field] : undefined
  return Array.isArray(list) ? list.filter(isObject) : []
}

function preferredOf({ name, preferredVersion }: JsonObject): [string, string][] {
  const version = isObject(preferredVersion) ? preferredVersion['groupVersion'] : undefined
  return typeof name === 'string' && typeof version === 'string' ? [[name, version]] : []
}

/** What a list of groups says; a server too old to name kinds in it names the groups alone. */
function servedIn(answer: unknown): string[] {
  const plain = isObject(answer) && Array.isArray(answer['versions']) ? answer['versions'].map(String) : []
  const groups = listOf(answer, 'groups').flatMap((group) =>
    listOf(group, 'versions').map((version) => String(version['groupVersion'])),
  )
  const found = listOf(answer, 'items').flatMap((item) => {
    const group = isObject(item['metadata']) ? item['metadata']['name'] : undefined
    return listOf(item, 'versions').flatMap((version) => {
      const name = String(version['version'])
      const apiVersion = typeof group === 'string' && group !== '' ? `${group}/${name}` : name
      const kinds = listOf(version, 'resources').flatMap(({ responseKind: kind }) =>
        isObject(kind) && typeof kind['kind'] === 'string' ? [`${apiVersion}/${kind['kind']}`] : [],
      )
      return [apiVersion, ...new Set(kinds)]
    })
  })
  return [...plain, ...groups, ...found]
}

function kindsOf(apiVersion: string, answer: unknown): ReadonlyMap<string, ResourceType> {
  const [group, version] = apiVersion.includes('/') ? apiVersion.split('/', 2) : ['', apiVersion]
  const resources = isObject(answer) && Array.isArray(answer['resources']) ? answer['resources'].filter(isObject) : []
  const kinds = new Map<string, ResourceType>()
  for (const { name, kind, namespaced } of resources) {
    // `pods/log` and the like are parts of objects, not kinds.
    if (typeof name !== 'string' || typeof kind !== 'string' || name.includes('/')) continue
    const scope: Scope = namespaced === true ? 'Namespaced' : 'Cluster'
    kinds.set(kind, { group: group!, version: version!, kind, plural: name, scope })
  }
  return kinds
}
