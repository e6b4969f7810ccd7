/** Prints cells as a table, as CSV and as Markdown. */
import { tableCsv } from '../../print/arrange-table.ts'
import { createTablePrinter } from '../../print/table.ts'
import type { Table } from '../../print/table.ts'

/** Formats of cells. */
export type CellFormat = 'table' | 'csv' | 'markdown'

/** Prints a header and lines of cells. */
export function printCells(
  format: CellFormat,
  header: readonly string[],
  lines: readonly (readonly string[])[],
): string {
  if (format === 'markdown') {
    const row = (cells: readonly string[]): string => `| ${cells.map(markdownCell).join(' | ')} |\n`
    return `${row(header)}${row(header.map(() => '---'))}${lines.map(row).join('')}`
  }
  const table = {
    columnDefinitions: header.map((name) => ({ name, type: 'string', priority: 0 })),
    rows: lines.map((cells) => ({ cells: [...cells] })),
    metadata: {},
  } satisfies Table
  if (format === 'csv') return tableCsv(table, { withNamespace: false, withHeaders: true })
  return createTablePrinter({ wide: false, withNamespace: false, withHeaders: true })(table)
}

function markdownCell(text: string): string {
  return text
    .replaceAll('\\', '\\\\')
    .replaceAll('|', '\\|')
    .replaceAll(/[\r\n]+/g, ' ')
    .replaceAll('<', '&lt;')
}
