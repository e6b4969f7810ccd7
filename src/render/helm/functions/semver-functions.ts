/** semver and semverCompare; the first gives a *semver.Version with its methods. */
import { utf8 } from '../../../core/bytes.ts'
import { GoError, goFunction } from '../../gotemplate/function.ts'
import type { GoFunction } from '../../gotemplate/function.ts'
import { GoBytes, GoInt, goInt, GoStruct } from '../../gotemplate/value.ts'
import type { HelmProfile } from '../profile.ts'
import { compareVersions, versionText } from '../../../core/text/semver.ts'
import type { PrereleaseRule, Version } from '../../../core/text/semver.ts'
import { parseVersion, satisfies } from '../semver.ts'

const parsed = new WeakMap<GoStruct, Version>()

/** The remaining methods of the library return a value instead of a pointer, which has fewer methods. */
function versionStruct(version: Version, rule: PrereleaseRule, isPointer: boolean): GoStruct {
  const text = versionText(version)
  const uint = (value: bigint) => new GoInt(value, 'uint64')
  const method = (call: () => unknown) => goFunction([], call)
  const compare = (call: (order: number) => unknown) =>
    goFunction(['*semver.Version'], ([other]) => call(compareVersions(version, parsed.get(other as GoStruct)!)))
  const changed = (change: Partial<Version>) => {
    const next = { ...version, ...change }
    const original = (version.original.startsWith('v') ? 'v' : '') + versionText(next)
    return versionStruct({ ...next, original }, rule, false)
  }
  const bumped = (change: Partial<Version>) => method(() => changed({ prerelease: '', metadata: '', ...change }))
  const ofPointers: [string, GoFunction][] = [
    ['Original', method(() => version.original)],
    ['Compare', compare((order) => goInt(Math.sign(order)))],
    ['Equal', compare((order) => order === 0)],
    ['LessThan', compare((order) => order < 0)],
    ['LessThanEqual', compare((order) => order <= 0)],
    ['GreaterThan', compare((order) => order > 0)],
    ['GreaterThanEqual', compare((order) => order >= 0)],
  ]
  const struct = new GoStruct(
    isPointer ? '*semver.Version' : 'semver.Version',
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
        ['String', method(() => text)],
        ['IncMajor', bumped({ major: version.major + 1n, minor: 0n, patch: 0n })],
        ['IncMinor', bumped({ minor: version.minor + 1n, patch: 0n })],
        ['IncPatch', bumped(version.prerelease === '' ? { patch: version.patch + 1n } : {})],
        [
          'SetPrerelease',
          goFunction(['string'], ([given]) => changed({ prerelease: checked(given, 'prerelease', rule) })),
        ],
        ['SetMetadata', goFunction(['string'], ([given]) => changed({ metadata: checked(given, 'metadata', rule) }))],
        ['MarshalText', method(() => new GoBytes(utf8(text)))],
        ['MarshalJSON', method(() => new GoBytes(utf8(`"${text}"`)))],
        ['Value', method(() => text)],
        ...(isPointer ? ofPointers : []),
      ]),
    },
  )
  parsed.set(struct, version)
  return struct
}

/** A part that a template sets, if the library accepts it; the older library accepts empty pieces too. */
function checked(given: unknown, part: 'prerelease' | 'metadata', rule: PrereleaseRule): string {
  const text = given as string
  if (text === '') return text
  for (const piece of text.split('.')) {
    if (part === 'prerelease' && /^0[0-9]+$/.test(piece)) {
      throw new GoError(`${rule === 'group' ? 'v' : 'V'}ersion segment starts with 0`)
    }
    if (!(rule === 'group' ? /^[0-9A-Za-z-]+$/ : /^[0-9A-Za-z-]*$/).test(piece)) {
      throw new GoError(
        rule === 'group'
          ? `invalid ${part} string`
          : `Invalid ${part === 'metadata' ? 'Metadata' : 'Prerelease'} string`,
      )
    }
  }
  return text
}

/** Versions, by the rules of the profile's library. */
export function semverFunctions(profile: HelmProfile): Record<string, GoFunction> {
  const rule = profile.prereleases
  return {
    semver: goFunction(['string'], ([version]) => versionStruct(parseVersion(version as string, rule), rule, true)),
    semverCompare: goFunction(['string', 'string'], ([constraint, version]) => {
      // Go reads the constraint first, and complains about it first.
      satisfies(parseVersion('0.0.0', rule), constraint as string, rule)
      return satisfies(parseVersion(version as string, rule), constraint as string, rule)
    }),
  }
}
