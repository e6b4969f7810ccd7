/** Fields that a kind does not have, with the nearest one it does. */
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import { nearestName } from '../../core/text/nearest-name.ts'
import { builtInGroups, findBuiltinKind, BUILTIN_MINOR_VERSION } from '../../kinds/builtin/kind-table.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { METADATA_SCHEMA } from '../../kinds/validation/metadata.ts'
import type { StructuralSchema } from '../../kinds/schema/structural.ts'
import { fieldSchema } from '../../kinds/schema/merge-keys.ts'
import { ownField } from '../../kinds/schema/own-field.ts'
import { formatFieldPath } from '../objects/managed-fields.ts'
import type { FieldPath } from '../objects/managed-fields.ts'
import { describeObject, groupOf } from '../objects/object-id.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'
import { apiLife, minorOf } from './kubernetes-apis.ts'
import type { CustomSchemas } from './custom-schemas.ts'
import type { LintCluster } from './lint-apis.ts'
import { lintKeys } from './lint-keys.ts'
import { lintTypes } from './lint-types.ts'

/** A field that a schema does not know, and the fields it knows there. */
export interface UnknownField {
  readonly place: FieldPath
  readonly known: readonly string[]
}

const MOST = 20

/** Checks an object of one of Kubernetes' own kinds or of a custom kind; a kind without schema is named. */
export function lintContentFields(
  object: UnknownObject,
  clusters: readonly LintCluster[],
  custom: CustomSchemas = () => undefined,
): Finding[] {
  const kind = findBuiltinKind(object.apiVersion, object.kind)
  const schema = kind ? undefined : custom(object.apiVersion, object.kind)
  if (schema) return [...lintFields({ schema }, object), ...lintKeys(object, schema), ...lintTypes(object, schema)]
  if (!kind) return lintKind(object)
  const minors = clusters.map(({ kubeVersion }) => minorOf(kubeVersion))
  const isCovered = minors.length > 0 && minors.every((minor) => minor !== undefined && minor <= BUILTIN_MINOR_VERSION)
  const found = lintFields(kind, object)
  const fields = isCovered ? found : found.map((one) => ({ ...one, severity: 'warning' as const }))
  // The type of a field does not change between versions of Kubernetes.
  return [...fields, ...lintKeys(object, kind.schema), ...lintTypes(object, kind.schema)]
}

/** Checks the fields of an object of a kind. */
export function lintFields(kind: Pick<Kind, 'schema'>, object: UnknownObject): Finding[] {
  const who = describeObject({ ...object.metadata, apiVersion: object.apiVersion, kind: object.kind })
  const schema: StructuralSchema = {
    ...kind.schema,
    properties: { ...kind.schema.properties, metadata: METADATA_SCHEMA },
  }
  return unknownFields(object, schema).map(({ place, known }) => {
    const field = String(place.at(-1))
    const near = nearestName(field, known)
    const where = formatFieldPath(object, place.slice(0, -1))
    const message = `${who}: there is no field ${field}${where === '.' ? '' : ` in ${where}`}`
    return finding(
      'unknown-field',
      message,
      compact({
        place,
        todo: near === undefined ? undefined : `did you mean ${near}?`,
      }),
    )
  })
}

/** Fields of a value that its schema does not know; what may hold anything is not looked into. */
function unknownFields(value: unknown, schema: StructuralSchema): UnknownField[] {
  const found: UnknownField[] = []
  look(value, schema, [], found)
  return found.slice(0, MOST)
}

function look(value: unknown, schema: StructuralSchema | undefined, place: FieldPath, found: UnknownField[]): void {
  if (schema === undefined || schema['x-kubernetes-preserve-unknown-fields'] === true) return
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) look(item, schema.items, [...place, index], found)
    return
  }
  if (!isObject(value)) return
  const { properties, additionalProperties } = schema
  if (properties === undefined && additionalProperties === undefined) return
  for (const [field, child] of Object.entries(value)) {
    const isKnown = ownField(properties, field) !== undefined || additionalProperties !== undefined
    if (isKnown) look(child, fieldSchema(schema, field), [...place, field], found)
    else found.push({ place: [...place, field], known: Object.keys(properties ?? {}) })
  }
}

function lintKind(object: UnknownObject): Finding[] {
  const { apiVersion, kind } = object
  // An API version that is gone or to come is told as such.
  if (apiLife(apiVersion, kind)) return []
  const kinds = builtInGroups().get(groupOf(object))
  const who = describeObject({ ...object.metadata, apiVersion, kind })
  if (!kinds) {
    const message = `${who}: the kind ${kind} of ${apiVersion} is not one of Kubernetes’ own; its fields were not checked`
    return [finding('unknown-kind', message, { place: ['kind'] })]
  }
  const near = nearestName(kind, new Set(kinds.map((one) => one.kind)))
  const right = kinds.find((one) => one.kind === kind) ?? kinds.find((one) => one.kind === near)
  const message = `${who}: Kubernetes has no kind ${kind} in ${apiVersion}; its fields were not checked`
  const todo = right && `did you mean ${right.kind} of ${apiVersionOf(right)}?`
  return [finding('unknown-kind', message, compact({ severity: 'warning', place: ['kind'], todo: todo || undefined }))]
}

function apiVersionOf({ group, version }: Kind): string {
  return group === '' ? version : `${group}/${version}`
}
