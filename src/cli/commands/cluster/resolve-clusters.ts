/** Clusters that a person names or selects, and a change of what the hub says about them. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { CLUSTERS, listAll } from '../../api/flotilla-resources.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'

/** What commands about some clusters work with. */
export interface ResolveClustersInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: { readonly selector?: string; readonly reason?: string; readonly yes?: boolean }
  readonly confirm: (question: string) => Promise<boolean>
}

/** The clusters with these names, and those with the selector's labels; one that is not there is an error before anything is changed. */
export async function resolveClusters(names: readonly string[], input: ResolveClustersInput): Promise<Cluster[]> {
  const { connection, flags } = input
  const client = clientOver(connection.rest)
  if (names.length === 0 && flags.selector === undefined) {
    throw new CliError(EXIT.usage, { what: 'which clusters?', todo: 'give their names, or -l key=value' })
  }
  const found = flags.selector === undefined ? [] : await listAll(client, CLUSTERS, { labelSelector: flags.selector })
  if (flags.selector !== undefined && found.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no cluster has labels ${flags.selector}`,
      todo: `see: flotilla get clusters --show-labels`,
    })
  }
  for (const name of names) {
    if (found.some(({ metadata }) => metadata.name === name)) continue
    try {
      found.push(await client.get(CLUSTERS, { name }))
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      const all = await listAll(client, CLUSTERS)
      throw new CliError(EXIT.notFound, {
        what: `there is no cluster ${JSON.stringify(name)}; nothing was changed`,
        todo:
          didYouMean(
            name,
            all.map(({ metadata }) => metadata.name),
          ) ?? `see: flotilla get clusters`,
      })
    }
  }
  return found
}

/** One cluster is easily undone; many are asked about. */
export async function confirmMany(
  clusters: readonly Cluster[],
  what: string,
  input: ResolveClustersInput,
): Promise<void> {
  if (clusters.length === 1) return
  const some = clusters
    .slice(0, 3)
    .map(({ metadata }) => metadata.name)
    .join(', ')
  await requireConfirmation(`${what} ${clusters.length} clusters (${some}${clusters.length > 3 ? ', …' : ''})`, input)
}

/** Changes fields of a Cluster's spec; one that was made anew meanwhile is another cluster. */
export async function writeClusterSpec(
  { metadata }: Cluster,
  spec: object,
  { connection }: Pick<ResolveClustersInput, 'connection'>,
): Promise<void> {
  const { name, uid } = metadata
  const body = { metadata: { uid }, spec }
  await clientOver(connection.rest).patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
}
