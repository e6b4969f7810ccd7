/** `flotilla events`: the events of the last hour, the newest last. */
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import { collectionPath, withQuery } from '../../../client/resource-paths.ts'
import type { Rest } from '../../../client/rest.ts'
import { isObject } from '../../../core/json.ts'
import type { ListOptions } from '../../../client/client.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { humanAge, parseTime } from '../../../core/time/time.ts'
import type { Event } from '../../../kinds/builtin/core.ts'
import type { ResourceType } from '../../../kinds/meta.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { noSuchObject } from '../../errors/object-not-found.ts'
import type { ObjectQuery } from '../../errors/object-not-found.ts'
import { listReadable } from '../../api/read-if-allowed.ts'
import { findResource } from '../../api/find-resource.ts'
import { createTablePrinter } from '../../print/table.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface EventsInput {
  readonly connection: Pick<Connection, 'rest'> & Partial<Pick<Connection, 'namespace'>>
  readonly terminal: Pick<Terminal, 'data' | 'say'>
  readonly signal: AbortSignal
  readonly flags: {
    readonly namespace?: string
    /** `KIND/NAME`. */
    readonly for?: string
    readonly warnings?: boolean
    readonly watch?: boolean
    readonly output?: 'table' | 'json'
  }
}

const EVENTS: ResourceType<Event> = { group: '', version: 'v1', kind: 'Event', plural: 'events', scope: 'Namespaced' }
const COLUMNS = ['Last seen', 'Type', 'Reason', 'Object', 'Message']
const PAGE = 500
const RESUME_MS = 1_000

/** Prints the events of all namespaces, or of a namespace. With -w, continues with new events. */
export async function events({ connection, terminal, signal, flags }: EventsInput): Promise<void> {
  const client = clientOver(connection.rest)
  const about = flags.for === undefined ? undefined : await subjectOf(flags.for, connection.rest)
  const fieldSelector = selectorOf(about, flags.warnings === true)
  const selected: ListOptions = compact({ fieldSelector: fieldSelector === '' ? undefined : fieldSelector })
  let resourceVersion = '0'
  const readAll = async (among: ListOptions): Promise<Event[]> => {
    const items: Event[] = []
    let token: string | undefined
    do {
      const page = await client.list(EVENTS, compact({ ...selected, ...among, limit: PAGE, continue: token }))
      items.push(...page.items)
      resourceVersion = page.resourceVersion
      token = page.continue
    } while (token !== undefined)
    return items
  }
  const where = { namespace: flags.namespace, connection, terminal }
  const { items: found, scope: among } = await listReadable('events', where, readAll)
  const scope = { ...selected, ...among }
  const print = printerOf(terminal, flags.output)
  if (found.length > 0) print(found.toSorted((a, b) => lastSeen(a) - lastSeen(b)))
  else if (!flags.watch) {
    if (about) await mustExist({ ...about, namespace: among.namespace }, connection.rest)
    terminal.say(
      `No ${flags.warnings ? 'warnings' : 'events'} ${flags.for ? `for ${flags.for} ` : ''}in the last hour.`,
    )
  }
  if (!flags.watch) return
  while (!signal.aborted) {
    for await (const event of client.watch(EVENTS, { ...scope, resourceVersion }, signal)) {
      if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion
      else resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
      if (event.type === 'ADDED' || event.type === 'MODIFIED') print([event.object])
    }
    // A server may end a watch at any time; a server that ends each watch at once must not be asked in a loop.
    await systemClock.sleep(RESUME_MS, signal).catch(() => {})
  }
}

type Subject = Pick<ObjectQuery, 'resource' | 'name'>

async function subjectOf(text: string, rest: Rest): Promise<Subject> {
  const [word = '', name = '', ...more] = text.split('/')
  if (word !== '' && name !== '' && more.length === 0) return { resource: await findResource(rest, word), name }
  throw new CliError(EXIT.usage, {
    what: `invalid --for ${JSON.stringify(text)}: must be KIND/NAME, for example bundle/shop`,
  })
}

function selectorOf(about: Subject | undefined, warnings: boolean): string {
  return [
    ...(warnings ? ['type=Warning'] : []),
    ...(about ? [`involvedObject.kind=${about.resource.kind}`, `involvedObject.name=${about.name}`] : []),
  ].join(',')
}

/** An object without events must exist; otherwise the name is wrong. */
async function mustExist(wanted: ObjectQuery, rest: Rest): Promise<void> {
  const { resource, name, namespace } = wanted
  const path = collectionPath(resource, resource.scope === 'Namespaced' ? namespace : undefined)
  const fieldSelector = `metadata.name=${name}`
  const list = await rest.json({ method: 'GET', path: withQuery(path, { fieldSelector, limit: 1 }) })
  const isThere = isObject(list) && Array.isArray(list['items']) && list['items'].length > 0
  if (!isThere) throw await noSuchObject(wanted, rest)
}

function printerOf(terminal: EventsInput['terminal'], output: string | undefined): (events: readonly Event[]) => void {
  if (output === 'json') return (found) => found.forEach((event) => terminal.data(`${JSON.stringify(event)}\n`))
  const print = createTablePrinter({ wide: false, withNamespace: false, withHeaders: true })
  const columnDefinitions = COLUMNS.map((name) => ({ name, type: 'string', priority: 0 }))
  return (found) =>
    terminal.data(print({ columnDefinitions, rows: found.map((event) => ({ cells: rowOf(event) })), metadata: {} }))
}

function rowOf(event: Event): string[] {
  const { kind = '', name = '', namespace } = event.involvedObject
  const times = (event.count ?? 1) > 1 ? ` (${event.count} times)` : ''
  const object = `${kind.toLowerCase()}/${namespace === undefined ? name : `${namespace}/${name}`}`
  const age = humanAge(systemClock.now() - lastSeen(event))
  return [age, event.type ?? '', event.reason ?? '', object, `${event.message ?? ''}${times}`.replaceAll('\n', ' ')]
}

function lastSeen({ series, lastTimestamp, eventTime, metadata }: Event): number {
  const text = series?.lastObservedTime ?? lastTimestamp ?? eventTime ?? metadata.creationTimestamp
  return parseTime(text ?? '') ?? 0
}
