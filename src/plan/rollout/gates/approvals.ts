/**
 * Approvals: whether enough people approved a ring.
 *
 * The API verified the author of each Approval and the author's permission. This file decides whether an Approval is
 * for this Rollout, and whether there are enough. The newest Approval of each author counts. One Reject holds the ring.
 *
 * With `noSelfApproval` an Approval by a user that started the Rollout does not count. A Rollout that started
 * automatically, from a commit or an edit whose author the API does not know, requires one Approval more: one of them
 * could be by that author, and at least `count` of them are not.
 */
import { compareText } from '../../../core/text/compare-text.ts'
import { parseTime } from '../../../core/time/time.ts'

/** Approvals that a ring requires. */
export interface ApprovalNeed {
  readonly count: number
  /** Only members of one of these groups count. */
  readonly groups?: readonly string[]
  readonly noSelfApproval?: boolean
}

/** One Approval, as the API stores it. */
export interface ApprovalFact {
  /** The Approval's name. */
  readonly name: string
  /** RFC 3339; the time at which the API stored the Approval. */
  readonly at: string
  readonly ring: string
  readonly plan?: string
  readonly decision: 'Approve' | 'Reject'
  readonly author: string
  readonly groups?: readonly string[]
  readonly reason?: string
}

/** The record of an Approval that opened a ring. */
export interface ApprovalRecord {
  readonly author: string
  readonly approval: string
  readonly at: string
}

/** The ring and Rollout that Approvals are judged for. */
export interface ApprovalContext {
  readonly ring: string
  /** The RolloutPlan of the Rollout: the API checked the permission to approve on it. */
  readonly plan?: string
  readonly startedBy?: readonly string[]
  /**
   * Creation of the Rollout in milliseconds since 1970: older Approvals are for an earlier Rollout of the same name.
   */
  readonly createdAt?: number
}

export type ApprovalVerdict =
  | { readonly kind: 'Approved'; readonly by: readonly ApprovalRecord[] }
  | { readonly kind: 'Rejected'; readonly by: ApprovalFact }
  | { readonly kind: 'Missing'; readonly need: number; readonly by: readonly string[]; readonly sentence: string }

// Maximum number in a Rollout's status; a ring never requires more.
const MOST_RECORDED = 16

/** Judges the Approvals of a ring. */
export function judgeApprovals(
  need: ApprovalNeed,
  approvals: readonly ApprovalFact[],
  context: ApprovalContext,
): ApprovalVerdict {
  const newest = newestPerAuthor(approvals.filter((fact) => isForRing(fact, need, context)))
  const rejected = newest.find(({ decision }) => decision === 'Reject')
  if (rejected) return { kind: 'Rejected', by: rejected }
  const starters = need.noSelfApproval ? (context.startedBy ?? []) : []
  const counted = newest.filter(({ author }) => !starters.includes(author))
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
    sentence: describeApprovers(need, { wanted, isUnknown, starters }),
  }
}

function isForRing(
  { ring, plan, groups, at }: ApprovalFact,
  need: ApprovalNeed,
  { ring: asked, plan: planned, createdAt }: ApprovalContext,
): boolean {
  const inGroup = need.groups === undefined || need.groups.some((group) => groups?.includes(group))
  // API servers store whole seconds.
  const isOld = createdAt !== undefined && (parseTime(at) ?? 0) < createdAt
  return ring === asked && plan === planned && inGroup && !isOld
}

/** Of two Approvals of the same author in the same second the rejection counts, because it is the safe choice. */
function newestPerAuthor(approvals: readonly ApprovalFact[]): ApprovalFact[] {
  const newest = new Map<string, ApprovalFact>()
  for (const fact of approvals) {
    const known = newest.get(fact.author)
    if (!known || isNewer(fact, known)) newest.set(fact.author, fact)
  }
  return [...newest.values()].sort((a, b) => compareText(a.at, b.at) || compareText(a.name, b.name))
}

function isNewer(fact: ApprovalFact, known: ApprovalFact): boolean {
  const apart = (parseTime(fact.at) ?? 0) - (parseTime(known.at) ?? 0)
  return apart > 0 || (apart === 0 && fact.decision === 'Reject')
}

function describeApprovers(
  { groups, noSelfApproval }: ApprovalNeed,
  { wanted, isUnknown, starters }: { wanted: number; isUnknown: boolean; starters: readonly string[] },
): string {
  const people = wanted === 1 ? 'one person' : `${wanted} different people`
  const whose = groups === undefined ? '' : ` of ${groups.map((group) => `group ${group}`).join(' or ')}`
  const other = !noSelfApproval
    ? ''
    : isUnknown
      ? ' (1 more than configured, because the rollout started automatically and one of them can be the author)'
      : ` other than ${starters.join(', ')}, who started the rollout`
  return `${people}${whose}${other}`
}
