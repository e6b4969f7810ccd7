// Tested by src/cli/commands/objects/objects.test.ts.
/** `flotilla get`: asks the API for a Table and prints it as kubectl would. */
import { settleAll } from '../../../core/async/settle-all.ts'
import type { Rest } from '../../../client/rest.ts'
import { linesOf } from '../../../client/watch-stream.ts'
import { statusToError } from '../../../client/status-error.ts'
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { parseOutput } from '../../print/output-format.ts'
import type { ObjectPrinter, OutputFormat } from '../../print/output-format.ts'
import { findResources, objectName } from '../../api/find-resource.ts'
import type { ApiResource } from '../../api/find-resource.ts'
import { colorOf } from '../../print/print-state.ts'
import { createTablePrinter, isTable } from '../../print/table.ts'
import type { Table } from '../../print/table.ts'
import { statesOf, tableCsv } from '../../print/arrange-table.ts'
import type { Terminal } from '../../print/terminal.ts'
import {
  joinPages,
  kindOf,
  namespaceFor,
  pathOf,
  readObjects,
  readTables,
  filterAndSort,
  TABLE,
  versionOf,
} from './read-objects.ts'
import type { GetFlags, GetInput, Target } from './read-objects.ts'

const RESUME_MS = 1_000

/** Runs `get KIND[,KIND…] [NAME…]` or `get KIND/NAME…`. */
export async function get(words: readonly string[], input: GetInput): Promise<void> {
  const format = await parseOutput(input.flags.output, { showManagedFields: input.flags.showManagedFields ?? false })
  const targets = await targetsOf(words, input.connection.rest)
  if (input.flags.watch && targets.length > 1) {
    throw new CliError(EXIT.usage, {
      what: '--watch supports one kind or one object',
      todo: 'run one "flotilla get KIND -w" for each kind',
    })
  }
  if (format.kind === 'objects') return await printObjects(targets, format.printer, input)
  const print = tablePrinters(targets, format, input)
  let printed = 0
  for (const group of groupsOf(targets, input)) {
    const [target] = group
    printed += await (group.length > 1
      ? printNamed(group, input, print)
      : printTable(target, input, print(target.resource)))
  }
  if (printed === 0 && !input.flags.watch) {
    const inNamespace = targets.some(({ resource }) => resource.scope === 'Namespaced') && !input.flags.allNamespaces
    input.terminal.say(`No resources found${inNamespace ? ` in ${namespaceFor(input)} namespace` : ''}.`)
  }
}

type Group = readonly [Target, ...Target[]]

/** Named objects of one kind are printed as one table. */
function groupsOf(targets: readonly Target[], { flags }: GetInput): Group[] {
  const groups = new Map<unknown, [Target, ...Target[]]>()
  for (const target of targets) {
    const key = target.name === undefined || flags.watch ? target : target.resource
    const known = groups.get(key)
    if (known) known.push(target)
    else groups.set(key, [target])
  }
  return [...groups.values()]
}

/** Prints the named objects. A missing object is reported after the objects before it were printed. */
async function printNamed(
  targets: Group,
  input: GetInput,
  print: (resource: ApiResource) => PrintTable,
): Promise<number> {
  const pages: Table[] = []
  const show = (): number => {
    if (pages.length === 0) return 0
    const table = filterAndSort(joinPages(pages), input.flags)
    print(targets[0].resource)(table)
    return table.rows.length
  }
  for (const target of targets) {
    try {
      pages.push(...(await readTables(target, input)).pages)
    } catch (caught) {
      show()
      throw caught
    }
  }
  return show()
}

async function targetsOf(words: readonly string[], rest: Rest): Promise<Target[]> {
  const [first, ...names] = words
  if (first === undefined) {
    throw new CliError(EXIT.usage, {
      what: 'missing argument KIND',
      todo: 'give a kind, for example "flotilla get clusters"',
    })
  }
  if (words.some((word) => word.includes('/'))) {
    const targets: Target[] = []
    for (const word of words) {
      const [kind, name, ...more] = word.split('/')
      if (!kind || !name || more.length > 0) {
        throw new CliError(EXIT.usage, {
          what: `invalid argument ${JSON.stringify(word)}: must be KIND/NAME, for example cluster/store-1`,
        })
      }
      for (const resource of await findResources(rest, kind)) targets.push({ resource, name })
    }
    return targets
  }
  const lists = await settleAll(first.split(',').map((kind) => findResources(rest, kind)))
  const resources = lists.flat()
  if (names.length === 0) return resources.map((resource) => ({ resource }))
  return resources.flatMap((resource) => names.map((name) => ({ resource, name })))
}

type PrintTable = (table: Table) => void

