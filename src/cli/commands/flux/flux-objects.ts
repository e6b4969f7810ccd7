/** `flotilla flux get`, `reconcile`, `suspend` and `resume`: Flux's objects of a hub. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { ResourceType } from '../../../kinds/meta.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { createTablePrinter } from '../../print/table.ts'
import type { Terminal } from '../../print/terminal.ts'
import { FLUX_COMMAND_KINDS, GET_WORDS, kindNamed } from './flux-kinds.ts'
import type { FluxKind, FluxObject } from './flux-kinds.ts'

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
    readonly labelSelector?: string
    readonly all?: boolean
    readonly withSource?: boolean
    readonly timeout?: string
    /** `flux tree`: objects of Flux only. */
    readonly compact?: boolean
  }
}

/** Prints objects in Flux's columns. */
export async function fluxGet(kinds: readonly FluxKind[], name: string | undefined, input: FluxInput): Promise<void> {
  const { flags, terminal } = input
  const client = clientOver(input.connection.rest)
  const wanted = statusSelector(flags.statusSelector)
  if (name !== undefined && flags.labelSelector !== undefined) {
    throw new CliError(EXIT.usage, { what: '--label-selector cannot be combined with a name', todo: 'use one of them' })
  }
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

function cellsOf(object: FluxObject): string[] {
  const { metadata, spec, status } = object
  const suspended = spec.suspend === true ? 'True' : 'False'
  const revision = status?.artifact?.revision ?? status?.lastAppliedRevision ?? ''
  return [metadata.name, trimHex(revision), suspended, ...stateOf(object).map(trimHex)]
}

/** Status and message of Ready, as Flux prints them. */
function stateOf({ kind, spec, status }: FluxObject): [status: string, message: string] {
  // A registry is part of the address of charts and has no state of its own.
  if (kind === 'HelmRepository' && spec.type === 'oci') return ['True', 'Helm repository is Ready']
  const ready = findCondition(status?.conditions, 'Ready')
  return ready ? [ready.status, ready.message ?? ''] : ['False', 'waiting to be reconciled']
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
  const { flags } = input
  const client = clientOver(input.connection.rest)
  const object = await named(kindOf, name, client, input)
  if (flags.withSource) await reconcileSource(object, client, input)
  const what = `${kindOf.words} "${name}"`
  if (object.spec.suspend) {
    throw new CliError(EXIT.conflict, {
      what: `${what} is suspended`,
      todo: `resume it with "flotilla flux resume ${kindOf.words} ${name}"`,
    })
  }
  if (object.kind === 'HelmRepository' && object.spec.type === 'oci') {
    throw new CliError(EXIT.conflict, {
      what: `${what} is of type oci, which is not polled`,
      todo: 'reconcile the HelmChart or HelmRelease that uses it',
    })
  }
  await requestAndWait(kindOf, name, client, input)
}

async function requestAndWait(kindOf: FluxKind, name: string, client: Client, input: FluxInput): Promise<void> {
  const { terminal, flags } = input
  const waitMs = flags.timeout === undefined ? DEFAULT_WAIT_MS : readDuration(flags.timeout, '--timeout')
  const key = { namespace: namespaceOf(input), name }
  const token = `${formatTime(systemClock.now())} ${systemClock.monotonicMs()}`
  const body = { metadata: { annotations: { [REQUESTED]: token } } }
  await client.patch(kindOf.type, key, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
  terminal.step('next', `annotated ${kindOf.words} ${name} in ${key.namespace} namespace`)
  const until = systemClock.monotonicMs() + waitMs
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
  throw new CliError(EXIT.timeout, {
    what: `${kindOf.words} ${name} was not reconciled within ${waitMs / 1000} s`,
    todo: `look at it with "flotilla flux get ${GET_WORDS.get(kindOf)} ${name}"`,
  })
}

/** Reconciles what an object is made from: its source, and of a HelmRelease the chart and the source of the chart. */
async function reconcileSource(object: FluxObject, client: Client, input: FluxInput): Promise<void> {
  const again: FluxInput = {
    ...input,
    flags: { ...input.flags, namespace: namespaceOf(input), withSource: false },
  }
  const { chart, chartRef, sourceRef } = object.spec
  const source = sourceRef ?? chartRef ?? (typeof chart === 'object' ? chart.spec?.sourceRef : undefined)
  const kind = kindNamed(source?.kind)
  if (kind && source?.name) {
    const found = await named(kind, source.name, client, again)
    if (!(found.kind === 'HelmRepository' && found.spec.type === 'oci')) await fluxReconcile(kind, source.name, again)
    // The chart of a HelmRelease can be a HelmChart with a source of its own.
    if (found.kind === 'HelmChart') await reconcileSource(found, client, again)
  }
  if (typeof chart !== 'object') return
  const { namespace = '', name } = object.metadata
  await fluxReconcile(FLUX_COMMAND_KINDS.chart, `${namespace}-${name}`, again)
}

/** The namespace that a command works in. */
export function namespaceOf({ flags }: FluxInput): string {
  return flags.namespace ?? NAMESPACE
}

/** The objects of a kind; throws a CliError where the hub does not serve it. */
export async function listed({ type }: FluxKind, client: Client, input: FluxInput): Promise<readonly FluxObject[]> {
  const where = input.flags.allNamespaces ? {} : { namespace: namespaceOf(input) }
  try {
    return (await client.list(type, compact({ ...where, labelSelector: input.flags.labelSelector }))).items
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
