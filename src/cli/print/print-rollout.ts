/** Prints a rollout by ring, for `rollout status` and `rollout watch`. */
import { humanAge, parseTime } from '../../core/time/time.ts'
import type { Rollout } from '../../kinds/native/rollout.ts'
import { relativeTime, withLocalTimes } from './print-time.ts'

/** Annotation with the reason of the last pause, resume or abort. */
export const REASON = 'flotilla.dev/reason'

/** Reasons of condition Held that end with an approval. */
const NEEDS_APPROVAL: readonly (string | undefined)[] = ['ApprovalPending', 'ApprovalRejected']

type Ring = Rollout['spec']['rings'][number]
type RingStatus = NonNullable<NonNullable<Rollout['status']>['rings']>[number]

/** A condition of a rollout, if its status is known. */
export function conditionOf(rollout: Rollout, wanted: string) {
  return rollout.status?.conditions?.find(({ type, status }) => type === wanted && status !== 'Unknown')
}

/** Whether a rollout waits for an approval. */
export function needsApproval(rollout: Rollout): boolean {
  return NEEDS_APPROVAL.includes(conditionOf(rollout, 'Held')?.reason)
}

/** The first line: name, phase, counts and the reason of the last change. */
export function headLine({ metadata, spec, status }: Rollout): string {
  const counts = status?.counts
  const parts = [
    metadata.name,
    status?.phase ?? 'Pending',
    counts ? `${counts.ready} of ${counts.total} ${spec.removal ? 'removed' : 'ready'}` : 'no counts yet',
    counts?.states?.['Offline'] ? `${counts.states['Offline']} offline now` : '',
    spec.startedBy && spec.startedBy.length > 0 ? `started by ${spec.startedBy[0]}` : '',
    metadata.annotations?.[REASON] ? `"${metadata.annotations[REASON]}"` : '',
  ]
  return parts.filter((part) => part !== '').join('  ')
}

/** A line for each ring. */
export function ringLines({ spec, status }: Rollout, nowMs: number): string {
  const rows = spec.rings.map((ring) => {
    const state = status?.rings?.find(({ name }) => name === ring.name)
    const sign = state?.passedAt ? '✔' : status?.ring === ring.name ? '↻' : '…'
    const failed = state ? failedIn(state) : 0
    const some = [
      `${state?.ready ?? 0}/${state?.members ?? 0}`,
      failed > 0 ? `✗ ${failed}` : '',
      ...(state ? excuses(state).map(({ sign, count, word }) => `${sign} ${count} ${word}`) : []),
    ]
    return [
      ` ${sign} ${ring.name}`,
      some.filter((part) => part !== '').join('  '),
      termsOf(ring, state, nowMs).join(', '),
    ]
  })
  return alignColumns(rows)
}

const EXCUSES = [
  ['offline', '◌', 'offline'],
  ['frozen', '❄', 'frozen'],
  ['held', '⏸', 'held'],
  ['notBuilt', '✎', 'not built'],
] as const

/** The members that a ring does not wait for, by reason. A Rollout of 0.1 has their number alone. */
export function excuses({ excused = 0, excusedFor }: RingStatus) {
  if (!excusedFor) return excused > 0 ? [{ sign: '–', count: excused, word: 'excused' }] : []
  return EXCUSES.flatMap(([reason, sign, word]) => {
    const count = excusedFor[reason] ?? 0
    return count > 0 ? [{ sign, count, word }] : []
  })
}

/** Failed members; members that were not built are shown beside them. */
export function failedIn({ failed = 0, excusedFor }: RingStatus): number {
  return failed - (excusedFor?.notBuilt ?? 0)
}

/** The conditions of a ring, and how they were met. */
function termsOf(ring: Ring, state: RingStatus | undefined, nowMs: number): string[] {
  return [
    // A ring without changes passes without an approval.
    ...(ring.approvals && (state?.openedAt || !state?.passedAt) ? [approvalTerm(ring.approvals, state)] : []),
    ...(ring.gates ?? []).map((gate) => gateTerm(gate, state)),
    ...(state?.passedAt
      ? [`passed ${relativeTime(state.passedAt, nowMs)}`]
      : state?.readyAt
        ? [`ready for ${humanAge(Math.max(0, nowMs - (parseTime(state.readyAt) ?? nowMs)))}`]
        : []),
  ]
}

const GATE_WORDS = { Passed: 'passed', Waiting: 'waits', Refused: 'refused', Unknown: 'unreachable' } as const

function gateTerm({ name, when }: NonNullable<Ring['gates']>[number], state: RingStatus | undefined): string {
  const record = state?.gates?.find((gate) => gate.name === name)
  if (record) return `gate ${name} ${GATE_WORDS[record.state]}`
  return when === 'Open' ? `gate ${name} before the ring opens` : `gate ${name}`
}

function approvalTerm(approvals: NonNullable<Ring['approvals']>, state: RingStatus | undefined): string {
  if (state?.openedAt) return `approved by ${(state.approvedBy ?? []).map(({ author }) => author).join(', ')}`
  const people = approvals.count === 1 ? '' : ` of ${approvals.count} people`
  const groups = approvals.groups ? ` by ${approvals.groups.map((group) => `group ${group}`).join(' or ')}` : ''
  return `needs approval${people}${groups}`
}

/** The text of `rollout status`. */
export function statusText(rollout: Rollout, nowMs: number): string {
  const ready = conditionOf(rollout, 'Ready')
  const held = conditionOf(rollout, 'Held')
  return [
    headLine(rollout),
    ringLines(rollout, nowMs),
    // The message of Held often begins with the message of Ready.
    ...(ready && !held?.message?.startsWith(ready.message ?? '') ? [withLocalTimes(ready.message ?? '')] : []),
    ...(held ? [withLocalTimes(held.message ?? '')] : []),
    '',
  ].join('\n')
}

/** Rows as aligned columns. */
export function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)))
  return rows
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n')
}
