// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** The type of an Application, as Argo CD's API has it. */
import { BOOL, INT, INT_OR_STRING, list, map, pointer, RAW, STRING, STRING_MAP, STRINGS, struct } from './shape.ts'

const HELM = struct({
  valueFiles: STRINGS,
  parameters: list(struct({ name: STRING, value: STRING, forceString: BOOL })),
  releaseName: STRING,
  values: STRING,
  fileParameters: list(struct({ name: STRING, path: STRING })),
  version: STRING,
  passCredentials: BOOL,
  ignoreMissingValueFiles: BOOL,
  skipCrds: BOOL,
  valuesObject: pointer(RAW),
  namespace: STRING,
  kubeVersion: STRING,
  apiVersions: STRINGS,
  skipTests: BOOL,
  skipSchemaValidation: BOOL,
})

const KUSTOMIZE = struct({
  namePrefix: STRING,
  nameSuffix: STRING,
  images: STRINGS,
  commonLabels: STRING_MAP,
  version: STRING,
  commonAnnotations: STRING_MAP,
  forceCommonLabels: BOOL,
  forceCommonAnnotations: BOOL,
  namespace: STRING,
  commonAnnotationsEnvsubst: BOOL,
  replicas: list(struct({ 'name!': STRING, 'count!': INT_OR_STRING })),
  patches: list(
    struct({
      path: STRING,
      patch: STRING,
      target: pointer(
        struct({
          group: STRING,
          version: STRING,
          kind: STRING,
          name: STRING,
          namespace: STRING,
          annotationSelector: STRING,
          labelSelector: STRING,
        }),
      ),
      options: map(BOOL),
    }),
  ),
  components: STRINGS,
  ignoreMissingComponents: BOOL,
  labelWithoutSelector: BOOL,
  kubeVersion: STRING,
  apiVersions: STRINGS,
  labelIncludeTemplates: BOOL,
})

const JSONNET_VARS = list(struct({ 'name!': STRING, 'value!': STRING, code: BOOL }))

const DIRECTORY = struct({
  recurse: BOOL,
  jsonnet: struct({ extVars: JSONNET_VARS, tlas: JSONNET_VARS, libs: STRINGS }),
  exclude: STRING,
  include: STRING,
  disableExtensionFilter: BOOL,
})

const PLUGIN = struct({
  name: STRING,
  env: list(pointer(struct({ 'name!': STRING, 'value!': STRING }))),
  parameters: list(
    struct({ name: STRING, string: pointer(STRING), map: pointer(STRING_MAP), array: pointer(STRINGS) }),
  ),
})

const SOURCE = struct({
  'repoURL!': STRING,
  path: STRING,
  targetRevision: STRING,
  helm: pointer(HELM),
  kustomize: pointer(KUSTOMIZE),
  directory: pointer(DIRECTORY),
  plugin: pointer(PLUGIN),
  chart: STRING,
  ref: STRING,
  name: STRING,
  tagPrefix: STRING,
})

const RETRY = struct({
  limit: INT,
  backoff: pointer(struct({ duration: STRING, factor: pointer(INT), maxDuration: STRING })),
  refresh: BOOL,
})

/** The spec of an Application. */
const APPLICATION_SPEC = struct({
  source: pointer(SOURCE),
  'destination!': struct({ server: STRING, namespace: STRING, name: STRING }),
  'project!': STRING,
  syncPolicy: pointer(
    struct({
      automated: pointer(
        struct({ prune: pointer(BOOL), selfHeal: pointer(BOOL), allowEmpty: pointer(BOOL), enabled: pointer(BOOL) }),
      ),
      syncOptions: STRINGS,
      retry: pointer(RETRY),
      managedNamespaceMetadata: pointer(struct({ labels: STRING_MAP, annotations: STRING_MAP })),
    }),
  ),
  ignoreDifferences: list(
    struct({
      group: STRING,
      'kind!': STRING,
      name: STRING,
      namespace: STRING,
      jsonPointers: STRINGS,
      jqPathExpressions: STRINGS,
      managedFieldsManagers: STRINGS,
    }),
  ),
  info: list(struct({ 'name!': STRING, 'value!': STRING })),
  revisionHistoryLimit: pointer(INT),
  sources: list(SOURCE),
  sourceHydrator: pointer(
    struct({
      'drySource!': struct({
        'repoURL!': STRING,
        'targetRevision!': STRING,
        'path!': STRING,
        helm: pointer(HELM),
        kustomize: pointer(KUSTOMIZE),
        directory: pointer(DIRECTORY),
        plugin: pointer(PLUGIN),
      }),
      'syncSource!': struct({ 'targetBranch!': STRING, 'path!': STRING, repoURL: STRING }),
      hydrateTo: pointer(struct({ 'targetBranch!': STRING })),
    }),
  ),
})

/** The template of an ApplicationSet or a generator. */
export const TEMPLATE = struct({
  metadata: struct({
    name: STRING,
    namespace: STRING,
    labels: STRING_MAP,
    annotations: STRING_MAP,
    finalizers: STRINGS,
  }),
  spec: APPLICATION_SPEC,
})

/** An Application. */
export const APPLICATION = struct({
  kind: STRING,
  apiVersion: STRING,
  'metadata!': struct({
    name: STRING,
    generateName: STRING,
    namespace: STRING,
    selfLink: STRING,
    uid: STRING,
    resourceVersion: STRING,
    generation: INT,
    creationTimestamp: pointer(STRING),
    deletionTimestamp: pointer(STRING),
    deletionGracePeriodSeconds: pointer(INT),
    labels: STRING_MAP,
    annotations: STRING_MAP,
    ownerReferences: list(
      struct({
        'apiVersion!': STRING,
        'kind!': STRING,
        'name!': STRING,
        'uid!': STRING,
        controller: pointer(BOOL),
        blockOwnerDeletion: pointer(BOOL),
      }),
      'uid',
    ),
    finalizers: list(STRING, ''),
    managedFields: list(RAW),
  }),
  'spec!': APPLICATION_SPEC,
  status: pointer(RAW),
  operation: pointer(RAW),
})
