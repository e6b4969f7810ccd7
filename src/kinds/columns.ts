/** Tables, as `kubectl get` shows them: what a kube-apiserver answers to `as=Table`. */
import { canonicalJson } from '../core/json.ts'
import { humanAge, parseTime } from '../core/time/time.ts'
import type { Cell, Column, Kind } from './define-kind.ts'
import { evaluateJsonPath, parseJsonPath } from './json-path.ts'
import type { PathStep } from './json-path.ts'
import type { KubeObject, UnknownObject } from './meta.ts'
import { goNumber } from './validation/go-text.ts'

/** A column of a Table. */
export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format: string
  readonly description: string
  readonly priority: number
}

const NAME: Column = {
  name: 'Name',
  type: 'string',
  format: 'name',
  jsonPath: '.metadata.name',
  description:
    'Name must be unique within a namespace. Is required when creating resources, although some resources may allow a ' +
    'client to request the generation of an appropriate name automatically. Name is primarily intended for creation ' +
    'idempotence and configuration definition. Cannot be updated. More info: ' +
    'https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names',
}

/** All columns of a kind. NAME comes first unless the kind places it itself. */
function printerColumns(kind: Pick<Kind, 'columns'>): readonly Column[] {
  return kind.columns.some((column) => column.format === 'name') ? kind.columns : [NAME, ...kind.columns]
}

/** The columns of a kind as a Table describes them. */
export function tableColumns(kind: Pick<Kind, 'columns'>): TableColumn[] {
  return printerColumns(kind).map(({ name, type, format = '', description, jsonPath, priority = 0 }) => ({
    name,
    type,
    format,
    description: description ?? `Custom resource definition column (in JSONPath format): ${jsonPath}`,
    priority,
  }))
}

/** The cells of an object's row; `now` is in milliseconds, for ages. Null is an empty cell. */
export function tableRow(kind: Pick<Kind, 'columns'>, object: KubeObject, now: number): Cell[] {
  return printerColumns(kind).map((column) => {
    if (column.cell) return column.cell(object as UnknownObject, now)
    const [value] = evaluateJsonPath(object, stepsOf(column))
    return cellOf(column, value, now)
  })
}

const parsed = new WeakMap<Column, readonly PathStep[]>()

function stepsOf(column: Column): readonly PathStep[] {
  const before = parsed.get(column)
  if (before) return before
  const steps = parseJsonPath(column.jsonPath)
  if (!steps) throw new Error(`column ${column.name}: ${column.jsonPath} is no JSONPath of the form .a.b[0]`)
  parsed.set(column, steps)
  return steps
}

function cellOf(column: Column, value: unknown, now: number): Cell {
  // Bookmarks in tables have rows as well, without an object.
  if (value === undefined || value === null) return column.format === 'name' ? '' : null
  switch (column.type) {
    case 'string':
      return textOf(value)
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null
    case 'number':
      return typeof value === 'number' ? value : null
    case 'boolean':
      return typeof value === 'boolean' ? value : null
    case 'date':
      return typeof value === 'string' ? formatAge(value, now) : null
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  if (typeof value === 'number') return goNumber(value)
  return typeof value === 'boolean' ? String(value) : canonicalJson(value)
}

/** The age of a time as kubectl shows it. */
export function formatAge(time: string | undefined, now: number): string {
  if (time === undefined) return '<unknown>'
  const then = parseTime(time)
  return then === undefined ? '<invalid>' : humanAge(now - then)
}
