/**
 * All fields of an Application and of an ApplicationSet: their types, and how exactly they are taken over. The reader,
 * the findings and the tables in docs/dialects/argo.md are made from this table.
 */
import { exact, near, refused, warned } from '../field-table.ts'
import type { Fields } from '../field-table.ts'

const HELM: Fields = {
  releaseName: exact('text', 'The name templates see; the name of the Application without it.'),
  valueFiles: exact(
    'texts',
    '`helm.valuesFiles`; files of another source (`$values/…`) by `source.include`. Patterns (`env/**/*.yaml`) are evaluated when the hub compiles a commit, and by an import with `--root`. Addresses are refused.',
  ),
  values: exact('text', '`helm.values`.'),
  valuesObject: exact('map', '`helm.values`, instead of `values`.'),
  parameters: exact(
    { items: { name: exact('text', ''), value: exact('text', ''), forceString: exact('flag', '') } },
    'Over the other values, read as `helm --set` reads them; `forceString` as `--set-string`.',
  ),
  fileParameters: exact(
    { items: { name: exact('text', ''), path: exact('text', '') } },
    'Over the parameters: the text of the file as it is at the commit. An import needs `--root`.',
  ),
  ignoreMissingValueFiles: near(
    'flag',
    'Files that are missing now are left out, with a remark (`--root`); without it a missing file is an error.',
  ),
  skipCrds: exact('flag', '`helm.skipCrds`.'),
  skipTests: exact('flag', 'Tests of charts are never run.'),
  skipSchemaValidation: exact('flag', '`helm.skipSchemaValidation`.'),
  passCredentials: warned('flag', 'helm.passCredentials has no effect: a Secret is sent where its annotation says'),
  version: warned('text', 'helm.version has no effect: charts are rendered without helm'),
  namespace: exact('text', '`helm.namespace`: the namespace that templates see.'),
  kubeVersion: exact('text', '`helm.kubeVersion`; the version of each cluster without it.'),
  apiVersions: exact('texts', '`helm.apiVersions`, besides the APIs of Kubernetes.'),
}

const KUSTOMIZE: Fields = {
  version: warned('text', 'kustomize.version has no effect: kustomizations are built without kustomize'),
  kubeVersion: warned('text', 'kustomize.kubeVersion has no effect'),
  apiVersions: warned('texts', 'kustomize.apiVersions have no effect'),
  namePrefix: exact('text', ''),
  nameSuffix: exact('text', ''),
  namespace: exact('text', 'The namespace of the objects, as `kustomize edit set namespace` sets it.'),
  images: exact('texts', 'As `kustomize edit set image` reads them; `*` keeps what the kustomization says.'),
  replicas: exact({ items: { name: exact('text', ''), count: exact('limit', '') } }, ''),
  patches: exact(
    {
      items: {
        path: exact('text', ''),
        patch: exact('text', ''),
        target: exact('map', ''),
        options: exact('map', ''),
      },
    },
    'Behind the patches of the kustomization.',
  ),
  components: exact('texts', 'Behind the components of the kustomization; directories of the repository.'),
  ignoreMissingComponents: exact('flag', ''),
  commonLabels: exact('textMap', 'A label that the kustomization has already is an error without `forceCommonLabels`.'),
  commonAnnotations: exact('textMap', 'The same with `forceCommonAnnotations`.'),
  commonAnnotationsEnvsubst: exact('flag', ''),
  forceCommonLabels: exact('flag', ''),
  forceCommonAnnotations: exact('flag', ''),
  labelWithoutSelector: exact('flag', ''),
  labelIncludeTemplates: exact('flag', 'Refused without `labelWithoutSelector`.'),
}

const DIRECTORY: Fields = {
  recurse: near(
    'flag',
    'Without it only the files of the path itself count: `source.ignore` names the directories below that are there now (`--root`).',
  ),
  exclude: exact('text', 'By `builder: {name: argo}`, which reads the directory as Argo CD does.'),
  include: exact('text', 'The same.'),
  jsonnet: refused('map', 'directory.jsonnet: jsonnet is not evaluated; keep its output in git'),
  disableExtensionFilter: exact('flag', 'The same.'),
}

