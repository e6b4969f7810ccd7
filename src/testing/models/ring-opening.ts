/**
 * Rings that ask before they open, against a model of the world: reports, words of people and time come in any order,
 * and the hub may crash between a decision and its write. Whatever happens, an admission is written only over a record
 * that already says that the rings before are through and that its own was opened by as many people as it asks for.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { digestOf } from '../../core/crypto/digest.ts'
import { formatTime } from '../../core/time/time.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { ApprovalFact } from '../../plan/rollout/gates/approvals.ts'
import { ASK_EVERY_MS } from '../../plan/rollout/gates/judge-gates.ts'
import type { GateAnswer, GateSpec } from '../../plan/rollout/gates/judge-gates.ts'
import { holdSentence } from '../../plan/rollout/holds.ts'
import { planRollout } from '../../plan/rollout/plan-rollout.ts'
import type { RingSpec, RingState } from '../../plan/rollout/rings.ts'
import type { RolloutAdmission } from '../../plan/rollout/bundle-on-cluster.ts'
import type { RolloutDecision } from '../../plan/rollout/types.ts'

const START = Date.parse('2026-11-16T12:00:00Z')
const MINUTE = 60_000
const byLabel = (name: string) => ({ name, selector: { matchLabels: { ring: name } } })
const RINGS: readonly RingSpec[] = [
  { ...byLabel('canary'), concurrency: 1 },
  { ...byLabel('early'), concurrency: 5, approvals: { count: 2 } },
  { ...byLabel('rest'), concurrency: 5 },
]
/** Gates of every sort: both webhooks, so that answers come, age and change. */
const GATES = {
  slo: { name: 'slo', when: 'Pass', webhook: { url: 'https://slo.example/' } },
  base: { name: 'base', when: 'Open', bundleReady: { bundle: 'base' } },
  change: { name: 'change', when: 'Open', webhook: { url: 'https://change.example/' } },
} as const satisfies Record<string, GateSpec>
const GATED: readonly RingSpec[] = [
  { ...RINGS[0]!, gates: [GATES.slo] },
  { ...RINGS[1]!, gates: [GATES.change, GATES.slo] },
  { ...RINGS[2]!, gates: [GATES.base] },
]
const FLEET: Readonly<Record<string, Record<string, string>>> = {
  a: { ring: 'canary' },
  b: { ring: 'early' },
  c: { ring: 'early' },
  d: { ring: 'rest' },
}

/** Something that happens. */
export type RingOpeningStep =
  | { readonly do: 'plan' }
  | { readonly do: 'crash' }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'agent'; readonly cluster: string; readonly state: BundleStateName }
  | { readonly do: 'toggle'; readonly cluster: string }
  | { readonly do: 'withdraw'; readonly author: string }
  /** What a gate would say from now on. */
  | { readonly do: 'gate'; readonly gate: string; readonly says: boolean | 'nothing' }
  /** Asks that are under way are answered. */
  | { readonly do: 'answer' }
  | {
      readonly do: 'say'
      readonly author: string
      readonly ring: string
      readonly decision: 'Approve' | 'Reject'
      readonly reason?: string
    }

/** One rollout and the people around it. */
export class RingOpeningModel {
  #now = START
  #states: readonly RingState[] = []
  #admissions: readonly RolloutAdmission[] = []
  #approvals: ApprovalFact[] = []
  #words = 0
  #last: RolloutDecision | undefined
  readonly #clusters: Record<string, Record<string, string>>
  readonly #reports = new Map<string, BundleStateName>()
  readonly #handed = new Set<string>()
  readonly #offline = new Set<string>()
  readonly #rings: readonly RingSpec[]
  readonly #opinions = new Map<string, boolean | 'nothing'>()
  /** What was asked and when; answered with what holds when the answer is given. */
  #asked = new Map<string, number>()
  #answers = new Map<string, GateAnswer>()

  constructor({ clusters = FLEET, rings = RINGS }: { clusters?: typeof FLEET; rings?: readonly RingSpec[] } = {}) {
    this.#clusters = { ...clusters }
    this.#rings = rings
  }

