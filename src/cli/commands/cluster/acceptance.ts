/** `flotilla cluster accept`, `reject` and `revoke`. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { ASSIGNMENTS, CLUSTERS } from '../../api/flotilla-resources.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { ClusterInput } from './add.ts'

/** What these commands work with besides the connection. */
export interface AcceptanceInput extends ClusterInput {
  readonly flags: { readonly yes?: boolean; readonly reason?: string }
  readonly confirm: (question: string) => Promise<boolean>
}

/** Accepts a pending cluster; one that was turned away comes back only when a person says so twice. */
export async function clusterAccept(name: string, input: AcceptanceInput): Promise<void> {
  const { terminal } = input
  const cluster = await getCluster(name, input)
  const { accepted, refused } = cluster.spec
  if (accepted && !refused) return terminal.step('ok', `cluster ${name} was accepted already`)
  if (refused) {
    const why = refused.reason === undefined ? '' : ` (${refused.reason})`
    await requireConfirmation(
      `cluster ${name} was ${refused.verdict.toLowerCase()} at ${refused.at}${why}; accepting trusts the same key again`,
      input,
    )
  }
  await write(cluster, { accepted: true, refused: null }, input)
  terminal.step('ok', `cluster ${name} accepted; its agent gets a certificate when it asks again`)
  terminal.step('next', `flotilla get cluster ${name} -w`)
}

/** Turns a pending cluster away: its agent stops asking every few seconds, and its name stays taken. */
export async function clusterReject(name: string, input: AcceptanceInput): Promise<void> {
  const { terminal } = input
  const cluster = await getCluster(name, input)
  const { accepted, refused } = cluster.spec
  if (refused) return terminal.step('ok', `cluster ${name} was ${refused.verdict.toLowerCase()} already`)
  if (accepted) {
    throw new CliError(EXIT.conflict, {
      what: `cluster ${name} is accepted, so there is nothing to reject`,
      todo: `to take its access away: flotilla cluster revoke ${name}`,
    })
  }
  await write(cluster, { accepted: false, refused: verdict('Rejected', input) }, input)
  terminal.step('ok', `cluster ${name} rejected; its key opens nothing here`)
  terminal.step('next', `to free the name: flotilla delete cluster ${name}`)
}

/** Takes a cluster's access away: certificates stop working and streams end within seconds; what runs there stays. */
export async function clusterRevoke(name: string, input: AcceptanceInput): Promise<void> {
  const { terminal } = input
  const cluster = await getCluster(name, input)
  const { accepted, refused } = cluster.spec
  if (refused?.verdict === 'Revoked') return terminal.step('ok', `cluster ${name} was revoked already`)
  if (!accepted) {
    throw new CliError(EXIT.conflict, {
      what: `cluster ${name} is not accepted, so there is nothing to revoke`,
      todo: `to turn it away: flotilla cluster reject ${name}`,
    })
  }
  const bundles = await countAssignedBundles(cluster, input)
  const content = bundles === 1 ? 'its 1 bundle gets' : `its ${bundles} bundles get`
  await requireConfirmation(
    `revoking ${name} cuts 1 cluster off: its certificates stop working within seconds and ${content} no more changes; what runs there stays`,
    input,
  )
  await write(cluster, { accepted: false, refused: verdict('Revoked', input) }, input)
  terminal.step('ok', `cluster ${name} revoked; what runs there stays as it is`)
  terminal.step('next', `to let it in again: flotilla cluster accept ${name}`)
}

/** The cluster of a name, or an error that helps. */
export async function getCluster(name: string, { connection }: AcceptanceInput): Promise<Cluster> {
  const client = clientOver(connection.rest)
  try {
    return await client.get(CLUSTERS, { name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const { items } = await client.list(CLUSTERS, { limit: 500 })
    const waiting = items.filter(({ spec }) => !spec.accepted && !spec.refused).map(({ metadata }) => metadata.name)
    throw new CliError(EXIT.notFound, {
      what: `no cluster ${JSON.stringify(name)} has asked to join`,
      why: waiting.length === 0 ? 'none is waiting' : `waiting: ${waiting.slice(0, 10).join(', ')}`,
      todo:
        didYouMean(
          name,
          items.map(({ metadata }) => metadata.name),
        ) ?? `invite it: flotilla cluster add ${name}`,
    })
  }
}

/** How many bundles the cluster's document has. */
export async function countAssignedBundles({ metadata }: Cluster, { connection }: AcceptanceInput): Promise<number> {
  try {
    const { spec } = await clientOver(connection.rest).get(ASSIGNMENTS, { name: metadata.name })
    return spec.entries?.length ?? 0
  } catch (caught) {
    if (isApiError(caught, 'NotFound')) return 0
    throw caught
  }
}

function verdict(word: 'Rejected' | 'Revoked', { flags }: AcceptanceInput) {
  const { reason } = flags
  return { verdict: word, at: formatTime(systemClock.now()), ...(reason === undefined ? {} : { reason }) }
}

async function write({ metadata }: Cluster, spec: object, { connection }: AcceptanceInput): Promise<void> {
  // The uid: a cluster that was deleted and joined again meanwhile is another one, and was not meant.
  const body = { metadata: { uid: metadata.uid }, spec }
  const { name } = metadata
  await clientOver(connection.rest).patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
}
