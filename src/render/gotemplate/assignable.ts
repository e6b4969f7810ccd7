/** Which values fit which parameters, and what methods they have. */
import type { GoFunction, ParamType } from './function.ts'
import { GoNamed, GoStruct, plainValue, typeInfo, typeName } from './value.ts'

/** The method of a value's type with this name; undefined when the type has no method of the name. */
export function methodOf(receiver: unknown, name: string): GoFunction | undefined {
  if (receiver instanceof GoStruct) return receiver.methods.get(name)
  if (receiver instanceof GoNamed) return receiver.info.methods?.get(name)
  if (typeof receiver === 'object' && receiver !== null) return typeInfo(receiver)?.methods?.get(name)
  return undefined
}

/** Whether nil may be given for a parameter. */
export function canBeNil(type: ParamType): boolean {
  return (
    type === 'any' ||
    type === 'value' ||
    type === 'map' ||
    type === 'list' ||
    type.startsWith('*') ||
    type.startsWith('[]')
  )
}

/** reflect's AssignableTo, for the types that functions ask for. */
export function isAssignable(value: unknown, type: ParamType): boolean {
  switch (type) {
    case 'string':
      return typeof value === 'string'
    case 'bool':
      return typeof value === 'boolean'
    case 'float64':
      return typeof value === 'number'
    case 'map':
      // A named map type is assignable to map[string]interface {}, because the latter is unnamed.
      return isPlainMap(plainValue(value))
    case 'list':
      return Array.isArray(value) && (typeInfo(value)?.type ?? '[]interface {}') === '[]interface {}'
    default:
      return typeName(value) === type
  }
}

function isPlainMap(value: unknown): boolean {
  return value instanceof Map && (typeInfo(value)?.type ?? 'map[string]interface {}') === 'map[string]interface {}'
}
