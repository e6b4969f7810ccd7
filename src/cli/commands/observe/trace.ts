/** `flotilla trace`: follows an object in a cluster back to its commit. */
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { Client, ListOptions } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { humanAge, parseTime } from '../../../core/time/time.ts'
import { BUILTIN_KINDS } from '../../../kinds/builtin/builtin-kinds.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { deliveryNameOf } from '../../../kinds/native/delivery.ts'
import type { Delivery } from '../../../kinds/native/delivery.ts'
import type { Release } from '../../../kinds/native/release.ts'
import type { Rollout } from '../../../kinds/native/rollout.ts'
import type { Source } from '../../../kinds/native/source.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { noSuchObject } from '../../errors/object-not-found.ts'
import { findResource } from '../../api/find-resource.ts'
import {
  ASSIGNMENTS,
  BUNDLES,
  CLUSTERS,
  DELIVERIES,
  listAll,
  OBJECTS,
  RELEASES,
  ROLLOUTS,
  SOURCES,
} from '../../api/flotilla-resources.ts'
import type { ObjectRow } from '../../api/flotilla-resources.ts'
import { listReadable } from '../../api/read-if-allowed.ts'
import { shortRevision } from '../../../core/text/short-revision.ts'
import { STATE_GLYPHS } from '../../print/print-state.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface TraceInput {
  readonly connection: Pick<Connection, 'rest'> & Partial<Pick<Connection, 'namespace'>>
  readonly terminal: Pick<Terminal, 'command' | 'data' | 'say' | 'paint' | 'isUtf8'>
  readonly flags: { readonly cluster: string; readonly namespace?: string; readonly output?: 'text' | 'json' }
}

/** The origin of an object: Bundle, rollout, release and Source. */
interface Trail {
  readonly row: ObjectRow
  readonly generation?: number
  readonly rollout?: Rollout
  readonly release?: Release['spec']['bundles'][number]
  readonly source?: Source
  /** The Source that the Bundle names. */
  readonly sourceName?: string
  /** Kinds that the caller may not read, for example `sources`. */
  readonly hidden?: readonly string[]
  readonly path?: string
  readonly placement?: string
  readonly delivery?: Delivery
}

