/**
 * Versions and constraints as Masterminds/semver reads them, which is not how npm's semver does: a missing part is a
 * wildcard, `v` is allowed, and a prerelease only matches constraints that mention one. Since its 3.4 (Helm 4) one
 * mention serves the whole AND group; before (Helm 3.18) each constraint had to mention its own.
 */

/** A version or constraint that cannot be read. */
export class VersionError extends Error {
  override readonly name = 'VersionError'
  /** The constraint that is wrong, when it is one. */
  readonly constraint: string | undefined

  constructor(message: string, constraint?: string) {
    super(constraint === undefined ? message : `${message}: ${constraint}`)
    this.constraint = constraint
  }
}

/** A version in its parts. */
export interface Version {
  readonly major: bigint
  readonly minor: bigint
  readonly patch: bigint
  readonly prerelease: string
  readonly metadata: string
  readonly original: string
}

const PARTS = String.raw`(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?`
const VERSION = new RegExp(String.raw`^v?([0-9]+)(\.[0-9]+)?(\.[0-9]+)?${PARTS}$`)
const CONSTRAINT_VERSION = String.raw`v?([0-9|x|X|\*]+)(\.[0-9|x|X|\*]+)?(\.[0-9|x|X|\*]+)?${PARTS}`
const OPERATORS = String.raw`=||!=|>|<|>=|=>|<=|=<|~|~>|\^`
// JavaScript takes the first alternative that matches: longer operators must stand first.
const OPERATOR = String.raw`=>|=<|=|!=|>=|<=|~>|>|<|~|\^|`
const CONSTRAINT = new RegExp(String.raw`^\s*(${OPERATOR})\s*(${CONSTRAINT_VERSION})\s*$`)
const RANGE = new RegExp(String.raw`\s*(${CONSTRAINT_VERSION})\s+-\s+(${CONSTRAINT_VERSION})\s*`, 'g')
const FIND = new RegExp(String.raw`(${OPERATOR})\s*(${CONSTRAINT_VERSION})`, 'g')
const VALID = new RegExp(
  String.raw`^(\s*(${OPERATORS})\s*(${CONSTRAINT_VERSION})\s*)((?:\s+|,\s*)(${OPERATORS})\s*(${CONSTRAINT_VERSION})\s*)*$`,
)

const UINT64_MAX = 2n ** 64n - 1n

/** semver.NewVersion; throws VersionError with its words. */
export function parseVersion(text: string, rule: PrereleaseRule = 'group'): Version {
  const match = VERSION.exec(text)
  if (!match) throw new VersionError(rule === 'group' ? 'invalid semantic version' : 'Invalid Semantic Version')
  const number = (part: string | undefined): bigint => {
    const value = part === undefined ? 0n : BigInt(part.replace('.', ''))
    if (value > UINT64_MAX)
      throw new VersionError(
        `${rule === 'group' ? 'e' : 'E'}rror parsing version segment: strconv.ParseUint: parsing "${value}": value out of range`,
      )
    return value
  }
  const prerelease = match[5] ?? ''
  if (prerelease.split('.').some((part) => /^0[0-9]+$/.test(part))) {
    throw new VersionError(`${rule === 'group' ? 'v' : 'V'}ersion segment starts with 0`)
  }
  return {
    major: number(match[1]),
    minor: number(match[2]),
    patch: number(match[3]),
    prerelease,
    metadata: match[8] ?? '',
    original: text,
  }
}

/** A version as semver prints it. */
export function versionText(version: Version): string {
  const prerelease = version.prerelease ? `-${version.prerelease}` : ''
  const metadata = version.metadata ? `+${version.metadata}` : ''
  return `${version.major}.${version.minor}.${version.patch}${prerelease}${metadata}`
}

/** Negative, zero or positive; build metadata does not count. */
export function compareVersions(a: Version, b: Version): number {
  for (const part of ['major', 'minor', 'patch'] as const) {
    if (a[part] !== b[part]) return a[part] < b[part] ? -1 : 1
  }
  if (a.prerelease === b.prerelease) return 0
  if (a.prerelease === '') return 1
  if (b.prerelease === '') return -1
  return comparePrereleases(a.prerelease, b.prerelease)
}

function comparePrereleases(a: string, b: string): number {
  const [partsA, partsB] = [a.split('.'), b.split('.')]
  for (let at = 0; at < Math.max(partsA.length, partsB.length); at++) {
    const order = comparePart(partsA[at] ?? '', partsB[at] ?? '')
    if (order !== 0) return order
  }
  return 0
}

function comparePart(a: string, b: string): number {
  if (a === b) return 0
  if (a === '') return -1
  if (b === '') return 1
  const [numberA, numberB] = [/^\d+$/.test(a), /^\d+$/.test(b)]
  if (numberA && numberB) return BigInt(a) > BigInt(b) ? 1 : -1
  if (numberA !== numberB) return numberA ? -1 : 1
  return a > b ? 1 : -1
}