/** A table per kind, with an empty line between kinds. */
function tablePrinters(
  targets: readonly Target[],
  format: Extract<OutputFormat, { kind: 'table' }>,
  { terminal, flags }: GetInput,
): (resource: ApiResource) => PrintTable {
  const resources = new Set(targets.map(({ resource }) => resource))
  const printers = new Map<ApiResource, PrintTable>()
  let last: ApiResource | undefined
  return (resource) => {
    const known = printers.get(resource)
    if (known) return known
    const withNamespace = flags.allNamespaces === true && resource.scope === 'Namespaced'
    if (format.csv) return (table) => terminal.data(tableCsv(table, { withNamespace, withHeaders: flags.headers }))
    const print = createTablePrinter({
      wide: format.wide,
      withNamespace,
      withHeaders: flags.headers,
      showLabels: flags.showLabels ?? false,
      paint: (column, text) => paintState(terminal, column, text),
      ...(resources.size > 1 && { namePrefix: objectName(resource, '') }),
    })
    const made = (table: Table): void => {
      const text = print(table)
      if (text === '') return
      const gap = last !== undefined && last !== resource && flags.headers ? '\n' : ''
      last = resource
      terminal.data(gap + text)
    }
    printers.set(resource, made)
    return made
  }
}

async function printTable(target: Target, input: GetInput, print: PrintTable): Promise<number> {
  const { flags, terminal } = input
  const { pages, total, next, version } = await readTables(target, input)
  const tables = needsWholeTable(flags) ? [filterAndSort(joinPages(pages), flags)] : pages
  for (const table of tables) print(table)
  const shown = tables.reduce((sum, { rows }) => sum + rows.length, 0)
  if (flags.state !== undefined && shown < total) {
    const others = shown === 0 ? `; the states are ${statesOf(joinPages(pages)).join(', ')}` : ''
    terminal.say(`showing ${shown} of ${total}${others}`)
  }
  if (next !== undefined) terminal.say(`more rows: --continue ${next}`)
  if (flags.watch) {
    await follow(target, input, { version: version ?? '0', accept: TABLE }, (event) => {
      if (isTable(event)) print(filterAndSort(event, { ...flags, sortBy: undefined }))
    })
  }
  return flags.state === undefined ? shown : total
}

function needsWholeTable(flags: GetFlags): boolean {
  return flags.sortBy !== undefined || flags.state !== undefined || flags.output === 'csv'
}

/** Watches a collection or one object until the signal. Resumes when the server ends the watch. */
async function follow(
  target: Target,
  input: GetInput,
  start: { readonly version: string; readonly accept?: string },
  onObject: (object: unknown) => void,
): Promise<void> {
  let version = start.version
  while (!input.signal.aborted) {
    const query = { watch: true, allowWatchBookmarks: true, resourceVersion: version }
    const { name, ...kind } = target
    const path =
      name === undefined
        ? pathOf(kind, input, query)
        : pathOf(kind, { ...input, flags: { ...input.flags, fieldSelector: `metadata.name=${name}` } }, query)
    const response = await input.connection.rest.stream(
      { method: 'GET', path, ...(start.accept !== undefined && { accept: start.accept }) },
      input.signal,
    )
    let events = 0
    for await (const line of linesOf(response.body)) {
      events += 1
      const event: unknown = JSON.parse(line)
      if (!isObject(event)) continue
      const { type, object } = event
      if (type === 'ERROR') throw statusToError(object, 500, 'the watch ended with an error')
      version = versionOf(object) ?? version
      if (type !== 'BOOKMARK') onObject(object)
    }
    // A server that ends each watch at once must not be asked in a loop.
    if (events === 0) await systemClock.sleep(RESUME_MS, input.signal).catch(() => {}) // aborted: the loop ends
  }
}

async function printObjects(targets: readonly Target[], printer: ObjectPrinter, input: GetInput): Promise<void> {
  const { terminal, flags } = input
  const objects: Record<string, unknown>[] = []
  const more: string[] = []
  let version = '0'
  for (const target of targets) {
    const read = await readObjects(target, input)
    objects.push(...read.objects)
    version = read.version ?? version
    if (read.next !== undefined) more.push(`more rows: --continue ${read.next}`)
  }
  const single = targets.length === 1 && targets[0]?.name !== undefined
  terminal.data(printer(objects, { single, names: (object) => nameOf(object, targets) }))
  for (const line of more) terminal.say(line)
  const [target] = targets
  if (flags.watch && target) {
    await follow(target, input, { version }, (object) => {
      if (isObject(object)) {
        terminal.data(
          printer([{ ...kindOf(target.resource), ...object }], { single: true, names: (o) => nameOf(o, targets) }),
        )
      }
    })
  }
}

function nameOf(object: Record<string, unknown>, targets: readonly Target[]): string {
  const resource = targets.map((target) => target.resource).find(({ kind }) => kind === object['kind'])
  const metadata = isObject(object['metadata']) ? object['metadata'] : {}
  return resource ? objectName(resource, String(metadata['name'])) : String(metadata['name'])
}

function paintState(terminal: Terminal, column: string, text: string): string {
  const color = ['STATE', 'PHASE', 'READY', 'RENDERED'].includes(column) ? colorOf(text) : undefined
  return color === undefined ? text : terminal.paint(color, text)
}
