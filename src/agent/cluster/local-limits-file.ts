/** The file of local limits, by which the owners of a cluster limit the agent. */
import { toError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import { checkValue } from '../../wire/validate.ts'
import { readYamlDocument } from '../../yaml/read/read-yaml.ts'

const strict = { additionalProperties: false }
const Glob = Type.String({ minLength: 1, maxLength: 253 })
const Globs = Type.Array(Glob, { maxItems: 256 })
const Kinds = Type.Array(Type.Object({ group: Type.Optional(Type.String()), kind: Type.Optional(Glob) }, strict), {
  maxItems: 256,
})

const LocalLimitsSchema = Type.Object(
  {
    namespaces: Type.Optional(Globs),
    clusterScoped: Type.Optional(Type.Boolean()),
    allowKinds: Type.Optional(Kinds),
    denyKinds: Type.Optional(Kinds),
    executors: Type.Optional(Globs),
    ownRights: Type.Optional(Type.Boolean()),
    maxPrune: Type.Optional(Type.Integer({ minimum: 0 })),
  },
  strict,
)

/** Local limits that are not usable; the agent does not start without its local limits. */
class LocalLimitsError extends Error {
  override readonly name = 'CeilingError'
}

/** Reads local limits; an empty file limits nothing. */
export function readLocalLimits(text: string, file: string): LocalLimits {
  try {
    const value = readYamlDocument(text).value ?? {}
    const unknown =
      isObject(value) && Object.keys(value).find((name) => !Object.hasOwn(LocalLimitsSchema.properties, name))
    if (unknown) {
      throw new Error(
        `unknown field ${JSON.stringify(unknown)}; valid fields: ${Object.keys(LocalLimitsSchema.properties).join(', ')}`,
      )
    }
    return checkValue(LocalLimitsSchema, value, 'ceiling')
  } catch (caught) {
    throw new LocalLimitsError(`${file}: ${toError(caught).message}`, { cause: caught })
  }
}
