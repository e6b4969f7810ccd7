/** `flotilla get`: asks the API for a Table and prints it as kubectl would. */
import type { Rest } from '../../client/rest.ts'
import { collectionPath, objectPath, withQuery } from '../../client/paths.ts'
import { linesOf } from '../../client/watch-lines.ts'
import { statusToError } from '../../client/status.ts'
import { isApiError } from '../../core/errors.ts'
import { isObject } from '../../core/json.ts'
import { systemClock } from '../../core/system-clock.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import type { Connection } from '../connect.ts'
import { CliError, EXIT } from '../exit.ts'
import { noSuchObject } from '../no-such-object.ts'
import { parseOutput } from '../output.ts'
import type { ObjectPrinter, OutputFormat } from '../output.ts'
import { findResources, objectName } from '../resources.ts'
import type { ApiResource } from '../resources.ts'
import { colorOf } from '../state-look.ts'
import { createTablePrinter, isTable } from '../table.ts'
import type { Table } from '../table.ts'
import { rowsInState, sortedRows, statesOf, tableCsv } from '../table-shape.ts'
import type { Terminal } from '../terminal.ts'

/** Flags of `get`. */
export interface GetFlags {
  readonly namespace?: string
  readonly allNamespaces?: boolean
  readonly output: string
  readonly selector?: string
  readonly fieldSelector?: string
  readonly watch?: boolean
  readonly headers: boolean
  readonly showLabels?: boolean
  readonly showManagedFields?: boolean
  readonly sortBy?: string
  readonly limit?: string
  readonly continue?: string
  /** Words of the STATE column, separated by commas. */
  readonly state?: string
}

/** What `get` works with. */
export interface GetInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly flags: GetFlags
}

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const PAGE = 500
const RESUME_MS = 1_000

/** One thing asked for: a kind, and perhaps one object of it. */
interface Target {
  readonly resource: ApiResource
  readonly name?: string
}

/** Runs `get KIND[,KIND…] [NAME…]` or `get KIND/NAME…`. */
export async function get(words: readonly string[], input: GetInput): Promise<void> {
  const format = await parseOutput(input.flags.output, { showManagedFields: input.flags.showManagedFields ?? false })
  const targets = await targetsOf(words, input.connection.rest)
  if (input.flags.watch && targets.length > 1) {
    throw new CliError(EXIT.usage, { what: '-w follows one kind or one object', todo: 'name only one' })
  }
  if (format.kind === 'objects') return await printObjects(targets, format.printer, input)
  const print = tablePrinters(targets, format, input)
  let printed = 0
  for (const target of targets) printed += await printTable(target, input, print(target.resource))
  if (printed === 0 && !input.flags.watch) {
    const inNamespace = targets.some(({ resource }) => resource.scope === 'Namespaced') && !input.flags.allNamespaces
    input.terminal.say(`No resources found${inNamespace ? ` in ${namespaceFor(input)} namespace` : ''}.`)
  }
}

async function targetsOf(words: readonly string[], rest: Rest): Promise<Target[]> {
  const [first, ...names] = words
  if (first === undefined) {
    throw new CliError(EXIT.usage, { what: 'get what?', todo: 'name a kind: flotilla get clusters' })
  }
  if (words.some((word) => word.includes('/'))) {
    const targets: Target[] = []
    for (const word of words) {
      const [kind, name, ...more] = word.split('/')
      if (!kind || !name || more.length > 0) {
        throw new CliError(EXIT.usage, {
          what: `${JSON.stringify(word)} is not KIND/NAME`,
          todo: 'write cluster/store-1',
        })
      }
      for (const resource of await findResources(rest, kind)) targets.push({ resource, name })
    }
    return targets
  }
  const lists = await Promise.all(first.split(',').map((kind) => findResources(rest, kind)))
  const resources = lists.flat()
  if (names.length === 0) return resources.map((resource) => ({ resource }))
  return resources.flatMap((resource) => names.map((name) => ({ resource, name })))
}

function namespaceFor({ flags, connection }: GetInput): string {
  return flags.namespace ?? connection.namespace ?? 'default'
}

