/** `flotilla cluster decommission`: removes a cluster from the fleet, or cancels the removal. */
import { compact } from '../../../core/compact.ts'
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

/** Starts to decommission a cluster. With --undo, cancels it before the access is revoked. */
export async function clusterDecommission(name: string, input: DecommissionInput): Promise<void> {
  const { flags, terminal } = input
  const cluster = await getCluster(name, input)
  if (flags.undo) return undo(cluster, input)
  if (flags.orphan === flags.remove) {
    throw new CliError(EXIT.usage, {
      what: flags.orphan ? '--orphan and --remove exclude each other' : 'missing --orphan or --remove',
      todo: 'keep the workloads with --orphan, or delete them with --remove',
    })
  }
  if (flags.forgetAfter !== undefined && (parseDuration(flags.forgetAfter) ?? -1) < 0) {
    throw new CliError(EXIT.usage, {
      what: `invalid --forget-after ${JSON.stringify(flags.forgetAfter)}: must be a duration such as 720h, or 0s`,
    })
  }
  if (cluster.spec.refused) {
    throw new CliError(EXIT.conflict, {
      what: `cluster "${name}" is already ${cluster.spec.refused.verdict.toLowerCase()}`,
      todo: `delete the Cluster with "flotilla delete cluster ${name}"`,
    })
  }
  const bundles = await countAssignedBundles(cluster, input)
  const isOffline = cluster.status?.conditions?.some(({ type, status }) => type === 'Available' && status === 'False')
  const what = plural(bundles, 'bundle')
  const sentence = flags.remove
    ? `removes ${what} with all objects (namespaces, CRDs and volumes are kept unless the Bundle says otherwise), then revokes its access`
    : `orphans ${what}, whose objects stay in the cluster, then revokes its access`
  terminal.step('warn', `decommissioning cluster "${name}" ${sentence}`)
  if (isOffline && !flags.forceUnreachable) {
    terminal.step(
      'warn',
      `cluster "${name}" is offline: the hub waits until it reconnects; --force-unreachable does not wait and lists the remaining objects`,
    )
  }
  await askBefore(name, input)
  const decommission = compact({
    policy: flags.remove ? 'Remove' : 'Orphan',
    at: formatTime(systemClock.now()),
    ...compact({ forceUnreachable: flags.forceUnreachable ? true : undefined }),
    reason: flags.reason,
    forgetAfter: flags.forgetAfter,
  })
  await write(cluster, decommission, input)
  terminal.step('ok', `cluster "${name}" is being decommissioned; Placements no longer select it`)
  terminal.step('next', `flotilla get cluster ${name} -o yaml   # condition Decommissioned, status.decommission.left`)
  terminal.step('next', `flotilla cluster decommission ${name} --undo   # until the access is revoked`)
}

async function undo(cluster: Cluster, input: DecommissionInput): Promise<void> {
  const { name } = cluster.metadata
  if (!cluster.spec.decommission) return input.terminal.step('ok', `cluster "${name}" is not being decommissioned`)
  if (cluster.spec.refused) {
    throw new CliError(EXIT.conflict, {
      what: `cluster "${name}" is already revoked`,
      todo: `accept the cluster again with "flotilla cluster accept ${name}"`,
    })
  }
  await write(cluster, null, input)
  input.terminal.step(
    'ok',
    `cluster "${name}" stays; Placements select it again, and removed Bundles are delivered again`,
  )
}

async function askBefore(name: string, { flags, terminal, confirm, confirmName }: DecommissionInput): Promise<void> {
  if (flags.yes) return
  const question = `decommission cluster "${name}"?`
  if (!terminal.isInteractive) {
    const what = `decommission cluster "${name}"`
    throw new CliError(EXIT.usage, { what, why: 'stdin is not a terminal', todo: 'pass --yes to confirm' })
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
