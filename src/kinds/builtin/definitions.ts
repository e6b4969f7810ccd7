/**
 * The types of Kubernetes' own kinds, decoded from the generated table when a kind is first used. A line is a type and
 * its fields:
 *
 *     ContainerPort containerPort!:i=0 hostIP:s protocol:s="TCP"
 *
 * `!` required; after the colon: s text, y bytes, b flag, i and l whole numbers of 32 and 64 bits, n number, t time, q
 * quantity, x number or text, o and a an object and any value kept as they are, M metadata, `@Type` another type
 * (`@core.v1.Type` of another package); before it `[]` list, `[=]` set, `[name]` list keyed by name, `{}` map; `%`
 * merged as a whole; `~strategy/key` how strategic merge treats the field, where that is not said by its list type
 * already; `=` what Go writes when it is absent, `?` left out also when it is there and empty.
 */
import { compact } from '../../core/compact.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { canonicalQuantity } from '../../core/text/quantity.ts'
import { METADATA_SCHEMA } from '../validation/metadata.ts'
import type { StructuralSchema } from '../schema/structural.ts'
import { fieldSchema } from '../schema/merge-keys.ts'
import { DEFAULTS, KEPT_WHEN_EMPTY } from './defaults/default-values.ts'
import { DEFINITIONS } from './table/definitions.generated.ts'

const linesOf = new Map<string, ReadonlyMap<string, string>>()
const decoded = new Map<string, StructuralSchema>()

/** The schema of a type like `core.v1.PodSpec`; types share the schemas below them. */
export function typeSchema(name: string): StructuralSchema {
  let schema = decoded.get(name)
  if (!schema) decoded.set(name, (schema = decode(name)))
  return schema
}

interface Field {
  readonly name: string
  readonly isRequired: boolean
  readonly type: string
  readonly merge: string | undefined
  /** Left out when it is there and empty. */
  readonly isOmitted: boolean
  readonly zero: string | undefined
}

interface Definition {
  readonly isAtomic: boolean
  readonly fields: readonly Field[]
}

function parse(name: string): Definition {
  const line = packageLines(packageOf(name)).get(name.slice(name.lastIndexOf('.') + 1))
  if (line === undefined) throw new Error(`the table of built-in kinds has no type ${name}`)
  const [head = '', ...fields] = line.split(' ')
  return {
    isAtomic: head.endsWith('%'),
    fields: fields.map((text) => {
      const [, field = '', mark, type = '', merge, omitted, zero] = FIELD.exec(text)!
      return { name: field, isRequired: mark === '!', type, merge, isOmitted: omitted === '?', zero }
    }),
  }
}

function packageOf(name: string): string {
  return name.slice(0, name.lastIndexOf('.'))
}

function decode(name: string): StructuralSchema {
  const { isAtomic, fields } = parse(name)
  const required: string[] = []
  const properties: Record<string, StructuralSchema> = {}
  const omitted = new Set<string>()
  for (const field of fields) {
    const schema = typeOf(field.type, packageOf(name))
    const value = defaultOf(name, field)
    if (field.isRequired && value === undefined) required.push(field.name)
    if (field.isOmitted) omitted.add(field.name)
    properties[field.name] = withMerge(withDefault(schema, value), field.merge)
  }
  origins.set(properties, { name, omitted })
  return compact({
    type: 'object',
    required: required.length > 0 ? required : undefined,
    properties: fields.length > 0 ? properties : undefined,
    'x-kubernetes-map-type': isAtomic ? ('atomic' as const) : undefined,
  })
}

/** The value of an absent field: its default, or the value that Go writes. A required field has none. */
function defaultOf(name: string, { name: field, isRequired, zero }: Field): unknown {
  const given = DEFAULTS[name]
  if (given && Object.hasOwn(given, field)) return given[field]
  if (zero === undefined) return undefined
  const isAsked = isRequired && zero !== '{}' && !name.endsWith('Status') && !KEPT_WHEN_EMPTY.has(name)
  return isAsked ? undefined : (JSON.parse(zero) as unknown)
}

interface Origin {
  readonly name: string
  readonly omitted: ReadonlySet<string>
}

/** By the fields of a type: they stay the same object where a type gets a default or a merge key. */
const origins = new WeakMap<object, Origin>()

/** The name of the type that a schema was decoded from. */
export function typeNameOfSchema(schema: StructuralSchema): string | undefined {
  return schema.properties && origins.get(schema.properties)?.name
}

