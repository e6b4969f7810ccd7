/** Records of the audit log as rows that people read. */
import { reasonFromUserAgent } from '../../../src/core/text/audit-reason.ts'

/** A record as the API returns it. */
export interface StoredRecord {
  readonly sequence: number
  readonly line: string
}

export interface AuditRow {
  readonly sequence: number
  readonly time: string
  readonly user: string
  readonly isPerson: boolean
  readonly verb: string
  readonly isDenied: boolean
  readonly resource: string
  /** `namespace/name`; empty for a list. */
  readonly object: string
  readonly reason: string
  readonly client: string
  readonly address: string
  readonly auditId: string
}

/** Requests that ask for rights or identity and change nothing. */
const QUESTIONS = /^(?:self|local)?subject(?:access|rules)?reviews$|^tokenreviews$/

export interface AuditFilter {
  /** Includes the writes of the hub and of agents. */
  readonly all: boolean
  /** Words that must all occur in the row. */
  readonly text: string
}

/** Rows of records, the newest first; a line that is not a record is shown as its text. */
export function auditRows(records: readonly StoredRecord[], { all, text }: AuditFilter): readonly AuditRow[] {
  const words = text
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '')
  return records
    .map(rowOf)
    .filter((row) => (all || (row.isPerson && !QUESTIONS.test(row.resource.split('.')[0]!))) && hasWords(row, words))
    .toSorted((a, b) => b.sequence - a.sequence)
}

function hasWords(row: AuditRow, words: readonly string[]): boolean {
  const { time, user, verb, resource, object, reason, address, auditId, isDenied } = row
  const all = [time, user, verb, resource, object, reason, address, auditId, isDenied ? 'denied' : '']
    .join(' ')
    .toLowerCase()
  return words.every((word) => all.includes(word))
}

function rowOf({ sequence, line }: StoredRecord): AuditRow {
  const record = parsed(line)
  const text = (field: string): string => (typeof record[field] === 'string' ? record[field] : '')
  const name = text('namespace') === '' ? text('name') : `${text('namespace')}/${text('name')}`
  const resource = text('group') === '' ? text('resource') : `${text('resource')}.${text('group')}`
  const user = text('user')
  const agent = text('userAgent')
  return {
    sequence,
    time: text('time'),
    user,
    isPerson: user !== '' && !user.startsWith('system:'),
    verb: text('verb'),
    isDenied: record['denied'] === true,
    resource: resource === '' ? text('path') : resource,
    object: name,
    reason: reasonFromUserAgent(agent) ?? '',
    client: agent.split(' ')[0] ?? '',
    address: text('address'),
    auditId: text('auditId'),
  }
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { path: line }
  } catch {
    return { path: line }
  }
}

/** Rows as comma-separated values, for a file; a cell never begins like a formula. */
export function auditCsv(rows: readonly AuditRow[]): string {
  const fields = ['sequence', 'time', 'user', 'verb', 'resource', 'object', 'reason', 'address', 'auditId'] as const
  const cell = (value: string): string => {
    const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
    return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  const lines = rows.map((row) => fields.map((field) => cell(String(row[field]))).join(','))
  return `${[fields.join(','), ...lines].join('\n')}\n`
}