const SOURCE: Fields = {
  repoURL: exact(
    'text',
    'The address of a Source; one Source for each address and revision. With `chart` and without `https://` it is an OCI registry.',
  ),
  path: exact('text', '`source.path`.'),
  targetRevision: near(
    'text',
    'Of git: a commit, `refs/tags/…`, a range (`^1.2`), what begins like a version (a tag), else a branch; the default branch without it. Of charts: version or range.',
  ),
  chart: exact('text', 'A chart of the Helm repository or registry.'),
  ref: exact('text', 'The name under which `$ref/…` of values files finds this source.'),
  name: warned('text', 'source.name has no effect: the Bundle has the name of the Application'),
  helm: exact(HELM, ''),
  kustomize: exact(
    KUSTOMIZE,
    'Overrides by `builder: {name: argo}`, which edits the kustomization of the path before it builds it.',
  ),
  directory: near(DIRECTORY, ''),
  plugin: refused('map', 'plugins run programs while rendering, which is not done; keep their output in git'),
}

const SYNC_POLICY: Fields = {
  automated: exact(
    {
      enabled: exact('flag', ''),
      prune: exact('flag', 'Without it `prune.mode: Never`.'),
      selfHeal: exact('flag', '`drift.mode: Correct`; without it Report.'),
      allowEmpty: warned(
        'flag',
        'syncPolicy.automated.allowEmpty counts for Applications of Applications alone: a change that drops most objects of a cluster stops and asks (`guard`)',
      ),
    },
    'Without it a RolloutPlan with `start: Manual`, and `prune.mode: Confirm`.',
  ),
  syncOptions: near(
    'texts',
    '`CreateNamespace`, `Replace`, `Force`, `PruneLast`, `Prune=confirm|false`, `PrunePropagationPolicy`; apply is always server-side. Others have no effect, with a remark.',
  ),
  retry: near(
    {
      limit: near('int', '`remediation.retries`; an endless one is 10.'),
      backoff: warned(
        'map',
        'syncPolicy.retry.backoff has no effect: it is tried after 10 s, later each time, up to 5 min',
      ),
      refresh: warned('flag', 'syncPolicy.retry.refresh has no effect: a newer revision is always taken'),
    },
    '',
  ),
  managedNamespaceMetadata: exact(
    { labels: exact('textMap', ''), annotations: exact('textMap', '') },
    '`namespaces.labels` and `namespaces.annotations`.',
  ),
}

/** Fields of the spec of an Application. */
export const APPLICATION: Fields = {
  project: warned('text', 'project has no effect: who may bring what where is decided by namespaces and roles'),
  source: exact(SOURCE, 'A Source and a Bundle.'),
  sources: near(
    { items: SOURCE },
    'A Bundle for each that has content; in Argo CD the later one wins where both have an object, here the second is refused it.',
  ),
  sourceHydrator: refused(
    'map',
    'sourceHydrator writes to git, which is not done; import the Application of the hydrated branch',
  ),
  destination: exact(
    {
      name: exact('text', 'The Cluster of that name, or the one that `--cluster` names for it.'),
      server: near('text', 'Addresses of clusters are not known here: `--cluster ADDRESS=NAME` says which is meant.'),
      namespace: exact('text', '`defaultNamespace`.'),
    },
    'A Placement.',
  ),
  syncPolicy: exact(SYNC_POLICY, ''),
  ignoreDifferences: near(
    {
      items: {
        group: exact('text', ''),
        kind: exact('text', ''),
        name: exact('text', ''),
        namespace: exact('text', ''),
        jsonPointers: near('texts', ''),
        jqPathExpressions: near('texts', ''),
        managedFieldsManagers: near('texts', ''),
      },
    },
    '`ignore`: set when the object is made, left alone afterwards. Of jq paths, `[]` and `select(.name == "x" or .name == "y")`; what computes something is refused.',
  ),
  info: warned('maps', 'info has no effect'),
  revisionHistoryLimit: near('int', '`rollout.history`.'),
}

