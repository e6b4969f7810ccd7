/** What is wrong with a CustomResourceDefinition, in the words of a kube-apiserver. */
import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { label1035Problems, subdomainProblems } from '../../core/text/name-validation.ts'
import type { CrdVersion, CustomResourceDefinition } from '../builtin/apiextensions.ts'
import { validateRuleCosts } from './rule-cost.ts'
import { schemaErrors } from './schema-errors.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { forbidden, invalid, notSupported, required } from '../validation/field-error.ts'
import type { FieldError } from '../validation/field-error.ts'
import { GoStruct } from '../validation/go-text.ts'

/** Fills in what a definition may leave out, in place. */
export function defaultCrd(crd: CustomResourceDefinition): void {
  const { names, versions } = crd.spec
  crd.spec.conversion ??= { strategy: 'None' }
  names.singular ||= (names.kind ?? '').toLowerCase()
  names.listKind ||= `${names.kind ?? ''}List`
  for (const version of versions ?? []) {
    if (version.deprecated === false) delete version.deprecated
    if (isObject(version.schema?.openAPIV3Schema)) dropUnknownKeywords(version.schema.openAPIV3Schema)
  }
  const storage = (versions ?? []).find((version) => version.storage)?.name
  const stored = crd.status?.storedVersions ?? []
  crd.status = {
    ...crd.status,
    acceptedNames: { plural: '', kind: '', ...crd.status?.acceptedNames },
    storedVersions: storage === undefined || stored.includes(storage) ? stored : [...stored, storage],
  }
}

