/**
 * All fields of `fleet.yaml`, GitRepo, HelmOp and Cluster: their types, and how exactly they are supported. The reader,
 * the findings and the tables in docs/dialects/fleet.md are made from this table.
 */
import { exact, near, refused, warned } from '../field-table.ts'
import type { Fields } from '../field-table.ts'

const valueRef: Fields = {
  name: exact('text', ''),
  namespace: exact('text', ''),
  key: exact('text', ''),
}

/** The `helm` block. */
export const HELM: Fields = {
  chart: exact(
    'text',
    'A directory of the repository, a chart of `repo`, `oci://…`, an archive `https://….tgz`, or `git::URL//DIRECTORY?ref=REF`; a ref that begins like a version is a tag.',
  ),
  repo: exact('text', 'A Source is made for the chart, and its files are included in the bundle.'),
  version: exact('text', 'Version or range; followed by the Source.'),
  releaseName: exact('text', 'The name templates see; there is no Helm release on the cluster.'),
  values: exact('map', 'Merged as Fleet does: `values`, then `valuesFiles`, then those of customizations.'),
  valuesFiles: exact('texts', 'Read also without `helm.chart`; a file outside the repository or missing is an error.'),
  valuesFrom: exact(
    { items: { configMapKeyRef: exact(valueRef, ''), secretKeyRef: exact(valueRef, '') } },
    '`render.at: Agent`: read in the cluster, as the service account of the bundle; over all other values, in order.',
  ),
  templateValues: exact('textMap', 'Expanded for each cluster, over all other values.'),
  timeoutSeconds: near('int', '`apply.timeout`: how long a wave may take to become healthy.'),
  waitForJobs: exact('flag', 'Jobs always count for the health of a bundle.'),
  atomic: warned(
    'flag',
    'helm.atomic has no effect: a failed bundle stops its rollout instead of going back by itself',
  ),
  force: near('flag', '`apply.immutable: Recreate`: what cannot be changed is made anew.'),
  takeOwnership: exact(
    'flag',
    '`apply.takeover: Always`; without it objects that are there already are taken only when they are the same.',
  ),
  maxHistory: warned(
    'int',
    'helm.maxHistory has no effect: there are no Helm releases on the cluster; Releases on the hub are the history',
  ),
  disablePreProcess: exact(
    'flag',
    '`${ }` stays as it is; `global.fleet.clusterLabels` and `templateValues` still count.',
  ),
  disableDNS: exact('flag', 'Templates never ask a name server.'),
  skipSchemaValidation: warned(
    'flag',
    "helm.skipSchemaValidation has no effect: values are always checked against the chart's schema",
  ),
  disableDependencyUpdate: near(
    'flag',
    'Dependencies of the same bundle (`file://`) are always taken, others never: they must be in `charts/` of the chart.',
  ),
}

const DRIFT: Fields = {
  enabled: exact('flag', '`drift.mode`: Correct, or Report without it.'),
  force: near('flag', '`apply.immutable: Recreate`.'),
  keepFailHistory: warned(
    'flag',
    'correctDrift.keepFailHistory has no effect: there are no Helm releases on the cluster',
  ),
}

const DIFF: Fields = {
  comparePatches: near(
    {
      items: {
        apiVersion: exact('text', ''),
        kind: exact('text', ''),
        namespace: exact('text', ''),
        name: exact('text', ''),
        jsonPointers: near('texts', '`ignore.pointers`: set when the object is made, left alone afterwards.'),
        operations: near(
          { items: { op: exact('text', ''), path: exact('text', ''), value: near('text', '') } },
          'The paths of `remove` and `replace` are left alone (`ignore.pointers`); `op: ignore` has no effect.',
        ),
      },
    },
    '`ignore`: fields that are set when the object is made and left alone afterwards.',
  ),
}

/** The criteria of a target, a customization or a partition. */
export const TARGET_FIELDS: Fields = {
  name: exact('text', 'Only a name; values never go to clusters by it.'),
  clusterName: exact('text', 'The name of the Cluster, its Fleet alias, or its display-name label.'),
  clusterSelector: exact('selector', '`{}` is every cluster of the workspace.'),
  clusterGroup: exact('text', 'The ClusterGroup of the same workspace.'),
  clusterGroupSelector: exact('selector', 'Also clusters of no group, where an object without labels would fit.'),
}

