// Tested by src/dialects/ocm/addons/fields.test.ts
/** The fields of the add-on kinds, and how exactly they are supported; docs/dialects/ocm.md is made from them. */
import { exact, near, refused, warned } from '../../field-table.ts'
import type { Fields } from '../../field-table.ts'

const CONFIGS: Fields = {
  group: exact('text', ''),
  resource: exact(
    'text',
    '`addontemplates` or `addondeploymentconfigs`; another one sets condition Configured to False.',
  ),
  namespace: exact('text', ''),
  name: exact('text', ''),
}

const LIMITS: Fields = {
  minSuccessTime: exact('text', 'A cluster keeps its place for this time after it has arrived.'),
  progressDeadline: near(
    'text',
    'Counted from the admission of a cluster. A cluster that is late counts as a failure.',
  ),
  maxFailures: near(
    'limit',
    'A number above the number of clusters is not read as 0. A cluster whose objects cannot be applied counts. `All` ignores it.',
  ),
}
const MANDATORY: Fields = {
  mandatoryDecisionGroups: near(
    { items: { groupName: exact('text', ''), groupIndex: exact('int', '') } },
    'Go before all others, and tolerate no failure, also after a deadline.',
  ),
}

const ROLLOUT_STRATEGY: Fields = {
  type: near(
    'text',
    '`All`, `Progressive` and `ProgressivePerGroup`. A cluster has arrived when the objects are applied and the add-on is healthy.',
  ),
  all: near(LIMITS, 'All clusters at once.'),
  progressive: near(
    {
      ...LIMITS,
      ...MANDATORY,
      maxConcurrency: near('limit', 'Clusters at a time. A failed cluster keeps no place.'),
    },
    'Cluster by cluster, in the order of their names.',
  ),
  progressivePerGroup: near({ ...LIMITS, ...MANDATORY }, 'Decision group by decision group.'),
}

/** ClusterManagementAddOn.spec. */
export const CLUSTER_MANAGEMENT_ADDON: Fields = {
  addOnMeta: exact({ displayName: exact('text', 'The column.'), description: exact('text', '') }, 'Stored and shown.'),
  addOnConfiguration: exact('map', 'Stored and shown; no controller reads it.'),
  supportedConfigs: exact(
    {
      items: {
        group: CONFIGS['group']!,
        resource: CONFIGS['resource']!,
        defaultConfig: exact(
          { namespace: exact('text', ''), name: exact('text', '') },
          'For clusters without another configuration of the resource.',
        ),
      },
    },
    'The defaults. A resource that the list does not have can be configured, too.',
  ),
  installStrategy: near(
    {
      type: exact('text', '`Manual` or `Placements`.'),
      placements: near(
        {
          items: {
            namespace: exact('text', ''),
            name: exact('text', ''),
            configs: exact({ items: CONFIGS }, 'Above the defaults, below `configs` of the ManagedClusterAddOn.'),
            rolloutStrategy: near(ROLLOUT_STRATEGY, 'How changed configurations and new clusters follow.'),
          },
        },
        'The last entry that selects a cluster counts. While one of the Placements is undecided, nothing is installed, changed or removed.',
      ),
    },
    'A cluster that cannot be reached keeps the add-on.',
  ),
}

/** ManagedClusterAddOn.spec. */
export const MANAGED_CLUSTER_ADDON: Fields = {
  installNamespace: near('text', 'Below `agentInstallNamespace` of an AddOnDeploymentConfig.'),
  configs: exact({ items: CONFIGS }, 'Above all other configurations.'),
}

/** AddOnTemplate.spec. */
export const ADDON_TEMPLATE: Fields = {
  addonName: exact('text', 'Name of the ClusterManagementAddOn; a template for another add-on is refused.'),
  agentSpec: near(
    'map',
    'As [`spec` of a ManifestWork](ocm-works.md#fields). Manifests with an annotation or label for a pre-delete hook are refused.',
  ),
  registration: refused('maps', 'It gives the add-on credentials for the hub. Condition Configured has the sentence.'),
}

/** AddOnDeploymentConfig.spec. */
export const ADDON_DEPLOYMENT_CONFIG: Fields = {
  customizedVariables: exact(
    { items: { name: exact('text', ''), value: exact('text', '') } },
    'Replace `{{NAME}}`, and are environment variables of the containers of Deployments and DaemonSets.',
  ),
  nodePlacement: exact(
    {
      nodeSelector: exact('textMap', 'Above the labels of the template.'),
      tolerations: exact('maps', 'Added to those of the template.'),
    },
    'For the pods of all workloads.',
  ),
  registries: exact(
    { items: { mirror: exact('text', ''), source: exact('text', 'Without it, all images.') } },
    'Registries of images. The longest source that matches wins.',
  ),
  proxyConfig: near(
    {
      httpProxy: exact('text', '`HTTP_PROXY` and `http_proxy`.'),
      httpsProxy: exact('text', '`HTTPS_PROXY` and `https_proxy`.'),
      noProxy: exact('text', '`NO_PROXY` and `no_proxy`.'),
      caBundle: warned('text', 'No effect; condition Configured says so.'),
    },
    'Environment variables of the containers.',
  ),
  agentInstallNamespace: exact(
    'text',
    'Namespace of the namespaced objects, and of the ServiceAccounts that bindings name.',
  ),
  resourceRequirements: exact(
    {
      items: {
        containerID: exact('text', '`KIND:NAME:CONTAINER`, for example `deployments:web:*`; `*` stands for any text.'),
        resources: exact('map', ''),
      },
    },
    'Resources of containers. The last entry that matches wins.',
  ),
  replicaConfigs: exact(
    {
      items: {
        workloadID: exact('text', '`KIND:NAME`; `*` stands for any text.'),
        replicas: exact('int', ''),
      },
    },
    'Replicas of Deployments and StatefulSets.',
  ),
}
