/**
 * A model of what one Rollout looks at, for the promise that a look at what has changed says the same as a look at
 * everything: clusters come, go, are relabelled, report, fall silent, are frozen; windows open and close with time;
 * people retry and pause; other content, and none, is rendered.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { digestOf } from '../../core/crypto/digest.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { BundleHold } from '../../plan/windows/bundle-hold.ts'
import type { RosterCacheEntry } from '../../plan/rollout/build-roster.ts'
import { planRollout } from '../../plan/rollout/plan-rollout.ts'
import type { RingSpec } from '../../plan/rollout/rings.ts'
import type { RolloutAdmission, RolloutCluster } from '../../plan/rollout/bundle-on-cluster.ts'
import type { RolloutDecision, RolloutInput } from '../../plan/rollout/types.ts'

/** How large it is, and how its rings take their members. */
export interface RosterCacheShape {
  readonly clusters: number
  /**
   * 1: one ring for all; 2: by label and share; 3: by group, count and share, with no ring for the rest; 4: tolerant.
   */
  readonly rings: number
  readonly concurrency: number
}

/** Something that happens. */
export type RosterCacheStep =
  | { readonly do: 'look' | 'assemble' | 'retry' | 'pause' }
  | { readonly do: 'report'; readonly cluster: number; readonly state: BundleStateName; readonly bundle?: string }
  | { readonly do: 'toggle'; readonly cluster: number; readonly what: (typeof TOGGLES)[number] }
  | { readonly do: 'wait'; readonly minutes: number }

const TOGGLES = [
  'online',
  'selected',
  'registered',
  'canary',
  'frozen',
  'group',
  'rendered',
  'broken',
  'older',
] as const

const MINUTE = 60_000
const BUNDLES = ['x', 'y'] as const
const set = digestOf('content')

interface Site {
  readonly flags: Set<(typeof TOGGLES)[number]>
  assigned: Map<string, { generation: number; set: typeof set; attempt: number; startBy?: string | undefined }>
  reported: Map<string, { generation: number; set: typeof set; state: BundleStateName; attempt: number }>
}

const RINGS: readonly (readonly Omit<RingSpec, 'concurrency'>[])[] = [
  [{ name: 'all' }],
  [
    { name: 'canary', selector: { matchLabels: { canary: 'yes' } }, soakMs: 2 * MINUTE },
    { name: 'early', share: '30%', startByMs: 5 * MINUTE },
    { name: 'rest', maxFailed: 1 },
  ],
  [
    { name: 'first', group: 'g' },
    { name: 'second', count: 2, readyShare: '50%' },
    { name: 'third', share: '50%', maxFailed: '50%' },
  ],
  [
    { name: 'canary', selector: { matchLabels: { canary: 'yes' } }, maxFailed: 2, maxUnavailable: 2 },
    { name: 'rest', maxFailed: '50%', maxUnavailable: '50%' },
  ],
]

/** The world of one Rollout. */
export class RosterCacheModel {
  readonly #sites: Map<string, Site>
  readonly #rings: readonly RingSpec[]
  readonly #book: RosterCacheEntry = {}
  #touched: Set<string> | undefined
  #now = 0
  #attempts = 0
  #paused = false
  #admissions: readonly RolloutAdmission[] = []
  #last: RolloutDecision | undefined
  /** How many pairs the look in progress has worked out. */
  #asked = 0

  constructor({ clusters, rings, concurrency }: RosterCacheShape) {
    const names = Array.from({ length: clusters }, (_, i) => `c${String(i).padStart(3, '0')}`)
    const fresh = (i: number): Site => ({
      flags: new Set(['online', 'selected', 'registered', 'rendered', ...(i % 5 === 0 ? ['canary' as const] : [])]),
      assigned: new Map(),
      reported: new Map(),
    })
    this.#sites = new Map(names.map((name, i) => [name, fresh(i)]))
    this.#rings = RINGS[rings - 1]!.map((ring) => ({ ...ring, concurrency }))
  }

  step(step: RosterCacheStep): void {
    switch (step.do) {
      case 'look':
        this.look()
        return
      case 'assemble':
        for (const { bundle, cluster, attempt = 0, startBy } of this.#admissions) {
          this.#sites.get(cluster)!.assigned.set(`ns/${bundle}`, { generation: 2, set, attempt, startBy })
          this.#touched?.add(cluster)
        }
        return
      case 'retry':
        this.#attempts++
        this.#touched = undefined
        return
      case 'pause':
        this.#paused = !this.#paused
        this.#touched = undefined
        return
      case 'wait':
        this.#now = Math.max(0, this.#now + step.minutes * MINUTE)
        return
      case 'report': {
        const [name, site] = this.#siteAt(step.cluster)
        const key = `ns/${step.bundle ?? 'x'}`
        const assigned = site.assigned.get(key)
        if (!assigned || !site.flags.has('online')) return
        const { startBy: _, ...revision } = assigned
        site.reported.set(key, { ...revision, state: step.state })
        this.#touched?.add(name)
        return
      }
      case 'toggle': {
        const [name, site] = this.#siteAt(step.cluster)
        if (step.what === 'older') site.reported.set('ns/x', { generation: 1, set, state: 'Failed', attempt: 0 })
        else if (!site.flags.delete(step.what)) site.flags.add(step.what)
        this.#touched?.add(name)
      }
    }
  }

