// Tested by src/dialects/karmada/docs-page.test.ts
/** The fields of Karmada's policies, and how exactly they are supported: the tables of docs/dialects/karmada.md. */
import { exact, near, refused, warned } from '../field-table.ts'
import type { Fields } from '../field-table.ts'

const AFFINITY: Fields = {
  labelSelector: exact('selector', 'Labels of the Cluster, which the hub sets.'),
  fieldSelector: exact('map', 'Provider, region and zone, from labels of the Cluster.'),
  clusterNames: exact('texts', ''),
  exclude: exact('texts', ''),
}

const SELECTORS = exact(
  {
    items: {
      apiVersion: exact('text', ''),
      kind: exact('text', 'One of the kinds that are templates; another kind selects nothing.'),
      namespace: exact('text', 'Defaults to the namespace of the policy.'),
      name: exact('text', ''),
      labelSelector: exact('selector', 'Not looked at with a name.'),
    },
  },
  '',
)

/** `spec` of a PropagationPolicy and of a ClusterPropagationPolicy. */
export const PROPAGATION_POLICY: Fields = {
  resourceSelectors: SELECTORS,
  placement: exact(
    {
      clusterAffinity: exact(AFFINITY, 'All clusters without it.'),
      clusterAffinities: exact('maps', 'Terms in order; a later term is used when an earlier one fits no cluster.'),
      clusterTolerations: exact('maps', ''),
      spreadConstraints: near(
        'maps',
        'By `cluster` and `region` as in Karmada; by `zone`, `provider` and label, which Karmada does not schedule. Without `maxGroups` there is no maximum.',
      ),
      replicaScheduling: near(
        'map',
        '`dynamicWeight` and `Aggregated` read the free resources that agents report, in steps of a tenth.',
      ),
      workloadAffinity: warned('map', 'no effect'),
    },
    '',
  ),
  priority: exact('int', ''),
  preemption: near('text', 'No feature gate is needed.'),
  propagateDeps: near(
    'flag',
    'ConfigMaps, Secrets, ServiceAccounts and PersistentVolumeClaims that pods name, and the Secrets of an Ingress.',
  ),
  association: warned('flag', 'no effect: write propagateDeps'),
  dependentOverrides: exact('texts', ''),
  conflictResolution: near(
    'text',
    '`Abort` refuses an object that was there before; `Overwrite` takes it over with its fields.',
  ),
  activationPreference: exact('text', '`Lazy`: a change of the policy waits for the next change of the object.'),
  suspension: exact(
    {
      dispatching: exact('flag', 'Clusters keep what they have; the status goes on.'),
      dispatchingOnClusters: exact('map', 'The same for the clusters named.'),
    },
    '',
  ),
  preserveResourcesOnDeletion: exact('flag', 'Deleting the object leaves it on its clusters.'),
  failover: near(
    {
      cluster: near(
        {
          purgeMode: near(
            'text',
            '`Gracefully` keeps the old copy until all new ones are healthy; `Directly` until one is.',
          ),
          statePreservation: warned('map', 'no effect'),
        },
        'Moves replicas away from a cluster that is out of reach. Without it, nothing is moved.',
      ),
      application: warned('map', 'no effect'),
    },
    '',
  ),
  schedulerName: refused('text', 'a name other than `default-scheduler`'),
  schedulePriority: warned('map', 'no effect'),
}

/** `spec` of an OverridePolicy and of a ClusterOverridePolicy. */
export const OVERRIDE_POLICY: Fields = {
  resourceSelectors: SELECTORS,
  overrideRules: exact(
    {
      items: {
        targetCluster: exact(AFFINITY, 'All clusters without it.'),
        overriders: exact(
          {
            plaintext: near('maps', 'The number `1.0` is read as `1`.'),
            imageOverrider: near(
              'maps',
              'Without a predicate, containers of Pods, ReplicaSets, Deployments, DaemonSets, StatefulSets, Jobs and CronJobs, and their init containers. Karmada leaves out CronJobs and init containers.',
            ),
            commandOverrider: near('maps', 'Containers of CronJobs and init containers, too.'),
            argsOverrider: near('maps', 'Containers of CronJobs and init containers, too.'),
            labelsOverrider: exact('maps', ''),
            annotationsOverrider: exact('maps', ''),
            fieldOverrider: exact('maps', 'Comments of embedded YAML are lost, as in Karmada.'),
          },
          'In this order. A rule that cannot be applied concerns its cluster alone: the cluster keeps what it has.',
        ),
      },
    },
    'In order; policies that name the object come last.',
  ),
  targetCluster: exact('map', 'The older form of a rule.'),
  overriders: exact('map', 'The older form of a rule.'),
}
