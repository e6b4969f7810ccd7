import { compact } from '../../core/compact.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { verbsOf } from '../server/registry.ts'
import type { Registry } from '../server/registry.ts'
import { subresourcesOf } from '../server/subresources.ts'

/** Discovery in one document: what kubectl asks for first. */

/** The media types of aggregated discovery, newest first. */
export const AGGREGATED_VERSIONS = ['v2', 'v2beta1'] as const

/** GET /api (core group) or /apis (named groups) as APIGroupDiscoveryList. */
export function aggregatedDiscovery(registry: Registry, version: string, isCore: boolean): object {
  const groups = [...registry.groups()].filter(([group]) => (group === '') === isCore)
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(([group, versions]) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map((groupVersion) => ({
        version: groupVersion,
        resources: registry
          .all()
          .filter((kind) => kind.group === group && kind.version === groupVersion)
          .map(resourceOf),
        freshness: 'Current',
      })),
    })),
  }
}

function resourceOf(kind: Kind): object {
  const responseKind = { group: kind.group, version: kind.version, kind: kind.kind }
  const below = subresourcesOf(kind).map((sub) => ({
    subresource: sub.name,
    responseKind: sub.responseKind ?? responseKind,
    verbs: sub.verbs,
  }))
  return compact({
    resource: kind.plural,
    responseKind,
    scope: kind.scope,
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    shortNames: kind.shortNames.length > 0 ? kind.shortNames : undefined,
    categories: kind.categories.length > 0 ? kind.categories : undefined,
    subresources: below.length > 0 ? below : undefined,
  })
}
