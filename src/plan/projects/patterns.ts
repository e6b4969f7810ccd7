/** The patterns of a Project's lists. kinds/policies/project-policy.ts compares addresses in CEL in the same way. */
import { matchesStars } from '../../core/text/glob.ts'
import { groupOf } from '../objects/object-id.ts'
import type { ObjectId } from '../objects/object-id.ts'

/** Allows everything in every list. */
export const ALL = '*'

/** The entry of `spec.sources` for content that is written in a Bundle or in ConfigMaps. */
export const INLINE = 'inline'

/** Whether a list allows everything. */
export function allowsAll(list: readonly string[] | undefined): boolean {
  return list?.includes(ALL) ?? false
}

/** Whether one of the patterns matches a whole text; `*` stands for any text. */
export function matchesAny(list: readonly string[] | undefined, text: string): boolean {
  return list?.some((pattern) => matchesStars(pattern, text)) ?? false
}

// A path with `..` or an escaped dot would leave the directory that a pattern names.
const LEAVES_ITS_PATH = /(^|[/:])\.\.?(\/|$)|%|\\|\?|#/

/**
 * Whether a pattern of `spec.sources` allows an address: `*` stands for any text without `/`, and `/*` at the end for
 * everything below.
 */
export function matchesAddress(pattern: string, address: string): boolean {
  if (pattern === ALL) return true
  if (LEAVES_ITS_PATH.test(address)) return pattern === address && !pattern.includes(ALL)
  const isBelow = pattern.endsWith('/*')
  const wanted = (isBelow ? pattern.slice(0, -2) : pattern).split('/')
  const given = address.split('/')
  if (isBelow ? given.length <= wanted.length : given.length !== wanted.length) return false
  return wanted.every((part, index) => matchesStars(part, given[index]!))
}

/** A kind as Projects write it: `ConfigMap`, `apps/Deployment`. */
export function kindText(id: Pick<ObjectId, 'apiVersion' | 'kind'>): string {
  const group = groupOf(id)
  return group === '' ? id.kind : `${group}/${id.kind}`
}

/** Whether a pattern of `spec.kinds` allows a kind. */
export function matchesKind(pattern: string, id: Pick<ObjectId, 'apiVersion' | 'kind'>): boolean {
  if (pattern === ALL || pattern === kindText(id)) return true
  const group = groupOf(id)
  return group !== '' && pattern === `${group}/${ALL}`
}
