/** `flotilla drift accept` and `flotilla drift revert`: an Override that accepts or reverts the drift of a cluster. */
import { clientOver } from '../../../client/create-client.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { Override } from '../../../kinds/native/override.ts'
import { DRIFT_MANAGER, driftOverride } from '../../../plan/drift/drift-override.ts'
import type { DriftDecision } from '../../../plan/drift/drift-override.ts'
import type { Connection } from '../../api/connect.ts'
import { readDuration } from '../../input/duration-flag.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { flotillaResource } from '../../api/flotilla-resources.ts'
import type { Terminal } from '../../print/terminal.ts'
import { whoAmI } from '../../api/who-am-i.ts'
import { driftedOn } from './drift.ts'

export interface DecideInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Pick<Terminal, 'data' | 'step'>
  readonly flags: {
    readonly bundle?: string
    readonly reason: string
    /** Lifetime of the Override. If omitted, until the Override is deleted. */
    readonly for?: string
    readonly dryRun?: boolean
  }
}

const OVERRIDES = flotillaResource<Override>('Override', 'Namespaced')

/** Leaves the changed fields of a cluster to the field managers that changed them. */
export async function driftAccept(words: readonly string[], input: DecideInput): Promise<void> {
  const forMs = input.flags.for === undefined ? undefined : readDuration(input.flags.for, '--for')
  await decide(words, input, {
    verb: 'accept',
    forMs,
    done: (name, cluster) =>
      `${name} accepts the changed fields on cluster "${cluster}"${input.flags.for === undefined ? '' : ` for ${input.flags.for}`}`,
  })
}

/** Corrects the drift of a cluster, independent of the drift settings of the Bundle. */
export async function driftRevert(words: readonly string[], input: DecideInput): Promise<void> {
  await decide(words, input, {
    verb: 'revert',
    done: (name, cluster) => `${name} reverts the changed fields on cluster "${cluster}" and corrects drift for 1 hour`,
  })
}

interface Decision extends Pick<DriftDecision, 'verb' | 'forMs'> {
  readonly done: (name: string, cluster: string) => string
}

async function decide(words: readonly string[], input: DecideInput, decision: Decision): Promise<void> {
  const { connection, terminal, flags } = input
  const [cluster = ''] = words
  const rows = await driftedOn(cluster, { connection, flags })
  const named = rows.filter((row) => (row.drift?.length ?? 0) > 0)
  if (named.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no drift found on cluster "${cluster}"${flags.bundle === undefined ? '' : ` for bundle "${flags.bundle}"`}`,
      todo: 'list drift with "flotilla drift list"',
    })
  }
  const { username } = await whoAmI(connection.rest)
  const client = clientOver(connection.rest)
  for (const row of named) {
    const { verb, forMs } = decision
    const nowMs = systemClock.now()
    const override = driftOverride(row, { verb, forMs, cluster, owner: username, reason: flags.reason, nowMs })
    if ('unnameable' in override) throw cannotAccept(override.unnameable, cluster)
    const { name } = override.metadata
    for (const { object, fields } of row.drift!) terminal.data(`${row.bundle}  ${object}  ${fields.join(', ')}\n`)
    if (flags.dryRun) continue
    await client.apply(OVERRIDES, override, { fieldManager: DRIFT_MANAGER, force: true })
    terminal.step('ok', decision.done(`override/${name}`, cluster))
  }
  if (!flags.dryRun) terminal.step('next', `flotilla drift show ${cluster}`)
}

function cannotAccept(field: string, cluster: string): CliError {
  return new CliError(EXIT.failed, {
    what: `cannot accept field ${JSON.stringify(field)}`,
    why: 'the object was deleted, or the name of the field has spaces or commas',
    todo: `revert the drift with "flotilla drift revert ${cluster}", or change the Bundle`,
  })
}
