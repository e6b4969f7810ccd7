/**
 * The promise behind the budget, against a model of the world: whatever the order of events, and however old the
 * assignments, reports and availability that the planner sees, the clusters that were handed a revision and never were
 * Ready at it are at most as many as the concurrency (I-04). The Rollout itself is current, because its write is a
 * compare-and-swap; older Rollouts may be seen late, but not going back: they come from the same ordered watch.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { digestOf } from '../core/digest.ts'
import type { State } from '../kinds/states.ts'
import { planRollout } from '../plan/rollout.ts'
import type { RolloutAdmission, RolloutCluster, RolloutPhase } from '../plan/rollout.ts'

/** The clusters of the model. */
export const CLUSTERS = ['c0', 'c1', 'c2', 'c3', 'c4']

interface Seen {
  readonly assigned: number
  readonly reported: readonly [State, number] | undefined
  readonly online: boolean
}

interface Written {
  readonly admissions: readonly RolloutAdmission[]
  readonly closed: boolean
  readonly phase: RolloutPhase
}

/** Something that happens. */
export type Step =
  | { readonly do: 'release' }
  | { readonly do: 'plan'; readonly rollout: number; readonly age: number; readonly knowsNewer: boolean }
  | { readonly do: 'assemble' | 'toggle'; readonly cluster: number }
  | { readonly do: 'agent'; readonly cluster: number; readonly outcome: 'Ready' | 'Failed' | 'Progressing' }

const set = (generation: number) => digestOf(`v${generation}`)

/** Rollouts of one bundle over a few clusters, with everything they ever were. */
export class RolloutWorld {
  readonly #concurrency: number
  /** Every state each cluster ever had, newest last; index 0 is before everything. */
  readonly #clusters = CLUSTERS.map((): Seen[] => [{ assigned: 0, reported: undefined, online: true }])
  readonly #everReady = CLUSTERS.map(() => new Set([0]))
  /** Everything each rollout ever wrote; rollout i carries generation i + 1. */
  readonly #rollouts: Written[][] = []
  /** How far each rollout has followed each older one. */
  readonly #followed: number[][] = []

  constructor(concurrency: number) {
    this.#concurrency = concurrency
  }

