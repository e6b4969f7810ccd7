// Tested by src/plan/policy/rules/content-rules.test.ts
/** The kinds of rendered objects, as resource rules name them. */
import { isObject } from '../../../core/json.ts'
import { TABLE_KINDS } from '../../../kinds/builtin/kind-table.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { NATIVE_KINDS } from '../../../kinds/native/native-kinds.ts'
import { groupOf } from '../../objects/object-id.ts'
import type { PolicyKind } from './policy-request.ts'

/** Finds the kind of an object. */
export type KindOf = (object: Pick<UnknownObject, 'apiVersion' | 'kind' | 'metadata'>) => PolicyKind

const KNOWN: ReadonlyMap<string, PolicyKind> = new Map(
  [...TABLE_KINDS, ...NATIVE_KINDS].map((kind) => [`${kind.group}/${kind.version} ${kind.kind}`, kind]),
)
const VERSIONS: ReadonlyMap<string, readonly string[]> = versionsOf(TABLE_KINDS)

function versionsOf(kinds: readonly PolicyKind[]): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const { group, plural, version } of kinds) {
    const key = `${group}/${plural}`
    found.set(key, [...(found.get(key) ?? []), version])
  }
  return found
}

/** The versions of a resource of Kubernetes. */
export function knownVersions(group: string, plural: string): readonly string[] {
  return VERSIONS.get(`${group}/${plural}`) ?? []
}

/**
 * Finds kinds among those of Kubernetes and Flotilla, and the CustomResourceDefinitions of the content. The plural of
 * another kind is formed as Kubernetes forms it; its scope follows from the object.
 */
export function kindsOf(objects: readonly UnknownObject[]): KindOf {
  const defined = new Map<string, PolicyKind>()
  for (const object of objects) {
    if (object.kind !== 'CustomResourceDefinition' || !isObject(object['spec'])) continue
    const { group, names, scope, versions } = object['spec']
    if (typeof group !== 'string' || !isObject(names) || !Array.isArray(versions)) continue
    const { kind, plural } = names
    if (typeof kind !== 'string' || typeof plural !== 'string') continue
    for (const version of versions) {
      if (!isObject(version) || typeof version['name'] !== 'string') continue
      const name = version['name']
      const isCluster = scope === 'Cluster'
      defined.set(`${group}/${name} ${kind}`, {
        group,
        version: name,
        kind,
        plural,
        scope: isCluster ? 'Cluster' : 'Namespaced',
      })
    }
  }
  return ({ apiVersion, kind, metadata }) => {
    const group = groupOf({ apiVersion })
    const version = apiVersion.slice(apiVersion.indexOf('/') + 1)
    const key = `${group}/${version} ${kind}`
    const scope = metadata.namespace === undefined ? 'Cluster' : 'Namespaced'
    return KNOWN.get(key) ?? defined.get(key) ?? { group, version, kind, plural: pluralOf(kind), scope }
  }
}

function pluralOf(kind: string): string {
  const word = kind.toLowerCase()
  if (/(s|x|z|ch|sh)$/.test(word)) return `${word}es`
  return /[^aeiou]y$/.test(word) ? `${word.slice(0, -1)}ies` : `${word}s`
}
