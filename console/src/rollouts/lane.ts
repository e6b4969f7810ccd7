/** A ring as a lane: its state, its numbers and its doors, in the words of `flotilla rollout status`. */
import type { Rollout } from '../../../src/kinds/native/rollout.ts'

type Ring = Rollout['spec']['rings'][number]
type RingStatus = NonNullable<NonNullable<Rollout['status']>['rings']>[number]

export interface Lane {
  readonly name: string
  /** `Passed`, `Progressing` for the current ring, otherwise `Waiting`. */
  readonly state: 'Passed' | 'Progressing' | 'Waiting'
  readonly members: number
  readonly ready: number
  /** Without those for which nothing could be rendered. */
  readonly failed: number
  /** Clusters that the ring does not wait for, by reason. */
  readonly excused: readonly string[]
  readonly gates: readonly { readonly name: string; readonly state: string; readonly message: string }[]
  readonly approval: string | undefined
  /** The budget and the soak time. */
  readonly limits: readonly string[]
  readonly passedAt: string | undefined
}

const EXCUSES = { offline: 'offline', frozen: 'frozen', held: 'on hold', notBuilt: 'not built' } as const

export function laneOf(rollout: Rollout, ring: Ring): Lane {
  const { status } = rollout
  const state: Partial<RingStatus> = status?.rings?.find(({ name }) => name === ring.name) ?? {}
  const { members = 0, ready = 0, failed = 0, excused = 0, excusedFor, passedAt } = state
  const isCurrent = status?.ring === ring.name
  return {
    name: ring.name,
    state: passedAt !== undefined ? 'Passed' : isCurrent ? 'Progressing' : 'Waiting',
    members,
    ready,
    failed: failed - (excusedFor?.notBuilt ?? 0),
    excused: excusedFor
      ? Object.entries(EXCUSES).flatMap(([reason, word]) => {
          const count = excusedFor[reason as keyof typeof EXCUSES] ?? 0
          return count > 0 ? [`${count} ${word}, not waited for`] : []
        })
      : excused > 0
        ? [`${excused} not waited for`]
        : [],
    gates: (ring.gates ?? []).map(({ name }) => {
      const record = state.gates?.find((gate) => gate.name === name)
      return { name, state: record?.state ?? 'Waiting', message: record?.message ?? '' }
    }),
    approval: approvalOf(ring, state),
    limits: limitsOf(ring),
    passedAt,
  }
}

function approvalOf(
  { approvals }: Ring,
  { openedAt, approvedBy = [], passedAt }: Partial<RingStatus>,
): string | undefined {
  if (!approvals) return undefined
  if (openedAt !== undefined) {
    return approvedBy.length > 0 ? `approved by ${approvedBy.map(({ author }) => author).join(', ')}` : 'open'
  }
  // A ring without changes passes without an approval.
  if (passedAt !== undefined) return undefined
  const people = approvals.count === 1 ? '' : ` of ${approvals.count} people`
  const groups = approvals.groups ? ` by group ${approvals.groups.join(' or ')}` : ''
  return `needs approval${people}${groups}`
}

function limitsOf({ concurrency, maxUnavailable, maxFailed, soak }: Ring): readonly string[] {
  return [
    ...(concurrency === undefined ? [] : [`at most ${concurrency} at a time`]),
    ...(maxUnavailable === undefined ? [] : [`at most ${maxUnavailable} unavailable`]),
    ...(maxFailed === undefined ? [] : [`at most ${maxFailed} failed`]),
    ...(soak === undefined ? [] : [`soak ${soak}`]),
  ]
}

/** The rings before a ring, in their order. */
export function passedBefore(rollout: Rollout, ring: string): readonly Lane[] {
  const at = rollout.spec.rings.findIndex(({ name }) => name === ring)
  return rollout.spec.rings.slice(0, Math.max(0, at)).map((one) => laneOf(rollout, one))
}
