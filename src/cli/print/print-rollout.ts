/** How a rollout looks in text, ring by ring: in `rollout status` and `rollout watch` alike. */
import type { Rollout } from '../../kinds/native/rollout.ts'

/** The annotation that keeps why somebody moved a lever. */
export const REASON = 'flotilla.dev/reason'

/** Reasons of the condition Held that only a person's word releases. */
const NEEDS_APPROVAL: readonly (string | undefined)[] = ['ApprovalPending', 'ApprovalRejected']

type Ring = Rollout['spec']['rings'][number]
type RingStatus = NonNullable<NonNullable<Rollout['status']>['rings']>[number]

/** A condition of a rollout. */
export function conditionOf(rollout: Rollout, wanted: string) {
  return rollout.status?.conditions?.find(({ type, status }) => type === wanted && status !== 'Unknown')
}

/** Whether a rollout waits for somebody's approval. */
export function needsApproval(rollout: Rollout): boolean {
  return NEEDS_APPROVAL.includes(conditionOf(rollout, 'Held')?.reason)
}

/** The first line: name, phase, counts and why it was last touched. */
export function headLine({ metadata, spec, status }: Rollout): string {
  const counts = status?.counts
  const parts = [
    metadata.name,
    status?.phase ?? 'Pending',
    counts ? `${counts.ready} of ${counts.total} ${spec.removal ? 'removed' : 'ready'}` : 'no counts yet',
    spec.startedBy && spec.startedBy.length > 0 ? `started by ${spec.startedBy[0]}` : '',
    metadata.annotations?.[REASON] ? `"${metadata.annotations[REASON]}"` : '',
  ]
  return parts.filter((part) => part !== '').join('  ')
}

/** One line for each ring. */
export function ringLines({ spec, status }: Rollout): string {
  const rows = spec.rings.map((ring) => {
    const state = status?.rings?.find(({ name }) => name === ring.name)
    const sign = state?.passedAt ? '✔' : status?.ring === ring.name ? '↻' : '…'
    const some = [
      `${state?.ready ?? 0}/${state?.members ?? 0}`,
      state?.failed ? `✗ ${state.failed}` : '',
      state?.excused ? `◌ ${state.excused}` : '',
    ]
    return [` ${sign} ${ring.name}`, some.filter((part) => part !== '').join('  '), termsOf(ring, state).join(', ')]
  })
  return alignColumns(rows)
}

/** What a ring still asks for, and what it was given. */
function termsOf(ring: Ring, state: RingStatus | undefined): string[] {
  return [
    // A ring is also through when nobody in it had to change: then nobody was asked.
    ...(ring.approvals && (state?.openedAt || !state?.passedAt) ? [approvalTerm(ring.approvals, state)] : []),
    ...(ring.gates ?? []).map((gate) => gateTerm(gate, state)),
    ...(state?.passedAt ? [`through ${state.passedAt}`] : state?.readyAt ? [`ready since ${state.readyAt}`] : []),
  ]
}

const GATE_WORDS = { Passed: 'passed', Waiting: 'waits', Refused: 'says no', Unknown: 'cannot be asked' } as const

function gateTerm({ name, when }: NonNullable<Ring['gates']>[number], state: RingStatus | undefined): string {
  const record = state?.gates?.find((gate) => gate.name === name)
  if (record) return `gate ${name} ${GATE_WORDS[record.state]}`
  return when === 'Open' ? `gate ${name} before it opens` : `gate ${name}`
}

function approvalTerm(approvals: NonNullable<Ring['approvals']>, state: RingStatus | undefined): string {
  if (state?.openedAt) return `approved by ${(state.approvedBy ?? []).map(({ author }) => author).join(', ')}`
  const people = approvals.count === 1 ? '' : ` of ${approvals.count} people`
  const groups = approvals.groups ? ` by ${approvals.groups.map((group) => `group ${group}`).join(' or ')}` : ''
  return `needs approval${people}${groups}`
}

/** Everything there is to say about a rollout. */
export function statusText(rollout: Rollout): string {
  const ready = conditionOf(rollout, 'Ready')
  const held = conditionOf(rollout, 'Held')
  return [
    headLine(rollout),
    ringLines(rollout),
    // What holds it often begins with the same words, and says more.
    ...(ready && !held?.message?.startsWith(ready.message ?? '') ? [ready.message] : []),
    ...(held ? [held.message] : []),
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
