/** `flotilla flux get`, `reconcile`, `suspend`, `resume` and `tree`: Flux's objects of a hub. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { isApiError } from '../../../core/errors.ts'
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Condition, KubeObject, ResourceType } from '../../../kinds/meta.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { createTablePrinter } from '../../print/table.ts'
import type { Terminal } from '../../print/terminal.ts'

/** An object of Flux: the fields that the commands read. */
export interface FluxObject extends KubeObject {
  spec: { suspend?: boolean; sourceRef?: { kind?: string; name?: string } }
  status?: {
    conditions?: Condition[]
    artifact?: { revision?: string }
    lastAppliedRevision?: string
    lastHandledReconcileAt?: string
    inventory?: { entries?: { id: string; v: string }[] }
  }
}

/** A kind as Flux's command calls it. */
export interface FluxKind {
  readonly type: ResourceType<FluxObject>
  /** The words after the verb, for example `source git`. */
  readonly words: string
}

const kind = (words: string, group: string, name: string, plural: string): FluxKind => ({
  words,
  type: { group: `${group}.toolkit.fluxcd.io`, version: 'v1', kind: name, plural, scope: 'Namespaced' },
})

/** The kinds that the hub serves. */
export const FLUX_COMMAND_KINDS = {
  kustomization: kind('kustomization', 'kustomize', 'Kustomization', 'kustomizations'),
  git: kind('source git', 'source', 'GitRepository', 'gitrepositories'),
} as const

/** The namespace that Flux's commands use. */
const NAMESPACE = 'flux-system'

export interface FluxInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly flags: {
    readonly namespace?: string
    readonly allNamespaces?: boolean
    readonly header?: boolean
    readonly statusSelector?: string
    readonly all?: boolean
    readonly withSource?: boolean
    readonly timeout?: string
  }
}

/** Prints objects in Flux's columns. */
export async function fluxGet(kinds: readonly FluxKind[], name: string | undefined, input: FluxInput): Promise<void> {
  const { flags, terminal } = input
  const client = clientOver(input.connection.rest)
  const wanted = statusSelector(flags.statusSelector)
  const isMany = kinds.length > 1
  let printed = 0
  for (const one of kinds) {
    const objects = name === undefined ? await listed(one, client, input) : [await named(one, name, client, input)]
    const shown = objects.filter((object) => wanted === undefined || hasStatus(object, wanted))
    if (shown.length === 0) continue
    const print = createTablePrinter(
      compact({
        wide: false,
        withNamespace: flags.allNamespaces === true,
        withHeaders: flags.header !== false,
        namePrefix: isMany ? `${one.type.kind.toLowerCase()}/` : undefined,
      }),
    )
    const columns = ['Name', 'Revision', 'Suspended', 'Ready', 'Message']
    const text = print({
      columnDefinitions: columns.map((column) => ({ name: column, type: 'string', priority: 0 })),
      rows: shown.map((object) => ({ cells: cellsOf(object), object })),
      metadata: {},
    })
    terminal.data(`${printed > 0 ? '\n' : ''}${text}`)
    printed += 1
  }
  if (printed === 0) {
    const where = flags.allNamespaces ? 'all namespaces' : `${namespaceOf(input)} namespace`
    terminal.say(`no ${kinds.map(({ type }) => type.kind).join(' or ')} objects found in ${where}`)
  }
}

function cellsOf({ metadata, spec, status }: FluxObject): string[] {
  const ready = findCondition(status?.conditions, 'Ready')
  const revision = status?.artifact?.revision ?? status?.lastAppliedRevision ?? ''
  const suspended = spec.suspend === true ? 'True' : 'False'
  return [metadata.name, trimHex(revision), suspended, ready?.status ?? 'Unknown', trimHex(ready?.message ?? '')]
}

/** Hashes as Flux prints them: the first eight digits. */
function trimHex(text: string): string {
  return text.replaceAll(/(sha1:|sha256:)([0-9a-f]{8})[0-9a-f]+/g, '$1$2')
}

function statusSelector(text: string | undefined): { readonly type: string; readonly status: string } | undefined {
  if (text === undefined) return undefined
  const [type = '', status = '', ...more] = text.split('=')
  if (type === '' || status === '' || more.length > 0) {
    throw new CliError(EXIT.usage, {
      what: `invalid --status-selector ${JSON.stringify(text)}: must be TYPE=STATUS`,
      todo: 'for example --status-selector ready=false',
    })
  }
  return { type: type.toLowerCase(), status: status.toLowerCase() }
}

function hasStatus({ status }: FluxObject, wanted: { readonly type: string; readonly status: string }): boolean {
  return (status?.conditions ?? []).some(
    (one) => one.type.toLowerCase() === wanted.type && one.status.toLowerCase() === wanted.status,
  )
}

/** Suspends or resumes objects. */
export async function fluxSuspend(
  kindOf: FluxKind,
  names: readonly string[],
  suspend: boolean,
  input: FluxInput,
): Promise<void> {
  const { terminal, flags } = input
  const client = clientOver(input.connection.rest)
  if (names.length === 0 && !flags.all) {
    throw new CliError(EXIT.usage, { what: `a name is required`, todo: 'name objects, or use --all' })
  }
  const objects =
    names.length === 0
      ? await listed(kindOf, client, input)
      : await Promise.all(names.map((name) => named(kindOf, name, client, input)))
  for (const { metadata, spec } of objects) {
    const what = `${kindOf.words} ${metadata.name} in ${metadata.namespace ?? ''} namespace`
    if ((spec.suspend === true) === suspend) {
      terminal.step('ok', `${what} is ${suspend ? 'already' : 'not'} suspended`)
      continue
    }
    const key = { namespace: metadata.namespace ?? '', name: metadata.name }
    await client.patch(
      kindOf.type,
      key,
      { type: 'merge', body: { spec: { suspend } } },
      { fieldManager: 'flotilla-cli' },
    )
    terminal.step('ok', `${what} ${suspend ? 'suspended' : 'resumed'}`)
  }
}

