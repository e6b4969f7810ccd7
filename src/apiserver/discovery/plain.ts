import { base64, sha256 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { verbsOf } from '../server/registry.ts'
import type { Registry } from '../server/registry.ts'
import { subresourcesOf } from '../server/subresources.ts'

/** Discovery in its old form: versions, groups and lists of resources. */

/** GET /api. */
export function apiVersions(registry: Registry): object {
  return {
    kind: 'APIVersions',
    versions: registry.groups().get('') ?? [],
    serverAddressByClientCIDRs: [],
  }
}

/** GET /apis. */
export function apiGroupList(registry: Registry): object {
  const groups = [...registry.groups().keys()].filter((group) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => groupOf(registry, group)) }
}

/** GET /apis/GROUP, or undefined for an unknown group. */
export function apiGroup(registry: Registry, group: string): object | undefined {
  if (group === '' || !registry.groups().has(group)) return undefined
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupOf(registry, group) }
}

function groupOf(registry: Registry, group: string): object {
  const versions = (registry.groups().get(group) ?? []).map((version) => ({
    groupVersion: `${group}/${version}`,
    version,
  }))
  return { name: group, versions, preferredVersion: versions[0] }
}

/** GET /api/v1 or /apis/GROUP/VERSION. Undefined for an unknown group or version. */
export function apiResourceList(registry: Registry, group: string, version: string): object | undefined {
  const kinds = registry.all().filter((kind) => kind.group === group && kind.version === version)
  if (kinds.length === 0) return undefined
  return compact({
    kind: 'APIResourceList',
    apiVersion: group === '' ? undefined : 'v1',
    groupVersion: group === '' ? version : `${group}/${version}`,
    resources: kinds.flatMap(resourcesOf),
  })
}

function resourcesOf(kind: Kind): object[] {
  const namespaced = kind.scope === 'Namespaced'
  const main = compact({
    name: kind.plural,
    singularName: kind.singular,
    namespaced,
    kind: kind.kind,
    verbs: verbsOf(kind),
    shortNames: kind.shortNames.length > 0 ? kind.shortNames : undefined,
    categories: kind.categories.length > 0 ? kind.categories : undefined,
    storageVersionHash: kind.verbs ? undefined : storageVersionHash(kind),
  })
  const below = subresourcesOf(kind).map(({ name, verbs, responseKind }) => ({
    name: `${kind.plural}/${name}`,
    singularName: '',
    namespaced,
    ...(responseKind ? { group: responseKind.group, version: responseKind.version } : {}),
    kind: responseKind?.kind ?? kind.kind,
    verbs,
  }))
  return [main, ...below]
}

/** Eight bytes that change with the version objects are stored in. */
function storageVersionHash(kind: Kind): string {
  return base64(sha256(`${kind.group}/${kind.version}/${kind.kind}`).subarray(0, 8))
}
