/** Prints Tables of the Kubernetes API (meta.k8s.io/v1) as kubectl does. */
import { isObject } from '../../core/json.ts'
import { shortRevision } from '../../core/text/short-revision.ts'

/** A column of a Table. */
export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly format?: string
  /** Columns with priority 0 are always shown, others with `-o wide`. */
  readonly priority: number
}

/** A row. `object` has at least the metadata of the object. */
export interface TableRow {
  readonly cells: readonly unknown[]
  readonly object?: {
    readonly metadata?: {
      readonly name?: string
      readonly namespace?: string
      readonly labels?: Record<string, string>
    }
  }
}

/** An answer in table form. */
export interface Table {
  /** Null in the events of a watch, except the first. */
  readonly columnDefinitions: readonly TableColumn[] | null
  readonly rows: readonly TableRow[]
  readonly metadata: { readonly resourceVersion?: string; readonly continue?: string }
}

export interface TableOptions {
  readonly wide: boolean
  readonly withNamespace: boolean
  readonly withHeaders: boolean
  readonly showLabels?: boolean
  /** Prefix of each name, as in `kubectl get a,b`. */
  readonly namePrefix?: string
  /** Colours a cell by its column and text, after the widths were computed. */
  readonly paint?: (column: string, text: string) => string
}

export function isTable(value: unknown): value is Table {
  if (!isObject(value) || value['kind'] !== 'Table') return false
  return value['columnDefinitions'] === null || Array.isArray(value['columnDefinitions'])
}

/** Prints tables. Columns keep the width of their widest cell so far, so that lines of a watch align. */
export function createTablePrinter(options: TableOptions): (table: Table) => string {
  let columns: { index: number; name: string }[] | undefined
  let headers: string[] = []
  let widths: number[] = []
  let isFirst = true
  return (table) => {
    const defined = table.columnDefinitions ?? []
    if (defined.length > 0 && columns === undefined) {
      columns = defined
        .map((column, index) => ({ index, name: column.name, priority: column.priority ?? 0 }))
        .filter(({ priority }) => options.wide || priority === 0)
      headers = columns.map(({ name }) => name.toUpperCase())
      if (options.withNamespace) headers.unshift('NAMESPACE')
      if (options.showLabels) headers.push('LABELS')
    }
    const rows = table.rows.map((row) => rowCells(row, columns ?? [], options))
    if (rows.length === 0) return ''
    const lines = isFirst && options.withHeaders ? [headers, ...rows] : rows
    widths = headers.map((_, index) => Math.max(widths[index] ?? 0, ...lines.map((line) => width(line[index] ?? ''))))
    const isHeader = (line: number): boolean => isFirst && options.withHeaders && line === 0
    const text = lines.map((line, index) =>
      printLine(line, { headers, widths, paint: isHeader(index) ? undefined : options.paint }),
    )
    isFirst = false
    return `${text.join('\n')}\n`
  }
}

/** Columns with revisions of Sources; all of a commit's hash would take the width of the terminal. */
const REVISIONS: ReadonlySet<string> = new Set(['Revision', 'Attempted'])

function rowCells(
  row: TableRow,
  columns: readonly { readonly index: number; readonly name: string }[],
  options: TableOptions,
): string[] {
  const cells = columns.map(({ index, name }) => {
    const text = cellText(row.cells[index])
    return REVISIONS.has(name) ? shortRevision(text) : text
  })
  if (options.namePrefix && cells.length > 0) cells[0] = `${options.namePrefix}${cells[0]}`
  if (options.withNamespace) cells.unshift(row.object?.metadata?.namespace ?? '')
  if (options.showLabels) cells.push(labelsText(row.object?.metadata?.labels))
  return cells
}

/** A cell as one line of text. `empty` replaces an empty cell. */
export function cellText(cell: unknown, empty = '<none>'): string {
  if (cell === null || cell === undefined || cell === '') return empty
  // A status can hold any text: line breaks and control characters must not reach the terminal.
  const text = typeof cell === 'string' ? cell : JSON.stringify(cell)
  return Array.from(text, (char) => (char < ' ' || char === '\u007f' ? ' ' : char)).join('')
}

function labelsText(labels: Record<string, string> | undefined): string {
  const pairs = Object.entries(labels ?? {}).map(([key, value]) => `${key}=${value}`)
  return pairs.length === 0 ? '<none>' : pairs.join(',')
}

interface LineStyle {
  readonly headers: readonly string[]
  readonly widths: readonly number[]
  readonly paint: TableOptions['paint']
}

function printLine(cells: readonly string[], style: LineStyle): string {
  return cells
    .map((cell, index) => {
      const shown = style.paint ? style.paint(style.headers[index] ?? '', cell) : cell
      return index === cells.length - 1 ? shown : shown + ' '.repeat(style.widths[index]! - width(cell) + 3)
    })
    .join('')
    .trimEnd()
}

function width(text: string): number {
  return Array.from(text).length
}