const DEFAULT_WAIT_MS = 60_000
const LOOK_MS = 500
const REQUESTED = 'reconcile.fluxcd.io/requestedAt'

/** Requests a reconciliation, and waits until the object has handled it. */
export async function fluxReconcile(kindOf: FluxKind, name: string, input: FluxInput): Promise<void> {
  const { terminal, flags } = input
  const client = clientOver(input.connection.rest)
  const object = await named(kindOf, name, client, input)
  const source = object.spec.sourceRef
  if (flags.withSource && isObject(source) && source.kind === FLUX_COMMAND_KINDS.git.type.kind && source.name) {
    await fluxReconcile(FLUX_COMMAND_KINDS.git, source.name, { ...input, flags: { ...flags, withSource: false } })
  }
  if (object.spec.suspend) {
    throw new CliError(EXIT.conflict, {
      what: `${kindOf.words} "${name}" is suspended`,
      todo: `resume it with "flotilla flux resume ${kindOf.words} ${name}"`,
    })
  }
  const key = { namespace: namespaceOf(input), name }
  const token = `${formatTime(systemClock.now())} ${systemClock.monotonicMs()}`
  const body = { metadata: { annotations: { [REQUESTED]: token } } }
  await client.patch(kindOf.type, key, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
  terminal.step('next', `annotated ${kindOf.words} ${name} in ${key.namespace} namespace`)
  const until = systemClock.monotonicMs() + DEFAULT_WAIT_MS
  while (systemClock.monotonicMs() < until) {
    const found = await client.get(kindOf.type, key)
    const ready = findCondition(found.status?.conditions, 'Ready')
    if (found.status?.lastHandledReconcileAt === token && ready && ready.status !== 'Unknown') {
      if (ready.status === 'False') {
        throw new CliError(EXIT.failed, { what: `${kindOf.words} ${name} is not ready: ${ready.message}` })
      }
      terminal.step('ok', ready.message)
      return
    }
    await systemClock.sleep(LOOK_MS, input.signal)
  }
  throw new CliError(EXIT.failed, {
    what: `${kindOf.words} ${name} was not reconciled within ${DEFAULT_WAIT_MS / 1000} s`,
    todo: `look at it with "flotilla flux get ${kindOf.words === 'kustomization' ? 'kustomizations' : 'sources git'} ${name}"`,
  })
}

/** Prints the objects of a Kustomization as a tree. */
export async function fluxTree(name: string, input: FluxInput): Promise<void> {
  const { terminal } = input
  const { kustomization } = FLUX_COMMAND_KINDS
  const client = clientOver(input.connection.rest)
  const { metadata, status } = await named(kustomization, name, client, input)
  const entries = status?.inventory?.entries
  if (!entries) {
    throw new CliError(EXIT.failed, {
      what: `Kustomization ${name} has no inventory: it is not applied yet, or clusters have different objects`,
      todo: `list the objects of each cluster with "flotilla get bundleobjects -n ${metadata.namespace ?? ''} --field-selector bundle=kustomization-${name}"`,
    })
  }
  const lines = entries.map(({ id }, at) => `${at === entries.length - 1 ? '└──' : '├──'} ${treeName(id)}`)
  terminal.data([`Kustomization/${metadata.namespace ?? ''}/${name}`, ...lines, ''].join('\n'))
}

/** `Kind/namespace/name` of an id `namespace_name_group_kind`. */
function treeName(id: string): string {
  const [namespace = '', ...rest] = id.split('_')
  const kindName = rest.at(-1) ?? ''
  const name = rest.slice(0, -2).join('_').replaceAll('__', ':')
  return [kindName, ...(namespace === '' ? [] : [namespace]), name].join('/')
}

/** The namespace that a command works in. */
export function namespaceOf({ flags }: FluxInput): string {
  return flags.namespace ?? NAMESPACE
}

/** The objects of a kind; throws a CliError where the hub does not serve it. */
export async function listed({ type }: FluxKind, client: Client, input: FluxInput): Promise<readonly FluxObject[]> {
  const where = input.flags.allNamespaces ? {} : { namespace: namespaceOf(input) }
  try {
    return (await client.list(type, where)).items
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw notServed(type)
  }
}

function notServed({ plural, group }: ResourceType<FluxObject>): CliError {
  return new CliError(EXIT.notFound, {
    what: `the hub does not serve ${plural}.${group}`,
    todo: 'start it with --dialects flux',
  })
}

/** An object by its name; throws a CliError that names similar ones. */
export async function named(one: FluxKind, name: string, client: Client, input: FluxInput): Promise<FluxObject> {
  const namespace = namespaceOf(input)
  try {
    return await client.get(one.type, { namespace, name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const names = (await listed(one, client, { ...input, flags: { namespace } })).map(({ metadata }) => metadata.name)
    throw new CliError(EXIT.notFound, {
      what: `${one.type.kind} ${JSON.stringify(name)} not found in namespace "${namespace}"`,
      todo: didYouMean(name, names) ?? 'list all with "flotilla flux get all -A"',
    })
  }
}