  step(step: Step): void {
    switch (step.do) {
      case 'release':
        this.#followed.push(this.#rollouts.map(() => 0))
        this.#rollouts.push([{ admissions: [], closed: false, phase: 'Pending' }])
        return
      case 'plan':
        return this.#plan(step)
      case 'assemble':
        return this.#assemble(step.cluster)
      case 'toggle': {
        const now = last(this.#clusters[step.cluster]!)
        this.#clusters[step.cluster]!.push({ ...now, online: !now.online })
        return
      }
      case 'agent': {
        const now = last(this.#clusters[step.cluster]!)
        if (!now.online || now.assigned === 0) return
        if (step.outcome === 'Ready') this.#everReady[step.cluster]!.add(now.assigned)
        this.#clusters[step.cluster]!.push({ ...now, reported: [step.outcome, now.assigned] })
      }
    }
  }

  #plan({ rollout, age, knowsNewer }: Extract<Step, { do: 'plan' }>): void {
    const history = this.#rollouts[rollout]
    if (!history) return
    const now = last(history)
    const generation = rollout + 1
    const newer = knowsNewer && this.#rollouts.length > rollout + 1
    const decision = planRollout({
      rollout: {
        namespace: 'ns',
        rings: [{ name: 'all', concurrency: this.#concurrency }],
        paused: false,
        admissions: now.admissions,
        closed: now.closed,
        phase: now.phase,
      },
      release: { bundles: [{ name: 'b', generation, set: set(generation), placement: 'p' }] },
      decisions: new Map([['p', CLUSTERS]]),
      clusterOf: (name) => this.#seen(CLUSTERS.indexOf(name), age),
      predecessors: this.#rollouts.slice(0, rollout).map((older, i) => {
        const { closed, admissions } = older[this.#follow(rollout, i, older.length - 1 - age)]!
        return { name: `r${i}`, generation: i + 1, closed, admissions }
      }),
      ...(newer ? { supersededBy: 'newer' } : {}),
      now: 0,
    })
    assert.ok(decision.admissions.length <= this.#concurrency, 'more slots than the concurrency')
    history.push({
      admissions: decision.admissions,
      closed: now.closed || decision.kind === 'Supersede',
      phase: decision.phase,
    })
  }

  #follow(rollout: number, older: number, upTo: number): number {
    const followed = this.#followed[rollout]!
    return (followed[older] = Math.max(followed[older]!, upTo))
  }

  #seen(index: number, age: number): RolloutCluster {
    const { assigned, reported, online } = aged(this.#clusters[index]!, age)
    return {
      availability: { state: online ? 'Available' : 'Offline', reason: 'Seen', message: '' },
      assigned: new Map(assigned === 0 ? [] : [['ns/b', { generation: assigned, set: set(assigned) }]]),
      reported: new Map(
        reported ? [['ns/b', { generation: reported[1], set: set(reported[1]), state: reported[0] }]] : [],
      ),
    }
  }

  #assemble(index: number): void {
    const now = last(this.#clusters[index]!)
    const admitted = this.#rollouts.flatMap((history, i) =>
      last(history).admissions.some(({ cluster }) => cluster === CLUSTERS[index]) ? [i + 1] : [],
    )
    const assigned = Math.max(now.assigned, ...admitted)
    if (assigned > now.assigned) this.#clusters[index]!.push({ ...now, assigned })
  }

  /** Handed a revision and never well at it. */
  unproven(): string[] {
    return CLUSTERS.filter((_, i) => !this.#everReady[i]!.has(last(this.#clusters[i]!).assigned))
  }

  /** Fresh caches, honest agents, everybody online: run until nothing changes. */
  settle(): void {
    for (let round = 0; round < 60; round++) {
      for (let i = 0; i < this.#rollouts.length; i++) this.step({ do: 'plan', rollout: i, age: 0, knowsNewer: true })
      for (let i = 0; i < CLUSTERS.length; i++) {
        if (!last(this.#clusters[i]!).online) this.step({ do: 'toggle', cluster: i })
        this.step({ do: 'assemble', cluster: i })
        this.step({ do: 'agent', cluster: i, outcome: 'Ready' })
      }
    }
  }

  newest(): { readonly generations: number[]; readonly phase: RolloutPhase | undefined; readonly slots: number } {
    return {
      generations: this.#clusters.map((history) => last(history).assigned),
      phase: this.#rollouts.at(-1)?.at(-1)?.phase,
      slots: this.#rollouts.reduce((sum, history) => sum + last(history).admissions.length, 0),
    }
  }
}

function last<T>(history: readonly T[]): T {
  return history[history.length - 1]!
}

function aged<T>(history: readonly T[], age: number): T {
  return history[Math.max(0, history.length - 1 - age)]!
}

const cluster = fc.nat(CLUSTERS.length - 1)
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ do: 'release' } as const) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('plan' as const),
      rollout: fc.nat(2),
      age: fc.constantFrom(0, 0, 0, 1, 2, 3, 6),
      knowsNewer: fc.boolean(),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('assemble' as const), cluster }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('toggle' as const), cluster }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('agent' as const),
      cluster,
      outcome: fc.constantFrom('Ready' as const, 'Failed' as const, 'Progressing' as const),
    }),
  },
)
/** Any order of things that can happen. */
export const histories = fc.array(step, { minLength: 10, maxLength: 120, size: 'max' })

/** The promise itself: throws when a history breaks it. */
export function assertBudgetHolds(concurrency: number, steps: readonly Step[]): void {
  const world = new RolloutWorld(concurrency)
  world.step({ do: 'release' })
  for (const one of steps) {
    world.step(one)
    const unproven = world.unproven()
    assert.ok(unproven.length <= concurrency, `${unproven.join(' ')} unproven with concurrency ${concurrency}`)
  }
}
