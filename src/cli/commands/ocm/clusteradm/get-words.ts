// Tested by src/cli/commands/ocm/clusteradm/clusteradm.test.ts.
/** `clusteradm get clusters`, `works` and `placements`, with the columns of Open Cluster Management. */
import { findCondition } from '../../../../core/conditions.ts'
import type { KubeObject } from '../../../../kinds/meta.ts'
import { writeYaml } from '../../../../yaml/write/write-yaml.ts'
import { listAll } from '../../../api/flotilla-resources.ts'
import { createTablePrinter } from '../../../print/table.ts'
import { clientOf, namesOf, standsFor } from './clusteradm-run.ts'
import type { ClusteradmInput } from './clusteradm-run.ts'
import { CLUSTER_SET_LABEL, DECISIONS, MANAGED_CLUSTERS, PLACEMENTS, PLACEMENT_LABEL, WORKS } from './ocm-resources.ts'
import type { ManagedCluster, ManifestWork, OcmPlacement } from './ocm-resources.ts'
import { treeText } from './tree-text.ts'

/** Columns of a kind, with the path of each in the tree. */
interface Shown<T> {
  readonly kind: string
  /** The name of an object in the tree. Defaults to its name. */
  readonly nameOf?: (object: T) => string
  readonly columns: readonly string[]
  readonly cells: (object: T) => readonly unknown[]
  /** The lines of an object in the tree; a dot begins a level. */
  readonly tree: (object: T) => readonly (readonly [path: string, value: unknown])[]
}

/** Prints the ManagedClusters. */
export async function getClusters(input: ClusteradmInput): Promise<void> {
  const set = input.flags['clusterset']
  const all = await listAll(clientOf(input), MANAGED_CLUSTERS)
  const clusters = all.filter(({ metadata }) => set === undefined || metadata.labels?.[CLUSTER_SET_LABEL] === set)
  const facts = ({ metadata, spec, status }: ManagedCluster) => ({
    accepted: spec.hubAcceptsClient,
    available: findCondition(status?.conditions, 'ManagedClusterConditionAvailable')?.status ?? '',
    set: metadata.labels?.[CLUSTER_SET_LABEL] ?? '',
    cpu: resource(status?.capacity, 'cpu'),
    memory: resource(status?.capacity, 'memory'),
    version: status?.version?.kubernetes ?? '',
  })
  print(input, clusters, {
    kind: 'ManagedCluster',
    columns: ['Name', 'Accepted', 'Available', 'ClusterSet', 'CPU', 'Memory', 'Kubernetes Version'],
    cells: (one) => {
      const { accepted, available, set: own, cpu, memory, version } = facts(one)
      return [one.metadata.name, accepted, available, own, cpu, memory, version]
    },
    tree: (one) => {
      const { accepted, available, set: own, cpu, memory, version } = facts(one)
      return [
        ['Accepted', accepted],
        ['Available', available],
        ['Capacity.Cpu', cpu],
        ['Capacity.Memory', memory],
        ['ClusterSet', own],
        ['KubernetesVersion', version],
      ]
    },
  })
  standsFor(input, 'flotilla get clusters')
}

function resource(capacity: unknown, name: string): string {
  const value = (capacity as Record<string, unknown> | undefined)?.[name]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

/** Prints the ManifestWorks of clusters. */
export async function getWorks(name: string | undefined, input: ClusteradmInput): Promise<void> {
  const client = clientOf(input)
  const works: ManifestWork[] = []
  for (const cluster of namesOf(input.flags, 'clusters')) {
    await client.get(MANAGED_CLUSTERS, { name: cluster })
    const { items } = await client.list(WORKS, { namespace: cluster })
    works.push(...items.filter(({ metadata }) => name === undefined || metadata.name === name))
  }
  const status = ({ status: own }: ManifestWork, type: string) => findCondition(own?.conditions, type)?.status ?? ''
  const count = ({ spec }: ManifestWork) => spec.workload?.manifests?.length ?? 0
  print(input, works, {
    kind: 'ManifestWork',
    columns: ['Name', 'Cluster', 'Number Of Manifests', 'Applied', 'Available'],
    cells: (work) => [
      work.metadata.name,
      work.metadata.namespace,
      count(work),
      status(work, 'Applied'),
      status(work, 'Available'),
    ],
    tree: (work) => [
      ['Cluster', work.metadata.namespace],
      ['Number of Manifests', count(work)],
      ['Applied', status(work, 'Applied')],
      ['Available', status(work, 'Available')],
    ],
  })
  standsFor(input, 'flotilla get deliveries -A')
}

/** Prints the Placements of Open Cluster Management with the clusters that they select. */
export async function getPlacements(name: string | undefined, input: ClusteradmInput): Promise<void> {
  const client = clientOf(input)
  const namespace = input.flags['namespace']
  const isWanted = ({ metadata }: KubeObject) => namespace === undefined || metadata.namespace === namespace
  const placements = (await listAll(client, PLACEMENTS)).filter(
    (one) => isWanted(one) && (name === undefined || one.metadata.name === name),
  )
  const selected = new Map<string, string[]>()
  for (const { metadata, status } of (await listAll(client, DECISIONS)).filter(isWanted)) {
    const key = `${metadata.namespace}/${metadata.labels?.[PLACEMENT_LABEL]}`
    const clusters = (status?.decisions ?? []).map(({ clusterName }) => clusterName)
    selected.set(key, [...(selected.get(key) ?? []), ...clusters])
  }
  const clustersOf = ({ metadata }: OcmPlacement) => selected.get(`${metadata.namespace}/${metadata.name}`) ?? []
  const satisfied = ({ status }: OcmPlacement) => findCondition(status?.conditions, 'PlacementSatisfied')
  print(input, placements, {
    kind: 'Placement',
    columns: ['Name', 'Status', 'Reason', 'SeletedClusters'],
    cells: (one) => [
      one.metadata.name,
      satisfied(one)?.status ?? 'Unknown',
      satisfied(one)?.reason ?? '',
      clustersOf(one).join(','),
    ],
    tree: (one) => [
      ['ClusterSet', (one.spec?.clusterSets ?? []).join(',')],
      ['Namespace', one.metadata.namespace],
      ['PlacementDecision', clustersOf(one).join(',') || 'NoClusterSelected'],
      ['Status.NumberOfSelectedClusters', one.status?.numberOfSelectedClusters ?? 0],
      ['Status.Satisfied', satisfied(one)?.status ?? 'Unknown'],
      ['Status.Reason', satisfied(one)?.reason ?? ''],
    ],
  })
  standsFor(input, 'flotilla get placements.cluster.open-cluster-management.io -A')
}

/** Prints objects as a tree, as a table or as YAML. */
export function print<T extends KubeObject>(
  { terminal, flags }: ClusteradmInput,
  objects: readonly T[],
  { kind, columns, cells, tree, nameOf = ({ metadata }) => metadata.name }: Shown<T>,
): void {
  if (flags['output'] === 'yaml') {
    return terminal.data(objects.map((object) => writeYaml(object)).join('---\n'))
  }
  if (flags['output'] === 'table') {
    const printTable = createTablePrinter({ wide: false, withNamespace: false, withHeaders: true })
    return terminal.data(
      printTable({
        columnDefinitions: columns.map((name) => ({ name, type: 'string', priority: 0 })),
        rows: objects.map((object) => ({ cells: cells(object) })),
        metadata: {},
      }),
    )
  }
  terminal.data(treeText(kind, new Map(objects.map((object) => [nameOf(object), tree(object)]))))
}
