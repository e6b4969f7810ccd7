/**
 * A look at a schema that most pass: whether it is made of usual keywords with usual values, which every draft's own
 * schema allows. Only what is not so plain is checked against that whole schema, which takes many times as long.
 */
import { hasFormat } from './formats.ts'
import { isObject } from './schema-document.ts'

/** Deeper than this is for the check with its own limit. */
const MAX_PLAIN_DEPTH = 20

type Look = (value: unknown, depth: number) => boolean

const TYPES: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'])

const isText: Look = (value) => typeof value === 'string'
const isNumber: Look = (value) => typeof value === 'number'
const isFlag: Look = (value) => typeof value === 'boolean'
const isCount: Look = (value) => Number.isInteger(value) && (value as number) >= 0
const isList: Look = Array.isArray
const isAnything: Look = () => true
const isTable: Look = (value, depth) => isObject(value) && [...value.values()].every((one) => isPlain(one, depth))
const isSchemas: Look = (value, depth) =>
  Array.isArray(value) && value.length > 0 && value.every((one) => isPlain(one, depth))

function areUnique(list: readonly unknown[]): boolean {
  return list.length > 0 && new Set(list).size === list.length
}

/** Keywords and their plain values. Further keywords of some draft are not plain; unknown keywords are allowed. */
const LOOKS: ReadonlyMap<string, Look> = new Map<string, Look>(
  Object.entries({
    'title description format $comment': isText,
    'maximum minimum': isNumber,
    'uniqueItems readOnly writeOnly deprecated': isFlag,
    'maxLength maxItems maxProperties minLength minItems minProperties': isCount,
    'enum examples': isList,
    'properties definitions $defs': isTable,
    'allOf anyOf oneOf': isSchemas,
    'items not if then else': isPlain,
    'default const': isAnything,
    additionalProperties: (value, depth) => isFlag(value, depth) || isPlain(value, depth),
    type: (value) =>
      Array.isArray(value) ? areUnique(value) && value.every((one) => TYPES.has(one)) : TYPES.has(value),
    required: (value) => Array.isArray(value) && value.every((one) => typeof one === 'string') && areUnique(value),
    pattern: (value) => typeof value === 'string' && hasFormat('regex', value, 'helm4'),
    $ref: (value) => typeof value === 'string' && /^#(?:\/[\w$.-]+)*$/.test(value),
  } satisfies Record<string, Look>).flatMap(([names, look]) => names.split(' ').map((name) => [name, look] as const)),
)

const NOT_PLAIN: ReadonlySet<string> = new Set(
  `$id id $schema $anchor $dynamicAnchor $recursiveAnchor $dynamicRef $recursiveRef $vocabulary multipleOf
  exclusiveMaximum exclusiveMinimum additionalItems contains propertyNames patternProperties dependencies
  dependentRequired dependentSchemas prefixItems maxContains minContains unevaluatedItems unevaluatedProperties
  contentMediaType contentEncoding contentSchema`.split(/\s+/),
)

/** What a whole schema may be called. */
const PLAIN_ADDRESS = /^https?:\/\/[\w.-]+(?:\/[\w.-]+)*$/

/** Whether a whole schema is plain; its `$schema` was looked at before. */
export function isPlainSchema(schema: unknown): boolean {
  if (!isObject(schema)) return false
  const rest = new Map(schema)
  rest.delete('$schema')
  if (PLAIN_ADDRESS.test(String(rest.get('$id')))) rest.delete('$id')
  return isPlain(rest, 0)
}

function isPlain(schema: unknown, depth: number): boolean {
  if (!isObject(schema) || depth > MAX_PLAIN_DEPTH) return false
  for (const [keyword, value] of schema) {
    const look = LOOKS.get(keyword)
    if (look ? !look(value, depth + 1) : NOT_PLAIN.has(keyword)) return false
  }
  return true
}
