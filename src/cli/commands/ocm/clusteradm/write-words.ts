// Tested by src/cli/commands/ocm/clusteradm/clusteradm.test.ts.
/** `clusteradm clusterset bind|set|unbind` and `create placement|work`. */
import { findObject } from '../../../../client/find-object.ts'
import { compact } from '../../../../core/compact.ts'
import { isApiError } from '../../../../core/errors.ts'
import { isObject } from '../../../../core/json.ts'
import type { JsonObject } from '../../../../core/json.ts'
import { readWholeNumber } from '../../../../core/read-number.ts'
import { apiVersionOf } from '../../../../kinds/meta.ts'
import { readYaml } from '../../../../yaml/read/read-yaml.ts'
import { YamlError } from '../../../../yaml/yaml.ts'
import { listAll } from '../../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../../errors/cli-error.ts'
import { readText } from '../../../input/read-text-file.ts'
import { requirementsOf } from '../../../input/selector-flag.ts'
import { clientOf, namesOf, optionalText, standsFor } from './clusteradm-run.ts'
import type { ClusteradmInput } from './clusteradm-run.ts'
import {
  CLUSTER_SETS,
  CLUSTER_SET_LABEL,
  DECISIONS,
  MANAGED_CLUSTERS,
  PLACEMENTS,
  PLACEMENT_LABEL,
  REPLICA_SETS,
  SET_BINDINGS,
  WORKS,
} from './ocm-resources.ts'
import type { OcmPlacement } from './ocm-resources.ts'

const WRITE = { fieldManager: 'flotilla-cli' }

/** Binds a set to a namespace, whose Placements can then select from the set. */
export async function bindSet(set: string, input: ClusteradmInput): Promise<void> {
  const { terminal } = input
  const namespace = namespaceOf(input)
  const client = clientOf(input)
  await client.get(CLUSTER_SETS, { name: set })
  const binding = {
    apiVersion: apiVersionOf(SET_BINDINGS),
    kind: SET_BINDINGS.kind,
    metadata: { name: set, namespace },
    spec: { clusterSet: set },
  }
  try {
    await client.create(SET_BINDINGS, binding, WRITE)
    terminal.data(`Clusterset ${set} is bound to Namespace ${namespace}\n`)
  } catch (caught) {
    if (!isApiError(caught, 'AlreadyExists')) throw caught
    terminal.data(`Clusterset ${set} is already bound to Namespace ${namespace}\n`)
  }
  standsFor(input, 'flotilla apply -f FILE with a ManagedClusterSetBinding')
}

/** Removes the binding of a set to a namespace. */
export async function unbindSet(set: string, input: ClusteradmInput): Promise<void> {
  const namespace = namespaceOf(input)
  const client = clientOf(input)
  await client.get(CLUSTER_SETS, { name: set })
  try {
    await client.delete(SET_BINDINGS, { name: set, namespace })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
  }
  input.terminal.data(`Clusterset ${set} is unbind from namespace ${namespace}\n`)
  standsFor(input, `flotilla delete managedclustersetbinding ${set} -n ${namespace}`)
}

/** Moves clusters into a set. */
export async function setClusters(set: string, input: ClusteradmInput): Promise<void> {
  const { terminal } = input
  const client = clientOf(input)
  await client.get(CLUSTER_SETS, { name: set })
  for (const name of namesOf(input.flags, 'clusters')) {
    const { metadata } = await client.get(MANAGED_CLUSTERS, { name })
    const before = metadata.labels?.[CLUSTER_SET_LABEL]
    if (before === set) {
      terminal.data(`Cluster ${name} is already in Clusterset ${set}\n`)
      continue
    }
    const body = { metadata: { uid: metadata.uid, labels: { [CLUSTER_SET_LABEL]: set } } }
    await client.patch(MANAGED_CLUSTERS, { name }, { type: 'merge', body }, WRITE)
    terminal.data(
      before === undefined
        ? `Cluster ${name} is set to Clusterset ${set}\n`
        : `Cluster ${name} is set, from ClusterSet ${before} to Clusterset ${set}\n`,
    )
  }
  standsFor(input, `kubectl label managedcluster NAME ${CLUSTER_SET_LABEL}=${set}`)
}