function pathOf(target: Target, input: GetInput, query: Record<string, string | number | boolean | undefined>): string {
  const { resource, name } = target
  const namespace = resource.scope === 'Namespaced' ? namespaceFor(input) : undefined
  if (name !== undefined) return objectPath(resource, { name, ...(namespace !== undefined && { namespace }) })
  const path = collectionPath(resource, input.flags.allNamespaces ? undefined : namespace)
  return withQuery(path, {
    labelSelector: input.flags.selector,
    fieldSelector: input.flags.fieldSelector,
    ...query,
  })
}

type PrintTable = (table: Table) => void

/** One table per kind, however many of its objects were named; an empty line between kinds. */
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
  const tables = needsWholeTable(flags) ? [shaped(joined(pages), flags)] : pages
  for (const table of tables) print(table)
  const shown = tables.reduce((sum, { rows }) => sum + rows.length, 0)
  if (flags.state !== undefined && shown < total) {
    const others = shown === 0 ? `; they are ${statesOf(joined(pages)).join(', ')}` : ''
    terminal.say(`${shown} of ${total} shown${others}`)
  }
  if (next !== undefined) terminal.say(`there is more: --continue ${next}`)
  if (flags.watch) {
    await follow(target, input, { version: version ?? '0', accept: TABLE }, (event) => {
      if (isTable(event)) print(shaped(event, { ...flags, sortBy: undefined }))
    })
  }
  return flags.state === undefined ? shown : total
}

interface TablesRead {
  readonly pages: readonly Table[]
  readonly total: number
  /** Where a list that --limit cut goes on. */
  readonly next: string | undefined
  readonly version: string | undefined
}

async function readTables(target: Target, input: GetInput, withObjects = false): Promise<TablesRead> {
  const { flags } = input
  const limit = limitOf(flags) ?? Infinity
  // A path of --sort-by may lead anywhere in the object.
  const includeObject = withObjects || flags.sortBy !== undefined ? 'Object' : undefined
  const pages: Table[] = []
  let next = flags.continue
  let total = 0
  do {
    const left = Math.min(PAGE, limit - total)
    const table = asTable(
      await ask(target, pathOf(target, input, { limit: left, continue: next, includeObject }), input),
      target.resource,
    )
    pages.push(table)
    total += table.rows.length
    next = table.metadata.continue || undefined
  } while (next !== undefined && total < limit)
  return { pages, total, next, version: pages.at(-1)?.metadata.resourceVersion }
}

function limitOf({ limit }: GetFlags): number | undefined {
  if (limit === undefined) return undefined
  if (/^[1-9]\d{0,6}$/.test(limit)) return Number(limit)
  throw new CliError(EXIT.usage, { what: '--limit must be a whole number from 1', why: `got ${JSON.stringify(limit)}` })
}

function needsWholeTable(flags: GetFlags): boolean {
  return flags.sortBy !== undefined || flags.state !== undefined || flags.output === 'csv'
}

function joined(pages: readonly Table[]): Table {
  const first = pages[0]!
  return { ...first, rows: pages.flatMap(({ rows }) => rows) }
}

function shaped(table: Table, { state, sortBy }: { state?: string; sortBy?: string | undefined }): Table {
  const chosen = state === undefined ? table : rowsInState(table, state)
  return sortBy === undefined ? chosen : sortedRows(chosen, sortBy)
}

async function ask(target: Target, path: string, input: GetInput): Promise<unknown> {
  try {
    return await input.connection.rest.json({ method: 'GET', path, accept: TABLE, signal: input.signal })
  } catch (caught) {
    throw target.name === undefined ? caught : await withNearestName(caught, target, input)
  }
}

async function withNearestName(caught: unknown, { resource, name }: Target, input: GetInput): Promise<unknown> {
  if (!isApiError(caught, 'NotFound')) return caught
  const namespace = resource.scope === 'Namespaced' ? namespaceFor(input) : undefined
  return await noSuchObject({ resource, name: name!, namespace }, input.connection.rest, input.signal)
}

