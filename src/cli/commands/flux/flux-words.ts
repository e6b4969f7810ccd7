/** `flotilla flux events`, `export` and `trace`: what Flux's command of these names prints, from a hub. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { findCondition } from '../../../core/conditions.ts'
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { Event } from '../../../kinds/builtin/core.ts'
import { formatAge } from '../../../kinds/columns.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { Condition } from '../../../kinds/meta.ts'
import { writeYaml } from '../../../yaml/write/write-yaml.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { createTablePrinter } from '../../print/table.ts'
import { FLUX_COMMAND_KINDS, kindNamed } from './flux-kinds.ts'
import type { FluxKind, FluxObject } from './flux-kinds.ts'
import { listed, named, namespaceOf } from './flux-objects.ts'
import type { FluxInput } from './flux-objects.ts'

/** The flags of these commands besides those of all commands about objects of Flux. */
export interface FluxWordsInput extends Omit<FluxInput, 'flags'> {
  readonly flags: FluxInput['flags'] & {
    /** `Kind/name` of the object of events. */
    readonly for?: string
    /** Types of events: Normal, Warning. */
    readonly types?: readonly string[]
    readonly kind?: string
    readonly apiVersion?: string
  }
}

/** API versions of Flux. */
export const FLUX_GROUP = /\.toolkit\.fluxcd\.io\//

/** Prints events about objects of Flux, the oldest first. */
export async function fluxEvents(input: FluxWordsInput): Promise<void> {
  const { flags, terminal } = input
  const [kind, name] = readFor(flags.for)
  const where = flags.allNamespaces ? {} : { namespace: namespaceOf(input) }
  const { items } = await clientOver(input.connection.rest).list(Event, where)
  const types = (flags.types ?? []).map((type) => type.toLowerCase())
  const shown = items
    .filter(({ involvedObject }) => FLUX_GROUP.test(involvedObject.apiVersion ?? ''))
    .filter(({ involvedObject: about }) => kind === undefined || about.kind?.toLowerCase() === kind.toLowerCase())
    .filter(({ involvedObject: about }) => name === undefined || about.name === name)
    .filter(({ type = '' }) => types.length === 0 || types.includes(type.toLowerCase()))
    .toSorted((a, b) => (seenAt(a) < seenAt(b) ? -1 : 1))
  if (shown.length === 0) {
    terminal.say(`no events found in ${flags.allNamespaces ? 'all namespaces' : `${namespaceOf(input)} namespace`}`)
    return
  }
  const now = systemClock.now()
  const print = createTablePrinter({
    wide: false,
    withNamespace: flags.allNamespaces === true,
    withHeaders: flags.header !== false,
  })
  const columns = ['Last Seen', 'Type', 'Reason', 'Object', 'Message']
  const text = print({
    columnDefinitions: columns.map((column) => ({ name: column, type: 'string', priority: 0 })),
    rows: shown.map((event) => ({
      cells: [
        `${formatAge(seenAt(event), now)}${(event.count ?? 1) > 1 ? ` (x${event.count})` : ''}`,
        event.type ?? '',
        event.reason ?? '',
        `${event.involvedObject.kind ?? ''}/${event.involvedObject.name ?? ''}`,
        event.message ?? '',
      ],
      object: event,
    })),
    metadata: {},
  })
  terminal.data(text)
}

/** When an event was seen last. */
export function seenAt({ lastTimestamp, metadata }: Event): string {
  return lastTimestamp ?? metadata.creationTimestamp ?? ''
}

function readFor(text: string | undefined): readonly [kind?: string, name?: string] {
  if (text === undefined) return []
  const [kind = '', name = '', ...rest] = text.split('/')
  if (kind !== '' && name !== '' && rest.length === 0) return [kind, name]
  throw new CliError(EXIT.usage, {
    what: `invalid --for ${JSON.stringify(text)}: must be KIND/NAME`,
    todo: 'for example --for Kustomization/apps',
  })
}

/** Annotations that the hub writes for itself; a file with them would not be what the user wrote. */
const OWN = ['flotilla.dev/compiled', 'flotilla.dev/nested-in', 'flotilla.dev/cluster-tree']

/** Prints objects as files: without status and without what servers write. */
export async function fluxExport(kind: FluxKind, name: string | undefined, input: FluxWordsInput): Promise<void> {
  const { flags, terminal } = input
  if (name === undefined && !flags.all) {
    throw new CliError(EXIT.usage, { what: 'a name is required', todo: 'name an object, or use --all' })
  }
  const client = clientOver(input.connection.rest)
  const objects = name === undefined ? await listed(kind, client, input) : [await named(kind, name, client, input)]
  if (objects.length === 0) terminal.say(`no ${kind.type.kind} objects found in ${namespaceOf(input)} namespace`)
  terminal.data(objects.map((object) => `---\n${writeYaml(exported(object, kind))}`).join(''))
}

function exported({ metadata, spec }: FluxObject, { type }: FluxKind): object {
  const annotations = Object.entries(metadata.annotations ?? {}).filter(([key]) => !OWN.includes(key))
  return {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    metadata: compact({
      name: metadata.name,
      namespace: metadata.namespace,
      labels: metadata.labels && Object.keys(metadata.labels).length > 0 ? metadata.labels : undefined,
      annotations: annotations.length > 0 ? Object.fromEntries(annotations) : undefined,
    }),
    spec,
  }
}