/** A comparison, with which parts of its version were left open. */
interface Comparison {
  readonly operator: string
  readonly version: Version
  readonly dirty: boolean
  readonly minorDirty: boolean
  readonly patchDirty: boolean
}

/** Whether one prerelease in an AND group opens the whole group (semver 3.4) or each comparison alone (before). */
export type PrereleaseRule = 'group' | 'each'

/** semver.NewConstraint and Check. */
export function satisfies(version: Version, constraint: string, rule: PrereleaseRule): boolean {
  return parseConstraint(constraint, rule).some((group) => {
    const groupHasPrerelease = group.some((comparison) => comparison.version.prerelease !== '')
    return group.every((comparison) => {
      const allowed = rule === 'group' ? groupHasPrerelease : comparison.version.prerelease !== ''
      return holds(version, comparison, { allowed, rule })
    })
  })
}

function parseConstraint(text: string, rule: PrereleaseRule): Comparison[][] {
  const rewritten = text.replace(
    RANGE,
    (_whole, ...groups: (string | undefined)[]) => `>=${groups[0]} <=${groups[10]} `,
  )
  return rewritten.split('||').map((part) => {
    if (!VALID.test(part)) throw new VersionError('improper constraint', part)
    const found = part.match(FIND) ?? [part]
    return found.map((comparison) => parseComparison(comparison, rule))
  })
}

function isWild(part: string | undefined): boolean {
  return part === undefined || ['', 'x', 'X', '*'].includes(part.replace('.', ''))
}

function parseComparison(text: string, rule: PrereleaseRule): Comparison {
  if (text === '') {
    return { operator: '', version: parseVersion('0.0.0'), dirty: true, minorDirty: false, patchDirty: false }
  }
  const match = CONSTRAINT.exec(text)
  if (!match) throw new VersionError('improper constraint', text)
  const [, operator = '', whole = '', major, minor, patch, prerelease = ''] = match
  const open = isWild(major) ? 'major' : isWild(minor) ? 'minor' : isWild(patch) ? 'patch' : 'none'
  const versions = {
    major: `0.0.0${prerelease}`,
    minor: `${major}.0.0${prerelease}`,
    patch: `${major}${minor}.0${prerelease}`,
    none: whole,
  }
  let version: Version
  try {
    version = parseVersion(versions[open])
  } catch {
    throw new VersionError(rule === 'group' ? 'constraint parser error' : 'constraint Parser Error')
  }
  return { operator, version, dirty: open !== 'none', minorDirty: open === 'minor', patchDirty: open === 'patch' }
}

function holds(
  v: Version,
  c: Comparison,
  prereleases: { readonly allowed: boolean; readonly rule: PrereleaseRule },
): boolean {
  const refused = v.prerelease !== '' && !prereleases.allowed
  // Before 3.4 a whole version that is not to be equal did not mind prereleases.
  if (refused && (c.operator !== '!=' || c.dirty || prereleases.rule === 'group')) return false
  if (c.operator === '!=') return differs(v, c)
  const order = compareVersions(v, c.version)
  switch (c.operator) {
    case '':
    case '=':
      return c.dirty ? tilde(v, c) : order === 0
    case '>':
      if (!c.dirty) return order > 0
      if (v.major !== c.version.major) return v.major > c.version.major
      if (c.minorDirty) return false
      if (c.patchDirty) return v.minor > c.version.minor
      return order > 0
    case '<':
      return order < 0
    case '>=':
    case '=>':
      return order >= 0
    case '<=':
    case '=<':
      if (!c.dirty) return order <= 0
      if (v.major > c.version.major) return false
      return !(v.major === c.version.major && v.minor > c.version.minor && !c.minorDirty)
    case '~':
    case '~>':
      return tilde(v, c)
    default:
      return caret(v, c)
  }
}

function differs(v: Version, c: Comparison): boolean {
  if (!c.dirty) return compareVersions(v, c.version) !== 0
  if (c.version.major !== v.major) return true
  if (c.version.minor !== v.minor && !c.minorDirty) return true
  if (c.minorDirty) return false
  if (c.version.patch !== v.patch && !c.patchDirty) return true
  if (!c.patchDirty) return compareVersions(v, c.version) !== 0
  return v.prerelease !== c.version.prerelease
}

function tilde(v: Version, c: Comparison): boolean {
  if (compareVersions(v, c.version) < 0) return false
  const { major, minor, patch } = c.version
  if (major === 0n && minor === 0n && patch === 0n && !c.minorDirty && !c.patchDirty) return true
  if (v.major !== major) return false
  return v.minor === minor || c.minorDirty
}

function caret(v: Version, c: Comparison): boolean {
  if (compareVersions(v, c.version) < 0) return false
  if (c.version.major > 0n || c.minorDirty) return v.major === c.version.major
  if (v.major > c.version.major) return false
  if (c.version.minor > 0n || c.patchDirty) return v.minor === c.version.minor
  if (v.minor > 0n) return false
  return c.version.patch === v.patch
}
