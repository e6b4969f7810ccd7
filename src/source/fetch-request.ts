/** The request and the outcome of a fetch, and the parts of the previous artifact that can be reused. */
import type { Blobs } from '../blobs/blobs.ts'
import { compact } from '../core/compact.ts'
import type { Clock } from '../core/time/clock.ts'
import { digestOfJson } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { Ids } from '../core/ids.ts'
import type { EgressRules } from '../core/text/egress.ts'
import type { Source } from '../kinds/native/source.ts'
import type { AnswerCache } from './answer-cache.ts'
import type { Credentials } from './credentials.ts'
import type { GitProgram } from './git/run-git.ts'
import type { HelmIndex } from './helm/helm-index.ts'
import type { HttpGet } from './http-get.ts'
import type { Mirror } from './mirrors.ts'
import type { SourceProxy } from './source-secrets.ts'

/** The previous artifact of a Source, from its status. */
export type PreviousArtifact = NonNullable<NonNullable<Source['status']>['artifact']>

/** The request of a fetch; plain data, so that it can be sent to another thread. */
export interface FetchRequest {
  readonly spec: Source['spec']
  readonly previous?: PreviousArtifact
  readonly credentials?: Credentials
  /** Armored OpenPGP public keys that sign commits and tags. */
  readonly keyring?: string
  readonly proxy?: SourceProxy
  readonly mirrors: readonly Mirror[]
  /** The last failure with the same selection. */
  readonly refused?: FetchFailure
  /** True after a webhook: cached answers of the server must not be used. */
  readonly isHinted: boolean
  /** If true, the Source is fetched in a thread of its own, because it may have ended the shared thread. */
  readonly isAlone?: boolean
}

/** A new artifact. All of its blobs are stored. */
export interface FetchedArtifact {
  readonly revision: string
  /** The commit, or the digest of the chart or manifest. */
  readonly commit: string
  readonly digest: Digest
  readonly files: number
  readonly bytes: number
  readonly fetchedBytes: number
  /** The address that was contacted. */
  readonly from: string
  /** Author and subject of a git commit; absent where they are unknown. */
  readonly author?: string
  readonly subject?: string
  /** The signatures that were verified. */
  readonly verified?: string
}

/** A fetch without a new artifact, with its reason. */
export interface FetchFailure {
  readonly kind: 'Failed'
  readonly reason: string
  readonly message: string
  /** If false, a user must change the Source before a retry can succeed. */
  readonly retry: boolean
  /** The commit whose content is refused; later fetches skip it. */
  readonly commit?: string
}

/** The reason of a fetch that the hub stopped from outside. Afterwards the Source is fetched in a thread of its own. */
export const FETCH_STOPPED = 'FetchStopped'

/** The outcome of a fetch. */
export type FetchOutcome =
  | { readonly kind: 'Same' }
  | { readonly kind: 'New'; readonly artifact: FetchedArtifact }
  | { readonly kind: 'Held'; readonly revision: string; readonly reason: string; readonly message: string }
  /**
   * The shared thread was ended because of this fetch or a concurrent fetch. The caller repeats this fetch in a thread
   * of its own.
   */
  | { readonly kind: 'Interrupted' }
  | FetchFailure

/** The dependencies of a fetch. */
export interface FetchParts {
  readonly blobs: Pick<Blobs, 'put' | 'get' | 'has'>
  readonly clock: Clock
  readonly ids: Ids
  readonly git: GitProgram
  /** The directory of the repository caches. */
  readonly folder: string
  /** Directories below which local repositories are allowed. */
  readonly localPaths: readonly string[]
  /** Answers of `ls-remote`. */
  readonly polls: AnswerCache<Map<string, string>>
  /** Indexes of Helm repositories. */
  readonly indexes: AnswerCache<HelmIndex>
  /** Tokens that were exchanged for the keys of GitHub Apps. */
  readonly tokens: AnswerCache<string>
  readonly http: HttpGet
  /** The servers that Sources may contact; `http` obeys the same rules. */
  readonly egress: EgressRules
}

/** The context that every kind of fetch receives. */
export interface FetchContext extends FetchParts, FetchRequest {
  readonly signal: AbortSignal
}

/** The digest of the followed repository. When a user changes it, any history is accepted. */
export function identityOf(spec: Source['spec']): Digest {
  const { git, helm, oci, s3, inline } = spec
  // What is taken of a repository, and who must have signed it, is not where it is.
  const { submodules: _submodules, verify: _verify, ...followed } = git ?? {}
  return digestOfJson(
    inline ? { inline: digestOfJson(inline) } : { git: git && followed, helm, oci, ...(s3 && { s3 }) },
  )
}

/** The digest of the selected part. When it changes, the same commit is a different artifact. */
export function selectionOf(spec: Source['spec']): Digest {
  const { submodules, verify } = spec.git ?? {}
  return digestOfJson(compact({ paths: spec.paths ?? [], ignore: spec.ignore ?? [], format: 1, submodules, verify }))
}

/** Returns true if a user has released a guarded revision with spec.accept. */
export function isAccepted(spec: Source['spec'], ...names: readonly string[]): boolean {
  return spec.accept !== undefined && names.some((name) => name === spec.accept)
}

/** The parts of the previous artifact that can be reused for this request. */
export function reusablePrevious({ spec, previous }: FetchRequest): {
  /** Set if the repository is the same, so that its history must continue. */
  readonly followed: PreviousArtifact | undefined
  /** Set if the selected part is the same too, so that the same revision is the same artifact. */
  readonly same: PreviousArtifact | undefined
} {
  const followed = previous?.identity === identityOf(spec) ? previous : undefined
  return { followed, same: followed?.selection === selectionOf(spec) ? followed : undefined }
}
