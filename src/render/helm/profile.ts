/** What differs between the Helm versions that Flotilla renders for. */
import type { PrereleaseRule } from '../../core/text/semver.ts'

/** Which Helm's rules to follow: 4.2.3 or 3.18.0. */
export type HelmVersion = 'helm3' | 'helm4'

/** The rules of a Helm version. */
export interface HelmProfile {
  readonly name: HelmVersion
  /** The package that Values and Capabilities come from, as `typeOf` shows it. */
  readonly package: 'common' | 'chartutil'
  /** As `.Capabilities.HelmVersion` says. */
  readonly build: {
    readonly version: string
    readonly commit: string
    readonly go: string
    readonly kubeClient: string | undefined
  }
  /** What `.Capabilities` says without a cluster. */
  readonly kubeVersion: { readonly major: string; readonly minor: string }
  readonly apiVersions: readonly string[]
  readonly kindOrder: readonly string[]
  readonly prereleases: PrereleaseRule
  /**
   * Numbers of values.yaml keep their text (json.Number), which makes them strings to templates: 3.18.0 alone did so.
   */
  readonly numbersAsText: boolean
  /** Chart defaults that are null never reach templates, and null for a key without default stays. */
  readonly cleansNulls: boolean
  /** values files may hold several documents. */
  readonly multiDocumentValues: boolean
  /** `.Chart` is a map of Go's field names instead of a struct. */
  readonly chartIsMap: boolean
  /** A chart used under an alias has subcharts of its own. */
  readonly copiesAliasedDependencies: boolean
  /** Nested template errors are printed as a list of places. */
  readonly errorTrace: boolean
  /** Documents lose the white space at their end. */
  readonly trimsDocuments: boolean
  /** `--set-json` also takes a whole JSON object. */
  readonly jsonObjects: boolean
  /** `--set a[1` without the closing bracket sets nothing and is no error. */
  readonly endsInIndex: boolean
  /**
   * BurntSushi/toml v1.6, which reads TOML 1.1 (line breaks and a last comma in inline tables, `\e`, `\x41`, times
   * without seconds), refuses a key that is set again as a list, and writes large and small numbers with an exponent.
   */
  readonly toml11: boolean
  /** Only an IPv6 address may stand in the brackets of a URL, and a web address has one port. */
  readonly strictUrlHosts: boolean
}

const KINDS = [
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
] as const

/** Expands `group: versions` lines in the order Helm lists them. */
function apiVersions(lines: string): string[] {
  return lines
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [group = '', versions = ''] = line.trim().split(':')
      return versions
        .trim()
        .split(' ')
        .map((version) => (group === 'core' ? version : `${group}/${version}`))
    })
}

const APIS_4 = apiVersions(`
core: v1
admissionregistration.k8s.io: v1 v1alpha1 v1beta1
internal.apiserver.k8s.io: v1alpha1
apps: v1 v1beta1 v1beta2
authentication.k8s.io: v1 v1alpha1 v1beta1
authorization.k8s.io: v1 v1beta1
autoscaling: v1 v2
batch: v1 v1beta1
certificates.k8s.io: v1 v1beta1 v1alpha1
coordination.k8s.io: v1alpha2 v1beta1 v1
discovery.k8s.io: v1 v1beta1
events.k8s.io: v1 v1beta1
extensions: v1beta1
flowcontrol.apiserver.k8s.io: v1 v1beta1 v1beta2 v1beta3
networking.k8s.io: v1 v1beta1
node.k8s.io: v1 v1alpha1 v1beta1
policy: v1 v1beta1
rbac.authorization.k8s.io: v1 v1beta1 v1alpha1
resource.k8s.io: v1 v1beta2 v1beta1 v1alpha3
scheduling.k8s.io: v1alpha2 v1beta1 v1
storage.k8s.io: v1beta1 v1 v1alpha1
storagemigration.k8s.io: v1beta1
apiextensions.k8s.io: v1beta1 v1
`)

const APIS_3 = apiVersions(`
core: v1
admissionregistration.k8s.io: v1 v1alpha1 v1beta1
internal.apiserver.k8s.io: v1alpha1
apps: v1 v1beta1 v1beta2
authentication.k8s.io: v1 v1alpha1 v1beta1
authorization.k8s.io: v1 v1beta1
autoscaling: v1 v2 v2beta1 v2beta2
batch: v1 v1beta1
certificates.k8s.io: v1 v1beta1 v1alpha1
coordination.k8s.io: v1alpha2 v1beta1 v1
discovery.k8s.io: v1 v1beta1
events.k8s.io: v1 v1beta1
extensions: v1beta1
flowcontrol.apiserver.k8s.io: v1 v1beta1 v1beta2 v1beta3
networking.k8s.io: v1 v1alpha1 v1beta1
node.k8s.io: v1 v1alpha1 v1beta1
policy: v1 v1beta1
rbac.authorization.k8s.io: v1 v1beta1 v1alpha1
resource.k8s.io: v1beta2 v1beta1 v1alpha3
scheduling.k8s.io: v1alpha1 v1beta1 v1
storage.k8s.io: v1beta1 v1 v1alpha1
storagemigration.k8s.io: v1alpha1
apiextensions.k8s.io: v1beta1 v1
`)

/** Helm 4.2.3. */
export const HELM_4: HelmProfile = {
  name: 'helm4',
  package: 'common',
  build: {
    version: 'v4.2.3',
    commit: '43e8b7feece8beb0fcba47059ec9b522fd929a64',
    go: 'go1.26.5',
    kubeClient: 'v1.36',
  },
  kubeVersion: { major: '1', minor: '36' },
  apiVersions: APIS_4,
  kindOrder: [...KINDS, 'MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'],
  prereleases: 'group',
  numbersAsText: false,
  cleansNulls: true,
  multiDocumentValues: true,
  chartIsMap: true,
  copiesAliasedDependencies: true,
  errorTrace: true,
  trimsDocuments: false,
  jsonObjects: true,
  endsInIndex: true,
  toml11: true,
  strictUrlHosts: true,
}

/** Helm 3.18.0. */
export const HELM_3: HelmProfile = {
  name: 'helm3',
  package: 'chartutil',
  build: {
    version: 'v3.18.0',
    commit: 'cc58e3f5a3aa615c6a86275e6f4444b5fdd3cc4e',
    go: 'go1.24.3',
    kubeClient: undefined,
  },
  kubeVersion: { major: '1', minor: '33' },
  apiVersions: APIS_3,
  kindOrder: KINDS,
  prereleases: 'each',
  numbersAsText: true,
  cleansNulls: false,
  multiDocumentValues: false,
  chartIsMap: false,
  copiesAliasedDependencies: false,
  errorTrace: false,
  trimsDocuments: true,
  jsonObjects: false,
  endsInIndex: false,
  toml11: false,
  strictUrlHosts: false,
}

/** The profile of a version. */
export function profileOf(version: HelmVersion): HelmProfile {
  return version === 'helm3' ? HELM_3 : HELM_4
}