const OPTIONS: Fields = {
  defaultNamespace: exact('text', '`defaultNamespace`.'),
  namespace: exact('text', '`targetNamespace`; objects without namespaces are refused then.'),
  namespaceLabels: near('textMap', '`namespaces.labels`: they are added; other labels of the namespace stay.'),
  namespaceAnnotations: near('textMap', '`namespaces.annotations`: they are added; others stay.'),
  serviceAccount: exact('text', '`executor`: the ServiceAccount in namespace `cattle-fleet-system` of the cluster.'),
  createNamespace: exact('flag', '`namespaces.create`; true unless said.'),
  helm: exact(HELM, ''),
  kustomize: exact({ dir: exact('text', '`kustomize.dir`; a directory without a kustomization is an error.') }, ''),
  yaml: exact({ overlays: exact('texts', '`overlays`.') }, ''),
  keepResources: exact('flag', '`delete`: Orphan when the bundle is deleted or the cluster no longer selected.'),
  deleteNamespace: exact('flag', '`namespaces.delete`, on the clusters: namespaces that the bundle made.'),
  deleteCRDResources: exact('flag', '`delete.named`: CustomResourceDefinitions.'),
  forceSyncGeneration: near('int', 'Asks git again; agents keep the cluster as it should be all the time.'),
  correctDrift: exact(DRIFT, ''),
  diff: near(DIFF, ''),
  ignore: exact({ conditions: exact('maps', '`ignoreConditions`: they do not count for the health of objects.') }, ''),
  downstreamResources: refused(
    { items: { kind: exact('text', ''), name: exact('text', '') } },
    'downstreamResources are objects of the hub that would be copied to every cluster, which is not done',
  ),
}

/** A customization: a target with options. */
export const CUSTOMIZATION: Fields = {
  ...TARGET_FIELDS,
  ...OPTIONS,
  doNotDeploy: exact('flag', '`skip`.'),
}

const PARTITION: Fields = {
  ...TARGET_FIELDS,
  name: exact('text', 'The name of the ring.'),
  maxUnavailable: near('limit', '`concurrency` and `maxFailed` of the ring; 0 is one at a time without failures.'),
}

const ROLLOUT: Fields = {
  maxUnavailable: near(
    'limit',
    '`concurrency` and `maxFailed`, for first installs too; 0 is one at a time without failures.',
  ),
  maxUnavailablePartitions: near('limit', 'A ring begins only when all rings before it are through.'),
  autoPartitionSize: exact('limit', 'Rings by share.'),
  autoPartitionThreshold: exact('int', 'Below it there is one ring.'),
  maxNew: warned('int', 'rolloutStrategy.maxNew has no effect: first installs obey maxUnavailable as updates do'),
  partitions: near({ items: PARTITION }, 'Rings in order; clusters of no partition come last instead of never.'),
}

/** The fields of fleet.yaml. */
export const FLEET_YAML: Fields = {
  name: exact('text', 'The name of the Bundle.'),
  labels: exact('textMap', 'Labels of the Bundle, over those of the GitRepo.'),
  annotations: near(
    'textMap',
    'Annotations of the Bundle; those of `fleet.cattle.io` and `flotilla.dev` are not taken.',
  ),
  finalizers: warned(
    'texts',
    'finalizers of a Bundle are not taken from a repository: they would keep it from being deleted',
  ),
  ...OPTIONS,
  paused: exact('flag', '`start: Manual` of the RolloutPlan.'),
  dependsOn: near(
    {
      items: {
        name: exact('text', ''),
        selector: near('selector', 'Bundles of the workspace that have these labels now.'),
        acceptedStates: near('texts', 'As states of Flotilla.'),
      },
    },
    '`dependsOn`, at the generation the cluster should have, not at any older one.',
  ),
  rolloutStrategy: near(ROLLOUT, 'A RolloutPlan.'),
  targetCustomizations: exact({ items: CUSTOMIZATION }, '`variants`.'),
  targetCustomizationMode: exact('text', '`variantMode`: FirstMatch or AllMatches.'),
  targets: exact({ items: CUSTOMIZATION }, 'The old name; before `targetCustomizations`.'),
  overrideTargets: exact({ items: TARGET_FIELDS }, 'A Placement of its own; an empty list selects no cluster.'),
  imageScans: refused(
    {
      items: {
        image: exact('text', ''),
        tagName: exact('text', ''),
        policy: exact('map', ''),
        interval: exact('text', ''),
        secretRef: exact('map', ''),
        suspend: exact('flag', ''),
      },
    },
    'imageScans would write new image tags into git, which is not done',
  ),
  contentsId: warned('text', "contentsId is Fleet's own field and not taken from a repository"),
  valuesHash: warned('text', "valuesHash is Fleet's own field and not taken from a repository"),
  helmOpOptions: warned('map', "helmOpOptions is Fleet's own field and not taken from a repository"),
  targetRestrictions: warned('maps', "targetRestrictions is Fleet's own field and not taken from a repository"),
  resources: warned('maps', "resources is Fleet's own field and not taken from a repository"),
}

