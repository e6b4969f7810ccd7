/** Finds the clusters of a command by name or label, and changes them. */
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { CLUSTERS, listAll } from '../../api/flotilla-resources.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'

export interface ResolveClustersInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: { readonly selector?: string; readonly reason?: string; readonly yes?: boolean }
  readonly confirm: (question: string) => Promise<boolean>
}

/** The clusters with these names and with the labels of the selector. Fails before any change if a name is unknown. */
export async function resolveClusters(names: readonly string[], input: ResolveClustersInput): Promise<Cluster[]> {
  const { connection, flags } = input
  const client = clientOver(connection.rest)
  if (names.length === 0 && flags.selector === undefined) {
    throw new CliError(EXIT.usage, {
      what: 'missing argument NAME or -l',
      todo: 'give names of clusters, or a label selector with -l KEY=VALUE',
    })
  }
  const found = flags.selector === undefined ? [] : await listAll(client, CLUSTERS, { labelSelector: flags.selector })
  if (flags.selector !== undefined && found.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no cluster matches the selector ${JSON.stringify(flags.selector)}`,
      todo: 'list the labels with "flotilla get clusters --show-labels"',
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
        what: `cluster ${JSON.stringify(name)} not found; nothing was changed`,
        todo:
          didYouMean(
            name,
            all.map(({ metadata }) => metadata.name),
          ) ?? 'list clusters with "flotilla get clusters"',
      })
    }
  }
  return found
}

/** Asks for confirmation if there are several clusters. */
export async function confirmMany(
  clusters: readonly Cluster[],
  what: string,
  input: ResolveClustersInput,
): Promise<void> {
  if (clusters.length === 1) return
  const names = nameSome(clusters.map(({ metadata }) => metadata.name))
  await requireConfirmation(`${what} ${clusters.length} clusters (${names})`, input)
}

/** Changes the spec of a Cluster. The uid protects a new cluster of the same name that joined meanwhile. */
export async function writeClusterSpec(
  { metadata }: Cluster,
  spec: object,
  { connection }: Pick<ResolveClustersInput, 'connection'>,
): Promise<void> {
  const { name, uid } = metadata
  const body = { metadata: { uid }, spec }
  await clientOver(connection.rest).patch(CLUSTERS, { name }, { type: 'merge', body }, { fieldManager: 'flotilla-cli' })
}