/** All problems of a definition; `old` is the stored definition. */
export function crdErrors(crd: CustomResourceDefinition, old?: CustomResourceDefinition): FieldError[] {
  const { spec } = crd
  const errors: FieldError[] = []
  const name = `${spec.names.plural}.${spec.group}`
  errors.push(...subdomainProblems(spec.group).map((problem) => invalid('spec.group', spec.group, problem)))
  if (errors.length === 0 && crd.metadata.name !== name) {
    errors.push(invalid('metadata.name', crd.metadata.name, 'must be spec.names.plural+"."+spec.group'))
  }
  if (/(^|\.)(?:k8s|kubernetes)\.io$/.test(spec.group) && !crd.metadata.annotations?.['api-approved.kubernetes.io']) {
    errors.push(
      required(
        'metadata.annotations[api-approved.kubernetes.io]',
        'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
      ),
    )
  }
  if (!spec.scope) errors.push(required('spec.scope'))
  else if (spec.scope !== 'Cluster' && spec.scope !== 'Namespaced') {
    errors.push(notSupported('spec.scope', spec.scope, ['Cluster', 'Namespaced']))
  }
  errors.push(...nameErrors(crd), ...versionErrors(crd), ...conversionErrors(crd))
  if (spec.preserveUnknownFields === true && old?.spec.preserveUnknownFields !== true) {
    errors.push(
      invalid(
        'spec.preserveUnknownFields',
        true,
        'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ),
    )
  }
  for (const [index, version] of spec.versions.entries()) errors.push(...oneVersionErrors(crd, version, index, old))
  if (old) errors.push(...changeErrors(crd, old))
  return uniqueErrors(errors)
}

function uniqueErrors(errors: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return errors.filter((error) => {
    const text = `${error.field}\n${error.message}`
    return seen.has(text) ? false : seen.add(text)
  })
}

function nameErrors({ spec: { names } }: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const label = (field: string, value: string) =>
    errors.push(...label1035Problems(value).map((problem) => invalid(`spec.names.${field}`, value, problem)))
  const mixed = (field: string, value: string) =>
    errors.push(
      ...label1035Problems(value.toLowerCase()).map((problem) =>
        invalid(`spec.names.${field}`, value, `may have mixed case, but should otherwise match: ${problem}`),
      ),
    )
  label('plural', names.plural)
  if (names.singular) label('singular', names.singular)
  mixed('kind', names.kind)
  if (names.listKind) mixed('listKind', names.listKind)
  for (const [index, short] of (names.shortNames ?? []).entries()) label(`shortNames[${index}]`, short)
  for (const [index, category] of (names.categories ?? []).entries()) label(`categories[${index}]`, category)
  if (names.listKind === names.kind) {
    errors.push(invalid('spec.names.listKind', names.listKind, 'kind and listKind may not be the same'))
  }
  return errors
}

// As the server's own form of it prints versions.
function shownVersions(versions: readonly CrdVersion[]): GoStruct {
  const shown = versions.map(({ name, served, storage, deprecated = false, deprecationWarning = null }) => ({
    Name: name,
    Served: served,
    Storage: storage,
    Deprecated: deprecated,
    DeprecationWarning: deprecationWarning,
    Schema: null,
    Subresources: null,
    AdditionalPrinterColumns: null,
    SelectableFields: null,
  }))
  return new GoStruct(shown)
}

function versionErrors({ spec: { versions }, status }: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const names = versions.map(({ name }) => name)
  for (const [index, { name }] of versions.entries()) {
    errors.push(...label1035Problems(name).map((problem) => invalid(`spec.versions[${index}].name`, name, problem)))
  }
  if (new Set(names).size < names.length) {
    errors.push(invalid('spec.versions', shownVersions(versions), 'must contain unique version names'))
  }
  const storage = versions.filter((version) => version.storage)
  if (storage.length !== 1) {
    errors.push(
      invalid('spec.versions', shownVersions(versions), 'must have exactly one version marked as storage version'),
    )
  }
  const stored = status?.storedVersions ?? []
  if (stored.length === 0) errors.push(invalid('status.storedVersions', null, 'must have at least one stored version'))
  const last = storage.at(-1)
  if (last && stored.length > 0 && !stored.includes(last.name)) {
    errors.push(invalid('status.storedVersions', stored, `must have the storage version ${last.name}`))
  }
  for (const [index, name] of stored.entries()) {
    if (!names.includes(name)) {
      errors.push(
        invalid(
          `status.storedVersions[${index}]`,
          name,
          'missing from spec.versions; v1alpha1 was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in v1alpha1 and removes v1alpha1 from status.storedVersions'.replaceAll(
            'v1alpha1',
            name,
          ),
        ),
      )
    }
  }
  return errors
}

function conversionErrors({ spec: { conversion } }: CustomResourceDefinition): FieldError[] {
  const strategy = conversion?.strategy ?? 'None'
  if (strategy === 'None') return []
  if (strategy !== 'Webhook') return [notSupported('spec.conversion.strategy', strategy, ['None', 'Webhook'])]
  return [forbidden('spec.conversion.strategy', 'this server calls no webhooks: use strategy None')]
}

/** Where a part of a version is: on top when all versions have the same. */
function placeOf(crd: CustomResourceDefinition, index: number, part: keyof CrdVersion): string {
  const { versions } = crd.spec
  const isShared = versions.every((version) => jsonEqual(version[part], versions[0]![part]))
  return isShared ? 'spec' : `spec.versions[${index}]`
}

function oneVersionErrors(
  crd: CustomResourceDefinition,
  version: CrdVersion,
  index: number,
  old: CustomResourceDefinition | undefined,
): FieldError[] {
  const errors: FieldError[] = []
  const schema: StructuralSchema | undefined = version.schema?.openAPIV3Schema
  if (schema === undefined) {
    return [required(`spec.versions[${index}].schema.openAPIV3Schema`)]
  }
  const place = placeOf(crd, index, 'schema')
  const path = place === 'spec' ? 'spec.validation.openAPIV3Schema' : `${place}.schema.openAPIV3Schema`
  const before = old?.spec.versions.find(({ name }) => name === version.name)?.schema?.openAPIV3Schema
  // What was accepted once is not judged again.
  if (!jsonEqual(before, schema)) {
    const structural = schemaErrors(schema, path)
    errors.push(...structural)
    if (structural.length === 0) errors.push(...validateRuleCosts(schema, path))
  }
  errors.push(...columnErrors(version, placeOf(crd, index, 'additionalPrinterColumns')))
  errors.push(...subresourceErrors(version, placeOf(crd, index, 'subresources')))
  errors.push(...selectableErrors(version, schema, placeOf(crd, index, 'selectableFields')))
  return errors
}

const COLUMN_TYPES = ['boolean', 'date', 'integer', 'number', 'string']
const COLUMN_FORMATS = ['int32', 'int64', 'float', 'double', 'byte', 'date', 'date-time', 'password']
const SIMPLE_PATH = 'must be a simple json path starting with .'

function columnErrors({ additionalPrinterColumns = [] }: CrdVersion, place: string): FieldError[] {
  return additionalPrinterColumns.flatMap(({ name, type, format, jsonPath }, index) => {
    const at = `${place}.additionalPrinterColumns[${index}]`
    const errors: FieldError[] = []
    if (!name) errors.push(required(`${at}.name`))
    if (!type) errors.push(required(`${at}.type`, `must be one of ${COLUMN_TYPES.join(',')}`))
    else if (!COLUMN_TYPES.includes(type)) {
      errors.push(invalid(`${at}.type`, type, `must be one of ${COLUMN_TYPES.join(',')}`))
    }
    if (format && !COLUMN_FORMATS.includes(format)) {
      errors.push(invalid(`${at}.format`, format, `must be one of ${COLUMN_FORMATS.toSorted().join(',')}`))
    }
    if (!jsonPath) errors.push(required(`${at}.JSONPath`))
    else if (!jsonPath.startsWith('.')) errors.push(invalid(`${at}.JSONPath`, jsonPath, SIMPLE_PATH))
    return errors
  })
}

function subresourceErrors({ subresources }: CrdVersion, place: string): FieldError[] {
  const scale = subresources?.scale
  if (!scale) return []
  const at = `${place}.subresources.scale`
  const one = (field: 'specReplicasPath' | 'statusReplicasPath' | 'labelSelectorPath', roots: readonly string[]) => {
    const value = scale[field]
    if (value === undefined || value === '') return field === 'labelSelectorPath' ? [] : [required(`${at}.${field}`)]
    if (!value.startsWith('.') || /[[\]]/.test(value)) return [invalid(`${at}.${field}`, value, SIMPLE_PATH)]
    if (roots.some((root) => value.startsWith(root))) return []
    return [
      invalid(
        `${at}.${field}`,
        value,
        `should be a json path under ${roots.map((root) => root.replace(/\.$/, '')).join(' or ')}`,
      ),
    ]
  }
  return [
    ...one('specReplicasPath', ['.spec.']),
    ...one('statusReplicasPath', ['.status.']),
    ...one('labelSelectorPath', ['.spec.', '.status.']),
  ]
}

function selectableErrors(
  { selectableFields = [] }: CrdVersion,
  schema: StructuralSchema,
  place: string,
): FieldError[] {
  return selectableFields.flatMap(({ jsonPath }, index) => {
    const at = `${place}.selectableFields[${index}].jsonPath`
    if (!jsonPath) return [required(at)]
    if (!jsonPath.startsWith('.')) {
      return [invalid(at, jsonPath, `is an invalid path: expected [ or . but got: ${/^[^.[\]]*/.exec(jsonPath)![0]}`)]
    }
    let node: StructuralSchema | undefined = schema
    for (const part of jsonPath.slice(1).split('.')) node = node?.properties?.[part]
    if (!node || jsonPath.startsWith('.metadata')) {
      return [invalid(at, jsonPath, 'is an invalid path: does not refer to a valid field')]
    }
    if (node.type === 'string' || node.type === 'boolean' || node.type === 'integer') return []
    return [
      invalid(
        at,
        jsonPath,
        'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ),
    ]
  })
}

function changeErrors(crd: CustomResourceDefinition, old: CustomResourceDefinition): FieldError[] {
  const errors: FieldError[] = []
  const isEstablished = old.status?.conditions?.some(({ type, status }) => type === 'Established' && status === 'True')
  const same = (field: string, now: unknown, before: unknown) => {
    if (now !== before) errors.push(invalid(field, now, 'field is immutable'))
  }
  same('spec.group', crd.spec.group, old.spec.group)
  same('spec.names.plural', crd.spec.names.plural, old.spec.names.plural)
  if (!isEstablished) return errors
  same('spec.scope', crd.spec.scope, old.spec.scope)
  same('spec.names.kind', crd.spec.names.kind, old.spec.names.kind)
  return errors
}

const KNOWN = new Set(
  `id $schema $ref description type format title default maximum exclusiveMaximum minimum exclusiveMinimum maxLength minLength
  pattern maxItems minItems uniqueItems multipleOf enum maxProperties minProperties required items allOf oneOf anyOf not
  properties additionalProperties patternProperties dependencies additionalItems definitions externalDocs example nullable
  x-kubernetes-preserve-unknown-fields x-kubernetes-embedded-resource x-kubernetes-int-or-string
  x-kubernetes-list-map-keys x-kubernetes-list-type x-kubernetes-map-type x-kubernetes-validations`.split(/\s+/),
)

function dropUnknownKeywords(node: JsonObject): void {
  for (const [key, value] of Object.entries(node)) {
    if (!KNOWN.has(key)) delete node[key]
    else if (key === 'properties' && isObject(value)) {
      for (const child of Object.values(value)) if (isObject(child)) dropUnknownKeywords(child)
    } else if (key === 'items' || key === 'not' || key === 'additionalProperties') {
      if (isObject(value)) dropUnknownKeywords(value)
    } else if (key === 'allOf' || key === 'anyOf' || key === 'oneOf') {
      for (const child of Array.isArray(value) ? value : []) if (isObject(child)) dropUnknownKeywords(child)
    }
  }
}