  step(step: RingOpeningStep): void {
    switch (step.do) {
      case 'plan':
        return this.#write(this.#decide())
      case 'crash':
        this.#decide() // decided, and never written
        this.#asked = new Map() // and everything that was only in memory is gone
        this.#answers = new Map()
        return
      case 'gate':
        this.#opinions.set(step.gate, step.says)
        return
      case 'answer':
        for (const [key, askedAt] of this.#asked) {
          const says = this.#opinions.get(key.split('/')[1]!) ?? true
          this.#answers.set(
            key,
            says === 'nothing'
              ? { kind: 'Unreachable', askedAt, message: 'no answer' }
              : { kind: 'Said', askedAt, allowed: says, message: '' },
          )
        }
        this.#asked = new Map()
        return
      case 'wait':
        this.#now += step.minutes * MINUTE
        return
      case 'agent':
        if (this.#handed.has(step.cluster) && !this.#offline.has(step.cluster)) {
          this.#reports.set(step.cluster, step.state)
        }
        return
      case 'toggle':
        if (!this.#offline.delete(step.cluster)) this.#offline.add(step.cluster)
        return
      case 'withdraw':
        this.#approvals = this.#approvals.filter(({ author }) => author !== step.author)
        return
      case 'say': {
        const { do: _, ...said } = step
        this.#approvals.push({ ...said, name: `w${++this.#words}`, at: formatTime(this.#now) })
      }
    }
  }

  /** A cluster of ring `early` comes. */
  join(name: string): void {
    this.#clusters[name] = { ring: 'early' }
  }

