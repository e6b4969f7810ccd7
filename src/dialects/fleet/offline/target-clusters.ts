// Tested by src/cli/commands/fleet/fleet.contract.test.ts
/** Which Clusters of files a Bundle of Fleet selects. */
import { groupOf, isOfFleet } from '../compile/read-git-repo.ts'
import { DEFAULT_WORKSPACE, WORKSPACE_LABEL } from '../compile/placement.ts'
import { mappedWorkspaces } from '../compile/targets.ts'
import type { FleetBundle } from '../kinds.ts'
import type { BundleNamespaceMapping } from '../registration-kinds.ts'
import { matchesSelector } from '../../../core/text/label-selector.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { compileOrThrow, isSelected } from './on-cluster.ts'

/** A BundleDeployment for each cluster, in the order of the names. */
export function targetClusters(object: UnknownObject, objects: readonly UnknownObject[]): readonly UnknownObject[] {
  const bundle = object as unknown as FleetBundle
  const { name, namespace = DEFAULT_WORKSPACE, labels = {} } = bundle.metadata
  const within = ({ metadata }: UnknownObject): boolean => (metadata.namespace ?? DEFAULT_WORKSPACE) === namespace
  const groups = objects.filter((one) => isOfFleet(one, 'ClusterGroup') && within(one)).map(groupOf)
  const workspace = { groups, aliases: () => [], clusters: [], bundles: [], mappings: mappingsOf(namespace, objects) }
  const written = compileOrThrow(bundle, workspace)
  const reached = [namespace, ...mappedWorkspaces(labels, workspace)]
  return objects
    .filter((one) => one.kind === 'Cluster' && reached.includes(workspaceOf(one)))
    .map((one) => ({ name: one.metadata.name, labels: one.metadata.labels ?? {}, space: workspaceOf(one) }))
    .filter((cluster) => isSelected(written, cluster, workspace) && !isSkipped(written, cluster))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1))
    .map(({ name: cluster, space }) => ({
      apiVersion: bundle.apiVersion,
      kind: 'BundleDeployment',
      metadata: {
        name: `${name}.${cluster}`,
        namespace,
        labels: {
          'fleet.cattle.io/bundle-name': name,
          'fleet.cattle.io/bundle-namespace': namespace,
          'fleet.cattle.io/cluster': cluster,
          'fleet.cattle.io/cluster-namespace': space,
        },
      },
      bundle: name,
      cluster,
    }))
}

type Written = ReturnType<typeof compileOrThrow>

/** Whether the first customization that matches, or any with AllMatches, says doNotDeploy. */
function isSkipped(
  { compiled }: Written,
  cluster: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): boolean {
  const { variants = [], variantMode } = compiled.spec
  const fits = (one: { readonly clusterSelector?: object; readonly clusters?: readonly string[] }): boolean =>
    (one.clusters === undefined || one.clusters.includes(cluster.name)) &&
    matchesSelector(cluster.labels, one.clusterSelector ?? {})
  const matching = variants.filter((one) => (one.anyOf ?? [one]).some(fits))
  return variantMode === 'First' ? matching[0]?.skip === true : matching.some(({ skip }) => skip === true)
}

function mappingsOf(namespace: string, objects: readonly UnknownObject[]) {
  const namespaces = objects.filter(({ kind, apiVersion }) => kind === 'Namespace' && apiVersion === 'v1')
  return objects
    .filter((one) => isOfFleet(one, 'BundleNamespaceMapping') && one.metadata.namespace === namespace)
    .flatMap((one) => {
      const { bundleSelector, namespaceSelector } = one as unknown as BundleNamespaceMapping
      if (!bundleSelector || !namespaceSelector) return []
      const reached = namespaces.filter(({ metadata }) => matchesSelector(metadata.labels ?? {}, namespaceSelector))
      return [{ bundles: bundleSelector, namespaces: reached.map(({ metadata }) => metadata.name) }]
    })
}

/** Clusters of Fleet are in the namespace of their workspace; those of flotilla.dev have a label. */
function workspaceOf({ apiVersion, metadata }: UnknownObject): string {
  if (apiVersion.startsWith('fleet.cattle.io/')) return metadata.namespace ?? DEFAULT_WORKSPACE
  return metadata.labels?.[WORKSPACE_LABEL] ?? DEFAULT_WORKSPACE
}
