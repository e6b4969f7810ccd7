/** `flotilla cluster accept`, `reject` and `revoke`. */
import { compact } from '../../../core/compact.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { formatTime } from '../../../core/time/time.ts'
import { nameSome, plural } from '../../../core/text/name-some.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import { relativeTime } from '../../print/print-time.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { ASSIGNMENTS, CLUSTERS } from '../../api/flotilla-resources.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { ClusterInput } from './add.ts'

export interface AcceptanceInput extends ClusterInput {
  readonly flags: { readonly yes?: boolean; readonly reason?: string }
  readonly confirm: (question: string) => Promise<boolean>
}

/** Accepts a cluster. A cluster that was rejected or revoked needs a confirmation. */
export async function clusterAccept(name: string, input: AcceptanceInput): Promise<void> {
  const { terminal } = input
  const cluster = await getCluster(name, input)
  const { accepted, refused } = cluster.spec
  if (accepted && !refused) return terminal.step('ok', `cluster "${name}" is already accepted`)
  if (refused) {
    const why = refused.reason === undefined ? '' : ` (${refused.reason})`
    await requireConfirmation(
      `accept cluster "${name}", which was ${refused.verdict.toLowerCase()} ${relativeTime(refused.at, systemClock.now())}${why}, with the same key`,
      input,
    )
  }
  await write(cluster, { accepted: true, refused: null }, input)
  terminal.step('ok', `cluster "${name}" accepted; its agent receives a certificate at its next request`)
  terminal.step('next', `flotilla get cluster ${name} -w`)
}

/** Rejects a pending cluster. Its agent asks less often, and its name stays in use. */
export async function clusterReject(name: string, input: AcceptanceInput): Promise<void> {
  const { terminal } = input
  const cluster = await getCluster(name, input)
  const { accepted, refused } = cluster.spec
  if (refused) return terminal.step('ok', `cluster "${name}" is already ${refused.verdict.toLowerCase()}`)
  if (accepted) {
    throw new CliError(EXIT.conflict, {
      what: `cluster "${name}" is already accepted`,
      todo: `revoke its access with "flotilla cluster revoke ${name}"`,
    })
  }
  await write(cluster, { accepted: false, refused: verdict('Rejected', input) }, input)
  terminal.step('ok', `cluster "${name}" rejected; the hub no longer accepts its key`)
  terminal.step('next', `flotilla delete cluster ${name}   # to free the name`)
}

/** Revokes the access of a cluster: its certificates stop working within seconds. Its workloads continue to run. */
export async function clusterRevoke(name: string, input: AcceptanceInput): Promise<void> {
  const { terminal } = input
  const cluster = await getCluster(name, input)
  const { accepted, refused } = cluster.spec
  if (refused?.verdict === 'Revoked') return terminal.step('ok', `cluster "${name}" is already revoked`)
  if (!accepted) {
    throw new CliError(EXIT.conflict, {
      what: `cluster "${name}" is not accepted`,
      todo: `reject it with "flotilla cluster reject ${name}"`,
    })
  }
  const bundles = await countAssignedBundles(cluster, input)
  await requireConfirmation(
    `revoke cluster "${name}": its certificates stop working within seconds, its ${plural(bundles, 'Bundle')} ${bundles === 1 ? 'receives' : 'receive'} no changes, and its workloads continue to run`,
    input,
  )
  await write(cluster, { accepted: false, refused: verdict('Revoked', input) }, input)
  terminal.step('ok', `cluster "${name}" revoked; its workloads continue to run`)
  terminal.step('next', `flotilla cluster accept ${name}   # to accept it again`)
}

/** Gets a cluster by name. */
export async function getCluster(name: string, { connection }: AcceptanceInput): Promise<Cluster> {
  const client = clientOver(connection.rest)
  try {
    return await client.get(CLUSTERS, { name })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const { items } = await client.list(CLUSTERS, { limit: 500 })
    const waiting = items.filter(({ spec }) => !spec.accepted && !spec.refused).map(({ metadata }) => metadata.name)
    throw new CliError(EXIT.notFound, {
      what: `cluster ${JSON.stringify(name)} not found`,
      why:
        waiting.length === 0 ? 'no cluster waits for acceptance' : `waiting for acceptance: ${nameSome(waiting, 10)}`,
      todo:
        didYouMean(
          name,
          items.map(({ metadata }) => metadata.name),
        ) ?? `create a join code with "flotilla cluster add ${name}"`,
    })
  }
}

/** The number of Bundles in the document of a cluster. */
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
  return compact({ verdict: word, at: formatTime(systemClock.now()), reason })
}

async function write({ metadata }: Cluster, spec: object, { connection }: AcceptanceInput): Promise<void> {
  // The uid protects a new cluster of the same name that joined meanwhile.
  const body = { metadata: { uid: metadata.uid }, spec }
  const { name } = metadata
  await clientOver(connection.rest).patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
}
