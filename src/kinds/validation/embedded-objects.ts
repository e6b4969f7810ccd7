import { label1035Problems } from '../../core/text/name-validation.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime, parseTime } from '../../core/time/time.ts'
import { METADATA_SCHEMA, metadataErrors } from './metadata.ts'
import type { ObjectMeta } from '../meta.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { invalid, required } from './field-error.ts'
import type { FieldError } from './field-error.ts'
import { goJsonType } from './go-text.ts'
import { fieldSchema } from '../schema/merge-keys.ts'
import { ownField } from '../schema/own-field.ts'
import { dropNulls, pruneUnknown } from '../schema/prune.ts'

/**
 * Objects inside objects (`x-kubernetes-embedded-resource`): each has a type and metadata as every object does,
 * whatever its schema says about them. What can be read is brought into shape first; rules are asked later, with all
 * the others.
 */

/** Brings the types and metadata of embedded objects into shape, in place. */
export function normalizeEmbedded(value: unknown, schema: StructuralSchema): { dropped: string[]; wrong?: FieldError } {
  const dropped: string[] = []
  for (const [path, object] of embeddedIn(value, schema)) {
    for (const field of ['apiVersion', 'kind']) {
      const type = ownField(object, field)
      if (type !== undefined && typeof type !== 'string') {
        return { dropped, wrong: invalid(`${path}.${field}`, type, 'must be a string') }
      }
    }
    if (!Object.hasOwn(object, 'metadata')) continue
    const metadata = object['metadata'] ?? {}
    const problem = metadataProblem(metadata)
    if (problem !== undefined) return { dropped, wrong: invalid(`${path}.metadata`, object['metadata'], problem) }
    dropped.push(...pruneUnknown(metadata, METADATA_SCHEMA).map((field) => `${path}.metadata.${field}`))
    settleMetadata(metadata as JsonObject)
    object['metadata'] = metadata
  }
  return { dropped: dropped.sort() }
}

/** What is wrong with embedded objects. */
export function embeddedErrors(value: unknown, schema: StructuralSchema): FieldError[] {
  return [...embeddedIn(value, schema)].flatMap(([path, object]) => [
    ...typeErrors(path, 'apiVersion', object['apiVersion'], versionProblem),
    ...typeErrors(path, 'kind', object['kind'], kindProblem),
    ...embeddedMetadataErrors(path, object['metadata']),
  ])
}

function typeErrors(path: string, field: string, text: unknown, problemOf: (text: string) => string | undefined) {
  if (text === undefined) return [required(`${path}.${field}`)]
  const problem = typeof text === 'string' ? problemOf(text) : 'must be a string'
  return problem === undefined ? [] : [invalid(`${path}.${field}`, text, problem)]
}

function versionProblem(text: string): string | undefined {
  if (text === '') return 'must not be empty'
  return text.split('/').length > 2 ? `unexpected GroupVersion string: ${text}` : undefined
}

function kindProblem(text: string): string | undefined {
  if (text === '') return 'must not be empty'
  const problems = label1035Problems(text.toLowerCase())
  return problems.length === 0 ? undefined : `may have mixed case, but should otherwise match: ${problems.join(',')}`
}

/** A name may be any segment of a path, or be given later. */
function embeddedMetadataErrors(path: string, value: unknown): FieldError[] {
  if (!isObject(value)) return []
  const metadata = value as unknown as ObjectMeta
  const rules = { nameFormat: 'pathSegment', scope: metadata.namespace ? 'Namespaced' : 'Cluster' } as const
  const errors = metadataErrors(rules, { ...metadata, name: metadata.name || 'fakename' })
  return errors.map((error) => ({ ...error, field: `${path}.${error.field}` }))
}

