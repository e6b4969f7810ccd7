/**
 * What changes in an object, field by field, in words short enough for a line; values of Secrets are never among them.
 */
import { compact } from '../../core/compact.ts'
import { plural } from '../../core/text/name-some.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** A field that changes; a side that has nothing there is absent. */
export interface FieldChange {
  /** `.spec.template.spec.containers[name=web].image`. */
  readonly field: string
  readonly before?: string
  readonly after?: string
  /** The values are not told: they are, or may be, secret. */
  readonly hidden?: true
}

const MOST_FIELDS = 200
const LONGEST_VALUE = 60
/** Names of settings whose values a review must not show. */
const SENSITIVE = /pass(word|wd|phrase)?|secret|token|credential|api[-_]?key|private[-_]?key/i

/** True for the name or path of a field whose value can be secret. */
export function isSensitiveName(name: string): boolean {
  return SENSITIVE.test(name)
}

/** The fields that differ, in the order of the object. */
export function objectChanges(before: UnknownObject, after: UnknownObject): FieldChange[] {
  return fieldChanges(before, after, before.kind === 'Secret' || after.kind === 'Secret')
}

/** The same of anything with fields. */
export function fieldChanges(before: object, after: object, isSecret = false): FieldChange[] {
  const found: FieldChange[] = []
  const tell = (field: string, from: unknown, to: unknown): void => {
    if (found.length < MOST_FIELDS) found.push(changeOf(field, { from, to, isSecret }))
  }
  compare(before, after, '', tell)
  return found
}

type Tell = (field: string, from: unknown, to: unknown) => void

function compare(from: unknown, to: unknown, field: string, tell: Tell): void {
  if (jsonEqual(from, to)) return
  if (isObject(from) && isObject(to)) {
    for (const name of new Set([...Object.keys(from), ...Object.keys(to)])) {
      const step = /^[\w-]+$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
      compare(from[name], to[name], `${field}${step}`, tell)
    }
  } else if (Array.isArray(from) && Array.isArray(to)) compareLists(from, to, field, tell)
  // What comes or goes as a whole is told by its parts, where these have names and are few.
  else if (from === undefined && isTold(to)) compare(emptyOf(to), to, field, tell)
  else if (to === undefined && isTold(from)) compare(from, emptyOf(from), field, tell)
  else tell(field, from, to)
}

const MOST_PARTS = 8

function isTold(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0 && value.length <= MOST_PARTS && byName(value) !== undefined
  if (!isObject(value) || 'name' in value) return false
  const parts = Object.values(value)
  return parts.length > 0 && parts.length <= MOST_PARTS && parts.every((part) => typeof part !== 'object')
}

function emptyOf(value: unknown): unknown {
  return Array.isArray(value) ? [] : {}
}

function compareLists(from: readonly unknown[], to: readonly unknown[], field: string, tell: Tell): void {
  const [old, now] = [byName(from), byName(to)]
  if (old && now) {
    for (const name of new Set([...old.keys(), ...now.keys()])) {
      compare(old.get(name), now.get(name), `${field}[name=${name}]`, tell)
    }
    // The same items in another order.
    if (jsonEqual([...old].toSorted(byKey), [...now].toSorted(byKey))) tell(`${field} (order)`, undefined, undefined)
  } else if (from.length === to.length) {
    for (const [index, item] of from.entries()) compare(item, to[index], `${field}[${index}]`, tell)
  } else tell(field, from, to)
}

function byKey([a]: [string, unknown], [b]: [string, unknown]): number {
  return a < b ? -1 : 1
}

/** Items by their names, when each has one of its own. */
function byName(items: readonly unknown[]): Map<string, unknown> | undefined {
  const named = new Map<string, unknown>()
  for (const item of items) {
    const name = isObject(item) ? item['name'] : undefined
    if (typeof name !== 'string' || named.has(name)) return undefined
    named.set(name, item)
  }
  return named
}

function changeOf(
  field: string,
  { from, to, isSecret }: { readonly from: unknown; readonly to: unknown; readonly isSecret: boolean },
): FieldChange {
  const isHidden = (isSecret && /^\.(data|stringData)\b/.test(field)) || isSensitiveName(field)
  const side = (name: 'before' | 'after', value: unknown) =>
    value === undefined ? {} : { [name]: isHidden ? '' : shortText(value) }
  return {
    field,
    ...side('before', from),
    ...side('after', to),
    ...compact({ hidden: isHidden ? (true as const) : undefined }),
  }
}

function shortText(value: unknown): string {
  if (Array.isArray(value)) return plural(value.length, 'item')
  if (isObject(value)) return plural(Object.keys(value).length, 'field')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.includes('\n')) return plural(text.split('\n').length, 'line')
  return text.length > LONGEST_VALUE ? `${text.slice(0, LONGEST_VALUE - 1)}…` : text
}

/** Changes as parts of one line: `image 2.13.4→2.14.0`, `env +FEATURE_X`, `replicas 2→3`. */
export function formatFieldChange(changes: readonly FieldChange[]): string[] {
  const images = changes.filter(({ field }) => IMAGE.test(field)).length
  return changes.map((change) => {
    const { field } = change
    const image = IMAGE.exec(field)
    if (image) return `${images > 1 ? `${image[1]} ` : ''}image ${imageWords(change)}`
    const env = ENV.exec(field)
    if (env) return `env ${sided(change, env[1] ?? '')}`
    const short = field.replace(/^\.spec\.template\.spec\.|^\.spec\.|^\./, '')
    return sided(change, short)
  })
}

const IMAGE = /containers\[name=([^\]]+)\]\.image$/i
const ENV = /\.env\[name=([^\]]+)\](?:\.value)?$/

function sided({ field, before, after, hidden }: FieldChange, name: string): string {
  // A whole variable comes or goes; of one that stays the value changes.
  const isWhole = ENV.test(field) && !field.endsWith('.value')
  if (before === undefined && after === undefined) return name
  if (before === undefined) return isWhole || hidden ? `+${name}` : `+${name}=${after}`
  if (after === undefined) return `-${name}`
  return hidden ? `${name} changed` : `${name} ${before}→${after}`
}

function imageWords({ before = '', after = '' }: FieldChange): string {
  const [old, now] = [before, after].map((image) => {
    const at = Math.max(image.lastIndexOf('@'), image.indexOf(':', image.lastIndexOf('/')))
    return at < 0 ? { name: image, tag: '' } : { name: image.slice(0, at), tag: image.slice(at + 1) }
  })
  return old!.name === now!.name && old!.tag !== '' && now!.tag !== ''
    ? `${old!.tag}→${now!.tag}`
    : `${before}→${after}`
}
