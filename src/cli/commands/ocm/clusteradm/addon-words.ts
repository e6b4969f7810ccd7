// Tested by src/cli/commands/ocm/clusteradm/clusteradm.test.ts.
/** `clusteradm addon enable|disable` and `get addons`. */
import { findCondition } from '../../../../core/conditions.ts'
import { isApiError } from '../../../../core/errors.ts'
import { apiVersionOf } from '../../../../kinds/meta.ts'
import { listAll } from '../../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../../errors/cli-error.ts'
import { clientOf, namesOf, optionalText, standsFor } from './clusteradm-run.ts'
import type { ClusteradmInput } from './clusteradm-run.ts'
import { print } from './get-words.ts'
import { ADDONS, INSTALLED_ADDONS, MANAGED_CLUSTERS } from './ocm-resources.ts'
import type { InstalledAddon } from './ocm-resources.ts'

const WRITE = { fieldManager: 'flotilla-cli' }
const DEFAULT_NAMESPACE = 'open-cluster-management-agent-addon'

/** Installs add-ons on clusters. */
export async function enableAddons(input: ClusteradmInput): Promise<void> {
  const { terminal, flags } = input
  const client = clientOf(input)
  const namespace = optionalText(flags, 'namespace')
  const [labels, annotations] = [pairsOf(flags, 'labels'), pairsOf(flags, 'annotate')]
  for (const addon of namesOf(flags, 'names')) {
    await client.get(ADDONS, { name: addon })
    for (const cluster of namesOf(flags, 'clusters')) {
      await client.get(MANAGED_CLUSTERS, { name: cluster })
      const object: InstalledAddon = {
        apiVersion: apiVersionOf(INSTALLED_ADDONS),
        kind: INSTALLED_ADDONS.kind,
        metadata: { name: addon, namespace: cluster, labels, annotations },
        spec: namespace === undefined ? {} : { installNamespace: namespace },
      }
      try {
        await client.create(INSTALLED_ADDONS, object, WRITE)
      } catch (caught) {
        if (!isApiError(caught, 'AlreadyExists')) throw caught
        const { metadata, spec } = object
        const body = { metadata: { labels: metadata.labels, annotations: metadata.annotations }, spec }
        await client.patch(INSTALLED_ADDONS, { name: addon, namespace: cluster }, { type: 'merge', body }, WRITE)
      }
      terminal.data(
        `Deploying ${addon} add-on to namespaces ${namespace ?? DEFAULT_NAMESPACE} of managed cluster: ${cluster}.\n`,
      )
    }
  }
  standsFor(input, 'flotilla apply -f FILE with a ManagedClusterAddOn')
}

/** Removes add-ons from clusters. */
export async function disableAddons(input: ClusteradmInput): Promise<void> {
  const { terminal, flags } = input
  const client = clientOf(input)
  const isAll = flags['allClusters'] === true
  const clusters = isAll
    ? (await listAll(client, MANAGED_CLUSTERS)).map(({ metadata }) => metadata.name)
    : namesOf(flags, 'clusters')
  for (const addon of namesOf(flags, 'names')) {
    for (const cluster of clusters) {
      try {
        await client.delete(INSTALLED_ADDONS, { name: addon, namespace: cluster })
        terminal.data(`Undeploying ${addon} add-on in managed cluster: ${cluster}.\n`)
      } catch (caught) {
        if (!isApiError(caught, 'NotFound')) throw caught
        if (!isAll) terminal.data(`No ${addon} add-on in managed cluster: ${cluster}.\n`)
      }
    }
  }
  standsFor(input, 'flotilla delete managedclusteraddon NAME -n CLUSTER')
}

/** Prints the add-ons of clusters. */
export async function getAddons(name: string | undefined, input: ClusteradmInput): Promise<void> {
  const given = input.flags['clusters']
  const wanted = given === undefined ? undefined : new Set(namesOf(input.flags, 'clusters'))
  const addons = (await listAll(clientOf(input), INSTALLED_ADDONS)).filter(
    ({ metadata }) =>
      (name === undefined || metadata.name === name) && (!wanted || wanted.has(metadata.namespace ?? '')),
  )
  const status = ({ status: own }: InstalledAddon, type: string) => findCondition(own?.conditions, type)?.status ?? ''
  print(input, addons, {
    kind: 'ManagedClusterAddOn',
    columns: ['Name', 'Cluster', 'Available', 'Degraded', 'Progressing'],
    nameOf: ({ metadata }) => `${metadata.namespace ?? ''}/${metadata.name}`,
    cells: (one) => [
      one.metadata.name,
      one.metadata.namespace,
      ...['Available', 'Degraded', 'Progressing'].map((type) => status(one, type)),
    ],
    tree: (one) => [
      ['Available', status(one, 'Available')],
      ['Configured', findCondition(one.status?.conditions, 'Configured')?.message ?? ''],
      ['Progressing', status(one, 'Progressing')],
    ],
  })
  standsFor(input, 'flotilla get managedclusteraddons -A')
}

/** `--labels a=b,c=d`. */
function pairsOf(flags: ClusteradmInput['flags'], flag: string): Record<string, string> {
  const given = flags[flag]
  const texts = (Array.isArray(given) ? given.map(String) : []).flatMap((text) => text.split(','))
  return Object.fromEntries(
    texts.map((text) => {
      const at = text.indexOf('=')
      if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
      throw new CliError(EXIT.usage, { what: `invalid --${flag} ${JSON.stringify(text)}`, todo: 'write KEY=VALUE' })
    }),
  )
}
