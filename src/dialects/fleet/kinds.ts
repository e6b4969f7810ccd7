/** Fleet's kinds with the fields that their users write and read, and their columns. */
import type { LabelSelector } from '../../core/text/label-selector.ts'
import type { JsonObject } from '../../core/json.ts'
import { AGE, kindOf } from '../../kinds/define-kind.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { Condition, KubeObject } from '../../kinds/meta.ts'
import {
  Conditions,
  flag,
  int,
  labelSelector,
  listOf,
  object,
  optional,
  rawObject,
  text,
  time,
} from '../../kinds/schema/schema-builders.ts'
import { toStructural } from '../../kinds/schema/structural.ts'
import { FLEET_GROUP } from './compile/read-git-repo.ts'
import {
  BundleNamespaceMapping,
  ClusterRegistration,
  ClusterRegistrationToken,
  Content,
  ImageScan,
} from './registration-kinds.ts'

const VERSION = 'v1alpha1'

/** The number of bundles on clusters by state. */
export interface FleetSummary {
  desiredReady: number
  ready: number
  notReady?: number
  waitApplied?: number
  errApplied?: number
  outOfSync?: number
  modified?: number
  pending?: number
}

const count = () => optional(int())
const Summary = object(
  {
    desiredReady: count(),
    ready: count(),
    notReady: count(),
    waitApplied: count(),
    errApplied: count(),
    outOfSync: count(),
    modified: count(),
    pending: count(),
  },
  { description: 'How many are in which state.' },
)
const Display = object({
  readyBundleDeployments: optional(text({ max: 64 })),
  state: optional(text({ max: 64 })),
  message: optional(text({ max: 8192 })),
  error: optional(flag()),
})
const Findings = optional(
  listOf(text({ max: 2048 }), { max: 100, description: 'What has no effect, or is not taken.' }),
)

/** A repository, and the clusters of its bundles. */
export interface GitRepo extends KubeObject {
  spec: JsonObject
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    commit?: string
    /** Directories that became bundles. */
    bundles?: number
    readyClusters?: number
    desiredReadyClusters?: number
    summary?: FleetSummary
    display?: { readyBundleDeployments?: string; state?: string; message?: string; error?: boolean }
    /** Fields without effect, and refused fields. */
    findings?: string[]
  }
}

/** Fleet's GitRepo. */
export const GitRepo: Kind<GitRepo> = kindOf<GitRepo>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'GitRepo',
  plural: 'gitrepos',
  scope: 'Namespaced',
  description: 'A git repository with bundles, and the clusters they are for; read by the Fleet dialect of Flotilla.',
  categories: ['fleet'],
  subresources: { status: true },
  events: { warnWhenTrue: ['Held'], warnWhenFalse: ['Exact'] },
  fields: {
    spec: toStructural(rawObject({ description: 'As in Rancher Fleet; what has no effect is in the status.' })),
    status: toStructural(
      object({
        observedGeneration: count(),
        conditions: Conditions,
        commit: optional(text({ max: 128, description: 'The commit whose bundles are delivered.' })),
        bundles: count(),
        readyClusters: count(),
        desiredReadyClusters: count(),
        summary: optional(Summary),
        display: optional(Display),
        findings: Findings,
      }),
    ),
  },
  columns: [
    { name: 'Repo', type: 'string', jsonPath: '.spec.repo' },
    { name: 'Commit', type: 'string', jsonPath: '.status.commit' },
    { name: 'BundleDeployments-Ready', type: 'string', jsonPath: '.status.display.readyBundleDeployments' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { ...AGE, priority: 1 },
  ],
})

/** A chart, and the clusters it is for. */
export interface HelmOp extends KubeObject {
  spec: JsonObject
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    /** Version of the chart that is delivered. */
    version?: string
    summary?: FleetSummary
    display?: { readyBundleDeployments?: string; state?: string; message?: string; error?: boolean }
    findings?: string[]
  }
}

