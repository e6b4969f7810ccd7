/** Filters and sorts tables, and writes them as CSV. */
import { BUNDLE_STATES } from '../../kinds/fields/states.ts'
import { CliError, EXIT } from '../errors/cli-error.ts'
import { parseJsonPath } from './jsonpath.ts'
import { cellText } from './table.ts'
import type { Table, TableRow } from './table.ts'
import { didYouMean } from '../errors/did-you-mean.ts'

/** The rows in one of these states (`failed,offline`). */
export function rowsInState(table: Table, wanted: string): Table {
  const at = columnAt(table, 'State') ?? columnAt(table, 'Phase')
  if (at === undefined) {
    throw new CliError(EXIT.usage, {
      what: '--state requires a kind with a STATE column',
      todo: 'use --state with clusters, rollouts or bundlestates',
    })
  }
  const states = new Set(wanted.toLowerCase().split(','))
  const known = [...BUNDLE_STATES, ...statesOf(table)]
  const odd = [...states].find((state) => !known.some((one) => one.toLowerCase() === state))
  // Phases of rollouts and of built-in kinds are not a closed list.
  if (odd !== undefined && columnAt(table, 'State') !== undefined) {
    throw new CliError(EXIT.usage, {
      what: `unknown state ${JSON.stringify(odd)}; valid states: ${BUNDLE_STATES.join(', ')}`,
      ...(didYouMean(odd, known) && { todo: didYouMean(odd, known)! }),
    })
  }
  return { ...table, rows: table.rows.filter(({ cells }) => states.has(String(cells[at]).toLowerCase())) }
}

/** The states that rows of a table are in. */
export function statesOf(table: Table): string[] {
  const at = columnAt(table, 'State') ?? columnAt(table, 'Phase')
  return at === undefined ? [] : [...new Set(table.rows.map(({ cells }) => cellText(cells[at])))].sort()
}

/**
 * Sorts rows by a column or by a JSONPath over their objects. Numbers and ages like `6m5s` are compared as such, states
 * of the STATE column from the worst to the best.
 */
export function sortedRows(table: Table, by: string): Table {
  const keyOf = sortKey(table, by)
  const keyed = table.rows.map((row) => ({ row, key: keyOf(row) }))
  return { ...table, rows: keyed.sort((a, b) => compare(a.key, b.key)).map(({ row }) => row) }
}

function sortKey(table: Table, by: string): (row: TableRow) => string {
  if (/^[.{[$]/.test(by)) {
    const path = parseJsonPath(by)
    return ({ object }) => path(object)
  }
  const at = columnAt(table, by)
  if (at !== undefined && at === columnAt(table, 'State')) return ({ cells }) => severityOf(cellText(cells[at]))
  if (at !== undefined) return ({ cells }) => cellText(cells[at])
  const names = (table.columnDefinitions ?? []).map(({ name }) => name.toLowerCase())
  throw new CliError(EXIT.usage, {
    what: `unknown column ${JSON.stringify(by)}`,
    todo: didYouMean(by, names) ?? `use one of ${names.join(', ')}, or a path such as .metadata.creationTimestamp`,
  })
}

/** The states from the worst to the best. An unknown state comes first: it may need a person. */
const SEVERITY: readonly string[] = ['Failed', 'Drifted', 'Offline', 'Progressing', 'Pending', 'NotSelected', 'Ready']

function severityOf(state: string): string {
  return String(SEVERITY.indexOf(state) + 1)
}

/** A table with all columns as CSV (RFC 4180). */
export function tableCsv(
  table: Table,
  options: { readonly withNamespace: boolean; readonly withHeaders: boolean },
): string {
  const names = (table.columnDefinitions ?? []).map(({ name }) => name.toUpperCase())
  const header = options.withNamespace ? ['NAMESPACE', ...names] : names
  const rows = table.rows.map(({ cells, object }) => {
    const texts = names.map((_, index) => cellText(cells[index], ''))
    return options.withNamespace ? [object?.metadata?.namespace ?? '', ...texts] : texts
  })
  return (options.withHeaders ? [header, ...rows] : rows).map((line) => `${line.map(csvCell).join(',')}\r\n`).join('')
}

// A spreadsheet would run a cell that begins like a formula, and cells can hold text of clusters.
function csvCell(text: string): string {
  const safe = /^[=+\-@\t]/.test(text) && !/^-?[\d.]+$/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

function columnAt(table: Table, name: string): number | undefined {
  const at = (table.columnDefinitions ?? []).findIndex((column) => column.name.toLowerCase() === name.toLowerCase())
  return at < 0 ? undefined : at
}

const AGE = /^(?:(\d{1,6})y)?(?:(\d{1,6})d)?(?:(\d{1,6})h)?(?:(\d{1,6})m)?(?:(\d{1,6})s)?$/
const UNITS = [31_536_000, 86_400, 3600, 60, 1]

/** The seconds of an age as tables print it; undefined for another text. */
function ageSeconds(text: string): number | undefined {
  const parts = text === '' ? null : AGE.exec(text)
  return parts?.slice(1).reduce((sum, part, at) => sum + Number(part ?? 0) * UNITS[at]!, 0)
}

function compare(a: string, b: string): number {
  const numbers = [Number(a), Number(b)] as const
  if (a !== '' && b !== '' && !numbers.some(Number.isNaN)) return numbers[0] - numbers[1]
  const [first, second] = [ageSeconds(a), ageSeconds(b)]
  if (first !== undefined && second !== undefined) return first - second
  return a < b ? -1 : a > b ? 1 : 0
}
