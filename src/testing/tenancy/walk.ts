/** A walk over each resource and verb that discovery names, as a user. */
import { utf8 } from '../../core/bytes.ts'
import type { TenancyWorld } from './tenancy-world.ts'

/** A resource of discovery with the group and version that serve it. */
export interface WalkedResource {
  readonly groupVersion: string
  readonly group: string
  /** `plural` or `plural/subresource`. */
  readonly name: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

const METHODS: Readonly<Record<string, readonly [method: string, letter: string]>> = {
  get: ['GET', 'g'],
  list: ['GET', 'l'],
  watch: ['GET', 'w'],
  create: ['POST', 'c'],
  update: ['PUT', 'u'],
  patch: ['PATCH', 'p'],
  delete: ['DELETE', 'd'],
  deletecollection: ['DELETE', 'D'],
}
const WITHOUT_NAME = ['list', 'watch', 'create', 'deletecollection']
const HEADERS = { accept: 'application/json', 'content-type': 'application/json' }

/** The name of a resource in the table: `plural.group`, or `plural/subresource.group`. */
export const rowName = ({ group, name }: WalkedResource): string => `${name}.${group}`

/** The resources of groups, as discovery names them. */
export async function discover(
  world: TenancyWorld,
  isWalked: (group: string) => boolean,
): Promise<readonly WalkedResource[]> {
  const { groups } = (await world.read('/apis')) as {
    groups: { name: string; versions: { groupVersion: string }[] }[]
  }
  const found: WalkedResource[] = []
  for (const { name: group, versions } of groups.filter(({ name }) => isWalked(name))) {
    for (const { groupVersion } of versions) {
      const { resources } = (await world.read(`/apis/${groupVersion}`)) as { resources: WalkedResource[] }
      for (const { name, namespaced, verbs } of resources)
        if (verbs.some((verb) => METHODS[verb])) found.push({ groupVersion, group, name, namespaced, verbs })
    }
  }
  return found
}

/** The verbs that a user may try on each resource in a namespace, as letters; resources without any are left out. */
export async function walk(
  world: TenancyWorld,
  resources: readonly WalkedResource[],
  { user, namespace }: { readonly user: string; readonly namespace: string },
): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const resource of resources) {
    const verbs = resource.verbs.filter((one) => METHODS[one])
    const answers = await Promise.all(verbs.map((verb) => mayTry(world, user, resource, { verb, namespace })))
    const letters = verbs.filter((_, at) => answers[at]).map((verb) => METHODS[verb]![1])
    if (letters.length > 0) found[rowName(resource)] = letters.toSorted().join('')
  }
  return found
}

/** Whether the API lets a user try a verb: any answer but 403. Nothing is stored, and bodies are empty. */
async function mayTry(
  world: TenancyWorld,
  user: string,
  { groupVersion, name, namespaced }: WalkedResource,
  { verb, namespace }: { readonly verb: string; readonly namespace: string },
): Promise<boolean> {
  const [plural = '', sub] = name.split('/')
  const parts = [
    `/apis/${groupVersion}`,
    ...(namespaced ? [`namespaces/${namespace}`] : []),
    plural,
    ...(sub === undefined && WITHOUT_NAME.includes(verb) ? [] : ['a']),
    ...(sub === undefined ? [] : [sub]),
  ]
  const headers = verb === 'patch' ? { ...HEADERS, 'content-type': 'application/merge-patch+json' } : HEADERS
  const method = METHODS[verb]![0]
  const query = verb === 'watch' ? '?watch=true&timeoutSeconds=1' : method === 'GET' ? '' : '?dryRun=All'
  const hasBody = ['create', 'update', 'patch'].includes(verb)
  const ended = new AbortController()
  const request = { method, path: `${parts.join('/')}${query}`, headers, ...(hasBody ? { body: utf8('{}') } : {}) }
  const { status } = await world.as(user).transport(request, ended.signal)
  ended.abort()
  return status !== 403
}
