/** The part of Kubernetes' JSONPath that printer columns use: fields, indexes, `[*]` and `[?(@.field=="value")]`. */
import { isObject, jsonEqual } from '../core/json.ts'
import { ownField } from './schema/own-field.ts'

/** A step of a path. */
export type PathStep =
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | { readonly type: 'all' }
  | { readonly type: 'where'; readonly path: readonly PathStep[]; readonly equal: boolean; readonly value: unknown }

const FIELD = /\.((?:\\.|[^.[\\])+)/y
const QUOTED = /\[(?:'((?:\\.|[^'\\])*)'|"((?:\\.|[^"\\])*)")\]/y
const INDEX = /\[(-?\d+)\]/y
const ALL = /\.\*|\[\*\]/y
const WHERE = /\[\?\(\s*@((?:\.[A-Za-z0-9_\\.-]+)*)\s*(==|!=)\s*("[^"]*"|'[^']*'|[^\s)]+)\s*\)\]/y

/** Reads a path like `.status.conditions[?(@.type=="Ready")].status`; undefined when it is none. */
export function parseJsonPath(text: string): readonly PathStep[] | undefined {
  const steps: PathStep[] = []
  let at = 0
  const next = (expression: RegExp): RegExpExecArray | undefined => {
    expression.lastIndex = at
    const match = expression.exec(text)
    if (match) at = expression.lastIndex
    return match ?? undefined
  }
  while (at < text.length) {
    const step = nextStep(next)
    if (step === undefined) return undefined
    steps.push(step)
  }
  return steps
}

function nextStep(next: (expression: RegExp) => RegExpExecArray | undefined): PathStep | undefined {
  if (next(ALL)) return { type: 'all' }
  const field = next(FIELD)
  if (field) return { type: 'field', name: unescaped(field[1]!) }
  const quoted = next(QUOTED)
  if (quoted) return { type: 'field', name: unescaped(quoted[1] ?? quoted[2]!) }
  const index = next(INDEX)
  if (index) return { type: 'index', index: Number(index[1]) }
  const where = next(WHERE)
  const path = where && parseJsonPath(where[1]!)
  return where && path && { type: 'where', path, equal: where[2] === '==', value: literal(where[3]!) }
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}

function literal(text: string): unknown {
  if (/^(".*"|'.*')$/.test(text)) return text.slice(1, -1)
  if (text === 'true' || text === 'false') return text === 'true'
  return Number.isNaN(Number(text)) ? text : Number(text)
}

/** The values a path leads to; what is missing is left out. */
export function evaluateJsonPath(value: unknown, steps: readonly PathStep[]): unknown[] {
  return follow(value, steps).map((found) => found.value)
}

/** The places a path leads to, each as field names and indexes from the root. */
export function findPaths(value: unknown, steps: readonly PathStep[]): (readonly (string | number)[])[] {
  return follow(value, steps).map((found) => found.place)
}

interface Found {
  readonly value: unknown
  readonly place: readonly (string | number)[]
}

function follow(value: unknown, steps: readonly PathStep[]): Found[] {
  let found: Found[] = [{ value, place: [] }]
  for (const step of steps) found = found.flatMap((at) => takeStep(at, step)).filter((at) => at.value !== undefined)
  return found
}

function takeStep({ value, place }: Found, step: PathStep): Found[] {
  switch (step.type) {
    case 'field':
      return isObject(value) ? [{ value: ownField(value, step.name), place: [...place, step.name] }] : []
    case 'index': {
      if (!Array.isArray(value)) return []
      const index = step.index < 0 ? value.length + step.index : step.index
      return [{ value: value[index], place: [...place, index] }]
    }
    case 'all':
      return itemsOf(value, place)
    case 'where':
      return itemsOf(value, place).filter(
        (item) => jsonEqual(evaluateJsonPath(item.value, step.path)[0], step.value) === step.equal,
      )
  }
}

function itemsOf(value: unknown, place: Found['place']): Found[] {
  if (Array.isArray(value)) return value.map((item: unknown, index) => ({ value: item, place: [...place, index] }))
  return isObject(value) ? Object.entries(value).map(([name, item]) => ({ value: item, place: [...place, name] })) : []
}