  #siteAt(index: number): readonly [string, Site] {
    return [...this.#sites][index % this.#sites.size]!
  }

  /**
   * Looks with the book and anew, asserts that both say the same, and writes it down; how many clusters the book asked
   * about.
   */
  look(): number {
    this.#asked = 0
    const touched = this.#touched
    const decision = planRollout(this.#input(), {
      roster: this.#book,
      changedClusters: touched,
      selects: (_, name) => this.#sites.get(name)!.flags.has('selected'),
    })
    const asked = this.#asked / BUNDLES.length
    assert.deepEqual(decision, planRollout(this.#input()))
    this.#last = decision
    this.#admissions = decision.admissions
    this.#touched = new Set()
    return asked
  }

  #input(): RolloutInput {
    const holds: number[] = []
    return {
      rollout: {
        namespace: 'ns',
        rings: this.#rings,
        paused: this.#paused,
        attemptOf: () => this.#attempts,
        progressDeadlineMs: 30 * MINUTE,
        admissions: this.#admissions,
        ...(this.#last?.rings ? { ringStates: this.#last.rings } : {}),
        ...(this.#last ? { phase: this.#last.phase } : {}),
      },
      release: {
        bundles: BUNDLES.map((name) => ({
          name,
          generation: 2,
          set,
          placement: 'p',
          contentOf: (cluster) => {
            this.#asked++
            const { flags } = this.#sites.get(cluster)!
            if (name === 'y' && flags.has('broken')) return { kind: 'Problem', problem: 'no value.' }
            return flags.has('rendered') ? { kind: 'Set', set } : { kind: 'Unknown' }
          },
        })),
      },
      decisions: new Map([
        ['p', [...this.#sites].flatMap(([name, { flags }]) => (flags.has('selected') ? [name] : []))],
      ]),
      clusterOf: (name) => this.#clusterOf(name),
      groupsOf: (_, name) => (this.#sites.get(name)!.flags.has('group') ? ['g'] : []),
      holdOf: (_, name) => {
        const hold = this.#holdAt(name)
        holds.push(hold.until)
        return hold.hold
      },
      holdsUntil: () => (holds.length === 0 ? undefined : Math.min(...holds)),
      predecessors: [],
      now: this.#now,
    }
  }

  /** Every third cluster has a window of twenty minutes in an hour; a frozen cluster is held until it is released. */
  #holdAt(name: string): { readonly hold: BundleHold | undefined; readonly until: number } {
    const { flags } = this.#sites.get(name)!
    const hour = Math.floor(this.#now / (60 * MINUTE)) * 60 * MINUTE
    const opens = hour + 60 * MINUTE
    if (flags.has('frozen')) return { hold: { for: 'freeze', badge: 'Held', message: 'Held.' }, until: opens }
    const isOpen = this.#now < hour + 20 * MINUTE
    if (isOpen || Number(name.slice(1)) % 3 !== 2)
      return { hold: undefined, until: isOpen ? hour + 20 * MINUTE : opens }
    return { hold: { for: 'window', badge: 'Frozen', message: 'Closed.', since: hour, until: opens }, until: opens }
  }

  #clusterOf(name: string): RolloutCluster | undefined {
    const { flags, assigned, reported } = this.#sites.get(name)!
    if (!flags.has('registered')) return undefined
    const state = flags.has('online') ? 'Available' : 'Offline'
    return {
      availability: { state, reason: 'Seen', message: '' },
      labels: flags.has('canary') ? { canary: 'yes' } : {},
      assigned: new Map(assigned),
      reported: new Map(reported),
    }
  }
}

/** A world goes through a history; every look is made both ways. */
export function assertCacheMatchesRebuild(shape: RosterCacheShape, steps: readonly RosterCacheStep[]): void {
  const world = new RosterCacheModel(shape)
  world.look()
  for (const step of steps) world.step(step)
  world.look()
}

/** Worlds. */
export const rosterCacheShapes: fc.Arbitrary<RosterCacheShape> = fc.record({
  clusters: fc.integer({ min: 1, max: 12 }),
  rings: fc.integer({ min: 1, max: RINGS.length }),
  concurrency: fc.integer({ min: 1, max: 4 }),
})

const cluster = fc.nat(11)
const reports = fc.record({
  do: fc.constant('report' as const),
  cluster,
  state: fc.constantFrom('Ready' as const, 'Ready', 'Failed', 'Progressing', 'Drifted', 'Pending'),
  bundle: fc.constantFrom(...BUNDLES),
})

/** What happens in them. */
export const rosterCacheSteps: fc.Arbitrary<RosterCacheStep> = fc.oneof(
  { weight: 6, arbitrary: fc.constant({ do: 'look' as const }) },
  { weight: 4, arbitrary: fc.constant({ do: 'assemble' as const }) },
  { weight: 8, arbitrary: reports },
  { weight: 1, arbitrary: fc.constantFrom({ do: 'retry' as const }, { do: 'pause' as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('toggle' as const), cluster, what: fc.constantFrom(...TOGGLES) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('wait' as const), minutes: fc.integer({ min: -5, max: 45 }) }),
  },
)