/** Creates a Placement of Open Cluster Management. */
export async function createPlacement(name: string, input: ClusteradmInput): Promise<void> {
  const { flags, terminal } = input
  const namespace = namespaceOf(input)
  const client = clientOf(input)
  const clusterSets = flags['clustersets'] === undefined ? [] : namesOf(flags, 'clustersets')
  for (const set of clusterSets) await client.get(SET_BINDINGS, { name: set, namespace })
  const selectors = (flags['labelSelectors'] as readonly string[] | undefined) ?? []
  const given = optionalText(flags, 'count')
  const count = given === undefined ? undefined : readWholeNumber(given)
  if (given !== undefined && count === undefined) {
    throw new CliError(EXIT.usage, {
      what: `invalid --count ${JSON.stringify(given)}: must be a number of clusters`,
    })
  }
  const spec: OcmPlacement['spec'] = compact({
    clusterSets: clusterSets.length > 0 ? [...clusterSets] : undefined,
    numberOfClusters: count === undefined || count === 0 ? undefined : count,
    predicates:
      selectors.length === 0
        ? undefined
        : selectors.map((selector) => ({
            requiredClusterSelector: { labelSelector: { matchExpressions: requirementsOf(selector) } },
          })),
  })
  const present = await findObject(client, PLACEMENTS, { name, namespace })
  if (!present) {
    const metadata = { name, namespace }
    const placement = { apiVersion: apiVersionOf(PLACEMENTS), kind: PLACEMENTS.kind, metadata, spec }
    await client.create(PLACEMENTS, placement, WRITE)
    terminal.data(`Placement '${name}' has been created in '${namespace}' namespace\n`)
  } else {
    requireOverwrite(flags, `placement ${name}`)
    await client.update(PLACEMENTS, { ...present, spec }, WRITE)
    terminal.data(`Placement '${name}' of '${namespace}' namespace has been updated\n`)
  }
  standsFor(input, 'flotilla apply -f FILE with a Placement')
}

/** Creates a ManifestWork with the objects of files in the namespaces of clusters, or a set of them for a Placement. */
export async function createWork(name: string, input: ClusteradmInput): Promise<void> {
  const { flags, terminal } = input
  if (flags['replicaset'] === true) return createReplicaSet(name, input)
  const client = clientOf(input)
  const manifests = await readManifests((flags['filename'] as readonly string[] | undefined) ?? [])
  for (const namespace of await clustersOf(input)) {
    const present = await findObject(client, WORKS, { name, namespace })
    const spec = { workload: { manifests } }
    if (!present) {
      const metadata = { name, namespace }
      await client.create(WORKS, { apiVersion: apiVersionOf(WORKS), kind: WORKS.kind, metadata, spec }, WRITE)
      terminal.data(`create work ${name} in cluster ${namespace}\n`)
    } else if (flags['overwrite'] === true) {
      await client.update(WORKS, { ...present, spec: { ...present.spec, ...spec } }, WRITE)
      terminal.data(`update work ${name} in cluster ${namespace}\n`)
    } else terminal.data(`work ${name} in cluster ${namespace} already exists\n`)
  }
  standsFor(input, 'flotilla apply -f FILE with a Bundle and a Placement')
}

