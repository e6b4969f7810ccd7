/** Overriders of JSON or YAML texts inside a field of an object, for example a file in a ConfigMap. */
import { isObject } from '../../../core/json.ts'
import { messageOf } from '../../../render/kustomize/kustomize-error.ts'
import { readFirstYaml } from '../../../yaml/read/read-yaml.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { OverrideError, patchTree, plainOf, treeOf } from './patch-document.ts'
import type { Tree } from './patch-document.ts'

/** An operation on the text. */
export interface FieldOperation {
  readonly subPath: string
  readonly operator: string
  readonly value?: unknown
}

/** An entry of `fieldOverrider`; `yaml` counts when both are given. */
export interface FieldOverrider {
  readonly fieldPath: string
  readonly json?: readonly FieldOperation[]
  readonly yaml?: readonly FieldOperation[]
}

/** A number whose text is kept, so that large numbers and `1.0` stay as they are. */
class NumberText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** The object with the patched text; a text without operations becomes empty, as in Karmada. */
export function overrideField(
  object: Readonly<Record<string, unknown>>,
  { fieldPath, json = [], yaml = [] }: FieldOverrider,
): Readonly<Record<string, unknown>> {
  if (!fieldPath.startsWith('/')) throw new OverrideError(`fieldPath "${fieldPath}" must begin with "/"`)
  const tree = treeOf(object) as Tree
  const text = textAt(tree, fieldPath)
  const patched = yaml.length > 0 ? patchYaml(text, yaml) : json.length > 0 ? patchJson(text, json) : ''
  patchTree(tree, [{ op: 'replace', path: fieldPath, value: patched }])
  return plainOf(tree) as Readonly<Record<string, unknown>>
}

function textAt(tree: Tree, path: string): string {
  let at: unknown = tree
  for (const part of path.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    at = at instanceof Map ? at.get(key) : Array.isArray(at) && /^\d{1,9}$/.test(key) ? at[Number(key)] : undefined
    if (at === undefined) throw new OverrideError(`fieldPath ${path}: there is no "${key}"`)
  }
  if (typeof at !== 'string') throw new OverrideError(`fieldPath ${path}: the value is not a text`)
  return at
}

const operationsOf = (operations: readonly FieldOperation[]) =>
  operations.map(({ operator, subPath, value }) => ({ op: operator, path: subPath, value }))

function patchYaml(text: string, operations: readonly FieldOperation[]): string {
  const tree = containerOf(treeOf(readYamlValue(text)))
  patchTree(tree, operationsOf(operations))
  return writeYaml(plainOf(tree))
}

function readYamlValue(text: string): unknown {
  try {
    return readFirstYaml(text, { resolver: '1.1', integers: 'bigint', duplicateKeys: 'last' }).value
  } catch (error) {
    throw new OverrideError(`the text is not YAML: ${messageOf(error)}`, { cause: error })
  }
}

/** Keys keep their order. */
function patchJson(text: string, operations: readonly FieldOperation[]): string {
  const tree = containerOf(readJsonTree(text))
  patchTree(tree, operationsOf(operations))
  return jsonText(tree)
}

function readJsonTree(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text, keepNumberText)
    return treeOf(value)
  } catch (error) {
    throw new OverrideError(`the text is not JSON: ${messageOf(error)}`, { cause: error })
  }
}

function keepNumberText(this: unknown, _key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined ? new NumberText(context.source) : value
}

function containerOf(tree: unknown): Tree {
  if (tree instanceof Map || Array.isArray(tree)) return tree
  throw new OverrideError('the text holds neither an object nor a list')
}

/** JSON with `<`, `>` and `&` escaped, as Go writes it. */
function jsonText(value: unknown): string {
  if (value instanceof NumberText) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (value instanceof Map) {
    return `{${[...(value as Map<string, unknown>)].map(([key, member]) => `${quoted(key)}:${jsonText(member)}`).join(',')}}`
  }
  return typeof value === 'string' ? quoted(value) : JSON.stringify(isObject(value) ? plainOf(value) : value)
}

function quoted(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}
