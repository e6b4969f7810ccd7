/** `flotilla cluster decommission`: takes a cluster out of the fleet for good, or takes that back. */
import { clientOver } from '../../../client/create-client.ts'
import { plural } from '../../../core/text/name-some.ts'
import { parseDuration } from '../../../core/time/duration.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { CLUSTERS } from '../../api/flotilla-resources.ts'
import { countAssignedBundles, getCluster } from './acceptance.ts'
import type { AcceptanceInput } from './acceptance.ts'

/** What the command works with. */
export interface DecommissionInput extends AcceptanceInput {
  readonly flags: AcceptanceInput['flags'] & {
    readonly orphan?: boolean
    readonly remove?: boolean
    readonly forceUnreachable?: boolean
    readonly forgetAfter?: string
    readonly undo?: boolean
  }
  readonly confirmName: (question: string, name: string) => Promise<boolean>
}

/** Begins to decommission a cluster, or takes it back before its access is gone. */
export async function clusterDecommission(name: string, input: DecommissionInput): Promise<void> {
  const { flags, terminal } = input
  const cluster = await getCluster(name, input)
  if (flags.undo) return undo(cluster, input)
  if (flags.orphan === flags.remove) {
    throw new CliError(EXIT.usage, {
      what: `what becomes of what runs on ${name}?`,
      todo: 'say --orphan to leave it as it is, or --remove to delete it there',
    })
  }
  if (flags.forgetAfter !== undefined && (parseDuration(flags.forgetAfter) ?? -1) < 0) {
    throw new CliError(EXIT.usage, {
      what: `--forget-after wants a duration, not ${JSON.stringify(flags.forgetAfter)}`,
      todo: 'write 720h for thirty days, or 0s for at once',
    })
  }
  if (cluster.spec.refused) {
    throw new CliError(EXIT.conflict, {
      what: `cluster ${name} is ${cluster.spec.refused.verdict.toLowerCase()} already`,
      todo: `to forget it: flotilla delete cluster ${name}`,
    })
  }
  const bundles = await countAssignedBundles(cluster, input)
  const isOffline = cluster.status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'False')
  const what = plural(bundles, 'bundle')
  const sentence = flags.remove
    ? `removes ${what} with its objects from 1 cluster (namespaces, CRDs and volumes are kept unless named), then takes its access away`
    : `lets go of ${what} on 1 cluster, which stay as they are, then takes its access away`
  terminal.step('warn', `decommissioning ${name} ${sentence}`)
  if (isOffline && !flags.forceUnreachable) {
    terminal.step(
      'warn',
      `${name} is offline: this waits for its return; --force-unreachable does not, and lists what is left`,
    )
  }
  await askBefore(name, input)
  const decommission = {
    policy: flags.remove ? 'Remove' : 'Orphan',
    at: formatTime(systemClock.now()),
    ...(flags.forceUnreachable ? { forceUnreachable: true } : {}),
    ...(flags.reason === undefined ? {} : { reason: flags.reason }),
    ...(flags.forgetAfter === undefined ? {} : { forgetAfter: flags.forgetAfter }),
  } as const
  await write(cluster, decommission, input)
  terminal.step('ok', `cluster ${name} leaves; no placement selects it any more`)
  terminal.step('next', `flotilla get cluster ${name} -o yaml   # condition Decommissioned, status.decommission.left`)
  terminal.step('next', `until it is revoked: flotilla cluster decommission ${name} --undo`)
}

async function undo(cluster: Cluster, input: DecommissionInput): Promise<void> {
  const { name } = cluster.metadata
  if (!cluster.spec.decommission) return input.terminal.step('ok', `cluster ${name} is not being decommissioned`)
  if (cluster.spec.refused) {
    throw new CliError(EXIT.conflict, {
      what: `cluster ${name} is revoked already`,
      todo: `to let it in again: flotilla cluster accept ${name}`,
    })
  }
  await write(cluster, null, input)
  input.terminal.step('ok', `cluster ${name} stays; its placements select it again, and what was removed comes back`)
}

async function askBefore(name: string, { flags, terminal, confirm, confirmName }: DecommissionInput): Promise<void> {
  if (flags.yes) return
  const question = `decommission ${name}?`
  if (!terminal.isInteractive) {
    throw new CliError(EXIT.usage, { what: question, why: 'nobody can be asked', todo: 'say --yes if you mean it' })
  }
  const isMeant = flags.remove ? await confirmName(question, name) : await confirm(question)
  if (!isMeant) throw new CliError(EXIT.usage, { what: 'cancelled; nothing was changed' })
}

async function write(
  { metadata }: Cluster,
  decommission: NonNullable<Cluster['spec']['decommission']> | null,
  { connection }: DecommissionInput,
): Promise<void> {
  const body = { metadata: { resourceVersion: metadata.resourceVersion }, spec: { decommission } }
  await clientOver(connection.rest).patch(CLUSTERS, { name: metadata.name }, { type: 'merge', body })
}
