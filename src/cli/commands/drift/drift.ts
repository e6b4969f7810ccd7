/** `flotilla drift list` and `flotilla drift show`: the drift that agents report. */
import type { Client } from '../../../client/client.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { compareText } from '../../../core/text/compare-text.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { humanAge, parseTime } from '../../../core/time/time.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { clustersWith, flotillaResource, listAll, REPORTS } from '../../api/flotilla-resources.ts'
import { listReadable, readIfAllowed } from '../../api/read-if-allowed.ts'
import { createTablePrinter } from '../../print/table.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface DriftInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: {
    readonly output?: string
    readonly bundle?: string
    readonly selector?: string
    /** Lists the corrections instead. */
    readonly corrected?: boolean
  }
}

type Row = Pick<ClusterReport['spec']['bundles'][number], 'bundle' | 'generation' | 'state' | 'message' | 'drift'>

interface StateRow extends KubeObject {
  readonly bundle: string
  readonly cluster: string
  readonly generation?: number
  readonly message: string
}
const STATES: ResourceType<StateRow> = {
  ...flotillaResource<StateRow>('BundleState', 'Namespaced'),
  group: 'view.flotilla.dev',
}

/**
 * The drift of all clusters. Reports tell all of a cluster, so only users of the whole fleet may read them; other users
 * see which of their Bundles drifted, without the fields.
 */
async function readDrift(
  client: Client,
  { connection, terminal, flags }: Pick<DriftInput, 'connection' | 'terminal' | 'flags'>,
): Promise<readonly { readonly cluster: string; readonly row: Row }[]> {
  const reports = await readIfAllowed('clusterreports', listAll(client, REPORTS))
  if (reports.refused === undefined) {
    return reports.items.flatMap(({ metadata, spec }) =>
      spec.bundles.filter((row) => isDrifted(row, flags.bundle)).map((row) => ({ cluster: metadata.name, row })),
    )
  }
  const [namespace] = flags.bundle?.includes('/') ? flags.bundle.split('/') : [undefined]
  const { items } = await listReadable('bundlestates', { namespace, connection, terminal }, (scope) =>
    listAll(client, STATES, { ...scope, fieldSelector: 'state=Drifted' }),
  )
  terminal.say('fields are not shown: you may not list clusterreports')
  return items
    .map(({ metadata, bundle, cluster, generation = 0, message }) => ({
      cluster,
      row: { bundle: `${metadata.namespace ?? ''}/${bundle}`, generation, state: 'Drifted' as const, message },
    }))
    .filter(({ row }) => isDrifted(row, flags.bundle))
}

/** Lists the drifted Bundles of all clusters. */
export async function driftList({ connection, terminal, flags }: DriftInput): Promise<void> {
  if (flags.corrected) return await listCorrections({ connection, terminal, flags })
  const client = clientOver(connection.rest)
  const among = await clustersWith(client, flags.selector)
  const drifted = await readDrift(client, { connection, terminal, flags })
  const found = drifted.filter(({ cluster }) => among?.has(cluster) ?? true)
  if (flags.output === 'json') {
    const items = found.map(({ cluster, row }) => ({
      cluster,
      bundle: row.bundle,
      message: row.message,
      // Absent: the fields are not known.
      drift: row.drift,
    }))
    return terminal.data(`${JSON.stringify(items, undefined, 2)}\n`)
  }
  if (found.length === 0) return terminal.say('No drift found.')
  const column = (name: string) => ({ name, type: 'string', priority: 0 })
  const print = createTablePrinter({ wide: false, withNamespace: false, withHeaders: true })
  terminal.data(
    print({
      columnDefinitions: ['Cluster', 'Bundle', 'Objects', 'Since', 'First'].map(column),
      rows: found.map(({ cluster, row }) => {
        const [first] = row.drift ?? []
        const shown = first ? `${first.object}: ${first.fields[0] ?? ''}` : (row.message ?? '')
        return {
          cells: [cluster, row.bundle, row.drift ? String(row.drift.length) : '<unknown>', ageOf(first?.since), shown],
        }
      }),
      metadata: {},
    }),
  )
}

