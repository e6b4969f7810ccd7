// Tested by src/lua/lua.test.ts
/** Health checks of Argo CD in Lua: a script that returns `{status, message}` for the global variable `obj`. */
import { isObject } from '../core/json.ts'
import { compileLua } from './lua.ts'
import type { LuaProblem } from './lua.ts'

/** What a check says of an object. `undefined` when the check gives the object no health. */
export type CheckedHealth =
  | { readonly status: string; readonly message: string }
  | { readonly error: string }
  | undefined

/** A check that can run. */
export interface HealthCheck {
  readonly ok: true
  check(object: unknown): CheckedHealth
}

/** Compiles a check; a part of Lua that is not available is refused by name. */
export function compileHealthCheck(source: string): HealthCheck | LuaProblem {
  const script = compileLua(source)
  if (!script.ok) return script
  return {
    ok: true,
    check(object) {
      const result = script.run({ obj: object })
      if (!result.ok) return { error: result.error }
      const [value = null] = result.values
      if (value === null) return undefined
      if (!isObject(value) && !Array.isArray(value)) {
        return { error: `expect table output from Lua script, not ${typeof value}` }
      }
      const { status = '', message = '' } = isObject(value) ? value : {}
      return {
        status: typeof status === 'string' ? status : '',
        message: typeof message === 'string' ? message : JSON.stringify(message),
      }
    },
  }
}