function* embeddedIn(value: unknown, schema: StructuralSchema, path = ''): Iterable<[string, JsonObject]> {
  if (value === null || typeof value !== 'object' || !hasEmbedded(schema)) return
  if (Array.isArray(value)) {
    if (!schema.items) return
    for (const [index, item] of value.entries()) yield* embeddedIn(item, schema.items, `${path}[${index}]`)
    return
  }
  if (!isObject(value)) return
  const isEmbedded = schema['x-kubernetes-embedded-resource'] === true
  if (isEmbedded) yield [path, value]
  for (const field of Object.keys(value)) {
    const below = fieldSchema(schema, field)
    if (below === undefined || (isEmbedded && field === 'metadata')) continue
    const isProperty = ownField(schema.properties, field) !== undefined
    const name = isProperty ? `${path === '' ? '' : `${path}.`}${field}` : `${path}[${field}]`
    yield* embeddedIn(ownField(value, field), below, name)
  }
}

const known = new WeakMap<StructuralSchema, boolean>()

/** True if the schema can have embedded objects; most kinds have none, and their objects are not searched. */
export function hasEmbedded(schema: StructuralSchema): boolean {
  const before = known.get(schema)
  if (before !== undefined) return before
  const { additionalProperties } = schema
  const below = [
    ...Object.values(schema.properties ?? {}),
    ...(schema.items ? [schema.items] : []),
    ...(isObject(additionalProperties) ? [additionalProperties] : []),
  ]
  const found = schema['x-kubernetes-embedded-resource'] === true || below.some(hasEmbedded)
  known.set(schema, found)
  return found
}

/** Why metadata cannot be read, in Go's words. */
function metadataProblem(metadata: unknown): string | undefined {
  if (!isObject(metadata)) return `json: cannot unmarshal ${goJsonType(metadata)} into Go value of type v1.ObjectMeta`
  for (const [field, value] of Object.entries(metadata)) {
    const schema = ownField(METADATA_SCHEMA.properties, field)
    const problem = schema === undefined || value === null ? undefined : valueProblem(schema, value, field)
    if (problem !== undefined) return problem
  }
  return undefined
}

function valueProblem(schema: StructuralSchema, value: unknown, field: string): string | undefined {
  const wrong = (type: string, found: unknown) =>
    `json: cannot unmarshal ${goJsonType(found)} into Go struct field ObjectMeta.${field} of type ${type}`
  if (schema.type === 'integer') return Number.isInteger(value) ? undefined : wrong('int64', value)
  if (schema.type === 'string') {
    if (typeof value !== 'string') return wrong('string', value)
    if (schema.format !== 'date-time' || parseTime(value) !== undefined) return undefined
    const text = JSON.stringify(value)
    return `parsing time ${text} as "2006-01-02T15:04:05Z07:00": cannot parse ${text} as "2006"`
  }
  if (schema.type === 'object') {
    if (!isObject(value)) return wrong('map[string]string', value)
    const odd = Object.values(value).find((it) => it !== null && typeof it !== 'string')
    return odd === undefined ? undefined : wrong('string', odd)
  }
  const item = ITEMS[field] ?? 'string'
  if (!Array.isArray(value)) return wrong(`[]${item}`, value)
  const odd = value.find((it) => (item === 'string' ? typeof it !== 'string' : !isObject(it)))
  return odd === undefined ? undefined : wrong(item, odd)
}

const ITEMS: Readonly<Record<string, string>> = {
  ownerReferences: 'v1.OwnerReference',
  managedFields: 'v1.ManagedFieldsEntry',
}

/** Metadata is a Go struct, in which what is empty is as good as absent, and times have seconds. */
function settleMetadata(metadata: JsonObject): void {
  const { labels, annotations } = metadata
  for (const map of [labels, annotations]) {
    if (isObject(map)) for (const [key, value] of Object.entries(map)) if (value === null) map[key] = ''
  }
  dropNulls(metadata, METADATA_SCHEMA)
  for (const [field, value] of Object.entries(metadata)) {
    const isEmpty = value === '' || value === 0 || (typeof value === 'object' && Object.keys(value ?? {}).length === 0)
    if (isEmpty && field !== 'deletionGracePeriodSeconds') delete metadata[field]
  }
  for (const field of ['creationTimestamp', 'deletionTimestamp']) {
    const time = metadata[field]
    if (typeof time === 'string') metadata[field] = formatTime(parseTime(time)!)
  }
}
