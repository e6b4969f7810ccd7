/** Chooses the commit that a ref selects from the refs of a repository. */
import { nameSome } from '../../core/text/name-some.ts'
import { compareVersions, parseVersion, satisfies, VersionError } from '../../core/text/semver.ts'
import type { Version } from '../../core/text/semver.ts'
import { SourceError } from '../source-error.ts'

/** The ref to follow: at most one field is set. Defaults to the repository's default branch. */
export interface GitRef {
  readonly branch?: string | undefined
  readonly tag?: string | undefined
  /** A range of versions, matched against tags. */
  readonly semver?: string | undefined
  readonly commit?: string | undefined
  /** The full name of a reference, for example `refs/pull/1/head`. */
  readonly name?: string | undefined
}

/** The selected commit and the ref that selected it. */
export interface ChosenCommit {
  readonly commit: string
  /** The branch, the tag, or the full name of the reference. */
  readonly name: string
}

const PEELED = '^{}'

/** Parses the output of `ls-remote`. */
export function parseRefs(text: string): Map<string, string> {
  const refs = new Map<string, string>()
  for (const line of text.split('\n')) {
    const match = /^([0-9a-f]{40}|[0-9a-f]{64})\t(.+)$/.exec(line)
    if (match) refs.set(match[2]!, match[1]!)
  }
  return refs
}

/** Finds the commit of a ref. Throws SourceError with the available refs. */
export function chooseCommit(refs: ReadonlyMap<string, string>, ref: GitRef): ChosenCommit {
  if (ref.commit !== undefined) return { commit: ref.commit, name: ref.commit.slice(0, 12) }
  if (ref.name !== undefined) {
    const commit = refs.get(`${ref.name}${PEELED}`) ?? refs.get(ref.name)
    if (commit === undefined) throw notFound(`reference ${JSON.stringify(ref.name)}`, namesBelow(refs, ''))
    return { commit, name: ref.name }
  }
  if (ref.semver !== undefined) return newestTag(refs, ref.semver)
  if (ref.tag !== undefined) {
    const commit = tagOf(refs, ref.tag)
    if (commit === undefined) throw notFound(`tag ${JSON.stringify(ref.tag)}`, namesBelow(refs, 'refs/tags/'))
    return { commit, name: ref.tag }
  }
  if (ref.branch === undefined) {
    const head = refs.get('HEAD')
    if (head === undefined) throw notFound('default branch', namesBelow(refs, 'refs/heads/'))
    return { commit: head, name: 'HEAD' }
  }
  const commit = refs.get(`refs/heads/${ref.branch}`)
  if (commit === undefined) throw notFound(`branch ${JSON.stringify(ref.branch)}`, namesBelow(refs, 'refs/heads/'))
  return { commit, name: ref.branch }
}

// An annotated tag is an object of its own; the commit it points to is listed with ^{}.
function tagOf(refs: ReadonlyMap<string, string>, tag: string): string | undefined {
  return refs.get(`refs/tags/${tag}${PEELED}`) ?? refs.get(`refs/tags/${tag}`)
}

function namesBelow(refs: ReadonlyMap<string, string>, prefix: string): string[] {
  return [...refs.keys()]
    .filter((name) => name.startsWith(prefix) && !name.endsWith(PEELED))
    .map((name) => name.slice(prefix.length))
}

function notFound(what: string, names: readonly string[]): SourceError {
  const there = names.length === 0 ? 'it has none' : `it has ${nameSome(names, 5)}`
  return new SourceError('RefNotFound', `The repository has no ${what}; ${there}.`, { retry: true })
}

function newestTag(refs: ReadonlyMap<string, string>, range: string): ChosenCommit {
  const tags = namesBelow(refs, 'refs/tags/')
  const newest = newestVersion(tags, range)
  if (newest === undefined) throw notFound(`tag in the range ${JSON.stringify(range)}`, tags)
  return { commit: tagOf(refs, newest)!, name: newest }
}

/** The newest version in a range; names that are not versions are ignored. */
export function newestVersion(names: readonly string[], range: string): string | undefined {
  let best: { readonly name: string; readonly version: Version } | undefined
  for (const name of names) {
    const version = versionOf(name)
    if (version && inRange(version, range) && (!best || compareVersions(version, best.version) > 0)) {
      best = { name, version }
    }
  }
  return best?.name
}

/** Parses a version. Returns undefined when the text is not a version. */
export function versionOf(text: string): Version | undefined {
  try {
    return parseVersion(text)
  } catch (caught) {
    if (caught instanceof VersionError) return undefined
    throw caught
  }
}

function inRange(version: Version, range: string): boolean {
  try {
    return satisfies(version, range, 'group')
  } catch (caught) {
    if (caught instanceof VersionError)
      throw new SourceError('BadRange', `${JSON.stringify(range)} is no range of versions.`)
    throw caught
  }
}
