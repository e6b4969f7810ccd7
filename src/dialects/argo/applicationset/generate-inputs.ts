// Tested by src/dialects/argo/applicationset/generate.test.ts.
/** What an ApplicationSet is generated from: everything Argo CD would ask its cluster, git and services for. */
import type { JsonObject } from '../../../core/json.ts'
import type { Entropy } from '../../../render/helm/frozen-random.ts'
import type { GenerateLimits } from './limits.ts'
import type { Parameters, TextRenderer } from './render-text.ts'
import type { Selector } from './selectors.ts'

/** A cluster, as its Secret describes it. */
export interface ArgoCluster {
  /** The name of the Secret, which decides the order. */
  readonly secret: string
  readonly name: string
  readonly server: string
  readonly project?: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

/** The files of a repository at a revision. */
export interface RevisionFiles {
  /** Paths from the top of the repository. */
  readonly paths: readonly string[]
  read(path: string): string | Uint8Array
}

/** A pull request, as a service describes it. */
export interface PullRequest {
  readonly number: number
  readonly title: string
  readonly branch: string
  readonly targetBranch: string
  readonly headSHA: string
  readonly labels: readonly string[]
  readonly author: string
}

/** A branch of a repository, as a service describes it. */
export interface ScmRepository {
  readonly organization: string
  readonly repository: string
  readonly repositoryId?: number | string
  readonly url: string
  readonly branch: string
  readonly sha: string
  readonly labels: readonly string[]
  hasPath(path: string): boolean
}

/** A service that failed; `isNotFound` when the repository does not exist. */
export interface ServiceFailure {
  readonly failure: string
  readonly isNotFound: boolean
}

/** Services that generators ask. */
export interface GeneratorServices {
  pullRequests?(generator: JsonObject): readonly PullRequest[] | ServiceFailure
  scmRepositories?(generator: JsonObject): readonly ScmRepository[] | ServiceFailure
  plugin?(generator: JsonObject): readonly JsonObject[] | ServiceFailure
}

/** All inputs. */
export interface GenerateInputs {
  /** The namespace of Argo CD. */
  readonly namespace: string
  /** Secrets of clusters in that namespace. */
  readonly clusters: readonly ArgoCluster[]
  /** Names of AppProjects in that namespace. */
  readonly projects: ReadonlySet<string>
  /** Further objects: ConfigMaps and decisions. */
  readonly objects: readonly JsonObject[]
  /** The files of a repository at a revision, or what of both is not known. */
  filesAt(url: string, revision: string): RevisionFiles | 'unknown repository' | 'unknown revision'
  /** Answers the clusters generator instead of the Secrets, where clusters are not known yet. */
  clusterSets?(generator: JsonObject, renderer: TextRenderer): Parameters[]
  /** Chooses sets by the selector of a generator, instead of by their parameters alone. */
  selectSets?(selector: Selector, sets: readonly Parameters[]): Parameters[]
  /** Receives the clusters that clusters generators chose. */
  onClusters?(clusters: readonly ArgoCluster[]): void
  /** Receives what is wrong with one set of parameters; the other sets go on. Without it, it is an error of all. */
  onProblem?(problem: string): void
  /** False where no cluster stands for the one that Argo CD runs in. */
  readonly hasLocalCluster?: boolean
  readonly services?: GeneratorServices
  /** `*` in paths of files stops at slashes: applicationsetcontroller.enable.new.git.file.globbing. */
  readonly newGitFileGlobbing?: boolean
  /** Where templates get the time and random values from. */
  readonly entropy: Entropy
  readonly limits?: GenerateLimits
}
