// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** The type of an ApplicationSet and its generators, as Argo CD's API has it. */
import { TEMPLATE } from './application-shape.ts'
import { BOOL, INT, INT_OR_STRING, list, map, pointer, RAW, STRING, STRING_MAP, STRINGS, struct } from './shape.ts'
import type { Shape, StructShape } from './shape.ts'

const SELECTOR = struct({
  matchLabels: STRING_MAP,
  matchExpressions: list(struct({ key: STRING, operator: STRING, values: STRINGS })),
})

const SECRET = pointer(struct({ secretName: STRING, key: STRING }))
const CONFIG_MAP = pointer(struct({ configMapName: STRING, key: STRING }))
const BASIC_AUTH = pointer(struct({ username: STRING, passwordRef: SECRET }))
const BEARER = pointer(struct({ tokenRef: SECRET }))
const PATHS = list(struct({ path: STRING, exclude: BOOL }))

const LIST = struct({ elements: list(RAW), template: TEMPLATE, elementsYaml: STRING })

const CLUSTERS = struct({ selector: SELECTOR, template: TEMPLATE, values: STRING_MAP, flatList: BOOL })

const GIT = struct({
  repoURL: STRING,
  directories: PATHS,
  files: PATHS,
  revision: STRING,
  requeueAfterSeconds: pointer(INT),
  template: TEMPLATE,
  pathParamPrefix: STRING,
  values: STRING_MAP,
})

const SCM_PROVIDER = struct({
  github: pointer(
    struct({
      organization: STRING,
      api: STRING,
      tokenRef: SECRET,
      appSecretName: STRING,
      allBranches: BOOL,
      excludeArchivedRepos: BOOL,
    }),
  ),
  gitlab: pointer(
    struct({
      group: STRING,
      includeSubgroups: BOOL,
      api: STRING,
      tokenRef: SECRET,
      allBranches: BOOL,
      insecure: BOOL,
      includeSharedProjects: pointer(BOOL),
      topic: STRING,
      caRef: CONFIG_MAP,
      includeArchivedRepos: BOOL,
    }),
  ),
  bitbucket: pointer(struct({ owner: STRING, user: STRING, appPasswordRef: SECRET, allBranches: BOOL })),
  bitbucketServer: pointer(
    struct({
      project: STRING,
      api: STRING,
      basicAuth: BASIC_AUTH,
      allBranches: BOOL,
      bearerToken: BEARER,
      insecure: BOOL,
      caRef: CONFIG_MAP,
    }),
  ),
  gitea: pointer(
    struct({
      owner: STRING,
      api: STRING,
      tokenRef: SECRET,
      allBranches: BOOL,
      insecure: BOOL,
      excludeArchivedRepos: BOOL,
    }),
  ),
  azureDevOps: pointer(
    struct({ organization: STRING, api: STRING, teamProject: STRING, accessTokenRef: SECRET, allBranches: BOOL }),
  ),
  filters: list(
    struct({
      repositoryMatch: pointer(STRING),
      pathsExist: STRINGS,
      pathsDoNotExist: STRINGS,
      labelMatch: pointer(STRING),
      branchMatch: pointer(STRING),
    }),
  ),
  cloneProtocol: STRING,
  requeueAfterSeconds: pointer(INT),
  template: TEMPLATE,
  values: STRING_MAP,
  awsCodeCommit: pointer(
    struct({
      tagFilters: list(pointer(struct({ key: STRING, value: STRING }))),
      role: STRING,
      region: STRING,
      allBranches: BOOL,
    }),
  ),
})

const DECISION = struct({
  configMapRef: STRING,
  name: STRING,
  requeueAfterSeconds: pointer(INT),
  labelSelector: SELECTOR,
  template: TEMPLATE,
  values: STRING_MAP,
})