/** Fleet's HelmOp. */
export const HelmOp: Kind<HelmOp> = kindOf<HelmOp>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'HelmOp',
  plural: 'helmops',
  scope: 'Namespaced',
  description:
    'A Helm chart without a git repository, and the clusters it is for; read by the Fleet dialect of Flotilla.',
  categories: ['fleet'],
  subresources: { status: true },
  events: { warnWhenFalse: ['Exact'] },
  fields: {
    spec: toStructural(rawObject({ description: 'As in Rancher Fleet; what has no effect is in the status.' })),
    status: toStructural(
      object({
        observedGeneration: count(),
        conditions: Conditions,
        version: optional(text({ max: 256, description: 'Version of the chart that is delivered.' })),
        summary: optional(Summary),
        display: optional(Display),
        findings: Findings,
      }),
    ),
  },
  columns: [
    { name: 'Repo', type: 'string', jsonPath: '.spec.helm.repo' },
    { name: 'Chart', type: 'string', jsonPath: '.spec.helm.chart' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'BundleDeployments-Ready', type: 'string', jsonPath: '.status.display.readyBundleDeployments' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { ...AGE, priority: 1 },
  ],
})

/** A named group of clusters. */
export interface ClusterGroup extends KubeObject {
  spec?: { selector?: LabelSelector }
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    clusterCount?: number
    nonReadyClusterCount?: number
    nonReadyClusters?: string[]
    display?: { readyClusters?: string; readyBundles?: string; state?: string }
  }
}

/** Fleet's ClusterGroup. */
export const ClusterGroup: Kind<ClusterGroup> = kindOf<ClusterGroup>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'ClusterGroup',
  plural: 'clustergroups',
  scope: 'Namespaced',
  description: 'Clusters of the workspace under a name, by their labels; without a selector it has none.',
  categories: ['fleet'],
  subresources: { status: true },
  fields: {
    spec: toStructural(
      object({ selector: optional(labelSelector({ description: 'Labels of the clusters; `{}` is all of them.' })) }),
    ),
    status: toStructural(
      object({
        observedGeneration: count(),
        conditions: Conditions,
        clusterCount: count(),
        nonReadyClusterCount: count(),
        nonReadyClusters: optional(listOf(text({ max: 253 }), { max: 10 })),
        display: optional(
          object({
            readyClusters: optional(text({ max: 64 })),
            readyBundles: optional(text({ max: 64 })),
            state: optional(text({ max: 64 })),
          }),
        ),
      }),
    ),
  },
  columns: [
    { name: 'Clusters-Ready', type: 'string', jsonPath: '.status.display.readyClusters' },
    { name: 'Bundles-Ready', type: 'string', jsonPath: '.status.display.readyBundles' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { ...AGE, priority: 1 },
  ],
})

/** A bundle in Fleet's API. */
export interface FleetBundle extends KubeObject {
  spec: JsonObject
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    summary?: FleetSummary
    display?: { readyClusters?: string; state?: string; message?: string; error?: boolean }
    findings?: string[]
  }
}

/** Fleet's Bundle: written by a person with its content, or the status of a Bundle that the hub made. */
export const FleetBundle: Kind<FleetBundle> = kindOf<FleetBundle>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'Bundle',
  plural: 'bundles',
  scope: 'Namespaced',
  description:
    'Files and the clusters they are for. A Bundle that belongs to a GitRepo or HelmOp only shows its status; a change of it has no effect.',
  categories: ['fleet'],
  subresources: { status: true },
  events: { warnWhenFalse: ['Exact'] },
  fields: {
    spec: toStructural(rawObject({ description: 'As in Rancher Fleet; what has no effect is in the status.' })),
    status: toStructural(
      object({
        observedGeneration: count(),
        conditions: Conditions,
        summary: optional(Summary),
        display: optional(
          object({
            readyClusters: optional(text({ max: 64 })),
            state: optional(text({ max: 64 })),
            message: optional(text({ max: 8192 })),
            error: optional(flag()),
          }),
        ),
        findings: Findings,
      }),
    ),
  },
  columns: [
    { name: 'BundleDeployments-Ready', type: 'string', jsonPath: '.status.display.readyClusters' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { ...AGE, priority: 1 },
  ],
})

/** A cluster of a workspace in Fleet's API. */
export interface FleetCluster extends KubeObject {
  spec?: JsonObject & {
    kubeConfigSecret?: string
    kubeConfigSecretNamespace?: string
    paused?: boolean
    clientID?: string
  }
  status?: {
    observedGeneration?: number
    conditions?: Condition[]
    /** Name of the Cluster of flotilla.dev. */
    cluster?: string
    summary?: { desiredReady?: number; ready?: number }
    display?: { readyBundles?: string; state?: string }
    agent?: { lastSeen?: string; namespace?: string }
    findings?: string[]
  }
}

