/**
 * TypeBox's builders, only the builders in use: its own index loads 340 files, 6 MB in each thread and agent, to make
 * these few plain objects. The types are TypeBox's own, and a test compares what is made with what it makes.
 */
import type { Type as TypeBox } from 'typebox'

type Builders = Pick<
  typeof TypeBox,
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Number'
  | 'Object'
  | 'Omit'
  | 'Optional'
  | 'String'
  | 'Union'
  | 'Unsafe'
>

type Schema = Readonly<Record<string, unknown>>

/** A schema with marks that are no keywords; JSON does not contain them. */
function marked(schema: Schema, marks: Schema): Schema {
  const hidden = Object.entries(marks).map(([name, value]) => [
    name,
    { value, enumerable: false, configurable: true, writable: true },
  ])
  return Object.defineProperties({}, { ...Object.getOwnPropertyDescriptors(schema), ...Object.fromEntries(hidden) })
}

function made(kind: string, keywords: Schema, options: Schema = {}): Schema {
  return marked({ ...keywords, ...options }, { '~kind': kind })
}

function object(properties: Readonly<Record<string, Schema>>, options?: Schema): Schema {
  const required = Object.keys(properties).filter((name) => !('~optional' in properties[name]!))
  return made('Object', { type: 'object', ...(required.length > 0 && { required }), properties }, options)
}

const BUILDERS = {
  Array: (items: Schema, options?: Schema) => made('Array', { type: 'array', items }, options),
  Boolean: (options?: Schema) => made('Boolean', { type: 'boolean' }, options),
  Integer: (options?: Schema) => made('Integer', { type: 'integer' }, options),
  Literal: (value: unknown, options?: Schema) => made('Literal', { type: typeof value, const: value }, options),
  Number: (options?: Schema) => made('Number', { type: 'number' }, options),
  Object: object,
  Omit: (schema: { readonly properties: Readonly<Record<string, Schema>> }, names: readonly string[]) =>
    object(Object.fromEntries(Object.entries(schema.properties).filter(([name]) => !names.includes(name)))),
  Optional: (schema: Schema) => marked(schema, { '~optional': true }),
  String: (options?: Schema) => made('String', { type: 'string' }, options),
  Union: (anyOf: readonly Schema[], options?: Schema) => made('Union', { anyOf }, options),
  Unsafe: (schema: Schema) => marked(schema, { '~unsafe': null }),
}

/** Builders of schemas. */
export const Type = BUILDERS as unknown as Builders
