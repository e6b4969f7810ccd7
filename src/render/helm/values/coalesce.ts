/** Merges a chart's defaults, its subcharts' defaults and the user's values by the rules of Helm's coalesce. */
import type { Chart } from '../chart/chart.ts'
import { copyTable, isTable } from './dict.ts'
import type { Dict } from './dict.ts'
import { HelmError } from '../helm-error.ts'
import type { HelmProfile } from '../profile.ts'
import { formatValue } from '../../gotemplate/format.ts'
import { sprintf } from '../../gotemplate/printf.ts'

/** The state of a coalescing. */
interface Coalescing {
  readonly profile: HelmProfile
  /** Merging keeps nulls for a later coalescing, which removes them. */
  readonly merge: boolean
  readonly warn: (message: string) => void
}

/** CoalesceValues: the user's values over the chart's, without the nulls that delete. */
export function coalesceValues(chart: Chart, values: Dict, context: Omit<Coalescing, 'merge'>): Dict {
  return coalesce(chart, copyTable(values), '', { ...context, merge: false })
}

/** MergeValues: the same, and nulls stay. */
export function mergeValues(chart: Chart, values: Dict, context: Omit<Coalescing, 'merge'>): Dict {
  return coalesce(chart, copyTable(values), '', { ...context, merge: true })
}

/** MergeTables: fills a table from another, nulls stay. */
export function mergeTables(target: Dict, source: Dict, context: Omit<Coalescing, 'merge'>): Dict {
  return coalesceTables(target, source, '', { ...context, merge: true })
}

function join(prefix: string, key: string): string {
  return prefix === '' ? key : `${prefix}.${key}`
}

function coalesce(chart: Chart, target: Dict, prefix: string, context: Coalescing): Dict {
  coalesceOwn(chart, target, prefix, context)
  for (const child of chart.dependencies) {
    const { name } = child.metadata
    const present = target.get(name)
    if (!target.has(name)) target.set(name, new Map())
    else if (!isTable(present)) throw new HelmError(sprintf(`type mismatch on ${name}: %t`, [present]))
    const table = target.get(name) as Dict
    const childPrefix = join(prefix, chart.metadata.name)
    coalesceGlobals(table, target, childPrefix, context)
    target.set(name, coalesce(child, table, childPrefix, context))
  }
  return target
}

const GLOBAL = 'global'

function coalesceGlobals(target: Dict, source: Dict, prefix: string, context: Coalescing): void {
  const [into, from] = [target.get(GLOBAL) ?? null, source.get(GLOBAL) ?? null]
  if (target.has(GLOBAL) && !isTable(into)) {
    context.warn(`warning: skipping globals because destination ${GLOBAL} is not a table.`)
    return
  }
  if (source.has(GLOBAL) && !isTable(from)) {
    context.warn(`warning: skipping globals because source ${GLOBAL} is not a table.`)
    return
  }
  const globals = isTable(into) ? into : (new Map() as Dict)
  for (const [key, value] of isTable(from) ? from : []) {
    const present = globals.get(key)
    if (isTable(value)) {
      const copy: Dict = new Map(value)
      if (!globals.has(key)) globals.set(key, copy)
      else if (isTable(present)) {
        // Top-down: what the parent says wins. Nulls are kept here, the coalescing of the subchart removes them.
        coalesceTables(copy, present, join(prefix, key), { ...context, merge: true })
        globals.set(key, copy)
      } else context.warn(`Conflict: cannot merge map onto non-map for "${key}". Skipping.`)
    } else if (isTable(present)) context.warn(`key ${key} is table. Skipping`)
    else globals.set(key, value)
  }
  target.set(GLOBAL, globals)
}

function coalesceOwn(chart: Chart, values: Dict, prefix: string, context: Coalescing): void {
  const ownPrefix = join(prefix, chart.metadata.name)
  for (const [key, fallback] of copyTable(chart.values)) {
    const given = values.get(key)
    if (!values.has(key)) {
      if (context.profile.cleansNulls && !context.merge) {
        if (fallback === null || fallback === undefined) continue
        if (isTable(fallback)) removeNulls(fallback)
      }
      values.set(key, fallback)
    } else if ((given === null || given === undefined) && !context.merge) {
      values.delete(key)
    } else if (isTable(given)) {
      if (isTable(fallback)) {
        const merge = context.merge || chart.dependencies.some((child) => child.metadata.name === key)
        if (context.profile.cleansNulls && !merge) removeNulls(fallback)
        coalesceTables(given, fallback, join(ownPrefix, key), { ...context, merge })
      } else if (fallback !== null && fallback !== undefined) {
        context.warn(`warning: skipped value for ${ownPrefix}.${key}: Not a table.`)
      }
    }
  }
}

function removeNulls(table: Dict): void {
  for (const [key, value] of table) {
    if (value === null || value === undefined) table.delete(key)
    else if (isTable(value)) removeNulls(value)
  }
}

function isNull(value: unknown): boolean {
  return value === null || value === undefined
}

function coalesceTables(target: Dict, source: Dict, prefix: string, context: Coalescing): Dict {
  const given = new Set<string>()
  if (context.profile.cleansNulls) {
    for (const [key, value] of source) if (!isNull(value)) given.add(key)
    for (const [key, value] of target) if (isNull(value)) source.set(key, null)
  }
  for (const [key, value] of source) {
    const fullKey = join(prefix, key)
    const present = target.get(key)
    const deletes = !context.profile.cleansNulls || given.has(key)
    if (target.has(key) && !context.merge && isNull(present) && deletes) target.delete(key)
    else if (!target.has(key)) target.set(key, value)
    else if (isTable(value)) {
      if (isTable(present)) coalesceTables(present, value, fullKey, context)
      else context.warn(`warning: cannot overwrite table with non table for ${fullKey} (${formatValue(value)})`)
    } else if (isTable(present) && !isNull(value)) {
      context.warn(`warning: destination for ${fullKey} is a table. Ignoring non-table value (${formatValue(value)})`)
    }
  }
  return target
}
