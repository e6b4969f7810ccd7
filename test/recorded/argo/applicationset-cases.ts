/** Recorded ApplicationSets: the inputs of a case as the product takes them, and when two answers are the same. */
import { generateTraditionalKey } from '../../../src/core/bytes.ts'
import { isObject, jsonEqual } from '../../../src/core/json.ts'
import type { JsonObject } from '../../../src/core/json.ts'
import { ApplicationSetError } from '../../../src/dialects/argo/applicationset/applicationset-error.ts'
import { sortArgoObjects } from '../../../src/dialects/argo/applicationset/argo-objects.ts'
import { generateApplications } from '../../../src/dialects/argo/applicationset/generate.ts'
import type {
  GenerateInputs,
  GeneratorServices,
  PullRequest,
  ScmRepository,
} from '../../../src/dialects/argo/applicationset/generate-inputs.ts'
import { filesByRevision } from '../../../src/dialects/argo/applicationset/git-revision.ts'
import { readYamlJson } from '../../../src/dialects/argo/applicationset/read-yaml-text.ts'
import type { RecordedCase } from '../recorded-case.ts'

interface RecordedCluster {
  readonly name: string
  readonly server: string
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly project?: string
  readonly secret?: string
  readonly namespace?: string
  readonly secretType?: string
}

/** The Secret of a cluster, by turns with `data` and `stringData`. */
export function clusterSecret(cluster: RecordedCluster, at: number, namespace: string): JsonObject {
  const { name, server, project } = cluster
  const texts = { name, server, ...(project === undefined ? {} : { project }) }
  const data = Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString('base64')])
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: cluster.secret ?? `cluster-${String(at).padStart(4, '0')}`,
      namespace: cluster.namespace ?? namespace,
      labels: { ...cluster.labels, 'argocd.argoproj.io/secret-type': cluster.secretType ?? 'cluster' },
      ...(cluster.annotations && { annotations: cluster.annotations }),
    },
    ...(at % 2 === 0 ? { data: Object.fromEntries(data) as JsonObject } : { stringData: texts }),
  }
}

/** All objects of a case but the ApplicationSet. */
export function objectsOf(input: RecordedCase): JsonObject[] {
  const namespace = input['namespace'] as string
  const projects = (input['projects'] ?? []) as readonly string[]
  const clusters = (input['clusters'] ?? []) as readonly RecordedCluster[]
  return [
    ...projects.map((name) => ({
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'AppProject',
      metadata: { name, namespace },
    })),
    ...clusters.map((cluster, at) => clusterSecret(cluster, at, namespace)),
    ...((input['objects'] ?? []) as JsonObject[]),
  ]
}

type Repos = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>

function inputsOf(input: RecordedCase): GenerateInputs {
  const namespace = input['namespace'] as string
  const { clusters, projects, objects } = sortArgoObjects(objectsOf(input), namespace)
  const repos = (input['repos'] ?? {}) as Repos
  const settings = (input['settings'] ?? {}) as { readonly newGitFileGlobbing?: boolean }
  return {
    namespace,
    clusters,
    projects,
    objects,
    filesAt: filesByRevision(
      new Map(
        Object.entries(repos).map(([url, revisions]) => [
          url,
          new Map(
            Object.entries(revisions).map(([name, files]) => [
              name,
              { paths: Object.keys(files), read: (path: string) => files[path]! },
            ]),
          ),
        ]),
      ),
    ),
    services: servicesOf(input),
    ...(settings.newGitFileGlobbing === true && { newGitFileGlobbing: true }),
    entropy: {
      randomBytes: (length) => new Uint8Array(length),
      now: () => 0,
      generateKey: generateTraditionalKey,
    },
  }
}

function servicesOf(input: RecordedCase): GeneratorServices {
  const failure = input['pullRequestError'] as string | undefined
  const pulls = input['pullRequests'] as readonly PullRequest[] | undefined
  const repositories = input['scmRepos'] as
    | readonly (Omit<ScmRepository, 'hasPath'> & { readonly paths?: readonly string[] })[]
    | undefined
  return {
    pullRequests: () =>
      failure === undefined ? (pulls ?? []) : { failure, isNotFound: failure === 'repository not found' },
    scmRepositories: () =>
      (repositories ?? []).map((one) => ({
        ...one,
        labels: one.labels ?? [],
        hasPath: (path) => one.paths?.some((own) => own === path || own.startsWith(`${path}/`)) === true,
      })),
  }
}

/** The answer to a case: the Applications, or an error. */
export function answerSet(input: RecordedCase): unknown {
  try {
    const { applications } = generateApplications(readYamlJson(input['appset'] as string), inputsOf(input))
    return { applications }
  } catch (caught) {
    if (!(caught instanceof ApplicationSetError)) throw caught
    return { error: caught.message }
  }
}

// Fields in which an empty value is not the same as none.
const KEPT = new Set(['enabled', 'valuesObject', 'revisionHistoryLimit', 'factor', 'string', 'map', 'array'])

/** The value without empty values of typed fields. */
function loose(value: unknown, key = ''): unknown {
  if (key === 'valuesObject') return value
  if (Array.isArray(value)) return value.map((item) => loose(item))
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, item]) => [name, loose(item, name)] as const)
  return Object.fromEntries(entries.filter(([name, item]) => KEPT.has(name) || !isEmpty(item)))
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  if (isObject(value)) return Object.keys(value).length === 0
  return value === null || value === undefined || value === '' || value === 0 || value === false
}

function bare(application: JsonObject): unknown {
  const { apiVersion: _apiVersion, kind: _kind, status: _status, ...rest } = application
  return loose(rest)
}

function key(application: unknown): string {
  return JSON.stringify(application, (_name, item: unknown) =>
    isObject(item) ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : 1))) : item,
  )
}

function sameApplications(own: readonly JsonObject[], theirs: readonly JsonObject[]): boolean {
  const [a, b] = [own, theirs].map((those) => those.map((one) => key(bare(one))).toSorted())
  return jsonEqual(a, b)
}

/** Whether an answer is as good as the recorded one, as the recording's notes define it. */
export function isSameSet(answer: JsonObject, expect: JsonObject): boolean {
  if (expect['stage'] === 'panic') return true
  if (expect['notAdmitted'] && answer['error'] !== undefined) return true
  return [expect, ...((expect['alternatives'] ?? []) as JsonObject[])].some((right) => {
    if (right['error'] !== undefined) return answer['error'] !== undefined
    return (
      answer['error'] === undefined &&
      sameApplications(answer['applications'] as JsonObject[], right['applications'] as JsonObject[])
    )
  })
}