  #decide(): RolloutDecision {
    const set = digestOf('v2')
    return planRollout({
      rollout: {
        name: 'hello-g2',
        namespace: 'ns',
        rings: this.#rings,
        ringStates: this.#states,
        admissions: this.#admissions,
        paused: false,
        createdAt: START,
      },
      release: { bundles: [{ name: 'hello', generation: 2, set, placement: 'p' }] },
      decisions: new Map([['p', Object.keys(this.#clusters)]]),
      clusterOf: (name) => {
        const state = this.#reports.get(name)
        const has = { generation: 2, set }
        return {
          availability: { state: this.#offline.has(name) ? 'Offline' : 'Available', reason: 'Seen', message: '' },
          labels: this.#clusters[name] ?? {},
          assigned: new Map(this.#handed.has(name) ? [['ns/hello', has]] : []),
          reported: new Map(state ? [['ns/hello', { ...has, state }]] : []),
        }
      },
      predecessors: [],
      approvals: this.#approvals,
      gateAnswerOf: (ring, gate) => this.#answers.get(`${ring}/${gate}`),
      standingOf: (bundle) => ({ isReady: this.#opinions.get(bundle) === true, message: '' }),
      now: this.#now,
    })
  }

  #write(decision: RolloutDecision): void {
    for (const { cluster, ring } of decision.admissions) {
      if (this.#admissions.some((known) => known.cluster === cluster)) continue
      this.#assertMayAdmit(cluster, ring)
      this.#handed.add(cluster)
    }
    for (const { ring, gate } of decision.asks ?? []) this.#asked.set(`${ring}/${gate.name}`, this.#now)
    this.#assertMayPass(decision)
    this.#admissions = decision.admissions
    if (decision.rings) this.#states = decision.rings
    this.#last = decision
  }

  /** The promise: what is recorded already, not what this decision would record. */
  #assertMayAdmit(cluster: string, name: string): void {
    const at = this.#rings.findIndex((ring) => ring.name === name)
    const recorded = (ring: string) => this.#states.find((state) => state.name === ring)
    for (const earlier of this.#rings.slice(0, at)) {
      assert.ok(recorded(earlier.name)?.passedAt, `${cluster} of ${name} before ${earlier.name} was through`)
    }
    const { approvals, gates = [] } = this.#rings[at]!
    const opening = gates.filter(({ when }) => when === 'Open')
    if (!approvals && opening.length === 0) return
    const authors = new Set(recorded(name)?.approvedBy?.map(({ author }) => author))
    assert.ok(recorded(name)?.openedAt, `${cluster} of ${name} before it was opened`)
    assert.ok(authors.size >= (approvals?.count ?? 0), `${name} was opened by ${[...authors].join(' ')}`)
    this.#assertPassed(recorded(name), opening)
  }

  /** A ring is recorded as through only with all its gates, each asked after its members were Ready. */
  #assertMayPass(decision: RolloutDecision): void {
    for (const state of decision.rings ?? []) {
      if (!state.passedAt || this.#states.find(({ name }) => name === state.name)?.passedAt) continue
      const { gates = [] } = this.#rings.find(({ name }) => name === state.name)!
      const members = Object.values(this.#clusters).filter((labels) => labels['ring'] === state.name).length
      if (members > 0) {
        const exits = gates.filter(({ when }) => when === 'Pass')
        this.#assertPassed(state, exits)
        for (const { name } of exits) {
          const answer = this.#answers.get(`${state.name}/${name}`)
          assert.ok(answer?.kind === 'Said' && answer.allowed, `${state.name} is through without a yes of ${name}`)
          const readyAt = Date.parse(state.readyAt ?? '')
          assert.ok(answer.askedAt >= readyAt, `${name} was asked before ${state.name} was ready`)
          assert.ok(this.#now - answer.askedAt <= 3 * ASK_EVERY_MS, `the yes of ${name} is old`)
        }
      }
    }
  }

  #assertPassed(state: RingState | undefined, gates: readonly GateSpec[]): void {
    for (const { name } of gates) {
      const record = state?.gates?.find((one) => one.name === name)
      assert.equal(record?.state, 'Passed', `${state?.name} without gate ${name}`)
    }
  }

  /** Plans and plays honest agents until nothing changes. */
  settle(): void {
    for (let round = 0; round < 20; round++) {
      this.step({ do: 'plan' })
      this.step({ do: 'answer' })
      for (const cluster of Object.keys(this.#clusters)) this.step({ do: 'agent', cluster, state: 'Ready' })
    }
  }

  /** Faults stop: all gates and approvers answer yes. */
  allIsWell(): void {
    this.#offline.clear()
    for (const { name } of Object.values(GATES)) this.step({ do: 'gate', gate: name, says: true })
    this.step({ do: 'wait', minutes: 1 })
    for (const author of ['ana', 'ben', 'eva']) {
      for (const { name } of this.#rings) this.step({ do: 'say', author, ring: name, decision: 'Approve' })
    }
    this.settle()
  }

  tell(): string {
    const last = this.#last
    const reason = last && 'hold' in last ? ` ${last.hold.reason}` : ''
    const slots = (last?.admissions ?? []).map(({ cluster }) => cluster).join(' ')
    return `${last?.kind}${reason} ${last?.ring} [${slots}]`
  }

  said(): string {
    return this.#last?.message ?? ''
  }

  sentence(): string {
    return this.#last && 'hold' in this.#last ? holdSentence(this.#last.hold) : ''
  }
}

const cluster = fc.constantFrom(...Object.keys(FLEET))
const author = fc.constantFrom('ana', 'ben', 'eva')
const step: fc.Arbitrary<RingOpeningStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('plan' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.constantFrom(0.5, 1, 2, 20) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('agent' as const),
      cluster,
      state: fc.constantFrom<BundleStateName>('Ready', 'Ready', 'Failed', 'Progressing'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('toggle' as const), cluster }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('gate' as const),
      gate: fc.constantFrom(...Object.keys(GATES)),
      says: fc.constantFrom(true, false, 'nothing' as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('answer' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('withdraw' as const), author }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      author,
      ring: fc.constantFrom('canary', 'early', 'early', 'rest'),
      decision: fc.constantFrom('Approve' as const, 'Approve' as const, 'Reject' as const),
    }),
  },
)
/** Any order of things that can happen. */
export const ringOpeningHistories = fc.array(step, { minLength: 5, maxLength: 100, size: 'max' })

/** The promise itself: throws when a history breaks it. */
export function assertRingOpeningRules(steps: readonly RingOpeningStep[]): RingOpeningModel {
  const world = new RingOpeningModel({ rings: GATED })
  for (const one of steps) world.step(one)
  return world
}