/** The fields of GitRepo.spec. */
export const GIT_REPO: Fields = {
  repo: exact('text', 'The URL of the Source.'),
  branch: exact('text', '`master` without it and `revision`.'),
  revision: near('text', 'A tag or a whole commit; with it `branch` does not count.'),
  paths: exact('texts', 'Directories and globs; one that leaves the repository is refused.'),
  bundles: exact({ items: { base: exact('text', ''), options: exact('text', '') } }, 'Instead of `paths`.'),
  targets: exact({ items: TARGET_FIELDS }, 'A Placement; the group `default` without them.'),
  targetNamespace: exact('text', '`targetNamespace` of every bundle and customization.'),
  clientSecretName: near(
    'text',
    'The Secret, as it is; sent to the server of `repo` alone, which is written down in its annotation `flotilla.dev/urls` unless its owner did. Without it, the Secret `gitcredential` where that may be sent. GitHub Apps cannot sign in.',
  ),
  helmSecretName: near(
    'text',
    'The Secret of charts whose address `helmRepoURLRegex` fits, bound to their servers in the same way.',
  ),
  helmSecretNameForPaths: warned(
    'text',
    'helmSecretNameForPaths has no effect: use helmSecretName with helmRepoURLRegex',
  ),
  helmRepoURLRegex: exact('text', 'Which charts `helmSecretName` is for; none without it.'),
  caBundle: warned('text', 'caBundle has no effect: put the certificate as ca.crt into the Secret of clientSecretName'),
  insecureSkipTLSVerify: refused(
    'flag',
    'insecureSkipTLSVerify would accept content from any server: put the certificate of the server as ca.crt into the Secret of clientSecretName',
  ),
  paused: exact('flag', 'Every bundle waits before its next change.'),
  serviceAccount: exact('text', '`executor` of every bundle.'),
  pollingInterval: exact('text', 'How often git is asked; 15 s without it.'),
  disablePolling: near('flag', 'Git is asked once a day besides webhooks.'),
  forceSyncGeneration: near('int', 'Asks git again.'),
  imageScanInterval: warned('text', 'imageScanInterval has no effect: images are not scanned'),
  imageScanCommit: warned('map', 'imageScanCommit has no effect: images are not scanned'),
  keepResources: exact('flag', 'With that of fleet.yaml.'),
  deleteNamespace: exact('flag', 'With that of fleet.yaml; on the clusters, never on the hub.'),
  correctDrift: exact(DRIFT, 'When enabled, instead of the block of fleet.yaml.'),
  ociRegistrySecret: warned('text', 'ociRegistrySecret has no effect: content is kept in the hub'),
  webhookSecret: near(
    'text',
    '`webhook.secret` of the Source, with the keys `github`, `gitlab`, `gogs`, `bitbucket-server` and `azure-password`, or `token` for all. The address to call is `/hooks/NAMESPACE/GITREPO`.',
  ),
}

const AGENT = 'has no effect: the agent of Flotilla is configured where it runs'

/** `Cluster.spec`. */
export const CLUSTER: Fields = {
  kubeConfigSecret: exact(
    'text',
    '`kubeconfigSecret` of the Cluster of flotilla.dev: the hub runs the agent. The kubeconfig is in key `value`.',
  ),
  kubeConfigSecretNamespace: near('text', 'Only the namespace of the Cluster itself.'),
  paused: exact('flag', '`hold` of the Cluster of flotilla.dev: no change starts.'),
  clientID: warned('text', 'clientID has no effect: a cluster is identified by the key of its agent'),
  templateValues: exact('map', '`values` of the Cluster of flotilla.dev.'),
  redeployAgentGeneration: warned('int', `redeployAgentGeneration ${AGENT}`),
  agentEnvVars: warned('maps', `agentEnvVars ${AGENT}`),
  agentNamespace: warned('text', 'agentNamespace has no effect: the namespace of the agent is flotilla-agent'),
  agentTolerations: warned('maps', `agentTolerations ${AGENT}`),
  agentAffinity: warned('map', `agentAffinity ${AGENT}`),
  agentResources: warned('map', `agentResources ${AGENT}`),
  agentSchedulingCustomization: warned('map', `agentSchedulingCustomization ${AGENT}`),
  privateRepoURL: warned('text', `privateRepoURL ${AGENT}`),
  hostNetwork: warned('flag', `hostNetwork ${AGENT}`),
}

const {
  name: _name,
  labels: _labels,
  annotations: _annotations,
  finalizers: _finalizers,
  targetCustomizations: _customizations,
  targetCustomizationMode: _mode,
  overrideTargets: _overrides,
  imageScans: _scans,
  ...content
} = FLEET_YAML

/** The fields of fleet.yaml about content and rollouts. */
export const BUNDLE: Fields = content

/** The fields of HelmOp.spec. */
export const HELM_OP: Fields = {
  ...BUNDLE,
  labels: exact('textMap', 'Labels of the Bundle.'),
  helm: exact(
    {
      ...HELM,
      chart: exact('text', 'A chart of `repo`, `oci://…`, or an archive `https://….tgz`.'),
      repo: exact('text', 'A Source is made for the chart.'),
      version: exact('text', 'Version or range; all clusters get the version that the Source has found.'),
      valuesFiles: refused(
        'texts',
        'helm.valuesFiles are files of a repository, and a HelmOp has none: use helm.values',
      ),
    },
    '',
  ),
  targets: exact(
    { items: CUSTOMIZATION },
    'A Placement, and `variants` for the options; the first target that matches counts. The group `default` without them.',
  ),
  helmSecretName: near(
    'text',
    'The Secret of the chart, sent to the server of the chart alone, which is written down in its annotation `flotilla.dev/urls` unless its owner did.',
  ),
  insecureSkipTLSVerify: refused(
    'flag',
    'insecureSkipTLSVerify would accept content from any server: put the certificate of the server as cacerts into the Secret of helmSecretName',
  ),
  pollingInterval: near('text', 'How often the repository is asked; once a day without it.'),
}
