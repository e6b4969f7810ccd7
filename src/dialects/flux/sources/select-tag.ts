// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Which tag a semver range chooses, in git repositories and in OCI registries, as Flux chooses it. */
import { compareVersions, parseVersion, satisfies, VersionError } from '../../../core/text/semver.ts'
import type { Version } from '../../../core/text/semver.ts'
import { compilePattern } from '../../../render/kustomize/go-regexp.ts'
import { SourceRefError } from './source-ref-error.ts'

/** A tag and the time of its commit in milliseconds. */
export interface GitTag {
  readonly name: string
  readonly time: number
}

/** The tag of a git repository; of versions that are equal but for their metadata, the newest commit wins. */
export function selectGitTag(range: string, tags: readonly GitTag[]): string {
  checkRange(range, 'semver parse error')
  const times = new Map(tags.map(({ name, time }) => [name, time]))
  const matching = matchingVersions(
    range,
    tags.map(({ name }) => name),
  )
  const newest = matching.reduce<Version | undefined>((best, version) => {
    if (!best) return version
    const order = compareVersions(version, best)
    if (order !== 0) return order > 0 ? version : best
    return times.get(version.original)! >= times.get(best.original)! ? version : best
  }, undefined)
  return newest?.original ?? noMatch(range)
}

/** What an OCIRepository says about tags. */
export interface OciTagRule {
  readonly semver: string
  /** A regular expression in Go's syntax that a tag must match. */
  readonly semverFilter?: string
  readonly mediaType?: string
}

const HELM_CHART = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'

/** The tag of a registry. A tag cannot hold the plus of build metadata, so charts are tagged with `_` instead. */
export function selectOciTag({ semver, semverFilter = '', mediaType }: OciTagRule, tags: readonly string[]): string {
  checkRange(semver, `semver '${semver}' parse error`)
  const filtered = semverFilter === '' ? tags : tags.filter(tagFilter(semverFilter))
  const byVersion = new Map(filtered.map((tag) => [mediaType === HELM_CHART ? tag.replaceAll('_', '+') : tag, tag]))
  const newest = matchingVersions(semver, [...byVersion.keys()]).reduce<Version | undefined>(
    (best, version) => (best && compareVersions(version, best) <= 0 ? best : version),
    undefined,
  )
  return newest ? byVersion.get(newest.original)! : noMatch(semver)
}

/** A version of a tag; all three numbers must be there. */
export function readTagVersion(tag: string): Version {
  if (tag.split('.', 3).length < 3) throw new VersionError('invalid semantic version')
  return parseVersion(tag)
}

function matchingVersions(range: string, tags: readonly string[]): Version[] {
  return tags.flatMap((tag) => {
    const version = tagVersion(tag)
    return version && satisfies(version, range, 'group') ? [version] : []
  })
}

function tagVersion(tag: string): Version | undefined {
  try {
    return readTagVersion(tag)
  } catch (caught) {
    if (caught instanceof VersionError) return undefined
    throw caught
  }
}

const ANY_VERSION = parseVersion('0.0.0')

function checkRange(range: string, problem: string): void {
  try {
    satisfies(ANY_VERSION, range, 'group')
  } catch (caught) {
    if (!(caught instanceof VersionError)) throw caught
    throw new SourceRefError(`${problem}: improper constraint: "${range}"`)
  }
}

function tagFilter(pattern: string): (tag: string) => boolean {
  try {
    const compiled = compilePattern(pattern)
    return (tag) => compiled.test(tag)
  } catch (caught) {
    throw new SourceRefError(caught instanceof Error ? caught.message : String(caught))
  }
}

function noMatch(range: string): never {
  throw new SourceRefError(`no match found for semver: ${range}`)
}
