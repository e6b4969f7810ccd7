/** `flotilla audit`: lists the audit log and verifies its hash chain. */
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { localTime } from '../../print/print-time.ts'
import { createTablePrinter } from '../../print/table.ts'
import { readPage } from './audit-pages.ts'
import type { AuditFlags, AuditInput, Shown } from './audit-pages.ts'
import { verifyAudit } from './verify-audit.ts'
import { reasonFromUserAgent } from '../../../core/text/audit-reason.ts'

const FOLLOW_MS = 2000
const COLUMNS = ['Sequence', 'Time', 'User', 'Verb', 'Resource', 'Object', 'Reason']
// Users of the hub's own components.
const OWN_WORK = /^system:/

/** Prints records of the audit log. With --verify, reads all records and checks each hash and each checkpoint. */
export async function audit(input: AuditInput): Promise<void> {
  const { connection, terminal, clock = systemClock, signal = new AbortController().signal, flags } = input
  const after = wholeNumber(flags.after, '--after') ?? 0
  const tail = wholeNumber(flags.tail, '--tail') ?? 50
  if (flags.rootKey !== undefined && !flags.verify) {
    throw new CliError(EXIT.usage, { what: '--root-key needs --verify' })
  }
  if (flags.verify) {
    if (flags.follow) throw new CliError(EXIT.usage, { what: '--follow cannot be combined with --verify' })
    return await verifyAudit(input)
  }
  let shown: Shown[] = []
  let at = after
  for (;;) {
    const page = await readPage(connection, at)
    shown = [...shown, ...wantedOf(page, flags)].slice(-tail)
    const last = page.at(-1)
    if (!last) break
    at = last.sequence
  }
  if (shown.length === 0 && !flags.follow) return terminal.say('No records found.')
  print(shown, terminal, { ...flags, withHeaders: true })
  while (flags.follow && !signal.aborted) {
    const page = await readPage(connection, at)
    at = page.at(-1)?.sequence ?? at
    print(wantedOf(page, flags), terminal, { ...flags, withHeaders: false })
    if (page.length === 0) await clock.sleep(FOLLOW_MS, signal).catch(() => {}) // aborted: the loop ends
  }
}

function wantedOf(page: readonly Shown[], { people }: AuditFlags): readonly Shown[] {
  return people ? page.filter(({ line }) => !OWN_WORK.test(textOf(parsed(line)['user']))) : page
}

function print(
  shown: readonly Shown[],
  terminal: AuditInput['terminal'],
  { output, withHeaders }: Pick<AuditFlags, 'output'> & { readonly withHeaders: boolean },
): void {
  if (output === 'json') {
    for (const { line, ...record } of shown) terminal.data(`${JSON.stringify({ ...record, ...parsed(line) })}\n`)
    return
  }
  if (shown.length === 0) return
  const table = createTablePrinter({ wide: false, withNamespace: false, withHeaders })
  const columnDefinitions = COLUMNS.map((name) => ({ name, type: 'string', priority: 0 }))
  terminal.data(table({ columnDefinitions, rows: shown.map((record) => ({ cells: rowOf(record) })), metadata: {} }))
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
    record['denied'] === true ? `${text('verb')} (denied)` : text('verb'),
    resource === '' ? text('path') : resource,
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
