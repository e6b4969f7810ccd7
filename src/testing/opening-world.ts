/**
 * Rings that ask before they open, against a model of the world: reports, words of people and time come in any order, and the hub
 * may crash between a decision and its write. Whatever happens, an admission is written only over a record that already
 * says that the rings before are through and that its own was opened by as many people as it asks for.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { digestOf } from '../core/digest.ts'
import { formatTime } from '../core/time.ts'
import type { State } from '../kinds/states.ts'
import type { ApprovalFact } from '../plan/rollout-approvals.ts'
import { holdSentence, planRollout } from '../plan/rollout.ts'
import type { RingSpec, RingState, RolloutAdmission, RolloutDecision } from '../plan/rollout.ts'

const START = Date.parse('2026-11-16T12:00:00Z')
const MINUTE = 60_000
const byLabel = (name: string) => ({ name, selector: { matchLabels: { ring: name } } })
const RINGS: readonly RingSpec[] = [
  { ...byLabel('canary'), concurrency: 1 },
  { ...byLabel('early'), concurrency: 5, approvals: { count: 2 } },
  { ...byLabel('rest'), concurrency: 5 },
]
const FLEET: Readonly<Record<string, Record<string, string>>> = {
  a: { ring: 'canary' },
  b: { ring: 'early' },
  c: { ring: 'early' },
  d: { ring: 'rest' },
}

/** Something that happens. */
export type OpeningStep =
  | { readonly do: 'plan' }
  | { readonly do: 'crash' }
  | { readonly do: 'wait'; readonly minutes: number }
  | { readonly do: 'agent'; readonly cluster: string; readonly state: State }
  | { readonly do: 'toggle'; readonly cluster: string }
  | { readonly do: 'withdraw'; readonly author: string }
  | {
      readonly do: 'say'
      readonly author: string
      readonly ring: string
      readonly decision: 'Approve' | 'Reject'
      readonly reason?: string
    }

/** One rollout and the people around it. */
export class OpeningWorld {
  #now = START
  #states: readonly RingState[] = []
  #admissions: readonly RolloutAdmission[] = []
  #approvals: ApprovalFact[] = []
  #words = 0
  #last: RolloutDecision | undefined
  readonly #clusters: Record<string, Record<string, string>>
  readonly #reports = new Map<string, State>()
  readonly #handed = new Set<string>()
  readonly #offline = new Set<string>()
  readonly #rings: readonly RingSpec[]

  constructor({ clusters = FLEET, rings = RINGS }: { clusters?: typeof FLEET; rings?: readonly RingSpec[] } = {}) {
    this.#clusters = { ...clusters }
    this.#rings = rings
  }

  step(step: OpeningStep): void {
    switch (step.do) {
      case 'plan':
        return this.#write(this.#decide())
      case 'crash':
        this.#decide() // decided, and never written
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
      now: this.#now,
    })
  }

  #write(decision: RolloutDecision): void {
    for (const { cluster, ring } of decision.admissions) {
      if (this.#admissions.some((known) => known.cluster === cluster)) continue
      this.#assertMayAdmit(cluster, ring)
      this.#handed.add(cluster)
    }
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
    const { approvals } = this.#rings[at]!
    if (!approvals) return
    const authors = new Set(recorded(name)?.approvedBy?.map(({ author }) => author))
    assert.ok(recorded(name)?.openedAt, `${cluster} of ${name} before it was opened`)
    assert.ok(authors.size >= approvals.count, `${name} was opened by ${[...authors].join(' ')}`)
  }

  /** Plans and plays honest agents until nothing changes. */
  settle(): void {
    for (let round = 0; round < 20; round++) {
      this.step({ do: 'plan' })
      for (const cluster of Object.keys(this.#clusters)) this.step({ do: 'agent', cluster, state: 'Ready' })
    }
  }

  /** Faults stop: everybody is there and says yes. */
  allIsWell(): void {
    this.#offline.clear()
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
const step: fc.Arbitrary<OpeningStep> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('plan' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.nat(20) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('agent' as const),
      cluster,
      state: fc.constantFrom<State>('Ready', 'Ready', 'Failed', 'Progressing'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('toggle' as const), cluster }) },
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
export const openingHistories = fc.array(step, { minLength: 5, maxLength: 80 })

/** The promise itself: throws when a history breaks it. */
export function assertRingsKept(steps: readonly OpeningStep[]): OpeningWorld {
  const world = new OpeningWorld()
  for (const one of steps) world.step(one)
  return world
}
