/** `flotilla audit`: lists the audit log and verifies its hash chain. */
import { isObject } from '../../../core/json.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { localTime } from '../../print/print-time.ts'
import { createTablePrinter } from '../../print/table.ts'
import type { Terminal } from '../../print/terminal.ts'
import { reasonFromUserAgent } from '../../api/audit-reason.ts'

/** Flags of `audit`. */
export interface AuditFlags {
  readonly output?: 'table' | 'json'
  readonly after?: string
  readonly tail?: string
  readonly verify?: boolean
  /** Omit changes of the hub. */
  readonly people?: boolean
}

export interface AuditInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  readonly flags: AuditFlags
}

interface Shown {
  readonly sequence: number
  readonly revision: number
  readonly hash: string
  readonly line: string
}

const PAGE = 1000
const COLUMNS = ['Sequence', 'Time', 'User', 'Verb', 'Resource', 'Object', 'Reason']
// Users of the hub's own components.
const OWN_WORK = /^system:/

/** Prints records of the audit log. With --verify, reads all records and checks each hash. */
export async function audit({ connection, terminal, flags }: AuditInput): Promise<void> {
  const after = wholeNumber(flags.after, '--after') ?? 0
  const tail = wholeNumber(flags.tail, '--tail') ?? 50
  const { AUDIT_GENESIS, findAuditBreak } = await import('../../../hub/verify-audit.ts')
  let previous: Pick<Shown, 'sequence' | 'hash'> = { sequence: 0, hash: AUDIT_GENESIS }
  let shown: Shown[] = []
  // A hash proves nothing without the hashes before it, so the check begins with the first record.
  for (let at = flags.verify ? 0 : after; ;) {
    const page = await readPage(connection, at)
    if (flags.verify) {
      const broken = findAuditBreak(page, previous)
      if (broken !== undefined) throw brokenAt(broken)
    }
    const wanted = flags.people ? page.filter(({ line }) => !OWN_WORK.test(textOf(parsed(line)['user']))) : page
    if (!flags.verify) shown = [...shown, ...wanted].slice(-tail)
    const last = page.at(-1)
    if (!last) break
    previous = last
    at = last.sequence
  }
  if (flags.verify) {
    const text = `${previous.sequence} records, hash chain verified; the last hash is ${previous.hash}\n`
    terminal.data(
      flags.output === 'json' ? `${JSON.stringify({ records: previous.sequence, hash: previous.hash })}\n` : text,
    )
    return
  }
  if (flags.output === 'json') {
    for (const { line, ...record } of shown) terminal.data(`${JSON.stringify({ ...record, ...parsed(line) })}\n`)
    return
  }
  if (shown.length === 0) return terminal.say('No records found.')
  const print = createTablePrinter({ wide: false, withNamespace: false, withHeaders: true })
  const columnDefinitions = COLUMNS.map((name) => ({ name, type: 'string', priority: 0 }))
  terminal.data(print({ columnDefinitions, rows: shown.map((record) => ({ cells: rowOf(record) })), metadata: {} }))
}

async function readPage(connection: AuditInput['connection'], after: number): Promise<Shown[]> {
  const answer = await connection.rest.json({ method: 'GET', path: `/audit?after=${after}&limit=${PAGE}` })
  return isObject(answer) && Array.isArray(answer['items']) ? answer['items'] : []
}

function rowOf({ sequence, line }: Shown): string[] {
  const record = parsed(line)
  const text = (field: string): string => textOf(record[field])
  const object = text('namespace') === '' ? text('name') : `${text('namespace')}/${text('name')}`
  const resource = text('group') === '' ? text('resource') : `${text('resource')}.${text('group')}`
  return [
    String(sequence),
    localTime(text('time'), { seconds: true }),
    text('user'),
    text('verb'),
    resource,
    object,
    reasonFromUserAgent(text('userAgent')) ?? '',
  ]
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function parsed(line: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : { line }
  } catch {
    return { line }
  }
}

function wholeNumber(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new CliError(EXIT.usage, { what: `invalid ${flag} ${JSON.stringify(text)}: must be a whole number` })
}

function brokenAt(sequence: number): CliError {
  return new CliError(EXIT.failed, {
    what: `the hash chain of the audit log is broken at record ${sequence}`,
    why: 'this record or an earlier one was changed, removed or inserted',
    todo: 'do not change the database; compare it with a backup ("flotilla restore FILE --drill")',
  })
}
