/** Names of resources, as `manifestConfigs` and orphaning rules write them, for the kinds of manifests. */
import { matchesGlob } from '../../../core/text/glob.ts'
import { BUILTIN_KINDS } from '../../../kinds/builtin/builtin-kinds.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'

/** A resource as a rule of a ManifestWork names it. */
export interface ResourceRule {
  readonly group?: string | undefined
  readonly resource: string
  readonly namespace?: string | undefined
  readonly name: string
}

/** A manifest by group, version, kind, resource, namespace and name. */
export interface ManifestId {
  readonly group: string
  readonly version: string
  readonly kind: string
  readonly resource: string
  readonly namespace: string
  readonly name: string
}

const PLURALS = new Map(BUILTIN_KINDS.map(({ group, kind, plural }) => [`${group}/${kind}`, plural]))

/** What a manifest is; a custom kind has the plural that Kubernetes' own tools would guess. */
export function manifestId({ apiVersion, kind, metadata }: UnknownObject): ManifestId {
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  return {
    group,
    version: apiVersion.slice(slash + 1),
    kind,
    resource: PLURALS.get(`${group}/${kind}`) ?? guessPlural(kind),
    namespace: metadata.namespace ?? '',
    name: metadata.name,
  }
}

function guessPlural(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular.endsWith('s')) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}

/** Whether a rule selects a manifest; `*` in namespace and name stands for any text. */
export function selectsManifest(rule: ResourceRule, id: ManifestId): boolean {
  return (
    (rule.group ?? '') === id.group &&
    rule.resource === id.resource &&
    matchesGlob(rule.namespace ?? '', id.namespace) &&
    matchesGlob(rule.name, id.name)
  )
}