/** Lists the drift that agents corrected since they started, the newest first. */
async function listCorrections({ connection, terminal, flags }: DriftInput): Promise<void> {
  const client = clientOver(connection.rest)
  const among = await clustersWith(client, flags.selector)
  const found = (await listAll(client, REPORTS))
    .filter(({ metadata }) => among?.has(metadata.name) ?? true)
    .flatMap(({ metadata, spec }) =>
      spec.bundles
        .filter((row) => isBundle(row, flags.bundle))
        .flatMap(({ bundle, corrections = [] }) =>
          corrections.map((correction) => ({ cluster: metadata.name, bundle, ...correction })),
        ),
    )
    .toSorted((a, b) => compareText(b.at, a.at) || compareText(a.cluster, b.cluster))
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(found, undefined, 2)}\n`)
  if (found.length === 0) return terminal.say('No agent corrected drift since it started.')
  const column = (name: string) => ({ name, type: 'string', priority: 0 })
  const print = createTablePrinter({ wide: false, withNamespace: false, withHeaders: true })
  terminal.data(
    print({
      columnDefinitions: ['Cluster', 'Bundle', 'Object', 'Times', 'Last', 'Fields'].map(column),
      rows: found.map(({ cluster, bundle, object, times, at, fields }) => ({
        cells: [cluster, bundle, object, String(times), ageOf(at), fields.join(', ')],
      })),
      metadata: {},
    }),
  )
}

/** Prints the drift of a cluster, field by field. */
export async function driftShow(words: readonly string[], { connection, terminal, flags }: DriftInput): Promise<void> {
  const [name = ''] = words
  const rows = await driftedOn(name, { connection, flags }).catch(async (caught: unknown) => {
    if (!isApiError(caught, 'Forbidden')) throw caught
    const drifted = await readDrift(clientOver(connection.rest), { connection, terminal, flags })
    return drifted.filter(({ cluster }) => cluster === name).map(({ row }) => row)
  })
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(rows, undefined, 2)}\n`)
  if (rows.length === 0) return terminal.say(`No drift found on cluster "${name}".`)
  for (const row of rows) {
    terminal.data(`bundle ${row.bundle} (generation ${row.generation})\n`)
    for (const { object, fields, since } of row.drift ?? []) {
      terminal.data(`  ${object}, for ${ageOf(since)}\n`)
      for (const field of fields) terminal.data(`    ${field}\n`)
    }
    if (!row.drift) terminal.data(`  ${row.message ?? ''}\n`)
  }
}

/** The drifted Bundles of a cluster. */
export async function driftedOn(
  name: string,
  {
    connection,
    flags,
  }: { readonly connection: Pick<Connection, 'rest'>; readonly flags: { readonly bundle?: string } },
): Promise<readonly ClusterReport['spec']['bundles'][number][]> {
  const report = await clientOver(connection.rest)
    .get(REPORTS, { name })
    .catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
      throw new CliError(EXIT.notFound, {
        what: `report of cluster "${name}" not found`,
        why: 'the cluster does not exist, or its agent has not reported yet',
        todo: 'list clusters with "flotilla get clusters"',
      })
    })
  return report.spec.bundles.filter((row) => isDrifted(row, flags.bundle))
}

function isDrifted(row: Row, bundle: string | undefined): boolean {
  return (row.state === 'Drifted' || row.drift !== undefined) && isBundle(row, bundle)
}

/** A name without namespace matches Bundles of all namespaces. */
function isBundle(row: Pick<Row, 'bundle'>, bundle: string | undefined): boolean {
  return bundle === undefined || row.bundle === bundle || row.bundle.split('/')[1] === bundle
}

function ageOf(since: string | undefined): string {
  const at = since === undefined ? undefined : parseTime(since)
  return at === undefined ? '' : humanAge(systemClock.now() - at)
}
