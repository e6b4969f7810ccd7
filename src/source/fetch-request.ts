/** What is asked of a fetch and what can come of it, and what of the artifact before still counts. */
import type { Blobs } from '../blobs/blobs.ts'
import type { Clock } from '../core/time/clock.ts'
import { digestOfJson } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import type { Ids } from '../core/ids.ts'
import type { Source } from '../kinds/native/source.ts'
import type { Credentials } from './credentials.ts'
import type { LsRemoteCache } from './git/ls-remote-cache.ts'
import type { GitProgram } from './git/run-git.ts'
import type { HttpGet } from './http-get.ts'
import type { Mirror } from './mirrors.ts'

/** The artifact a source had so far, as its status has it. */
export type PreviousArtifact = NonNullable<NonNullable<Source['status']>['artifact']>

/** What is asked; plain data, so that it may travel to another thread. */
export interface FetchRequest {
  readonly spec: Source['spec']
  readonly previous?: PreviousArtifact
  readonly credentials?: Credentials
  readonly mirrors: readonly Mirror[]
  /** What was refused the last time, with the same selection. */
  readonly refused?: FetchFailure
  /** Somebody said that there is news: do not answer from what was heard a moment ago. */
  readonly isHinted: boolean
  /** Fetches apart from all other sources: this one may be what ended the thread that they share. */
  readonly isAlone?: boolean
}

/** A new artifact; it is stored when this is said. */
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
}

/** No new artifact, and why. */
export interface FetchFailure {
  readonly kind: 'Failed'
  readonly reason: string
  readonly message: string
  /** False: a person must change something first. */
  readonly retry: boolean
  /** The commit whose content cannot be taken; it need not be looked at again. */
  readonly commit?: string
}

/** The reason of a fetch that the hub had to stop from outside; the source is fetched apart from the others from then on. */
export const FETCH_STOPPED = 'FetchStopped'

/** What came of a fetch. */
export type FetchOutcome =
  | { readonly kind: 'Same' }
  | { readonly kind: 'New'; readonly artifact: FetchedArtifact }
  | { readonly kind: 'Held'; readonly revision: string; readonly reason: string; readonly message: string }
  /** The thread was ended because of this fetch or of another one beside it; this one is to be tried again alone. */
  | { readonly kind: 'Interrupted' }
  | FetchFailure

/** What a fetcher works with. */
export interface FetchParts {
  readonly blobs: Pick<Blobs, 'put' | 'get' | 'has'>
  readonly clock: Clock
  readonly ids: Ids
  readonly git: GitProgram
  /** Where caches of repositories are. */
  readonly folder: string
  /** Directories below which local repositories may be. */
  readonly localPaths: readonly string[]
  readonly polls: LsRemoteCache
  readonly http: HttpGet
}

/** What every kind of fetch gets. */
export interface FetchContext extends FetchParts, FetchRequest {
  readonly signal: AbortSignal
}

/** What identifies the thing that is followed: when a person changes it, any history may follow. */
export function identityOf(spec: Source['spec']): Digest {
  const { git, helm, oci } = spec
  return digestOfJson({ git, helm, oci })
}

/** What of it is taken: when this changes, the same commit is another artifact. */
export function selectionOf(spec: Source['spec']): Digest {
  return digestOfJson({ paths: spec.paths ?? [], ignore: spec.ignore ?? [], format: 1 })
}

/** Whether a revision that would be held was released by a person. */
export function isAccepted(spec: Source['spec'], ...names: readonly string[]): boolean {
  return spec.accept !== undefined && names.some((name) => name === spec.accept)
}

/** What of the previous artifact still counts for this request. */
export function reusablePrevious({ spec, previous }: FetchRequest): {
  /** The same thing was followed, so that its history binds. */
  readonly followed: PreviousArtifact | undefined
  /** And the same part of it was taken, so that the same revision is the same artifact. */
  readonly same: PreviousArtifact | undefined
} {
  const followed = previous?.identity === identityOf(spec) ? previous : undefined
  return { followed, same: followed?.selection === selectionOf(spec) ? followed : undefined }
}