const PULL_REQUEST = struct({
  github: pointer(
    struct({ owner: STRING, repo: STRING, api: STRING, tokenRef: SECRET, appSecretName: STRING, labels: STRINGS }),
  ),
  gitlab: pointer(
    struct({
      project: STRING,
      api: STRING,
      tokenRef: SECRET,
      labels: STRINGS,
      pullRequestState: STRING,
      insecure: BOOL,
      caRef: CONFIG_MAP,
    }),
  ),
  gitea: pointer(
    struct({ owner: STRING, repo: STRING, api: STRING, tokenRef: SECRET, insecure: BOOL, labels: STRINGS }),
  ),
  bitbucketServer: pointer(
    struct({
      project: STRING,
      repo: STRING,
      api: STRING,
      basicAuth: BASIC_AUTH,
      bearerToken: BEARER,
      insecure: BOOL,
      caRef: CONFIG_MAP,
    }),
  ),
  filters: list(
    struct({ branchMatch: pointer(STRING), targetBranchMatch: pointer(STRING), titleMatch: pointer(STRING) }),
  ),
  requeueAfterSeconds: pointer(INT),
  template: TEMPLATE,
  bitbucket: pointer(struct({ owner: STRING, repo: STRING, api: STRING, basicAuth: BASIC_AUTH, bearerToken: BEARER })),
  azuredevops: pointer(
    struct({ organization: STRING, project: STRING, repo: STRING, api: STRING, tokenRef: SECRET, labels: STRINGS }),
  ),
  values: STRING_MAP,
  continueOnRepoNotFoundError: BOOL,
})

const PLUGIN = struct({
  configMapRef: struct({ name: STRING }),
  input: struct({ parameters: map(RAW) }),
  requeueAfterSeconds: pointer(INT),
  template: TEMPLATE,
  values: STRING_MAP,
})

function generator(combining: Readonly<Record<string, Shape>>): StructShape {
  return struct({
    list: pointer(LIST),
    clusters: pointer(CLUSTERS),
    git: pointer(GIT),
    scmProvider: pointer(SCM_PROVIDER),
    clusterDecisionResource: pointer(DECISION),
    pullRequest: pointer(PULL_REQUEST),
    ...combining,
    selector: pointer(SELECTOR),
    plugin: pointer(PLUGIN),
  })
}

/** A generator inside of a matrix or merge that is itself inside of one: it combines nothing. */
const TERMINAL_GENERATOR = generator({})
/** A generator inside of a matrix or merge; what it combines is read when it is used. */
const NESTED_GENERATOR = generator({ matrix: pointer(RAW), merge: pointer(RAW) })

/** A matrix or merge inside of another, before its generators become generators of the level above. */
export const INNER_COMBINATION = struct({ generators: list(TERMINAL_GENERATOR), mergeKeys: STRINGS })

const MATRIX = struct({ generators: list(NESTED_GENERATOR), template: TEMPLATE })
const MERGE = struct({ generators: list(NESTED_GENERATOR), mergeKeys: STRINGS, template: TEMPLATE })

/** A generator of an ApplicationSet. */
export const GENERATOR = generator({ matrix: pointer(MATRIX), merge: pointer(MERGE) })

/** Generators whose `values` are filled with their own parameters. */
export const WITH_VALUES: ReadonlySet<StructShape> = new Set([
  CLUSTERS,
  GIT,
  SCM_PROVIDER,
  DECISION,
  PULL_REQUEST,
  PLUGIN,
])

/** An ApplicationSet. */
export const APPLICATION_SET = struct({
  metadata: struct({ name: STRING, namespace: STRING, labels: STRING_MAP, annotations: STRING_MAP }),
  spec: struct({
    goTemplate: BOOL,
    generators: list(GENERATOR),
    template: TEMPLATE,
    syncPolicy: pointer(struct({ preserveResourcesOnDeletion: BOOL, applicationsSync: pointer(STRING) })),
    strategy: pointer(
      struct({
        type: STRING,
        rollingSync: pointer(
          struct({
            steps: list(
              struct({
                matchExpressions: list(struct({ key: STRING, operator: STRING, values: STRINGS })),
                maxUpdate: pointer(INT_OR_STRING),
              }),
            ),
          }),
        ),
        deletionOrder: STRING,
      }),
    ),
    preservedFields: pointer(struct({ annotations: STRINGS, labels: STRINGS })),
    goTemplateOptions: STRINGS,
    applyNestedSelectors: BOOL,
    ignoreApplicationDifferences: list(struct({ name: STRING, jsonPointers: STRINGS, jqPathExpressions: STRINGS })),
    templatePatch: pointer(STRING),
  }),
})
