/** Findings about settings that let one mistake reach the whole fleet. */
import type { Bundle } from '../../kinds/native/bundle.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import type { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { finding } from './finding.ts'
import type { Finding } from './finding.ts'

const ALL = '100%'
const STAGES = 'set spec.rollout.plan to a RolloutPlan whose first ring is small'

/** Findings about how a Bundle is rolled out. A plan that the Bundle names and that is not given has none. */
export function lintRollout({ metadata, spec }: Bundle, plan?: RolloutPlan): Finding[] {
  const { rollout } = spec
  if (rollout?.plan !== undefined) return plan ? lintPlan(plan) : []
  const who = `Bundle ${metadata.name}`
  if (rollout?.concurrency === undefined) {
    const message = `${who} has no rollout strategy: a change goes to all its clusters in one ring, 10 at a time`
    return [finding('no-rollout-strategy', message, { place: ['spec'], todo: STAGES })]
  }
  if (rollout.concurrency !== ALL) return []
  const message = `${who} changes all its clusters at once (spec.rollout.concurrency is 100%)`
  return [finding('no-rollout-strategy', message, { place: ['spec', 'rollout', 'concurrency'], todo: STAGES })]
}

/** Findings about the rings of a plan. */
export function lintPlan({ metadata, spec }: RolloutPlan): Finding[] {
  const who = `RolloutPlan ${metadata.name}`
  const [first, ...later] = spec.rings
  if (later.length === 0 && first?.concurrency === ALL && first.approvals === undefined) {
    const message = `${who} changes all clusters at once: its only ring, ${first.name}, has concurrency 100%`
    const todo = 'add a small first ring, or set concurrency of the ring to a smaller number'
    return [finding('no-rollout-strategy', message, { place: ['spec', 'rings'], todo })]
  }
  const isChecked = spec.rings.some(
    ({ soak, gates, approvals }) => soak !== undefined || (gates ?? []).length > 0 || approvals !== undefined,
  )
  if (isChecked) return []
  const message = `${who} has no gate: no ring has a soak time, a gate or an approval`
  return [
    finding('plan-without-gate', message, {
      place: ['spec', 'rings'],
      todo: 'set soak, gates or approvals of the first ring, for example soak: 30m',
    }),
  ]
}

/** Findings about the guard of a Placement. */
export function lintGuard({ metadata, spec }: Placement): Finding[] {
  if (spec.guard?.maxDropped !== ALL) return []
  const message = `Placement ${metadata.name} has no guard: spec.guard.maxDropped is 100%, so one change can deselect all clusters`
  return [
    finding('unguarded-placement', message, {
      place: ['spec', 'guard', 'maxDropped'],
      todo: 'remove spec.guard.maxDropped, which then defaults to 10%',
    }),
  ]
}
