/** Finds the revision of a repository that a generator names: a branch, a tag, or a range of versions. */
import { compareVersions, parseVersion, satisfies, VersionError } from '../../../core/text/semver.ts'
import type { Version } from '../../../core/text/semver.ts'
import type { GenerateInputs, RevisionFiles } from './generate-inputs.ts'

const FULL_VERSION = /^v?\d+\.\d+\.\d+/
const MAX_LENGTH = 1024

/** Answers for the revisions that are given, by address and name. */
export function filesByRevision(
  repositories: ReadonlyMap<string, ReadonlyMap<string, RevisionFiles>>,
): GenerateInputs['filesAt'] {
  return (url, wanted) => {
    const revisions = repositories.get(url)
    if (!revisions) return 'unknown repository'
    const name = resolveRevision(wanted, revisions.keys())
    return name === undefined ? 'unknown revision' : revisions.get(name)!
  }
}

/** The name among the revisions; undefined when none fits. */
function resolveRevision(wanted: string, names: Iterable<string>): string | undefined {
  const revision = wanted === '' ? 'HEAD' : wanted
  const known = [...names]
  if (revision.length > MAX_LENGTH) return undefined
  const highest = readVersion(revision) ? undefined : highestVersion(revision, known)
  return known.includes(highest ?? revision) ? (highest ?? revision) : undefined
}

function readVersion(text: string): Version | undefined {
  try {
    return parseVersion(text)
  } catch (caught) {
    if (caught instanceof VersionError) return undefined
    throw caught
  }
}

/** The highest tag within a range; branches like `v1` are no versions. */
function highestVersion(range: string, names: readonly string[]): string | undefined {
  let highest: Version | undefined
  try {
    for (const name of names.filter((one) => FULL_VERSION.test(one))) {
      const version = readVersion(name)
      if (!version || !satisfies(version, range, 'group')) continue
      if (!highest || compareVersions(version, highest) > 0) highest = version
    }
  } catch (caught) {
    if (!(caught instanceof VersionError)) throw caught
    return undefined
  }
  return highest?.original
}
