// Tested by src/cli/commands/cluster/acceptance.test.ts.
/** What both ways of `flotilla cluster add` read from their arguments. */
import type { Client } from '../../../client/client.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { CLUSTERS } from '../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/

/** The name of the cluster. */
export function clusterNameOf(name: string | undefined): string {
  if (name === undefined) throw new CliError(EXIT.usage, { what: 'missing argument NAME' })
  if (NAME.test(name)) return name
  throw new CliError(EXIT.usage, {
    what: `invalid cluster name ${JSON.stringify(name)}: must consist of lower-case letters, digits and dashes, begin and end with a letter or digit, and have at most 63 characters`,
  })
}

/** The values of a repeatable flag, also separated by commas. */
export function listOf(flag: unknown): string[] {
  return ((flag as readonly string[] | undefined) ?? []).flatMap((text) => text.split(','))
}

/** The Cluster of a name; undefined if there is none. */
async function findCluster(name: string, client: Pick<Client, 'get'>): Promise<Cluster | undefined> {
  return await client.get(CLUSTERS, { name }).catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  })
}

/** Refuses a name that a Cluster has. */
export async function refuseTaken(name: string, client: Pick<Client, 'get'>): Promise<void> {
  const found = await findCluster(name, client)
  if (!found) return
  const instead = found.spec.kubeconfigSecret
    ? `to run the agent of this cluster in the cluster, use "flotilla cluster add ${name} --take-over"`
    : `to replace the cluster, first remove it with "flotilla cluster decommission ${name} --orphan"`
  throw new CliError(EXIT.conflict, {
    what: `cluster ${JSON.stringify(name)} already exists`,
    todo: `choose another name; ${instead}`,
  })
}

/** Refuses --take-over for a cluster whose agent the hub does not run. */
export async function requirePushed(name: string, client: Pick<Client, 'get'>): Promise<void> {
  const found = await findCluster(name, client)
  if (found?.spec.kubeconfigSecret) return
  if (!found) {
    throw new CliError(EXIT.notFound, {
      what: `cluster ${JSON.stringify(name)} not found`,
      todo: 'omit --take-over to register a new cluster',
    })
  }
  throw new CliError(EXIT.conflict, {
    what: `the hub does not run the agent of cluster ${JSON.stringify(name)}`,
    why: '--take-over is for a cluster that was registered by its kubeconfig',
  })
}

/** Labels from `KEY=VALUE` texts. */
export function labelsOf(pairs: readonly string[]): Record<string, string> {
  const labels: Record<string, string> = {}
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at <= 0) throw new CliError(EXIT.usage, { what: `invalid --label ${JSON.stringify(pair)}: must be KEY=VALUE` })
    labels[pair.slice(0, at)] = pair.slice(at + 1)
  }
  return labels
}
