/** semver and semverCompare; the first gives a *semver.Version with its methods. */
import { goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { GoInt, goInt, GoStruct } from '../../gotemplate/value.ts'
import type { HelmProfile } from '../profile.ts'
import { compareVersions, versionText } from '../../../core/semver.ts'
import type { Version } from '../../../core/semver.ts'
import { parseVersion, satisfies } from '../semver.ts'

const parsed = new WeakMap<GoStruct, Version>()

function versionStruct(version: Version): GoStruct {
  const text = versionText(version)
  const uint = (value: bigint) => new GoInt(value, 'uint64')
  const method = (call: () => unknown) => goFunction([], call)
  const compare = (call: (order: number) => unknown) =>
    goFunction(['*semver.Version'], ([other]) => call(compareVersions(version, parsed.get(other as GoStruct)!)))
  const bumped = (change: Partial<Version>) =>
    method(() => versionStruct({ ...version, prerelease: '', metadata: '', original: '', ...change }))
  const struct = new GoStruct(
    '*semver.Version',
    [
      ['major', uint(version.major)],
      ['minor', uint(version.minor)],
      ['patch', uint(version.patch)],
      ['pre', version.prerelease],
      ['metadata', version.metadata],
      ['original', version.original],
    ],
    {
      print: () => text,
      json: () => text,
      methods: new Map<string, GoFunction>([
        ['Major', method(() => uint(version.major))],
        ['Minor', method(() => uint(version.minor))],
        ['Patch', method(() => uint(version.patch))],
        ['Prerelease', method(() => version.prerelease)],
        ['Metadata', method(() => version.metadata)],
        ['Original', method(() => version.original)],
        ['String', method(() => text)],
        ['Compare', compare((order) => goInt(Math.sign(order)))],
        ['Equal', compare((order) => order === 0)],
        ['LessThan', compare((order) => order < 0)],
        ['LessThanEqual', compare((order) => order <= 0)],
        ['GreaterThan', compare((order) => order > 0)],
        ['GreaterThanEqual', compare((order) => order >= 0)],
        ['IncMajor', bumped({ major: version.major + 1n, minor: 0n, patch: 0n })],
        ['IncMinor', bumped({ minor: version.minor + 1n, patch: 0n })],
        ['IncPatch', bumped(version.prerelease === '' ? { patch: version.patch + 1n } : {})],
      ]),
    },
  )
  parsed.set(struct, version)
  return struct
}

/** Versions, by the rules of the profile's library. */
export function semverFunctions(profile: HelmProfile): Record<string, GoFunction> {
  const rule = profile.prereleases
  return {
    semver: goFunction(['string'], ([version]) => versionStruct(parseVersion(version as string, rule))),
    semverCompare: goFunction(['string', 'string'], ([constraint, version]) => {
      // Go reads the constraint first, and complains about it first.
      satisfies(parseVersion('0.0.0', rule), constraint as string, rule)
      return satisfies(parseVersion(version as string, rule), constraint as string, rule)
    }),
  }
}
