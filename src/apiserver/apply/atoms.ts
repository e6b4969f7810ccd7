import { isObject } from '../../core/json.ts'
import { METADATA_SCHEMA } from '../../kinds/validation/metadata.ts'
import type { StructuralSchema } from '../../kinds/schema/structural.ts'
import { isAtomicMap, listMergeStrategy } from '../../kinds/schema/merge-keys.ts'
import { ownField } from '../../kinds/schema/own-field.ts'
import { keyElement, valueElement } from './field-set.ts'
import type { PathElement } from './field-set.ts'

/**
 * What a place in an object may hold and how it merges: the view of a structural schema that merging, comparing and
 * owning share. It follows structured-merge-diff, so that both homes own and merge alike.
 */

/** A schema together with what its ancestors said about unknown fields; or a place no schema describes. */
export interface TypeRef {
  readonly schema: StructuralSchema | undefined
  /** Without a schema: whether maps below are merged field by field. */
  readonly deduced: boolean
  readonly keepsUnknown: boolean
}

/** A list that is merged item by item, or replaced as a whole. */
export interface ListAtom {
  readonly isAtomic: boolean
  /** Empty for sets. */
  readonly keys: readonly string[]
  readonly element: TypeRef
}

/** A map or struct that is merged field by field, or replaced as a whole. */
export interface MapAtom {
  readonly isAtomic: boolean
  /** Whether the schema names a field; all remaining fields are free keys. */
  isNamed(field: string): boolean
  fieldType(field: string): TypeRef
  readonly isUntyped: boolean
}

/** The possible forms of a place. */
export interface Atom {
  readonly isScalar: boolean
  readonly list?: ListAtom
  readonly map?: MapAtom
}

const UNTYPED: TypeRef = { schema: undefined, deduced: false, keepsUnknown: false }
const DEDUCED: TypeRef = { schema: undefined, deduced: true, keepsUnknown: false }

const NO_FIELDS = () => false
const UNTYPED_ATOM: Atom = {
  isScalar: true,
  list: { isAtomic: true, keys: [], element: UNTYPED },
  map: { isAtomic: true, isNamed: NO_FIELDS, fieldType: () => UNTYPED, isUntyped: true },
}
const DEDUCED_ATOM: Atom = {
  isScalar: true,
  list: { isAtomic: true, keys: [], element: UNTYPED },
  map: { isAtomic: false, isNamed: NO_FIELDS, fieldType: () => DEDUCED, isUntyped: true },
}

const roots = new WeakMap<StructuralSchema, TypeRef>()

/** The type of whole objects of a kind. */
export function rootType(schema: StructuralSchema): TypeRef {
  let root = roots.get(schema)
  if (!root) {
    const withMetadata = { ...schema, properties: { ...schema.properties, metadata: METADATA_SCHEMA } }
    roots.set(schema, (root = refOf(withMetadata, false)))
  }
  return root
}

const refs = [new WeakMap<StructuralSchema, TypeRef>(), new WeakMap<StructuralSchema, TypeRef>()] as const

function refOf(schema: StructuralSchema, keepsUnknown: boolean): TypeRef {
  const keeps = keepsUnknown || schema['x-kubernetes-preserve-unknown-fields'] === true
  const cache = refs[keeps ? 1 : 0]
  let ref = cache.get(schema)
  if (!ref) cache.set(schema, (ref = { schema, deduced: false, keepsUnknown: keeps }))
  return ref
}

const atoms = new WeakMap<TypeRef, Atom>()

/** The forms a type allows. */
export function atomOf(ref: TypeRef): Atom {
  if (!ref.schema) return ref.deduced ? DEDUCED_ATOM : UNTYPED_ATOM
  let atom = atoms.get(ref)
  if (!atom) atoms.set(ref, (atom = makeAtom(ref.schema, ref.keepsUnknown)))
  return atom
}

function makeAtom(schema: StructuralSchema, keepsUnknown: boolean): Atom {
  switch (schema.type) {
    case 'object':
      return { isScalar: false, map: mapAtom(schema, keepsUnknown) }
    case 'array':
      return { isScalar: false, list: listAtom(schema, keepsUnknown) }
    case undefined:
      return { isScalar: true, list: listAtom(schema, keepsUnknown), map: mapAtom(schema, keepsUnknown) }
    default:
      return { isScalar: true }
  }
}

function listAtom(schema: StructuralSchema, keepsUnknown: boolean): ListAtom {
  const merge = listMergeStrategy(schema)
  return {
    isAtomic: merge.type === 'atomic',
    keys: merge.type === 'map' ? merge.keys : [],
    element: schema.items ? refOf(schema.items, keepsUnknown) : UNTYPED,
  }
}

function mapAtom(schema: StructuralSchema, keepsUnknown: boolean): MapAtom {
  const properties = schema['x-kubernetes-embedded-resource'] === true ? embedded(schema) : (schema.properties ?? {})
  const { additionalProperties } = schema
  const free = isObject(additionalProperties) ? refOf(additionalProperties, keepsUnknown) : DEDUCED
  return {
    isAtomic: isAtomicMap(schema),
    isNamed: (field) => ownField(properties, field) !== undefined,
    fieldType(field) {
      const property = ownField(properties, field)
      return property ? refOf(property, keepsUnknown) : free
    },
    isUntyped: schema.properties === undefined && !isObject(additionalProperties),
  }
}

const TEXT: StructuralSchema = { type: 'string' }
const embeddedProperties = new WeakMap<StructuralSchema, Readonly<Record<string, StructuralSchema>>>()

function embedded(schema: StructuralSchema): Readonly<Record<string, StructuralSchema>> {
  let properties = embeddedProperties.get(schema)
  if (!properties) {
    properties = { apiVersion: TEXT, kind: TEXT, ...schema.properties, metadata: METADATA_SCHEMA }
    embeddedProperties.set(schema, properties)
  }
  return properties
}

/** The form a value has, as far as its type allows that form; otherwise the type's first form. */
export function atomKind(atom: Atom, value: unknown): 'map' | 'scalar' | 'list' {
  if (Array.isArray(value) && atom.list) return 'list'
  if (isObject(value) && atom.map) return 'map'
  if (value !== null && typeof value !== 'object' && value !== undefined && atom.isScalar) return 'scalar'
  if (atom.map) return 'map'
  return atom.isScalar ? 'scalar' : 'list'
}

/** A list whose items cannot be distinguished by the keys of its schema. */
export class ListProblem extends Error {
  override readonly name = 'ListProblem'
}

/** The element that names an item of a set or keyed list. */
export function itemElement(list: ListAtom, item: unknown): PathElement {
  if (list.keys.length === 0) {
    if (item === null || item === undefined) {
      throw new ListProblem("associative list without keys has an element that's an explicit null")
    }
    if (typeof item === 'object') {
      throw new ListProblem("associative list without keys has an element that's a map type")
    }
    return valueElement(item)
  }
  if (!isObject(item)) throw new ListProblem('associative list with keys may not have non-map elements')
  const key: Record<string, unknown> = {}
  for (const field of list.keys) {
    const value = ownField(item, field) ?? ownField(list.element.schema?.properties, field)?.default
    if (value !== undefined) key[field] = value
  }
  if (Object.keys(key).length === 0) {
    const keys = list.keys.map((field) => JSON.stringify(field)).join(' ')
    throw new ListProblem(
      `associative list with keys has an element that omits all key fields [${keys}] (and doesn't have default values for any key fields)`,
    )
  }
  return keyElement(key)
}
