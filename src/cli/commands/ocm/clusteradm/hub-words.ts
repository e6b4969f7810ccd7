// Tested by src/cli/commands/ocm/clusteradm/clusteradm.test.ts.
/** `clusteradm init`, `get token` and `accept`. */
import { findObject } from '../../../../client/find-object.ts'
import { isApiError } from '../../../../core/errors.ts'
import { systemIds } from '../../../../core/system-ids.ts'
import { readWholeNumber } from '../../../../core/read-number.ts'
import { CliError, EXIT } from '../../../errors/cli-error.ts'
import { readDuration } from '../../../input/duration-flag.ts'
import { clientOf, namesOf, optionalText, standsFor } from './clusteradm-run.ts'
import type { ClusteradmInput } from './clusteradm-run.ts'
import { MANAGED_CLUSTERS } from './ocm-resources.ts'
import type { ManagedCluster } from './ocm-resources.ts'

const DAY = '24h'
/** Number of clusters that can join with one token. */
const USES = 100

/** Checks that the hub serves Open Cluster Management and prints the line that joins a cluster. */
export async function clusteradmInit(input: ClusteradmInput): Promise<void> {
  const { terminal, connection } = input
  await requireServed(input)
  const token = await createToken(input)
  if (input.flags['output'] === 'json') {
    terminal.data(`${JSON.stringify({ 'hub-token': token, 'hub-apiserver': connection.server })}\n`)
  } else {
    terminal.data(
      'The multicluster hub control plane has been initialized successfully!\n\n' +
        'You can now register cluster(s) to the hub control plane. Log onto those cluster(s) and run the following command:\n\n' +
        `    ${joinLine(input, token)} --wait --cluster-name <cluster_name>\n\n` +
        'Replace <cluster_name> with a cluster name of your choice. For example, cluster1.\n\n',
    )
  }
  standsFor(input, 'flotilla hub run')
}

/** Prints a new token, with which clusters can join. Each cluster waits until a user accepts it. */
export async function clusteradmToken(input: ClusteradmInput): Promise<void> {
  const { terminal, connection } = input
  const token = await createToken(input)
  if (input.flags['output'] === 'json') {
    terminal.data(`${JSON.stringify({ 'hub-token': token, 'hub-apiserver': connection.server })}\n`)
  } else {
    terminal.data(`token=${token}\n`)
    terminal.data(`please log on spoke and run:\n${joinLine(input, token)} --cluster-name <cluster_name>\n`)
  }
  standsFor(input, `flotilla cluster add --pattern '*' --uses ${USES}`)
}

function joinLine({ program, connection }: ClusteradmInput, token: string): string {
  return `${program} join --hub-token ${token} --hub-apiserver ${connection.server}`
}

async function createToken(input: ClusteradmInput): Promise<string> {
  const { inviteCluster } = await import('../../../../hub/join/invite-cluster.ts')
  const terms = { pattern: '*', labels: {}, accept: 'Manual', uses: USES } as const
  const ttlMs = readDuration(optionalText(input.flags, 'expires') ?? DAY, '--expires')
  const ports = { client: clientOf(input), clock: input.clock, ids: systemIds }
  return (await inviteCluster({ ...terms, ttlMs }, ports)).code
}

async function requireServed(input: ClusteradmInput): Promise<void> {
  try {
    await clientOf(input).list(MANAGED_CLUSTERS, { limit: 1 })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw new CliError(EXIT.failed, {
      what: 'the hub does not serve the kinds of Open Cluster Management',
      todo: 'start the hub with "flotilla hub run --dialects ocm"',
    })
  }
}

const LOOK_MS = 500
const DEFAULT_TIMEOUT_S = 300

/** Accepts clusters that wait. With `--wait`, also clusters that have not asked yet. */
export async function clusteradmAccept(input: ClusteradmInput): Promise<void> {
  const { terminal, flags, clock } = input
  const names = namesOf(flags, 'clusters')
  const seconds = readWholeNumber(optionalText(flags, 'timeout') ?? '') ?? DEFAULT_TIMEOUT_S
  const endsAt = clock.monotonicMs() + seconds * 1000
  for (const name of names) {
    const found = await findCluster(name, input, flags['wait'] === true ? endsAt : 0)
    if (found.spec.hubAcceptsClient) {
      terminal.data(`hubAcceptsClient already set for managed cluster ${name}\n`)
    } else {
      const body = { metadata: { uid: found.metadata.uid }, spec: { hubAcceptsClient: true } }
      await clientOf(input).patch(MANAGED_CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
      terminal.data(`set hubAcceptsClient to true for managed cluster ${name}\n`)
    }
    terminal.data(`\n Your managed cluster ${name} has joined the Hub successfully.\n`)
  }
  standsFor(input, names.map((name) => `flotilla cluster accept ${name}`).join(' && '))
}

async function findCluster(name: string, input: ClusteradmInput, endsAt: number): Promise<ManagedCluster> {
  const { clock, signal } = input
  for (;;) {
    const found = await findObject(clientOf(input), MANAGED_CLUSTERS, { name }, signal)
    if (found) return found
    if (clock.monotonicMs() >= endsAt) {
      throw new CliError(EXIT.notFound, {
        what: `managedcluster ${JSON.stringify(name)} not found`,
        why: 'no agent has asked to join with this name',
        todo: `run "${input.program} join --cluster-name ${name}" with a token of "${input.program} get token" where the cluster can be reached, or give --wait`,
      })
    }
    await clock.sleep(LOOK_MS, signal)
  }
}
