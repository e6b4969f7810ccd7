// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Which commit a GitRepository's `spec.ref` names, and the revision of its artifact. */
import { selectGitTag } from './select-tag.ts'
import { SourceRefError } from './source-ref-error.ts'

/** `spec.ref` of a GitRepository. Of several fields, name wins over commit, tag, semver and branch, in this order. */
export interface GitRef {
  readonly branch?: string
  readonly tag?: string
  readonly semver?: string
  readonly name?: string
  readonly commit?: string
}

/** What a server says about a repository. */
export interface RemoteRepository {
  /** References by full name. */
  readonly refs: Readonly<Record<string, string>>
  /** Commits of annotated tags, by the full name of the tag. */
  readonly annotated: Readonly<Record<string, string>>
  /** The time of a commit in milliseconds. */
  readonly timeOf: (commit: string) => number
  /** True where a commit is there; with a head, where the head descends from it. */
  readonly has: (commit: string, head?: string) => boolean
}

/** The commit that was chosen. */
export interface Checkout {
  readonly hash: string
  readonly reference: string
  readonly referencingTag?: string
  /** Name and hash, as `status.artifact.revision` has it. */
  readonly revision: string
}

const DEFAULT_BRANCH = 'master'
const TAGS = 'refs/tags/'

/** Resolves a reference; throws SourceRefError. */
export function resolveCheckout(repository: RemoteRepository, ref: GitRef = {}): Checkout {
  const { branch = '', tag = '', semver = '', name = '', commit = '' } = ref
  if (name !== '') return byName(repository, name)
  if (commit !== '') return byCommit(repository, commit, branch)
  if (tag !== '') return byTag(repository, tag)
  if (semver !== '') return byTag(repository, selectGitTag(semver, tagsOf(repository)))
  return byBranch(repository, branch || DEFAULT_BRANCH)
}

function byName(repository: RemoteRepository, name: string): Checkout {
  const plain = name.replace(/\^\{\}$/, '')
  const hash = name.startsWith('refs/') ? commitOf(repository, plain) : undefined
  if (hash === undefined) throw new SourceRefError(`unable to resolve ref '${name}' to a specific commit`)
  const tag = plain.startsWith(TAGS) ? { referencingTag: plain.slice(TAGS.length) } : {}
  return { hash, reference: name, ...tag, revision: revision(name, hash) }
}

function byCommit(repository: RemoteRepository, commit: string, branch: string): Checkout {
  const reference = branch === '' ? 'HEAD' : `refs/heads/${branch}`
  const head = branch === '' ? undefined : branchHead(repository, branch)
  if (!/^[0-9a-f]{40}$/.test(commit) || !repository.has(commit, head)) {
    throw new SourceRefError(`unable to resolve commit object for '${commit}': object not found`)
  }
  return { hash: commit, reference, revision: revision(branch, commit) }
}

function byTag(repository: RemoteRepository, tag: string): Checkout {
  const reference = `${TAGS}${tag}`
  const hash = commitOf(repository, reference) ?? notFound(reference)
  return { hash, reference, referencingTag: tag, revision: revision(tag, hash) }
}

function byBranch(repository: RemoteRepository, branch: string): Checkout {
  const hash = branchHead(repository, branch)
  return { hash, reference: `refs/heads/${branch}`, revision: revision(branch, hash) }
}

function branchHead({ refs }: RemoteRepository, branch: string): string {
  const reference = `refs/heads/${branch}`
  return own(refs, reference) ?? notFound(reference)
}

function commitOf({ refs, annotated }: RemoteRepository, reference: string): string | undefined {
  return own(annotated, reference) ?? own(refs, reference)
}

function tagsOf(repository: RemoteRepository): { name: string; time: number }[] {
  return Object.keys(repository.refs)
    .filter((reference) => reference.startsWith(TAGS))
    .map((reference) => ({
      name: reference.slice(TAGS.length),
      time: repository.timeOf(commitOf(repository, reference)!),
    }))
}

function own<T>(record: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(record, key) ? record[key] : undefined
}

function revision(name: string, hash: string): string {
  return name === '' ? `sha1:${hash}` : `${name}@sha1:${hash}`
}

function notFound(reference: string): never {
  throw new SourceRefError(`couldn't find remote ref "${reference}"`)
}
