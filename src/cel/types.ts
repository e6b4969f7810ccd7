/** A type. */
import { compact } from '../core/compact.ts'
export type CelType =
  | { readonly kind: SimpleKind; readonly maxElements?: number }
  | { readonly kind: 'list'; readonly item: CelType; readonly maxElements?: number }
  | { readonly kind: 'map'; readonly key: CelType; readonly value: CelType; readonly maxElements?: number }
  | { readonly kind: 'type'; readonly of: CelType | undefined }
  | ObjectType
  | { readonly kind: 'opaque'; readonly name: string; readonly params: readonly CelType[] }
  | { readonly kind: 'param'; readonly name: string }

/** A type with fields. */
export interface ObjectType {
  readonly kind: 'object'
  readonly name: string
  readonly fields: ReadonlyMap<string, CelType>
  /** Fields that are not named may hold anything; otherwise there are none. */
  readonly isOpen?: boolean
}

/** Types without parts. */
export type SimpleKind =
  | 'dyn'
  | 'error'
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'

/** Types without parts, by name. */
export const SIMPLE: Readonly<Record<SimpleKind, CelType>> = {
  dyn: { kind: 'dyn' },
  error: { kind: 'error' },
  bool: { kind: 'bool' },
  int: { kind: 'int' },
  uint: { kind: 'uint' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  bytes: { kind: 'bytes' },
  null: { kind: 'null' },
  timestamp: { kind: 'timestamp' },
  duration: { kind: 'duration' },
}

/** list(item). */
export function listType(item: CelType, maxElements?: number): CelType {
  return compact({ kind: 'list', item, maxElements })
}

/** map(key, value). */
export function mapType(key: CelType, value: CelType, maxElements?: number): CelType {
  return compact({ kind: 'map', key, value, maxElements })
}

/** optional_type(value). */
export function optionalType(value: CelType): CelType {
  return { kind: 'opaque', name: 'optional_type', params: [value] }
}

/** An object type with the given fields. */
export function objectType(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return { kind: 'object', name, fields: new Map(Object.entries(fields)) }
}

/** The type of a field; undefined when there is none. */
export function fieldTypeOf(type: ObjectType, field: string): CelType | undefined {
  return type.fields.get(field) ?? (type.isOpen ? SIMPLE.dyn : undefined)
}

/** What an optional holds; undefined for other types. */
export function optionalValueType(type: CelType): CelType | undefined {
  return type.kind === 'opaque' && type.name === 'optional_type' ? type.params[0] : undefined
}

/** A type as messages print it. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.item)})`
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.value)})`
    case 'type':
      return type.of === undefined ? 'type' : `type(${formatType(type.of)})`
    case 'object':
      return type.name
    case 'opaque':
      return type.params.length === 0 ? type.name : `${type.name}(${type.params.map(formatType).join(', ')})`
    case 'param':
      return type.name
    case 'error':
      return '!error!'
    default:
      return type.kind
  }
}

/** What type parameters stand for, found while checking. */
export class Substitution {
  private readonly types: Map<string, CelType>
  constructor(types: ReadonlyMap<string, CelType> = new Map()) {
    this.types = new Map(types)
  }

  copy(): Substitution {
    return new Substitution(this.types)
  }

  /** Follows parameters to what they stand for, at the top of the type only. */
  shallow(type: CelType): CelType {
    let current = type
    while (current.kind === 'param') {
      const next = this.types.get(current.name)
      if (next === undefined) return current
      current = next
    }
    return current
  }

  /** The type with every parameter replaced; what is still free becomes dyn when asked. */
  deep(type: CelType, freeIsDyn = false): CelType {
    const found = this.shallow(type)
    switch (found.kind) {
      case 'param':
        return freeIsDyn ? SIMPLE.dyn : found
      case 'list':
        return { ...found, item: this.deep(found.item, freeIsDyn) }
      case 'map':
        return { ...found, key: this.deep(found.key, freeIsDyn), value: this.deep(found.value, freeIsDyn) }
      case 'type':
        return found.of === undefined ? found : { kind: 'type', of: this.deep(found.of, freeIsDyn) }
      case 'opaque':
        return { ...found, params: found.params.map((param) => this.deep(param, freeIsDyn)) }
      default:
        return found
    }
  }

  /** Whether a value of type `from` may stand where `to` is asked for; learns what parameters must be. */
  assign(from: CelType, to: CelType): boolean {
    const a = this.shallow(from)
    const b = this.shallow(to)
    if (a.kind === 'param' && b.kind === 'param' && a.name === b.name) return true
    if (b.kind === 'param') return this.bind(b.name, a)
    if (a.kind === 'param') return this.bind(a.name, b)
    if (a.kind === 'dyn' || b.kind === 'dyn' || a.kind === 'error' || b.kind === 'error') return true
    if (a.kind === 'null') return ['null', 'object', 'opaque', 'timestamp', 'duration'].includes(b.kind)
    switch (a.kind) {
      case 'list':
        return b.kind === 'list' && this.assign(a.item, b.item)
      case 'map':
        return b.kind === 'map' && this.assign(a.key, b.key) && this.assign(a.value, b.value)
      case 'type':
        // A type is a value too: `type(1) == string` is a fair question.
        return b.kind === 'type'
      case 'object':
        return b.kind === 'object' && (a === b || a.fields === b.fields || (a.name === b.name && a.name !== 'object'))
      case 'opaque':
        return (
          b.kind === 'opaque' &&
          a.name === b.name &&
          a.params.every((param, index) => this.assign(param, b.params[index] ?? SIMPLE.dyn))
        )
      default:
        return a.kind === b.kind
    }
  }

  private bind(name: string, type: CelType): boolean {
    if (this.mentions(type, name)) return false
    this.types.set(name, type)
    return true
  }

  private mentions(type: CelType, name: string): boolean {
    const found = this.shallow(type)
    switch (found.kind) {
      case 'param':
        return found.name === name
      case 'list':
        return this.mentions(found.item, name)
      case 'map':
        return this.mentions(found.key, name) || this.mentions(found.value, name)
      case 'opaque':
        return found.params.some((param) => this.mentions(param, name))
      default:
        return false
    }
  }

  /** The wider of two types that fit each other. */
  wider(a: CelType, b: CelType): CelType {
    const left = this.shallow(a)
    const right = this.shallow(b)
    if (left.kind === 'dyn' || right.kind === 'param') return a
    if (right.kind === 'dyn' || left.kind === 'param') return b
    return left.kind === 'null' ? b : a
  }
}
