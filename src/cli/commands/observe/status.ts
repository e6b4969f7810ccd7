/** `flotilla status`: the fleet on one screen. */
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Connection } from '../../api/connect.ts'
import { statusSummary, statusText } from './fleet-status.ts'
import { BUNDLES, CLUSTERS, listAll, PLACEMENTS, ROLLOUTS } from '../../api/flotilla-resources.ts'
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

/** How many lists the status reads. */
const LISTS = 6

/** Prints the fleet in a few lines, or as JSON: counts and the rollouts that move. */
export async function status({ connection, terminal, flags }: StatusInput): Promise<void> {
  const client = clientOver(connection.rest)
  const scope = flags.namespace === undefined ? {} : { namespace: flags.namespace }
  const [version, clusters, rollouts, windows, placements, bundles] = await settleAll([
    connection.rest.json({ method: 'GET', path: '/version' }),
    readIfAllowed('clusters', listAll(client, CLUSTERS)),
    readIfAllowed('rollouts', listAll(client, ROLLOUTS, scope)),
    listWindows(client),
    readIfAllowed('placements', listAll(client, PLACEMENTS, scope)),
    readIfAllowed('bundles', listAll(client, BUNDLES, scope)),
  ])
  const refused = [clusters.refused, rollouts.refused, ...windows.refused, placements.refused, bundles.refused].filter(
    (what) => what !== undefined,
  )
  if (refused.length === LISTS) {
    throw new CliError(EXIT.forbidden, {
      where: connection.server,
      what: `not allowed to list ${refused.join(', ')}`,
      todo: `show a namespace that you may read with "flotilla status -n NAMESPACE"`,
    })
  }
  const facts = {
    server: connection.server,
    version: isObject(version) && typeof version['gitVersion'] === 'string' ? version['gitVersion'] : 'unknown',
    clusters: clusters.items,
    rollouts: rollouts.items,
    windows: windows.windows,
    refused,
    placements: placements.items,
    bundles: bundles.items,
  }
  if (flags.output === 'json')
    return terminal.data(`${JSON.stringify(statusSummary(facts, systemClock.now()), undefined, 2)}\n`)
  terminal.data(statusText(facts, systemClock.now(), terminal))
}
