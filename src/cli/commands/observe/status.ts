/** `flotilla status`: the fleet on one screen. */
import { clientOver } from '../../../client/create-client.ts'
import { isObject } from '../../../core/json.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Connection } from '../../api/connect.ts'
import { statusSummary, statusText } from './fleet-status.ts'
import { CLUSTERS, listAll, ROLLOUTS } from '../../api/flotilla-resources.ts'
import type { Terminal } from '../../print/terminal.ts'
import { listWindows } from '../../print/print-windows.ts'

/** What `status` works with. */
export interface StatusInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: { readonly output?: string }
}

/** Prints the fleet in a few lines, or as JSON: counts and the rollouts that move. */
export async function status({ connection, terminal, flags }: StatusInput): Promise<void> {
  const client = clientOver(connection.rest)
  const [version, clusters, rollouts, windows] = await Promise.all([
    connection.rest.json({ method: 'GET', path: '/version' }),
    listAll(client, CLUSTERS),
    listAll(client, ROLLOUTS),
    listWindows(client),
  ])
  const facts = {
    server: connection.server,
    version: isObject(version) && typeof version['gitVersion'] === 'string' ? version['gitVersion'] : 'unknown',
    clusters,
    rollouts,
    windows,
  }
  if (flags.output === 'json')
    return terminal.data(`${JSON.stringify(statusSummary(facts, systemClock.now()), undefined, 2)}\n`)
  terminal.data(statusText(facts, systemClock.now(), terminal))
}
