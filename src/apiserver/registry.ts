import type { Kind } from '../kinds/define-kind.ts'

/** Which kinds are served, by group and version. Later the custom ones come and go here at run time. */
export interface Registry {
  find(group: string, version: string, plural: string): Kind | undefined
  /** All served kinds, in the order they were given. */
  all(): readonly Kind[]
  /** Groups with their versions, the preferred version first; the core group is ''. */
  groups(): ReadonlyMap<string, readonly string[]>
}

/** A registry of a fixed list of kinds. */
export function createRegistry(kinds: readonly Kind[]): Registry {
  const byAddress = new Map(kinds.map((kind) => [addressOf(kind.group, kind.version, kind.plural), kind]))
  const groups = new Map<string, string[]>()
  for (const { group, version } of kinds) {
    const versions = groups.get(group) ?? []
    if (!versions.includes(version)) versions.push(version)
    groups.set(group, versions)
  }
  return {
    find: (group, version, plural) => byAddress.get(addressOf(group, version, plural)),
    all: () => kinds,
    groups: () => groups,
  }
}

function addressOf(group: string, version: string, plural: string): string {
  return `${group}/${version}/${plural}`
}

/** Whether a kind is served as Kubernetes serves a custom resource; some rules differ from those of built-in ones. */
export function isCustom(kind: Pick<Kind, 'group'>): boolean {
  return kind.group.includes('.') && !kind.group.endsWith('.k8s.io')
}

/** The verbs a resource has, sorted as discovery lists them. */
export const RESOURCE_VERBS = [
  'create',
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'update',
  'watch',
] as const

/** Built-in kinds that have a spec and no metadata.generation. */
const WITHOUT_GENERATION = new Set([
  'Namespace',
  'Service',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'Node',
  'Lease',
])

/** Whether objects of a kind count generations. */
export function hasGeneration(kind: Kind): boolean {
  if (isCustom(kind)) return true
  return kind.schema.properties?.['spec'] !== undefined && !WITHOUT_GENERATION.has(kind.kind)
}