/** Creates a ManifestWorkReplicaSet beside the Placement, which clusters that are selected later get, too. */
async function createReplicaSet(name: string, input: ClusteradmInput): Promise<void> {
  const { flags, terminal } = input
  if (flags['clusters'] !== undefined) {
    throw new CliError(EXIT.usage, { what: '--clusters and --replicaset exclude each other', todo: 'give --placement' })
  }
  const { namespace, name: placement } = placementOf(flags)
  const client = clientOf(input)
  const manifests = await readManifests((flags['filename'] as readonly string[] | undefined) ?? [])
  await client.get(PLACEMENTS, { namespace, name: placement })
  const spec = {
    manifestWorkTemplate: { workload: { manifests } },
    placementRefs: [{ name: placement, rolloutStrategy: { type: 'All' } }],
  }
  const present = await findObject(client, REPLICA_SETS, { name, namespace })
  if (!present) {
    const set = { apiVersion: apiVersionOf(REPLICA_SETS), kind: REPLICA_SETS.kind, metadata: { name, namespace }, spec }
    await client.create(REPLICA_SETS, set, WRITE)
    terminal.data(`create manifestworkreplicaset ${name} in namespace ${namespace}\n`)
  } else if (flags['overwrite'] === true) {
    const template = { ...present.spec.manifestWorkTemplate, ...spec.manifestWorkTemplate }
    await client.update(REPLICA_SETS, { ...present, spec: { ...present.spec, manifestWorkTemplate: template } }, WRITE)
    terminal.data(`update manifestworkreplicaset ${name} in namespace ${namespace}\n`)
  } else terminal.data(`manifestworkreplicaset ${name} in namespace ${namespace} already exists\n`)
  standsFor(input, 'flotilla apply -f FILE with a Bundle and a Placement')
}

/** The Placement of `--placement`. */
function placementOf(flags: ClusteradmInput['flags']): { readonly namespace: string; readonly name: string } {
  const placement = flags['placement'] as string | undefined
  if (placement === undefined) {
    throw new CliError(EXIT.usage, { what: 'missing --placement', todo: 'give --placement NAMESPACE/NAME' })
  }
  const [namespace = '', name = '', ...more] = placement.split('/')
  if (namespace === '' || name === '' || more.length > 0) {
    throw new CliError(EXIT.usage, {
      what: `invalid --placement ${JSON.stringify(placement)}: must be NAMESPACE/NAME`,
    })
  }
  return { namespace, name }
}

async function clustersOf(input: ClusteradmInput): Promise<readonly string[]> {
  const { flags } = input
  const placement = flags['placement'] as string | undefined
  if ((placement === undefined) === (flags['clusters'] === undefined)) {
    throw new CliError(EXIT.usage, {
      what:
        placement === undefined ? 'missing --clusters or --placement' : '--clusters and --placement exclude each other',
      todo: 'give --clusters NAME,NAME, or --placement NAMESPACE/NAME',
    })
  }
  if (placement === undefined) return namesOf(flags, 'clusters')
  const { namespace, name } = placementOf(flags)
  const client = clientOf(input)
  await client.get(PLACEMENTS, { namespace, name })
  const labelSelector = `${PLACEMENT_LABEL}=${name}`
  const pages = await listAll(client, DECISIONS, { namespace, labelSelector })
  return pages.flatMap(({ status }) => (status?.decisions ?? []).map(({ clusterName }) => clusterName))
}

async function readManifests(files: readonly string[]): Promise<JsonObject[]> {
  if (files.length === 0) throw new CliError(EXIT.usage, { what: 'missing -f: manifest files must be specified' })
  const manifests: JsonObject[] = []
  for (const file of files) {
    try {
      const values = readYaml(await readText(file), { file }).map(({ value }) => value)
      manifests.push(...values.filter((value): value is JsonObject => isObject(value)))
    } catch (caught) {
      if (!(caught instanceof YamlError)) throw caught
      throw new CliError(EXIT.usage, { where: file, what: 'cannot read the manifests', why: caught.message })
    }
  }
  return manifests
}

function namespaceOf({ flags }: ClusteradmInput): string {
  return typeof flags['namespace'] === 'string' ? flags['namespace'] : 'default'
}

function requireOverwrite(flags: ClusteradmInput['flags'], what: string): void {
  if (flags['overwrite'] === true) return
  throw new CliError(EXIT.conflict, { what: `${what} already exists`, todo: 'give --overwrite to replace its spec' })
}