function asTable(answer: unknown, resource: ApiResource): Table {
  if (isTable(answer)) return answer
  // A server that cannot make Tables answers with objects; names are better than nothing.
  const items = isObject(answer) && Array.isArray(answer['items']) ? itemsOf(answer) : isObject(answer) ? [answer] : []
  return {
    columnDefinitions: [{ name: 'Name', type: 'string', priority: 0 }],
    rows: items.map((item) => ({
      cells: [isObject(item['metadata']) ? item['metadata']['name'] : resource.kind],
      object: item as NonNullable<Table['rows'][number]['object']>,
    })),
    metadata: isObject(answer) && isObject(answer['metadata']) ? answer['metadata'] : {},
  }
}

/** Follows a collection (or one object of it) until the signal; resumes when the server ends a watch, as it may at any time. */
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
    // A server that hangs up at once is not asked in a loop.
    if (events === 0) await systemClock.sleep(RESUME_MS, input.signal).catch(() => {}) // aborted: the loop ends
  }
}

function versionOf(object: unknown): string | undefined {
  if (!isObject(object)) return undefined
  const rows = object['rows']
  const shown =
    isTable(object) && Array.isArray(rows) ? (rows.at(-1) as { object?: unknown } | undefined)?.object : object
  const metadata = isObject(shown) ? shown['metadata'] : undefined
  return isObject(metadata) && typeof metadata['resourceVersion'] === 'string' ? metadata['resourceVersion'] : undefined
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
    if (read.next !== undefined) more.push(`there is more: --continue ${read.next}`)
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

interface ObjectsRead extends Pick<TablesRead, 'next' | 'version'> {
  readonly objects: readonly Record<string, unknown>[]
}

async function readObjects(target: Target, input: GetInput): Promise<ObjectsRead> {
  const { connection, signal, flags } = input
  const named = (item: Record<string, unknown>) => ({ ...kindOf(target.resource), ...item })
  if (target.name === undefined && (flags.state !== undefined || flags.sortBy !== undefined)) {
    // Only a table has columns to choose and sort by.
    const { pages, next, version } = await readTables(target, input, true)
    const { rows } = shaped(joined(pages), flags)
    return {
      objects: rows
        .map(({ object }) => object)
        .filter(isObject)
        .map(named),
      next,
      version,
    }
  }
  const limit = limitOf(flags) ?? Infinity
  const objects: Record<string, unknown>[] = []
  let next = flags.continue
  let version: string | undefined
  do {
    const path = pathOf(target, input, { limit: Math.min(PAGE, limit - objects.length), continue: next })
    let answer: unknown
    try {
      answer = await connection.rest.json({ method: 'GET', path, signal })
    } catch (caught) {
      throw target.name === undefined ? caught : await withNearestName(caught, target, input)
    }
    if (!isObject(answer)) throw new Error(`the answer to ${path} is not an object`)
    version = versionOf(answer) ?? version
    if (target.name !== undefined) return { objects: [answer], next: undefined, version }
    objects.push(...itemsOf(answer).map(named))
    next = isObject(answer['metadata']) ? nextOf(answer['metadata']) : undefined
  } while (next !== undefined && objects.length < limit)
  return { objects, next, version }
}

function nextOf(metadata: Record<string, unknown>): string | undefined {
  return typeof metadata['continue'] === 'string' && metadata['continue'] !== '' ? metadata['continue'] : undefined
}

function kindOf(resource: ApiResource): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind }
}

function nameOf(object: Record<string, unknown>, targets: readonly Target[]): string {
  const resource = targets.map((target) => target.resource).find(({ kind }) => kind === object['kind'])
  const metadata = isObject(object['metadata']) ? object['metadata'] : {}
  return resource ? objectName(resource, String(metadata['name'])) : String(metadata['name'])
}

function itemsOf(list: unknown): Record<string, unknown>[] {
  return isObject(list) && Array.isArray(list['items']) ? list['items'].filter(isObject) : []
}

function paintState(terminal: Terminal, column: string, text: string): string {
  const color = ['STATE', 'PHASE', 'READY', 'RENDERED'].includes(column) ? colorOf(text) : undefined
  return color === undefined ? text : terminal.paint(color, text)
}