/** Fleet's Cluster: a Cluster of flotilla.dev, seen in a workspace. */
export const FleetCluster: Kind<FleetCluster> = kindOf<FleetCluster>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'Cluster',
  plural: 'clusters',
  scope: 'Namespaced',
  description:
    'Cluster of a workspace; kept equal with its Cluster of flotilla.dev. With `kubeConfigSecret`, the hub runs the agent of the cluster.',
  categories: ['fleet'],
  subresources: { status: true },
  events: { warnWhenFalse: ['Exact'] },
  fields: {
    spec: toStructural(rawObject({ description: 'As in Rancher Fleet; what has no effect is in the status.' })),
    status: toStructural(
      object({
        observedGeneration: count(),
        conditions: Conditions,
        cluster: optional(text({ max: 253, description: 'Name of the Cluster of flotilla.dev.' })),
        summary: optional(Summary),
        display: optional(object({ readyBundles: optional(text({ max: 64 })), state: optional(text({ max: 64 })) })),
        agent: optional(object({ lastSeen: optional(time()), namespace: optional(text({ max: 63 })) })),
        findings: optional(
          listOf(text({ max: 2048 }), { max: 100, description: 'What has no effect, or is not taken.' }),
        ),
      }),
    ),
  },
  columns: [
    { name: 'Bundles-Ready', type: 'string', jsonPath: '.status.display.readyBundles' },
    { name: 'Last-Seen', type: 'string', jsonPath: '.status.agent.lastSeen' },
    { name: 'Status', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].message' },
    { ...AGE, priority: 1 },
  ],
})

/** What the GitRepos of a namespace may name; limits further what the Project of the namespace allows. */
export interface GitRepoRestriction extends KubeObject {
  defaultServiceAccount?: string
  allowedServiceAccounts?: string[]
  allowedRepoPatterns?: string[]
  defaultClientSecretName?: string
  allowedClientSecretNames?: string[]
  allowedTargetNamespaces?: string[]
  allowedTargetNamespaceSelector?: LabelSelector
}

const names = (description: string) => optional(listOf(text({ max: 512 }), { max: 1000, description }))

/** Fleet's GitRepoRestriction. */
export const GitRepoRestriction: Kind<GitRepoRestriction> = kindOf<GitRepoRestriction>({
  group: FLEET_GROUP,
  version: VERSION,
  kind: 'GitRepoRestriction',
  plural: 'gitreporestrictions',
  scope: 'Namespaced',
  description:
    'Limits for all GitRepos of the namespace. If a namespace has several GitRepoRestrictions, their lists are joined. They never allow more than the Project of the namespace.',
  categories: ['fleet'],
  fields: {
    defaultServiceAccount: toStructural(
      text({ max: 253, description: 'ServiceAccount of GitRepos that do not name one in `spec.serviceAccount`.' }),
    ),
    allowedServiceAccounts: toStructural(
      names('ServiceAccounts that GitRepos and their fleet.yaml files may name. If empty, all names are allowed.'),
    ),
    allowedRepoPatterns: toStructural(
      names(
        'Regular expressions (RE2). One of them must match a part of `spec.repo`. If empty, all addresses are allowed.',
      ),
    ),
    defaultClientSecretName: toStructural(
      text({ max: 253, description: 'Secret of GitRepos that do not name one in `spec.clientSecretName`.' }),
    ),
    allowedClientSecretNames: toStructural(
      names('Secrets that GitRepos may name in `spec.clientSecretName`. If empty, all names are allowed.'),
    ),
    allowedTargetNamespaces: toStructural(
      names(
        'Namespaces that GitRepos may name in `spec.targetNamespace`, which is then required. If empty, all are allowed.',
      ),
    ),
    allowedTargetNamespaceSelector: toStructural(
      labelSelector({
        description: 'Not served. The GitRepos of the namespace are refused until the field is removed.',
      }),
    ),
  },
  columns: [
    { name: 'Default-ServiceAccount', type: 'string', jsonPath: '.defaultServiceAccount' },
    { name: 'Allowed-ServiceAccounts', type: 'string', jsonPath: '.allowedServiceAccounts' },
    AGE,
  ],
})

/** The kinds the dialect serves. */
export const FLEET_KINDS: readonly Kind[] = [
  GitRepo,
  HelmOp,
  ClusterGroup,
  FleetBundle,
  FleetCluster,
  GitRepoRestriction,
  ClusterRegistrationToken,
  ClusterRegistration,
  BundleNamespaceMapping,
  Content,
  ImageScan,
] as readonly Kind[]
