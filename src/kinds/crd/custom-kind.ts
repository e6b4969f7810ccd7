/** A CustomResourceDefinition as the kinds it defines, one per served version. */
import { compact } from '../../core/compact.ts'
import type { CrdVersion, CustomResourceDefinition } from '../builtin/apiextensions.ts'
import { AGE } from '../define-kind.ts'
import type { Column, Kind } from '../define-kind.ts'
import type { Scope } from '../meta.ts'
import type { StructuralSchema } from '../schema/structural.ts'

/** The kinds of a definition's served versions, the preferred one first. */
export function crdToKinds(crd: CustomResourceDefinition): Kind[] {
  return crd.spec.versions
    .filter(({ served }) => served)
    .toSorted((a, b) => compareVersions(a.name, b.name))
    .map((version) => kindOfVersion(crd, version))
}

function kindOfVersion(crd: CustomResourceDefinition, version: CrdVersion): Kind {
  const { group, names, scope } = crd.spec
  const schema = schemaOf(version)
  const stored = crd.spec.versions.find(({ storage }) => storage) ?? version
  const { status, scale } = version.subresources ?? {}
  return {
    group,
    version: version.name,
    kind: names.kind,
    plural: names.plural,
    scope: scope as Scope,
    singular: names.singular ?? names.kind.toLowerCase(),
    listKind: names.listKind ?? `${names.kind}List`,
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    description: schema.description ?? '',
    schema,
    subresources: compact({ status: status !== undefined, scale }),
    columns: (version.additionalPrinterColumns as readonly Column[] | undefined) ?? [AGE],
    examples: [],
    custom: compact({
      storedAs: `${group}/${stored.name}`,
      storedSchema: schemaOf(stored),
      selectableFields: (version.selectableFields ?? []).map(({ jsonPath }) => jsonPath.replace(/^\./, '')),
      isTerminating: crd.metadata.deletionTimestamp !== undefined,
      deprecation: version.deprecated ? (version.deprecationWarning ?? deprecationOf(crd, version.name)) : undefined,
    }),
  }
}

/** The words for a version that says nothing itself; they name the best one that is preferred to it. */
function deprecationOf({ spec }: CustomResourceDefinition, version: string): string {
  const { group, names, versions } = spec
  const better = versions
    .filter(({ name, served, deprecated }) => served && !deprecated && compareVersions(name, version) < 0)
    .toSorted((a, b) => compareVersions(a.name, b.name))
  const instead = better[0] ? `; use ${group}/${better[0].name} ${names.kind}` : ''
  return `${group}/${version} ${names.kind} is deprecated${instead}`
}

function schemaOf({ schema }: CrdVersion): StructuralSchema {
  return { ...schema?.openAPIV3Schema, type: 'object' }
}

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/

/** Orders versions as Kubernetes prefers them: stable before beta before alpha, higher before lower, others by name. */
export function compareVersions(a: string, b: string): number {
  const left = VERSION.exec(a)
  const right = VERSION.exec(b)
  if (!left || !right) return left ? -1 : right ? 1 : a < b ? -1 : a > b ? 1 : 0
  const stage = (match: RegExpExecArray) => (match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0)
  return (
    stage(right) - stage(left) || Number(right[1]) - Number(left[1]) || Number(right[3] ?? 0) - Number(left[3] ?? 0)
  )
}
