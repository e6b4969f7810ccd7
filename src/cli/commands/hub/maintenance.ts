/** `flotilla hub maintenance on|off`: stops all decisions of a hub for a time. */
import type { Client } from '../../../client/client.ts'
import { clientOver } from '../../../client/create-client.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import { silenceProblem } from '../../../plan/fleet/hub-health.ts'
import {
  HUB_MAINTENANCE,
  maintenanceData,
  MAINTENANCE_MANAGER,
  unconfirmedHubs,
} from '../../../plan/fleet/hub-maintenance.ts'
import type { Maintenance } from '../../../plan/fleet/hub-maintenance.ts'
import type { Connection } from '../../api/connect.ts'
import { readHubHealth, readMaintenance } from '../../api/read-maintenance.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readDuration } from '../../input/duration-flag.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface MaintenanceInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data'>
  readonly signal: AbortSignal
  readonly flags: Readonly<Record<string, unknown>>
  /** Defaults to the clock of this machine. */
  readonly clock?: Clock
}

const LOOK_MS = 1_000

/** Begins a maintenance, or changes the reason of the one that is on. */
export async function maintenanceOn(input: MaintenanceInput): Promise<void> {
  const { connection, flags, clock = systemClock } = input
  const reason = typeof flags['reason'] === 'string' ? flags['reason'].trim() : ''
  if (reason === '') {
    throw new CliError(EXIT.usage, {
      what: 'missing --reason',
      todo: 'give a reason with --reason TEXT; it is shown to users who wait',
    })
  }
  const client = clientOver(connection.rest)
  const before = await readMaintenance(client)
  await write(client, input, { since: before?.since ?? formatTime(clock.now()), reason })
}

/** Ends a maintenance. */
export async function maintenanceOff(input: MaintenanceInput): Promise<void> {
  await write(clientOver(input.connection.rest), input, undefined)
}

async function write(client: Client, input: MaintenanceInput, wanted: Maintenance | undefined): Promise<void> {
  const { flags, terminal } = input
  const timeoutMs = readDuration(typeof flags['timeout'] === 'string' ? flags['timeout'] : '30s', '--timeout')
  const object = {
    apiVersion: apiVersionOf(ConfigMap),
    kind: ConfigMap.kind,
    metadata: { ...HUB_MAINTENANCE },
    data: maintenanceData(wanted),
  }
  await client.apply(ConfigMap, object, { fieldManager: MAINTENANCE_MANAGER, force: true })
  const state = wanted ? 'on' : 'off'
  const confirmed = await untilConfirmed(client, { wanted, timeoutMs, input })
  const done = wanted ? 'nothing is decided' : 'the hub works again'
  terminal.data(`maintenance ${state}; confirmed by ${confirmed.join(', ')}: ${done}\n`)
}

/** The hubs that have confirmed the state, when all have that run. */
async function untilConfirmed(
  client: Client,
  { wanted, timeoutMs, input }: { wanted: Maintenance | undefined; timeoutMs: number; input: MaintenanceInput },
): Promise<string[]> {
  const { signal, clock = systemClock } = input
  const state = wanted ? 'on' : 'off'
  const until = clock.monotonicMs() + timeoutMs
  for (;;) {
    const hubs = await readHubHealth(client)
    if (hubs === undefined) {
      throw new CliError(EXIT.forbidden, {
        what: `maintenance is ${state}, but you may not read whether the hub has confirmed it`,
        todo: 'ask for read access to the ConfigMap flotilla-hub-health in flotilla-system',
      })
    }
    const late = unconfirmedHubs(hubs, wanted, clock.now())
    const confirmed = hubs.filter(
      ({ health }) =>
        health && silenceProblem(health, clock.now()) === undefined && health.maintenance === wanted?.since,
    )
    if (late.length === 0 && confirmed.length > 0) return confirmed.map(({ name }) => name)
    if (clock.monotonicMs() > until) {
      const who = late.length === 0 ? 'no hub has confirmed it' : `not confirmed by ${late.join(', ')}`
      throw new CliError(EXIT.timeout, {
        what: `maintenance is ${state}, but ${who} within ${timeoutMs / 1000} s`,
        todo: 'see "flotilla check"; a process that ended without a goodbye is not waited for after 5 minutes',
      })
    }
    await clock.sleep(LOOK_MS, signal)
  }
}
