/** The fields of Open Cluster Management's cluster kinds, and how exactly they are supported. */
import { exact, near, warned } from '../field-table.ts'
import type { Fields } from '../field-table.ts'

/** ManagedCluster.spec. */
export const MANAGED_CLUSTER: Fields = {
  hubAcceptsClient: near(
    'flag',
    '`true` accepts the Cluster. `false` after `true` revokes it: its certificates end, and what runs stays.',
  ),
  leaseDurationSeconds: near(
    'int',
    'A fifth of `offlineAfterSeconds` of the Cluster: a cluster is late after five lease durations.',
  ),
  taints: exact(
    {
      items: {
        key: exact('text', ''),
        value: exact('text', ''),
        effect: exact('text', ''),
        timeAdded: exact('text', 'Set by the hub where it is missing.'),
      },
    },
    'Taints of the Cluster. The taints `unavailable` and `unreachable` of Open Cluster Management are on the ManagedCluster only.',
  ),
  managedClusterClientConfigs: warned('maps', 'Stored and shown, and not used: the hub never connects to a cluster.'),
}

/** ManagedClusterSet.spec. */
export const MANAGED_CLUSTER_SET: Fields = {
  clusterSelector: exact(
    {
      selectorType: exact('text', '`ExclusiveClusterSetLabel` or `LabelSelector`.'),
      labelSelector: exact('selector', 'For the type `LabelSelector`.'),
    },
    'Members of the set. The sets `default` and `global` always exist.',
  ),
  managedNamespaces: warned(
    'maps',
    'No effect: the hub creates no namespaces on the clusters of a set. Condition `FieldsHonored` says so.',
  ),
}

/** Placement.spec. */
export const OCM_PLACEMENT: Fields = {
  clusterSets: exact('texts', 'Intersected with the sets that are bound to the namespace.'),
  numberOfClusters: exact('int', 'The best clusters, by score and then by name.'),
  predicates: near(
    'maps',
    'Label, claim and CEL selectors as in Open Cluster Management. A mistake keeps the last good decisions instead of emptying them.',
  ),
  tolerations: near('maps', 'As in Open Cluster Management. A mistake keeps the last good decisions.'),
  prioritizerPolicy: near('map', 'As in Open Cluster Management. A mistake keeps the last good decisions.'),
  decisionStrategy: near('map', 'Decision groups with their labels. A mistake keeps the last good decisions.'),
  spreadPolicy: near('map', 'Spread constraints are kept; Open Cluster Management ignores them.'),
  sortBy: warned('text', 'No effect, as in Open Cluster Management.'),
}
