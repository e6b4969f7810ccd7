/**
 * Approvals: whether enough people have said that a ring may open.
 *
 * The API verified who wrote each Approval and that they may approve what it names; here it is decided whether it is about this
 * Rollout, and whether it is enough. An author's newest word counts. One Reject of somebody who may approve holds the ring.
 *
 * With `noSelfApproval` whoever started the Rollout does not count. When nobody did (it started by itself, from a commit or an
 * edit whose author the API does not know), one of the approvals could be that author's own: one more is needed, so that
 * at least `count` of them are not.
 */
import { compareText } from '../../../core/text/compare-text.ts'
import { parseTime } from '../../../core/time/time.ts'

/** What a ring asks for. */
export interface ApprovalNeed {
  readonly count: number
  /** Only members of one of these groups count. */
  readonly groups?: readonly string[]
  readonly noSelfApproval?: boolean
}

/** One person's word, as the API holds it. */
export interface ApprovalFact {
  /** The Approval's name. */
  readonly name: string
  /** RFC 3339; when the API stored it. */
  readonly at: string
  readonly ring: string
  readonly plan?: string
  readonly decision: 'Approve' | 'Reject'
  readonly author: string
  readonly groups?: readonly string[]
  readonly reason?: string
}

/** What is written down about an approval that opened a ring. */
export interface ApprovalRecord {
  readonly author: string
  readonly approval: string
  readonly at: string
}

/** What approvals are judged against. */
export interface ApprovalContext {
  readonly ring: string
  /** The RolloutPlan of the Rollout: the right to approve was checked on it. */
  readonly plan?: string
  readonly startedBy?: readonly string[]
  /** Milliseconds since 1970 of the Rollout: older words were about another one of its name. */
  readonly createdAt?: number
}

/** Whether a ring is approved. */
export type ApprovalVerdict =
  | { readonly kind: 'Approved'; readonly by: readonly ApprovalRecord[] }
  | { readonly kind: 'Rejected'; readonly by: ApprovalFact }
  | { readonly kind: 'Missing'; readonly need: number; readonly by: readonly string[]; readonly sentence: string }

// A Rollout's status keeps so many; a ring never asks for more.
const MOST_RECORDED = 16

/** Judges what was said about a ring. */
export function judgeApprovals(
  need: ApprovalNeed,
  said: readonly ApprovalFact[],
  context: ApprovalContext,
): ApprovalVerdict {
  const words = newestPerAuthor(said.filter((fact) => isAbout(fact, need, context)))
  const rejected = words.find(({ decision }) => decision === 'Reject')
  if (rejected) return { kind: 'Rejected', by: rejected }
  const starters = need.noSelfApproval ? (context.startedBy ?? []) : []
  const counted = words.filter(({ author }) => !starters.includes(author))
  const isUnknown = (need.noSelfApproval ?? false) && starters.length === 0
  const wanted = need.count + (isUnknown ? 1 : 0)
  if (counted.length >= wanted) {
    const by = counted.slice(0, MOST_RECORDED).map(({ author, name, at }) => ({ author, approval: name, at }))
    return { kind: 'Approved', by }
  }
  return {
    kind: 'Missing',
    need: wanted,
    by: counted.map(({ author }) => author),
    sentence: whoIsAsked(need, { wanted, isUnknown, starters }),
  }
}

function isAbout(
  { ring, plan, groups, at }: ApprovalFact,
  need: ApprovalNeed,
  { ring: asked, plan: planned, createdAt }: ApprovalContext,
): boolean {
  const inGroup = need.groups === undefined || need.groups.some((group) => groups?.includes(group))
  // API servers keep whole seconds.
  const isOld = createdAt !== undefined && (parseTime(at) ?? 0) < createdAt
  return ring === asked && plan === planned && inGroup && !isOld
}

/** Of two words in one second the rejection counts: the safe one. */
function newestPerAuthor(said: readonly ApprovalFact[]): ApprovalFact[] {
  const newest = new Map<string, ApprovalFact>()
  for (const fact of said) {
    const known = newest.get(fact.author)
    if (!known || isNewer(fact, known)) newest.set(fact.author, fact)
  }
  return [...newest.values()].sort((a, b) => compareText(a.at, b.at) || compareText(a.name, b.name))
}

function isNewer(fact: ApprovalFact, known: ApprovalFact): boolean {
  const apart = (parseTime(fact.at) ?? 0) - (parseTime(known.at) ?? 0)
  return apart > 0 || (apart === 0 && fact.decision === 'Reject')
}

function whoIsAsked(
  { groups, noSelfApproval }: ApprovalNeed,
  { wanted, isUnknown, starters }: { wanted: number; isUnknown: boolean; starters: readonly string[] },
): string {
  const people = wanted === 1 ? 'one person' : `${wanted} different people`
  const whose = groups === undefined ? '' : ` of ${groups.map((group) => `group ${group}`).join(' or ')}`
  const other = !noSelfApproval
    ? ''
    : isUnknown
      ? ' (one more than asked for, since it started by itself and one of them may be the author)'
      : ` other than ${starters.join(', ')}, who started it`
  return `${people}${whose}${other}`
}
