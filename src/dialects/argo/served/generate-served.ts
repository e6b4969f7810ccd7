// Tested by src/dialects/argo/served/application-set.sim.test.ts
/** Runs the generators of an ApplicationSet on the state of the hub. */
import { digestOfJson } from '../../../core/crypto/digest.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import { isObject } from '../../../core/json.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { GoError } from '../../../render/gotemplate/function.ts'
import type { Entropy } from '../../../render/helm/frozen-random.ts'
import { ApplicationSetError } from '../applicationset/applicationset-error.ts'
import { generateApplications } from '../applicationset/generate.ts'
import type {
  ArgoCluster,
  GenerateInputs,
  PullRequest,
  ScmRepository,
  ServiceFailure,
} from '../applicationset/generate-inputs.ts'
import { SERVED_LIMITS } from '../applicationset/limits.ts'
import { unknownGenerators } from '../applicationset/generators.ts'
import type { ServiceAnswer, ServiceQuestion } from '../scm/ask-service.ts'
import { locationOf } from '../compile/source-location.ts'
import type { RepositoryFiles } from '../files/repositories.ts'
import type { Application, ApplicationSet } from '../kinds.ts'
import { argoClusterOf, createDestinations, isLocalCluster } from '../clusters/destinations.ts'

/** The state of the hub. */
export interface HubState {
  readonly clusters: readonly Cluster[]
  readonly projects: ReadonlySet<string>
  readonly objects: readonly JsonObject[]
  /** The files of a repository; undefined when it was not fetched yet. */
  repositoryOf(url: string, revision: string): RepositoryFiles | undefined
  /** The answer of a git service; undefined while it was not asked. */
  answerOf(question: ServiceQuestion): ServiceAnswer | undefined
}

/** What an ApplicationSet makes. */
export interface Generated {
  readonly applications: readonly Application[]
  /** Why some sets of parameters make no Application. */
  readonly problems: readonly string[]
  /** Names of Clusters that a generator chose and that no Application is for. */
  readonly without: readonly string[]
  /** Repositories that are needed and were not fetched yet. */
  readonly wanted: readonly { readonly repoURL: string; readonly targetRevision: string }[]
  /** Files that a generator chose and that are not read yet, or cannot be read. */
  readonly unread: readonly string[]
  /** Questions to git services that were not asked yet. */
  readonly asked: readonly ServiceQuestion[]
}

const NO_ENTROPY: Entropy = { randomBytes: () => refuse(), now: () => refuse(), generateKey: () => refuse() }

function refuse(): never {
  throw new GoError('random values and the time are not available: an Application would change each time')
}

/** Generates; an error of the whole set is an ApplicationSetError. */
export function generateServed(set: ApplicationSet, hub: HubState): Generated {
  const unknown = unknownGenerators(set.spec['generators'])
  if (unknown.length > 0) throw new ApplicationSetError(unknown.join('; '))
  const wanted = new Map<string, Generated['wanted'][number]>()
  const unread = new Set<string>()
  const asked = new Map<string, ServiceQuestion>()
  const answer = (question: ServiceQuestion): ServiceAnswer => {
    const found = hub.answerOf(question)
    if (found === undefined) asked.set(digestOfJson(question), question)
    return found ?? []
  }
  const problems: string[] = []
  const chosen = new Map<string, ArgoCluster>()
  const inputs: GenerateInputs = {
    namespace: set.metadata.namespace ?? '',
    clusters: hub.clusters.map(argoClusterOf).toSorted((a, b) => (a.secret < b.secret ? -1 : 1)),
    hasLocalCluster: hub.clusters.some(isLocalCluster),
    projects: hub.projects,
    objects: hub.objects,
    entropy: NO_ENTROPY,
    limits: SERVED_LIMITS,
    services: {
      pullRequests: (generator) =>
        answer({ kind: 'pullRequest', generator }) as readonly PullRequest[] | ServiceFailure,
      scmRepositories: (generator) =>
        answer({ kind: 'scmProvider', generator }) as readonly ScmRepository[] | ServiceFailure,
      plugin: (generator) =>
        answer({ kind: 'plugin', generator, set: set.metadata.name }) as readonly JsonObject[] | ServiceFailure,
    },
    onProblem: (problem) => void problems.push(problem),
    onClusters: (clusters) => {
      for (const cluster of clusters) chosen.set(cluster.secret, cluster)
    },
    filesAt(url, revision) {
      const found = hub.repositoryOf(url, revision)
      if (found) {
        const read = (path: string): string => {
          const text = found.text(path)
          if (text === undefined) unread.add(`${path} of ${url}`)
          return text ?? ''
        }
        return { paths: found.paths, read }
      }
      const location = locationOf({ repoURL: url, targetRevision: revision })
      if ('problem' in location) throw new ApplicationSetError(location.problem)
      wanted.set(`${url} ${revision}`, { repoURL: url, targetRevision: revision })
      return { paths: [], read: () => '' }
    },
  }
  let made: readonly Application[]
  try {
    made = generateApplications(set, inputs).applications as unknown as readonly Application[]
  } catch (caught) {
    // An error of a file that is not read yet is none of the file.
    if (!(caught instanceof ApplicationSetError) || unread.size + asked.size === 0) throw caught
    made = []
  }
  const resolve = createDestinations(hub.clusters)
  const reached = new Set(
    made.flatMap(({ spec }) => {
      const found = resolve(spec.destination ?? {})
      return 'cluster' in found ? [found.cluster.metadata.name] : []
    }),
  )
  return {
    applications: made,
    problems,
    without: [...chosen.keys()].filter((name) => !reached.has(name)).sort(),
    wanted: [...wanted.values()],
    unread: [...unread].sort(),
    asked: [...asked.values()],
  }
}

/** Why generated Applications cannot be written; undefined when they can. */
export function generatedProblem(set: ApplicationSet, applications: readonly Application[]): string | undefined {
  const counts = Map.groupBy(applications, ({ metadata }) => metadata.name)
  if (counts.has('')) return 'the template must have metadata.name'
  const twice = [...counts].filter(([, same]) => same.length > 1).map(([name]) => name)
  if (twice.length === 0) return undefined
  return `ApplicationSet ${set.metadata.name} contains applications with duplicate name: ${nameSome(twice.sort())}`
}

/** Names of the ConfigMaps of clusterDecisionResource generators. */
export function decisionConfigMaps(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(decisionConfigMaps)
  if (!isObject(value)) return []
  const { clusterDecisionResource: generator } = value
  const own = isObject(generator) && typeof generator['configMapRef'] === 'string' ? [generator['configMapRef']] : []
  return [...own, ...Object.values(value).flatMap(decisionConfigMaps)]
}