/** Prints the Kustomization or HelmRelease that delivers an object, and its sources. */
export async function fluxTrace(args: readonly string[], input: FluxWordsInput): Promise<void> {
  const { terminal, flags } = input
  const [kind, name] = tracedObject(args, flags.kind)
  const namespace = flags.namespace ?? 'default'
  const client = clientOver(input.connection.rest)
  const everywhere = { ...input, flags: { ...flags, allNamespaces: true } }
  const { kustomization, helmrelease } = FLUX_COMMAND_KINDS
  const all = [...(await listed(kustomization, client, everywhere)), ...(await listed(helmrelease, client, everywhere))]
  const group = flags.apiVersion?.includes('/') ? flags.apiVersion.split('/')[0] : undefined
  const owners = all.filter(({ status }) =>
    (status?.inventory?.entries ?? []).some(({ id }) => isEntry(id, { kind, name, namespace, group })),
  )
  if (owners.length === 0) {
    const hidden = all.filter(({ status }) => status?.inventory === undefined).length
    throw new CliError(EXIT.notFound, {
      what: `${kind}/${name} of namespace "${namespace}" is in no inventory of a Kustomization or HelmRelease`,
      todo:
        hidden === 0
          ? 'name the namespace of the object with -n'
          : `name the namespace of the object with -n; ${hidden} of ${all.length} Kustomizations and HelmReleases have no inventory in their status, because they are not applied or their clusters differ`,
    })
  }
  const parts = [lines({ Object: `${kind}/${name}`, Namespace: namespace, Status: 'Managed by Flux' })]
  for (const owner of owners) {
    parts.push(ownLines(owner), ...(await sourceLines(owner, client, input)))
  }
  terminal.data(parts.join('---\n'))
}

function tracedObject(args: readonly string[], kind: string | undefined): readonly [kind: string, name: string] {
  const parts = args.flatMap((arg) => arg.split('/'))
  const [first = '', second = ''] = kind === undefined ? parts : [kind, ...parts]
  if (first !== '' && second !== '') return [first, second]
  throw new CliError(EXIT.usage, {
    what: 'an object is required',
    todo: 'for example "flotilla flux trace deployment web -n apps"',
  })
}

interface Traced {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly group: string | undefined
}

/** Whether `namespace_name_group_kind` is an object; kinds are written in any case, and cluster-scoped objects fit. */
function isEntry(id: string, { kind, name, namespace, group }: Traced): boolean {
  const [home = '', ...rest] = id.split('_')
  const [ownKind = '', ownGroup = ''] = [rest.at(-1), rest.at(-2)]
  const ownName = rest.slice(0, -2).join('_').replaceAll('__', ':')
  return (
    ownKind.toLowerCase() === kind.toLowerCase() &&
    ownName === name &&
    (home === '' || home === namespace) &&
    (group === undefined || ownGroup === group)
  )
}

/** An object of Flux, with the fields that Flux's command prints for its kind. */
function ownLines({ kind, metadata, spec, status }: FluxObject): string {
  const ready = findCondition(status?.conditions, 'Ready')
  const fields: Record<string, unknown> = { ...spec }
  const text = (key: string, field: string) =>
    typeof fields[field] === 'string' ? { [key]: fields[field] } : undefined
  const ref = isObject(fields['ref']) ? fields['ref'] : {}
  const chosen = ['branch', 'tag', 'semver', 'digest', 'commit', 'name'].flatMap((field) =>
    typeof ref[field] === 'string' ? [[`${field[0]!.toUpperCase()}${field.slice(1)}`, ref[field]] as const] : [],
  )
  return lines({
    [kind ?? '']: metadata.name,
    Namespace: metadata.namespace ?? '',
    ...text('URL', 'url'),
    ...text('Chart', 'chart'),
    ...text('Version', 'version'),
    ...(kind === 'Kustomization' ? { Path: typeof fields['path'] === 'string' ? fields['path'] : './' } : {}),
    ...Object.fromEntries(chosen),
    Revision: status?.artifact?.revision ?? status?.lastAppliedRevision ?? 'none',
    Status: statusText(ready),
    Message: ready?.message ?? '',
  })
}

/** The source of an object; of a HelmRelease its chart, and the source of the chart. */
async function sourceLines(owner: FluxObject, client: Client, input: FluxWordsInput): Promise<string[]> {
  const { metadata, spec } = owner
  const { namespace = '', name } = metadata
  const made = typeof spec.chart === 'object' ? { kind: 'HelmChart', name: `${namespace}-${name}` } : undefined
  const reference = made ?? spec.chartRef ?? spec.sourceRef
  const kind = kindNamed(reference?.kind)
  if (!kind || !reference?.name) return []
  const flags = { ...input.flags, namespace }
  const found = await named(kind, reference.name, client, { ...input, flags })
  return [ownLines({ ...found, kind: kind.type.kind }), ...(await sourceLines(found, client, input))]
}

function statusText(ready: Condition | undefined): string {
  if (!ready) return 'Unknown'
  return ready.status === 'True' ? `Last reconciled at ${ready.lastTransitionTime}` : `Not ready: ${ready.reason}`
}

const WIDTH = 'Kustomization:'.length

function lines(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([key, value]) => `${`${key}:`.padEnd(WIDTH)} ${value}`.trimEnd())
    .map((line) => `${line}\n`)
    .join('')
}