/**
 * Drops, in place, what Go's types leave out when it is empty: to them, empty and absent are the same. Quantities of
 * resources get the one text that Go writes for them.
 */
export function dropEmpty(value: unknown, schema: StructuralSchema | undefined): void {
  if (schema === undefined) return
  if (Array.isArray(value)) {
    for (const item of value) dropEmpty(item, schema.items)
  } else if (isObject(value)) {
    if (schema.additionalProperties === SCALARS['q']) canonicalize(value)
    const omitted = schema.properties && origins.get(schema.properties)?.omitted
    for (const field of Object.keys(value)) {
      if (omitted?.has(field) && isEmpty(value[field])) delete value[field]
      else dropEmpty(value[field], fieldSchema(schema, field))
    }
  }
}

function canonicalize(quantities: JsonObject): void {
  for (const [name, value] of Object.entries(quantities)) {
    if (typeof value === 'string' || typeof value === 'number') quantities[name] = canonicalQuantity(value) ?? value
  }
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return Object.keys(value).length === 0
  return value === '' || value === 0 || value === false || value === null
}

function withDefault(schema: StructuralSchema, value: unknown): StructuralSchema {
  if (value === undefined) return schema
  return { ...schema, default: value, ...compact({ nullable: value === null ? true : undefined }) }
}

/** The value that Go writes for a type without input. */
export function zeroValue(name: string): JsonObject {
  const blank: JsonObject = {}
  for (const { name: field, type, zero } of parse(name).fields) {
    if (zero === '{}' && type.startsWith('@')) blank[field] = zeroValue(fullName(type, packageOf(name)))
    else if (zero !== undefined) blank[field] = JSON.parse(zero) as unknown
  }
  return blank
}

function fullName(reference: string, home: string): string {
  return reference.includes('.') ? reference.slice(1) : `${home}.${reference.slice(1)}`
}

const FIELD = /^([^:!]+)(!)?:((?:\[=\]|[^~=?])+)(?:~([^=?]*))?(?:(\?)|=(.*))?$/

function packageLines(home: string): ReadonlyMap<string, string> {
  let lines = linesOf.get(home)
  if (!lines) {
    const text = DEFINITIONS[home] ?? ''
    lines = new Map(text.split('\n').map((line) => [/^[^ %]*/.exec(line)![0], line]))
    linesOf.set(home, lines)
  }
  return lines
}

const SCALARS: Readonly<Record<string, StructuralSchema>> = {
  s: { type: 'string' },
  y: { type: 'string' },
  b: { type: 'boolean' },
  i: { type: 'integer', format: 'int32' },
  l: { type: 'integer', format: 'int64' },
  n: { type: 'number' },
  t: { type: 'string', format: 'date-time', nullable: true },
  q: { 'x-kubernetes-int-or-string': true },
  x: { 'x-kubernetes-int-or-string': true },
  o: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, 'x-kubernetes-map-type': 'atomic' },
  a: { 'x-kubernetes-preserve-unknown-fields': true },
  M: METADATA_SCHEMA,
}

function typeOf(text: string, home: string): StructuralSchema {
  if (text.startsWith('%')) return { ...typeOf(text.slice(1), home), 'x-kubernetes-map-type': 'atomic' }
  if (text.startsWith('{}')) return { type: 'object', additionalProperties: typeOf(text.slice(2), home) }
  const list = /^\[([^\]]*)\](.*)$/.exec(text)
  if (list) return { type: 'array', items: typeOf(list[2]!, home), ...listType(list[1]!) }
  if (text.startsWith('@')) return typeSchema(fullName(text, home))
  const scalar = SCALARS[text]
  if (!scalar) throw new Error(`the table of built-in kinds has an unknown type ${JSON.stringify(text)}`)
  return scalar
}

function listType(mark: string): StructuralSchema {
  if (mark === '') return { 'x-kubernetes-list-type': 'atomic' }
  if (mark === '=') return { 'x-kubernetes-list-type': 'set' }
  return { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': mark.split('+') }
}

/** How strategic merge treats the field; a keyed list without a word is merged by its first key. */
function withMerge(schema: StructuralSchema, merge: string | undefined): StructuralSchema {
  const [first] = schema['x-kubernetes-list-map-keys'] ?? []
  const [strategy = '', key = ''] = (merge ?? (first === undefined ? '' : `merge/${first}`)).split('/')
  return {
    ...schema,
    ...compact({
      'x-kubernetes-patch-strategy': strategy === '' ? undefined : strategy,
      'x-kubernetes-patch-merge-key': key === '' ? undefined : key,
    }),
  }
}
