// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** Patches an Application with `templatePatch`: a strategic merge patch over Argo CD's types. */
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import { ApplicationSetError, withContext } from './applicationset-error.ts'
import { APPLICATION } from '../types/application-shape.ts'
import { readYamlJson } from './read-yaml-text.ts'
import { decode, encode } from '../types/shape.ts'
import type { Shape } from '../types/shape.ts'

/** The Application with a patch over it; its project stays. */
export function patchApplication(application: JsonObject, patchText: string): JsonObject {
  try {
    return patched(application, patchText)
  } catch (caught) {
    if (caught instanceof RangeError) throw new ApplicationSetError('invalid templatePatch: it is nested too deeply')
    throw caught
  }
}

function patched(application: JsonObject, patchText: string): JsonObject {
  const patch = readPatch(patchText)
  withContext('invalid templatePatch', () => decode(patch, APPLICATION))
  const merged = mergeMap(encode(application, APPLICATION) as JsonObject, (patch ?? {}) as JsonObject, APPLICATION)
  const read = withContext('error while unmarshalling patched application', () =>
    decode(merged, APPLICATION),
  ) as JsonObject
  const project = (application['spec'] as JsonObject | undefined)?.['project']
  return { ...read, spec: { ...(read['spec'] as JsonObject | undefined), project: project ?? '' } }
}

/** JSON when it begins with a brace, else YAML. */
function readPatch(text: string): unknown {
  if (!text.trim().startsWith('{')) {
    return withContext('error while converting template to json', () => readYamlJson(text))
  }
  try {
    return JSON.parse(text) as unknown
  } catch (caught) {
    if (!(caught instanceof SyntaxError)) throw caught
    throw new ApplicationSetError(`invalid templatePatch: ${caught.message}`)
  }
}

const DIRECTIVE = '$patch'
const RETAIN = '$retainKeys'
const isDirective = (key: string): boolean =>
  key === DIRECTIVE || /^\$(retainKeys|setElementOrder\/|deleteFromPrimitiveList\/)/.test(key)

function mergeMap(original: JsonObject, patch: JsonObject, shape: Shape): JsonObject {
  const directive = patch[DIRECTIVE]
  if (directive !== undefined) return replaced(directive, patch)
  const out = retained(original, patch)
  for (const [key, item] of Object.entries(patch)) {
    if (isDirective(key)) {
      deleteFromList(out, key, item)
      continue
    }
    const own = out[key]
    if (item === null) delete out[key]
    else if (isObject(own) && isObject(item)) out[key] = mergeMap(own, item, fieldOf(shape, key))
    else if (Array.isArray(own) && Array.isArray(item)) out[key] = mergeList(own, item, fieldOf(shape, key))
    else out[key] = isObject(item) || Array.isArray(item) ? withoutDirectives(item) : item
  }
  return out
}

function replaced(directive: unknown, patch: JsonObject): JsonObject {
  const { [DIRECTIVE]: _directive, ...rest } = patch
  if (directive === 'replace') return rest
  if (directive === 'delete') return {}
  throw new ApplicationSetError(
    `error while applying templatePatch: unknown patch type found: ${JSON.stringify(directive)}`,
  )
}

function retained(original: JsonObject, patch: JsonObject): JsonObject {
  const keep = patch[RETAIN]
  if (!Array.isArray(keep)) return { ...original }
  return Object.fromEntries(Object.entries(original).filter(([key]) => keep.includes(key)))
}

function deleteFromList(out: JsonObject, key: string, item: unknown): void {
  const name = /^\$deleteFromPrimitiveList\/(.*)$/.exec(key)?.[1]
  const own = name === undefined ? undefined : out[name]
  if (name !== undefined && Array.isArray(own) && Array.isArray(item))
    out[name] = own.filter((one) => !item.includes(one))
}

/** The type of a field; below any JSON Argo CD knows none, and refuses to merge there. */
function fieldOf(shape: Shape, key: string): Shape {
  const plain = shape.kind === 'pointer' ? shape.to : shape
  if (plain.kind === 'struct' && plain.fields[key]) return plain.fields[key]
  if (plain.kind === 'map') return plain.values
  throw new ApplicationSetError(
    `error while applying templatePatch: unable to find api field for the json field ${JSON.stringify(key)}`,
  )
}

function withoutDirectives(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDirectives)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([key, item]) => !isDirective(key) && item !== null)
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutDirectives(item)]))
}

/** Lists are replaced, but finalizers are added and owners merged by their uid. */
function mergeList(original: readonly unknown[], patch: readonly unknown[], shape: Shape): unknown[] {
  const plain = shape.kind === 'pointer' ? shape.to : shape
  if (plain.kind !== 'list' || plain.mergeKey === undefined) return [...patch]
  const { mergeKey, items } = plain
  const keyOf = (item: unknown): unknown => (mergeKey !== '' && isObject(item) ? item[mergeKey] : item)
  const deleted = patch.filter((item) => isObject(item) && item[DIRECTIVE] === 'delete').map(keyOf)
  const wanted = patch.filter((item) => !(isObject(item) && item[DIRECTIVE] === 'delete'))
  const own = original.filter((item) => !deleted.includes(keyOf(item)))
  const fromPatch = [...new Set(wanted.map(keyOf))].map((key) => {
    const item = wanted.find((one) => keyOf(one) === key)
    const before = own.find((one) => keyOf(one) === key)
    return isObject(item) && isObject(before) ? mergeMap(before, item, items) : item
  })
  const rest = own.filter((item) => !wanted.some((one) => keyOf(one) === keyOf(item)))
  return interleave(rest, fromPatch, original.map(keyOf), keyOf)
}

/** Items of the patch in its order; the others stand before the first that was behind them. */
function interleave(
  rest: readonly unknown[],
  fromPatch: readonly unknown[],
  order: readonly unknown[],
  keyOf: (item: unknown) => unknown,
): unknown[] {
  const out: unknown[] = []
  let [left, right] = [0, 0]
  while (left < rest.length || right < fromPatch.length) {
    const [a, b] = [order.indexOf(keyOf(rest[left])), order.indexOf(keyOf(fromPatch[right]))]
    const takesLeft = right >= fromPatch.length || (left < rest.length && a >= 0 && b >= 0 && a < b)
    out.push(takesLeft ? rest[left++] : fromPatch[right++])
  }
  return out
}
