/** Reads an object by a table of fields: names in any case, checked types, and a suggestion for unknown names. */
import { compact } from '../core/compact.ts'
import { isObject } from '../core/json.ts'
import type { JsonObject } from '../core/json.ts'
import { nearestName } from '../core/text/nearest-name.ts'
import type { LabelSelector } from '../core/text/label-selector.ts'
import { isListOf } from './field-table.ts'
import type { Fields, Shape } from './field-table.ts'

/** A finding about an input file or object; an error means that its bundle is not made. */
export interface Finding {
  readonly level: 'error' | 'warning'
  /** A file, relative to the root of its repository. */
  readonly file?: string
  readonly line?: number
  readonly message: string
}

/** A finding as one sentence. */
export function findingText({ file, line, message }: Finding): string {
  const where = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
  return `${where}${message}`
}

type Path = readonly (string | number)[]
/** Receives findings with their paths. */
export type Report = (level: Finding['level'], path: Path, message: string) => void

/** The system of the fields, and the receiver of findings. */
export interface Reading {
  /** The name of the peer, for messages. */
  readonly system: string
  readonly report: Report
}

/** The object with its fields under their correct names; wrong fields are reported and left out. */
export function readFields(value: JsonObject, fields: Fields, reading: Reading, path: Path = []): JsonObject {
  const { system, report } = reading
  const names = new Map(Object.keys(fields).map((name) => [name.toLowerCase(), name]))
  const read: JsonObject = {}
  for (const [key, item] of Object.entries(value)) {
    const name = names.get(key.toLowerCase())
    const at = [...path, key]
    if (name === undefined) {
      const meant = nearestName(key, Object.keys(fields))
      const advice = meant === undefined ? '' : `; did you mean ${JSON.stringify(meant)}?`
      report('warning', at, `${dotted(at)} is no field of ${system} and has no effect${advice}`)
      continue
    }
    const field = fields[name]!
    if (item === null || item === undefined) continue
    if (field.verdict === 'refused' && isSaid(item)) report('error', at, field.how)
    if (field.verdict === 'warned' && isSaid(item)) report('warning', at, field.how)
    const made = readShape(item, field.shape, at, reading)
    if (made !== undefined) read[name] = made
  }
  return read
}

function isSaid(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0
  if (isObject(value)) return Object.keys(value).length > 0
  return value !== false && value !== '' && value !== 0
}

function readShape(value: unknown, shape: Shape, path: Path, reading: Reading): unknown {
  const { report } = reading
  const wrong = (wanted: string): undefined => {
    report('error', path, `${dotted(path)} must be ${wanted}, found ${found(value)}`)
    return undefined
  }
  switch (shape) {
    case 'text':
      return typeof value === 'string' ? value : wrong('text')
    case 'flag':
      return typeof value === 'boolean' ? value : wrong('true or false')
    case 'int':
      return Number.isInteger(value) ? value : wrong('a whole number')
    case 'limit':
      return isLimit(value) ? value : wrong('a whole number or a percentage such as 25%')
    case 'texts':
      return isListWith(value, 'string') ? value : wrong('a list of texts')
    case 'textMap':
      return isObject(value) && isListWith(Object.values(value), 'string') ? value : wrong('a map of texts')
    case 'map':
      return isObject(value) ? value : wrong('a map')
    case 'maps':
      return Array.isArray(value) && value.every(isObject) ? value : wrong('a list of maps')
    case 'selector':
      return readSelector(value, path, report)
    default:
      break
  }
  if (isListOf(shape)) {
    if (!Array.isArray(value)) return wrong('a list')
    return value.flatMap((item: unknown, at) => {
      if (isObject(item)) return [readFields(item, shape.items, reading, [...path, at])]
      report('error', [...path, at], `${dotted([...path, at])} must be a map, found ${found(item)}`)
      return []
    })
  }
  return isObject(value) ? readFields(value, shape, reading, path) : wrong('a map')
}

function isLimit(value: unknown): boolean {
  return Number.isInteger(value) || (typeof value === 'string' && /^-?\d+(\.\d+)?%$|^[1-9]\d*$/.test(value))
}

function isListWith(value: unknown, type: 'string'): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === type)
}

const OPERATORS = ['In', 'NotIn', 'Exists', 'DoesNotExist']

function readSelector(value: unknown, path: Path, report: Report): LabelSelector | undefined {
  const wrong = (message: string): undefined => {
    report('error', path, `${dotted(path)}: ${message}`)
    return undefined
  }
  if (!isObject(value)) return wrong(`a selector has matchLabels and matchExpressions, found ${found(value)}`)
  const key = (name: string): unknown =>
    Object.entries(value).find(([own]) => own.toLowerCase() === name)?.[1] ?? undefined
  const labels = key('matchlabels') ?? {}
  const expressions = key('matchexpressions') ?? []
  if (!isObject(labels) || !isListWith(Object.values(labels), 'string'))
    return wrong('matchLabels must be a map of texts')
  if (!Array.isArray(expressions)) return wrong('matchExpressions must be a list')
  for (const expression of expressions as unknown[]) {
    if (!isObject(expression) || typeof expression['key'] !== 'string') return wrong('a match expression needs a key')
    const { operator, values = [] } = expression
    if (typeof operator !== 'string' || !OPERATORS.includes(operator)) {
      return wrong(
        `${JSON.stringify(operator ?? '')} is not a valid label selector operator; use ${OPERATORS.join(', ')}`,
      )
    }
    if (!isListWith(values, 'string')) return wrong('values of a match expression must be a list of texts')
  }
  const unknown = Object.keys(value).find((own) => !['matchlabels', 'matchexpressions'].includes(own.toLowerCase()))
  if (unknown !== undefined) {
    report(
      'warning',
      [...path, unknown],
      `${dotted([...path, unknown])} is no field of a selector and has no effect; labels go into matchLabels`,
    )
  }
  return compact({
    matchLabels: Object.keys(labels).length === 0 ? undefined : (labels as Record<string, string>),
    matchExpressions: expressions.length === 0 ? undefined : (expressions as LabelSelector['matchExpressions'] & {}),
  })
}

function found(value: unknown): string {
  if (typeof value === 'boolean') return `${value} (YAML reads yes, no, on, off, y and n so; quote it)`
  if (typeof value === 'number') return `the number ${value}; quote it`
  if (typeof value === 'string') return JSON.stringify(value)
  return Array.isArray(value) ? 'a list' : 'a map'
}

function dotted(path: Path): string {
  return path.map((part, at) => (typeof part === 'number' ? `[${part}]` : at === 0 ? part : `.${part}`)).join('')
}