/** Prints the origin of `KIND/NAME` in a cluster. */
export async function trace(words: readonly string[], { connection, terminal, flags }: TraceInput): Promise<void> {
  const [word = ''] = words
  const client = clientOver(connection.rest)
  const where = { namespace: undefined, connection, terminal }
  const { items: rows } = await listReadable('bundleobjects', where, (scope) => rowsOn(client, flags.cluster, scope))
  if (rows.length === 0) await requireCluster(flags.cluster, connection.rest, client)
  const found = matching(rows, word, flags)
  const trails = await settleAll(found.map((row) => trailOf(client, row)))
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(trails.map(trailData), undefined, 2)}\n`)
  for (const trail of trails) terminal.data(terminal.command(textOf(trail, terminal)))
}

async function rowsOn(client: Client, cluster: string, scope: ListOptions): Promise<readonly ObjectRow[]> {
  try {
    return await listAll(client, OBJECTS, { ...scope, fieldSelector: `cluster=${cluster}` })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw new CliError(EXIT.failed, {
      what: 'the hub does not serve view.flotilla.dev',
      why: 'its home is a kube-apiserver without an APIService for the view API',
      todo: `print the report of the cluster with "flotilla get clusterreport ${cluster} -o yaml"`,
    })
  }
}

/** A trail for scripts: what the text shows, without variants of other clusters and managed fields. */
function trailData({
  row,
  generation,
  rollout,
  release,
  source,
  sourceName,
  hidden,
  path,
  placement,
  delivery,
}: Trail) {
  const { cluster, object, state, message } = row
  return compact({
    cluster,
    object,
    state,
    message,
    bundle: delivery
      ? undefined
      : compact({ namespace: row.metadata.namespace, name: row.bundle, generation, placement }),
    delivery: delivery && compact({ ...addressOf(delivery), generation }),
    rollout:
      rollout &&
      compact({
        ...addressOf(rollout),
        phase: rollout.status?.phase,
        ring: rollout.status?.ring,
        creationTimestamp: rollout.metadata.creationTimestamp,
      }),
    release: release && compact({ generation: release.generation, revision: release.revision, origin: release.origin }),
    source:
      sourceName === undefined
        ? undefined
        : compact({ namespace: source?.metadata.namespace ?? row.metadata.namespace, name: sourceName, path }),
    hidden,
  })
}

function addressOf({ metadata }: KubeObject): { readonly namespace?: string; readonly name: string } {
  return compact({ namespace: metadata.namespace, name: metadata.name })
}

/** A cluster without objects must exist; otherwise the name is wrong. */
async function requireCluster(name: string, rest: Connection['rest'], client: Client): Promise<void> {
  const found = await orHidden(orNothing(client.get(CLUSTERS, { name })))
  // A user who may not read Clusters is told only that no Bundle delivers the object.
  if (found !== undefined) return
  throw await noSuchObject({ resource: await findResource(rest, 'clusters'), name }, rest)
}

function matching(rows: readonly ObjectRow[], word: string, flags: TraceInput['flags']): readonly ObjectRow[] {
  const { cluster, namespace } = flags
  const [kind = '', name = '', ...more] = word.split('/')
  if (kind === '' || name === '' || more.length > 0) {
    throw new CliError(EXIT.usage, {
      what: `invalid argument ${JSON.stringify(word)}: must be KIND/NAME, for example deployment/web`,
    })
  }
  const isKind = (row: ObjectRow) => namesOf(row).includes(kind.toLowerCase())
  const found = rows.filter(
    (row) => isKind(row) && row.object.name === name && (namespace === undefined || row.object.namespace === namespace),
  )
  if (found.length > 0) return found
  const near = rows.filter(isKind).map(({ object }) => object.name)
  throw new CliError(EXIT.notFound, {
    what: `no Bundle delivers ${word}${namespace === undefined ? '' : ` in namespace "${namespace}"`} to cluster "${cluster}"`,
    ...(near.length > 0 && { why: `objects of this kind are ${[...new Set(near)].slice(0, 5).join(', ')}` }),
    todo: `list the objects with "flotilla get bundleobjects -A --field-selector cluster=${cluster}"`,
  })
}

/** The names of a kind: its own name, and for built-in kinds also plural and short names. */
function namesOf({ object }: ObjectRow): readonly string[] {
  const known = BUILTIN_KINDS.find((kind) => kind.kind === object.kind && apiVersionOf(kind) === object.apiVersion)
  return [object.kind.toLowerCase(), ...(known ? [known.plural, ...known.shortNames] : [])]
}

async function trailOf(client: Client, row: ObjectRow): Promise<Trail> {
  const { namespace = '' } = row.metadata
  const deliveryName = deliveryNameOf(row.bundle)
  const [assignment, bundle, delivery] = await settleAll([
    orHidden(orNothing(client.get(ASSIGNMENTS, { name: row.cluster }))),
    deliveryName === undefined ? orNothing(client.get(BUNDLES, { name: row.bundle, namespace })) : undefined,
    deliveryName === undefined ? undefined : orNothing(client.get(DELIVERIES, { name: deliveryName, namespace })),
  ])
  const assigned = assignment === 'Hidden' ? undefined : assignment
  const entry = assigned?.spec.entries.find((one) => one.bundle === `${namespace}/${row.bundle}`)
  if (deliveryName !== undefined) {
    return compact({ row, generation: entry?.generation, delivery })
  }
  const rolloutName = entry?.rollout.split('/')[1]
  const rollout = rolloutName ? await orNothing(client.get(ROLLOUTS, { name: rolloutName, namespace })) : undefined
  const release = rollout ? await orNothing(client.get(RELEASES, { name: rollout.spec.release, namespace })) : undefined
  const from = bundle?.spec.source
  const source = from ? await orHidden(orNothing(client.get(SOURCES, { name: from.name, namespace }))) : undefined
  const hidden = [...(assignment === 'Hidden' ? ['assignments'] : []), ...(source === 'Hidden' ? ['sources'] : [])]
  const released = release?.spec.bundles.find(({ name }) => name === row.bundle)
  return compact({
    row,
    generation: entry?.generation,
    rollout,
    release: released,
    source: source === 'Hidden' ? undefined : source,
    sourceName: from?.name,
    hidden: hidden.length === 0 ? undefined : hidden,
    path: from?.path === undefined ? undefined : from.path,
    placement: bundle?.spec.placement,
  })
}

/** `Hidden` if the caller may not read it. */
async function orHidden<T>(reading: Promise<T>): Promise<T | 'Hidden'> {
  return await reading.catch((caught: unknown) => {
    if (isApiError(caught, 'Forbidden')) return 'Hidden' as const
    throw caught
  })
}

async function orNothing<T>(reading: Promise<T>): Promise<T | undefined> {
  return await reading.catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  })
}

function textOf(trail: Trail, look: TraceInput['terminal']): string {
  const { row, rollout, release, sourceName, path, placement, hidden } = trail
  const { namespace: home = '' } = row.metadata
  const [utf8, ascii, color] = STATE_GLYPHS[row.state]
  const up = look.isUtf8 ? '↑' : '^'
  const { kind, namespace, name, digest } = row.object
  const state = look.paint(color, `${look.isUtf8 ? utf8 : ascii} ${row.state}`)
  const object = `${kind}/${namespace === undefined ? name : `${namespace}/${name}`}`
  const lines = [
    `Object     ${object} (${row.cluster})   ${state}   ${digest.slice(0, 19)}`,
    ...contentLines(trail, up),
    ...(rollout ? [`  ${up} Rollout    ${rolloutText(rollout)}`] : []),
    ...(sourceName !== undefined
      ? [
          `  ${up} Source     ${[sourceName, ...(release?.revision ? [shortRevision(release.revision)] : [])].join(' ')}${path === undefined ? '' : `   path ${path}`}`,
        ]
      : rollout
        ? [`  ${up} Source     inline manifests of the Bundle`]
        : []),
    ...(row.message ? [`Why        ${row.message}`] : []),
    ...(hidden ? [`Hidden     you may not read ${hidden.join(', ')} of the hub`] : []),
    `Try        ${nextCommand(row)}${placement ? `     flotilla explain -n ${home} ${placement} ${row.cluster}` : ''}`,
  ]
  return `${lines.join('\n')}\n`
}

function nextCommand({ bundle, metadata }: ObjectRow): string {
  const delivery = deliveryNameOf(bundle)
  return delivery === undefined
    ? `flotilla events --for bundle/${bundle}`
    : `flotilla get delivery ${delivery} -n ${metadata.namespace ?? ''} -o yaml`
}

/** The Bundle, or the Delivery with the object that it was made for. */
function contentLines({ row, generation, delivery }: Trail, up: string): string[] {
  const { namespace: home = '' } = row.metadata
  const name = deliveryNameOf(row.bundle)
  const suffix = generation === undefined ? '' : `   generation ${generation}`
  if (name === undefined) return [`  ${up} Bundle     ${home}/${row.bundle}${suffix}`]
  const owners = delivery?.metadata.ownerReferences ?? []
  return [
    `  ${up} Delivery   ${home}/${name}${suffix}`,
    ...owners.map((owner) => `  ${up} ${owner.kind.padEnd(10)} ${home}/${owner.name}`),
  ]
}

function rolloutText({ metadata, status }: Rollout): string {
  const made = parseTime(metadata.creationTimestamp ?? '')
  const age = made === undefined ? '' : `   created ${humanAge(systemClock.now() - made)} ago`
  // The current ring of the rollout need not be the ring of this cluster.
  const at = status?.ring && status.phase !== 'Completed' ? `, at ring ${status.ring}` : ''
  return `${metadata.name}   ${status?.phase ?? 'Pending'}${at}${age}`
}