const GENERATOR: Fields = {
  clusters: exact(
    {
      selector: exact(
        'selector',
        'The Placement: labels of Clusters, which must be those of Argo CD’s cluster Secrets.',
      ),
      values: exact('textMap', ''),
      flatList: refused(
        'flag',
        'generators[].clusters.flatList makes one Application of all clusters, which nothing here is',
      ),
      template: exact('map', ''),
    },
    'One Bundle for all its clusters; `{{name}}`, labels and annotations in values become `${ }` of each cluster.',
  ),
  list: exact(
    {
      elements: exact('maps', ''),
      elementsYaml: exact('text', ''),
      template: exact('map', 'Over the template of the set, field by field; with every generator.'),
    },
    'A Bundle for each element.',
  ),
  git: near(
    {
      repoURL: exact('text', ''),
      revision: near('text', ''),
      directories: near(
        { items: { path: exact('text', ''), exclude: exact('flag', '') } },
        'A Bundle for each directory that is there now.',
      ),
      files: near(
        { items: { path: exact('text', ''), exclude: exact('flag', '') } },
        'A Bundle for each map in a file that is there now; as in Argo CD, `*` crosses slashes.',
      ),
      pathParamPrefix: exact('text', ''),
      requeueAfterSeconds: warned(
        'int',
        'generators[].git.requeueAfterSeconds has no effect: the repository is read once, now',
      ),
      values: exact('textMap', ''),
      template: exact('map', ''),
    },
    'The clone that `--root` names, as it is now: a later directory or file needs a new Bundle.',
  ),
  matrix: exact({ generators: exact('maps', ''), template: exact('map', '') }, 'Of two generators.'),
  merge: near(
    { generators: exact('maps', ''), mergeKeys: exact('texts', ''), template: exact('map', '') },
    'As there, in the order of the first generator; with a generator of `clusters` inside it is refused, since what differs between clusters is a variant of the Bundle.',
  ),
  scmProvider: refused(
    'map',
    'generators[].scmProvider asks a git service for repositories, which is not done: write them as a list',
  ),
  pullRequest: refused('map', 'generators[].pullRequest asks a git service for pull requests, which is not done'),
  clusterDecisionResource: refused(
    'map',
    'generators[].clusterDecisionResource asks another controller who is meant: write a Placement',
  ),
  plugin: refused('map', 'generators[].plugin asks a service for parameters, which is not done: write them as a list'),
  selector: near('selector', 'Sets of parameters that fit; of clusters only `metadata.labels.KEY` can be asked.'),
}

/** Fields of the spec of an ApplicationSet. */
export const APPLICATION_SET: Fields = {
  generators: exact({ items: GENERATOR }, ''),
  goTemplate: exact(
    'flag',
    'Go templates with all functions but those of random values and the time; without it `{{key}}`. What depends on the cluster may only be named, not worked on.',
  ),
  goTemplateOptions: near('texts', 'A key that is missing is always an error.'),
  template: exact('map', 'The Applications; as in the table above.'),
  templatePatch: exact('text', 'Over the template, once it is filled in; lists are replaced.'),
  syncPolicy: exact(
    {
      preserveResourcesOnDeletion: exact('flag', '`delete`: Orphan.'),
      applicationsSync: warned('text', 'syncPolicy.applicationsSync has no effect: there are no Applications'),
    },
    '',
  ),
  strategy: near(
    {
      type: exact('text', ''),
      rollingSync: near(
        {
          steps: near(
            'maps',
            'Rings of a RolloutPlan, where the labels of the template are labels of the cluster; who matches none comes last instead of never. Refused without a generator of `clusters`.',
          ),
        },
        '',
      ),
      deletionOrder: warned('text', 'strategy.deletionOrder has no effect'),
    },
    '',
  ),
  preservedFields: warned('map', 'preservedFields have no effect: there are no Applications'),
  ignoreApplicationDifferences: warned(
    'maps',
    'ignoreApplicationDifferences have no effect: there are no Applications',
  ),
  applyNestedSelectors: exact('flag', ''),
}
