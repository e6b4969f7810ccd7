// Tested by src/cli/commands/objects/objects.test.ts.
/** Reads tables and objects for `get`, page by page, filtered, sorted and limited by the flags. */
import { collectionPath, objectPath, withQuery } from '../../../client/resource-paths.ts'
import { isApiError } from '../../../core/errors.ts'
import { isObject } from '../../../core/json.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { noSuchObject } from '../../errors/object-not-found.ts'
import type { ApiResource } from '../../api/find-resource.ts'
import { isTable } from '../../print/table.ts'
import type { Table } from '../../print/table.ts'
import { rowsInState, sortedRows } from '../../print/arrange-table.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Accept header for a Table, or for objects if the server cannot make Tables. */
export const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json'
const PAGE = 500

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
  /** States of the STATE column, separated by commas. */
  readonly state?: string
}

export interface GetInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly flags: GetFlags
}

/** A kind, or one object of a kind. */
export interface Target {
  readonly resource: ApiResource
  readonly name?: string
}

/** The namespace of the command. */
export function namespaceFor({ flags, connection }: GetInput): string {
  return flags.namespace ?? connection.namespace ?? 'default'
}

/** The path of a target. */
export function pathOf(
  target: Target,
  input: GetInput,
  query: Record<string, string | number | boolean | undefined>,
): string {
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

interface TablesRead {
  readonly pages: readonly Table[]
  readonly total: number
  /** The token to continue a list that --limit ended. */
  readonly next: string | undefined
  readonly version: string | undefined
}

/** Reads rows, page by page, up to --limit. */
export async function readTables(target: Target, input: GetInput, withObjects = false): Promise<TablesRead> {
  const { flags } = input
  const limit = limitOf(flags) ?? Infinity
  // A path of --sort-by can name any field of the object.
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
  throw new CliError(EXIT.usage, {
    what: `invalid --limit ${JSON.stringify(limit)}: must be a whole number of at least 1`,
  })
}

/** Pages as one table. */
export function joinPages(pages: readonly Table[]): Table {
  const first = pages[0]!
  return { ...first, rows: pages.flatMap(({ rows }) => rows) }
}

/** The rows that --state chooses, in the order of --sort-by. */
export function filterAndSort(table: Table, { state, sortBy }: { state?: string; sortBy?: string | undefined }): Table {
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
  // A server that cannot make Tables answers with objects: print their names.
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

/** The version of an object, a list or the last row of a table. */
export function versionOf(object: unknown): string | undefined {
  if (!isObject(object)) return undefined
  const rows = object['rows']
  const shown =
    isTable(object) && Array.isArray(rows) ? (rows.at(-1) as { object?: unknown } | undefined)?.object : object
  const metadata = isObject(shown) ? shown['metadata'] : undefined
  return isObject(metadata) && typeof metadata['resourceVersion'] === 'string' ? metadata['resourceVersion'] : undefined
}

interface ObjectsRead extends Pick<TablesRead, 'next' | 'version'> {
  readonly objects: readonly Record<string, unknown>[]
}

/** Reads objects, filtered, sorted and limited in the same way as tables. */
export async function readObjects(target: Target, input: GetInput): Promise<ObjectsRead> {
  const { connection, signal, flags } = input
  const named = (item: Record<string, unknown>) => ({ ...kindOf(target.resource), ...item })
  if (target.name === undefined && (flags.state !== undefined || flags.sortBy !== undefined)) {
    // Only a table has columns to filter and sort by.
    const { pages, next, version } = await readTables(target, input, true)
    const { rows } = filterAndSort(joinPages(pages), flags)
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

/** The apiVersion and kind, which items of a list omit. */
export function kindOf(resource: ApiResource): { apiVersion: string; kind: string } {
  return { apiVersion: apiVersionOf(resource), kind: resource.kind }
}

function itemsOf(list: unknown): Record<string, unknown>[] {
  return isObject(list) && Array.isArray(list['items']) ? list['items'].filter(isObject) : []
}
