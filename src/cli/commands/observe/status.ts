/** `flotilla status`: the fleet on one screen. */
import { settleAll } from '../../../core/async/settle-all.ts'
import type { Client } from '../../../client/client.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Connection } from '../../api/connect.ts'
import type { AttentionItem } from '../../../plan/fleet/attention.ts'
import { fieldVersions } from './field-versions.ts'
import { statusSummary, statusText } from './fleet-status.ts'
import { CLUSTERS, listAll } from '../../api/flotilla-resources.ts'
import { DIALECT_LISTS, readAttention } from '../../api/read-attention.ts'
import { readMaintenance } from '../../api/read-maintenance.ts'
import { readIfAllowed } from '../../api/read-if-allowed.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import type { Terminal } from '../../print/terminal.ts'
import { listWindows } from '../../print/print-windows.ts'

/** What `status` works with. */
export interface StatusInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: { readonly output?: string; readonly namespace?: string }
}

/** How many lists of native kinds the status reads. */
const LISTS = 7
/** Held back Bundles whose versions are read. */
const MAX_VERSIONS = 5

/** Prints the fleet in a few lines, or as JSON: counts and the rollouts that move. */
export async function status({ connection, terminal, flags }: StatusInput): Promise<void> {
  const client = clientOver(connection.rest)
  const [version, clusters, windows, maintenance] = await settleAll([
    connection.rest.json({ method: 'GET', path: '/version' }),
    readIfAllowed('clusters', listAll(client, CLUSTERS)),
    listWindows(client),
    readMaintenance(client),
  ])
  const needs = await readAttention(client, { namespace: flags.namespace, clusters: clusters.items })
  const refused = [clusters.refused, ...needs.refused, ...windows.refused].filter((what) => what !== undefined)
  if (refused.filter((what) => !DIALECT_LISTS.has(what)).length === LISTS) {
    throw new CliError(EXIT.forbidden, {
      where: connection.server,
      what: `not allowed to list ${refused.join(', ')}`,
      todo: `show a namespace that you may read with "flotilla status -n NAMESPACE"`,
    })
  }
  const { facts: objects, items } = needs
  const facts = {
    server: connection.server,
    version: isObject(version) && typeof version['gitVersion'] === 'string' ? version['gitVersion'] : 'unknown',
    clusters: clusters.items,
    rollouts: objects.rollouts,
    windows: windows.windows,
    attention: items,
    versions: await versionsOf(client, items),
    refused,
    maintenance,
    placements: objects.placements,
    bundles: objects.bundles,
  }
  if (flags.output === 'json')
    return terminal.data(`${JSON.stringify(statusSummary(facts, systemClock.now()), undefined, 2)}\n`)
  terminal.data(statusText(facts, systemClock.now(), terminal))
}

async function versionsOf(client: Client, items: readonly AttentionItem[]): Promise<ReadonlyMap<string, string>> {
  const versions = new Map<string, string>()
  for (const { namespace = 'default', name } of items
    .filter(({ kind }) => kind === 'HeldBack')
    .slice(0, MAX_VERSIONS)) {
    const text = await fieldVersions(client, { namespace, name })
    if (text !== undefined) versions.set(`${namespace}/${name}`, text)
  }
  return versions
}
