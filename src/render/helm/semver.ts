/** Versions with the errors of Go's semver library, as templates and Helm's own messages show them. */
import { parseVersion as parse, satisfies as holds, VersionError } from '../../core/text/semver.ts'
import type { PrereleaseRule, Version } from '../../core/text/semver.ts'
import { GoError } from '../gotemplate/function.ts'
import { goQuote } from '../gotemplate/go-string.ts'

/** semver.NewVersion; throws GoError with its words. */
export function parseVersion(text: string, rule: PrereleaseRule = 'group'): Version {
  return inGo(rule, () => parse(text, rule))
}

/** semver.NewConstraint and Check; throws GoError with their words. */
export function satisfies(version: Version, constraint: string, rule: PrereleaseRule): boolean {
  return inGo(rule, () => holds(version, constraint, rule))
}

/** Helm's IsCompatibleRange: false for what cannot be parsed. */
export function isCompatible(constraint: string, version: string, rule: PrereleaseRule): boolean {
  try {
    return satisfies(parseVersion(version), constraint, rule)
  } catch (error) {
    if (error instanceof GoError) return false
    throw error
  }
}

function inGo<T>(rule: PrereleaseRule, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof VersionError)) throw error
    const { constraint } = error
    const quoted = constraint !== undefined && rule === 'group'
    throw new GoError(quoted ? `improper constraint: ${goQuote(constraint)}` : error.message)
  }
}
