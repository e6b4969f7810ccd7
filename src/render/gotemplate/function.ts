/** Functions that templates call: a signature that is checked before the call, as reflection does in Go. */

/**
 * A parameter's Go type. `any` is interface{}, `value` is reflect.Value (a builtin that tells nil from no value), `map`
 * is map[string]interface{}, `list` is []interface{}; every further name is the Go type itself.
 */
export type ParamType =
  | 'any'
  | 'value'
  | 'string'
  | 'int'
  | 'int64'
  | 'uint32'
  | 'float64'
  | 'bool'
  | 'map'
  | 'list'
  | `*${string}`
  | `${string}.${string}`
  | `[]${string}`

/** A callable function or method. */
export interface GoFunction {
  readonly params: readonly ParamType[]
  /** The element type of `...T`, when the function is variadic. */
  readonly variadic?: ParamType
  /** May throw GoError: becomes `error calling NAME: …`. */
  readonly call: (args: readonly unknown[]) => unknown
}

/** An error that a template function returns. */
export class GoError extends Error {
  override readonly name = 'GoError'
}

/** Go's name of a parameter type, for error messages. */
export function paramTypeName(type: ParamType): string {
  switch (type) {
    case 'any':
      return 'interface {}'
    case 'value':
      return 'reflect.Value'
    case 'map':
      return 'map[string]interface {}'
    case 'list':
      return '[]interface {}'
    default:
      return type
  }
}

/** A function with fixed parameters, or with further parameters of type `variadic`. */
export function goFunction(params: readonly ParamType[], call: GoFunction['call'], variadic?: ParamType): GoFunction {
  return variadic === undefined ? { params, call } : { params, variadic, call }
}
