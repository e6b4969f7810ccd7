/**
 * The promise behind the budget, against a model of the world: whatever the order of events, and however old the
 * assignments, reports and availability that the planner sees, the clusters that were handed a revision and never were
 * Ready at it are at most as many as the concurrency, and the tolerated failures beside it (I-04). Releases carry one
 * bundle or several, and supersede older Releases of these bundles; some change nothing for some clusters, and some
 * roll the newest back. A cluster that a rollback leaves as it is no longer counts: it stays in the budget of the
 * rollout that changed it. The Rollout itself is current, because its write is a compare-and-swap. Older Rollouts may
 * be seen late, but never going back, nor without the objects they were decided on: they come from one ordered watch.
 */
import assert from 'node:assert/strict'
import type { ClusterInputs } from '../../core/cluster-inputs.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { BundleStateName } from '../../kinds/fields/states.ts'
import type { ExistingRelease } from '../../plan/release/decide-release.ts'
import { planRollback } from '../../plan/release/rollback.ts'
import { planRollout } from '../../plan/rollout/plan-rollout.ts'
import type { RingSpec, RingState } from '../../plan/rollout/rings.ts'
import type { RolloutAdmission, RolloutCluster } from '../../plan/rollout/bundle-on-cluster.ts'
import type { RolloutPhase, Superseded } from '../../plan/rollout/types.ts'
import type { Revision } from '../../plan/fleet/state.ts'
import { contentFor, setFor } from '../../plan/release/variants.ts'

/** The clusters of the model. */
export const CLUSTERS = ['c0', 'c1', 'c2', 'c3', 'c4']

/** The bundles of the model. */
export const BUNDLES = ['x', 'y'] as const
/** The name of one. */
export type BundleName = (typeof BUNDLES)[number]

interface Held {
  readonly assigned: number
  /** The last revision before it that was well. */
  readonly before: Revision | undefined
  /** Number of the manual retry that the document belongs to. */
  readonly attempt: number
  /** State, generation and try. */
  readonly reported: readonly [BundleStateName, number, number] | undefined
}

interface Seen extends Readonly<Record<BundleName, Held>> {
  readonly online: boolean
}

interface Written {
  /** How much of each older rollout the decision behind it was made on. */
  readonly saw: readonly number[]
  readonly admissions: readonly RolloutAdmission[]
  readonly superseded: readonly Superseded[]
  readonly closed: boolean
  readonly phase: RolloutPhase
  readonly ringStates: readonly RingState[]
}

/** Something that happens. */
export type Step =
  | {
      readonly do: 'release'
      readonly carries?: readonly BundleName[]
      /**
       * It takes the newest of each bundle back, as far as it can, knowing documents of that age; otherwise it is new.
       */
      readonly back?: { readonly age: number }
      /** Clusters for which it changes nothing. */
      readonly same?: readonly number[]
    }
  /** `rollout` counts from the first, or from the newest when it is below zero. */
  | { readonly do: 'plan'; readonly rollout: number; readonly age: number; readonly knowsNewer: boolean }
  | { readonly do: 'assemble' | 'toggle'; readonly cluster: number }
  /** A while without trouble: so many rounds, in which these clusters fail at what they were never Ready at. */
  | { readonly do: 'calm'; readonly rounds: number; readonly fails: readonly number[] }
  /** A user requests a retry of the failed clusters. */
  | { readonly do: 'retry'; readonly rollout: number }
  | {
      readonly do: 'agent'
      readonly cluster: number
      readonly bundle?: BundleName
      readonly outcome: 'Ready' | 'Failed' | 'Progressing'
    }

/** What the rollouts of a world may do. */
export interface Budget {
  readonly concurrency: number
  readonly maxFailed?: number
  /** The first cluster goes before the others, alone, and may not fail. */
  readonly canary?: boolean
}

const CANARY = CLUSTERS[0]!
/** Whether a cluster goes first. */
export const isCanary = (name: string) => name === CANARY

/** Rollouts of two bundles over a few clusters, with everything they ever were. */
export class RolloutModel {
  readonly #budget: Budget
  /** Every state each cluster ever had, newest last; index 0 is before everything. */
  readonly #clusters = CLUSTERS.map((): Seen[] => [{ x: NOTHING, y: NOTHING, online: true }])
  readonly #everReady = CLUSTERS.map(() => new Set(BUNDLES.map((bundle) => `${bundle}0`)))
  readonly #everFailed = CLUSTERS.map(() => new Set<string>())
  /** Everything each rollout ever wrote; rollout i carries generation i + 1. */
  readonly #rollouts: Written[][] = []
  readonly #carries: (readonly BundleName[])[] = []
  readonly #contents: Partial<Record<BundleName, ExistingRelease>>[] = []
  readonly #takesBack: boolean[] = []
  readonly #attempts: number[] = []
  readonly #rings: readonly RingSpec[]
  /** How far each rollout has followed each older one. */
  readonly #followed: number[][] = []

  constructor(budget: Budget) {
    this.#budget = budget
    const { canary, ...rest } = budget
    const first = { name: 'canary', selector: { matchLabels: { name: CANARY } }, concurrency: 1, maxFailed: 0 }
    this.#rings = [...(canary ? [first] : []), { name: 'all', ...rest }]
  }

  step(step: Step): void {
    switch (step.do) {
      case 'release':
        return this.#release(step)
      case 'plan':
        return this.#plan(step)
      case 'retry':
        if (this.#placeOf(step.rollout) in this.#attempts) this.#attempts[this.#placeOf(step.rollout)]! += 1
        return
      case 'calm':
        for (let round = 0; round < step.rounds; round++) {
          this.#round((i, bundle) => {
            const wasReady = this.#everReady[i]!.has(`${bundle}${last(this.#clusters[i]!)[bundle].assigned}`)
            return !wasReady && step.fails.includes(i) ? 'Failed' : 'Ready'
          })
        }
        return
      case 'assemble':
        for (const bundle of BUNDLES) this.#assemble(step.cluster, bundle)
        return
      case 'toggle': {
        const now = last(this.#clusters[step.cluster]!)
        this.#clusters[step.cluster]!.push({ ...now, online: !now.online })
        return
      }
      case 'agent': {
        const { bundle = 'x', cluster, outcome } = step
        const now = last(this.#clusters[cluster]!)
        const { assigned, attempt } = now[bundle]
        if (!now.online || assigned === 0) return
        if (outcome === 'Ready') this.#everReady[cluster]!.add(`${bundle}${assigned}`)
        if (outcome === 'Failed') this.#everFailed[cluster]!.add(`${bundle}${assigned}/${attempt}`)
        this.#clusters[cluster]!.push({
          ...now,
          [bundle]: { ...now[bundle], reported: [outcome, assigned, attempt] },
        })
      }
    }
  }

  #release({ carries = ['x'], back, same = [] }: Extract<Step, { do: 'release' }>): void {
    const generation = this.#rollouts.length + 1
    const entries = carries.flatMap((bundle) => {
      const content = back ? this.#back(bundle, generation, back.age) : this.#forward(bundle, generation, same)
      return content ? [[bundle, content] as const] : []
    })
    if (entries.length === 0) return
    this.#followed.push(this.#rollouts.map(() => 0))
    this.#carries.push(entries.map(([bundle]) => bundle))
    this.#contents.push(Object.fromEntries(entries))
    this.#takesBack.push(back !== undefined)
    this.#attempts.push(0)
    this.#rollouts.push([{ saw: [], admissions: [], superseded: [], closed: false, phase: 'Pending', ringStates: [] }])
  }

  #forward(bundle: BundleName, generation: number, same: readonly number[]): ExistingRelease {
    const own = { name: `r${generation}`, generation, set: digestOf(`v${generation}`), placement: 'p' }
    const newest = this.#contents[this.newestOf(bundle) - 1]?.[bundle]
    if (!newest || same.length === 0) return own
    const kept = same.map((i) => ({ when: { name: CLUSTERS[i]! }, set: setFor(newest, inputsOf(i))! }))
    return { ...own, variants: [...kept, { when: {}, set: own.set }] }
  }

  #back(bundle: BundleName, generation: number, age: number): ExistingRelease | undefined {
    const releases = this.#contents.flatMap((contents) => contents[bundle] ?? []).toReversed()
    const [newest, ...older] = releases
    if (!newest || older.length === 0) return undefined
    const clusters = CLUSTERS.map((_, i) => {
      const { assigned, before } = aged(this.#clusters[i]!, age)[bundle]
      if (assigned === 0) return { inputs: inputsOf(i), isOnline: true }
      return {
        inputs: inputsOf(i),
        isOnline: true,
        assigned: { ...this.#revision(bundle, i, assigned), previous: before },
      }
    })
    const of = { name: bundle, newest, older, highestAssigned: 0, clusters }
    const { content } = planRollback(of, { kind: 'All', includes: () => true })
    return content && { ...content, name: `r${generation}`, generation }
  }

  #revision(bundle: BundleName, index: number, generation: number): Revision {
    return { generation, set: setFor(this.#contents[generation - 1]![bundle]!, inputsOf(index))! }
  }

  #placeOf(rollout: number): number {
    return rollout < 0 ? this.#rollouts.length + rollout : rollout
  }

  #plan({ rollout: named, age, knowsNewer }: Extract<Step, { do: 'plan' }>): void {
    const rollout = this.#placeOf(named)
    const history = this.#rollouts[rollout]
    if (!history) return
    const now = last(history)
    const carries = this.#carries[rollout]!
    const newer = carries.flatMap((bundle) => {
      const by = this.#carries.findLastIndex((others, i) => i > rollout && others.includes(bundle))
      return knowsNewer && by >= 0 ? [[bundle, `r${by}`] as const] : []
    })
    const saw = this.#follow(rollout, age)
    const decision = planRollout({
      rollout: {
        namespace: 'ns',
        rings: this.#rings,
        paused: false,
        attemptOf: () => this.#attempts[rollout]!,
        takesBack: this.#takesBack[rollout]!,
        ...now,
      },
      release: {
        bundles: carries.map((name) => {
          const content = this.#contents[rollout]![name]!
          return { ...content, name, contentOf: (cluster) => contentFor(content, inputsOf(CLUSTERS.indexOf(cluster))) }
        }),
      },
      decisions: new Map([['p', CLUSTERS]]),
      clusterOf: (name) => this.#seen(CLUSTERS.indexOf(name), age),
      predecessors: this.#rollouts.slice(0, rollout).flatMap((older, i) => {
        const shared = carries.filter((bundle) => this.#carries[i]!.includes(bundle))
        if (shared.length === 0) return []
        const seen = older[saw[i]!]!
        return shared.map((bundle) => ({
          name: `r${i}`,
          bundle,
          generation: i + 1,
          closed: seen.closed || seen.superseded.some((one) => one.bundle === bundle),
          admissions: seen.admissions.filter((admission) => admission.bundle === bundle),
          ...(this.#takesBack[i] ? { takesBackTo: this.#setsOf(i, bundle) } : {}),
        }))
      }),
      newer: new Map(newer),
      now: 0,
    })
    const taken = new Set(decision.admissions.map((admission) => admission.cluster)).size
    assert.ok(taken <= this.total + (this.#budget.canary ? 1 : 0), 'more slots than the budget')
    history.push({
      saw,
      admissions: decision.admissions,
      superseded: decision.superseded ?? [],
      closed: now.closed || decision.kind === 'Supersede',
      phase: decision.phase,
      ringStates: decision.rings ?? now.ringStates,
    })
  }

  #setsOf(rollout: number, bundle: BundleName): (cluster: string) => Digest | undefined {
    return (cluster) => setFor(this.#contents[rollout]![bundle]!, inputsOf(CLUSTERS.indexOf(cluster)))
  }

  /**
   * What it knows of each older rollout now: never less than before, nor than what anything it knows of was decided on.
   */
  #follow(rollout: number, age: number): readonly number[] {
    const followed = this.#followed[rollout]!
    for (let i = rollout - 1; i >= 0; i--) {
      const upTo = Math.max(followed[i]!, this.#rollouts[i]!.length - 1 - age)
      followed[i] = upTo
      for (const [j, seen] of this.#rollouts[i]![upTo]!.saw.entries()) followed[j] = Math.max(followed[j]!, seen)
    }
    return [...followed]
  }

  #seen(index: number, age: number): RolloutCluster {
    const seen = aged(this.#clusters[index]!, age)
    const assigned = new Map<string, { generation: number; set: Digest }>()
    const reported = new Map<string, { generation: number; set: Digest; state: BundleStateName; attempt: number }>()
    for (const bundle of BUNDLES) {
      const held = seen[bundle]
      if (held.assigned > 0) assigned.set(`ns/${bundle}`, this.#revision(bundle, index, held.assigned))
      if (!held.reported) continue
      const [state, generation, attempt] = held.reported
      reported.set(`ns/${bundle}`, { ...this.#revision(bundle, index, generation), state, attempt })
    }
    return {
      labels: { name: CLUSTERS[index]! },
      availability: { state: seen.online ? 'Available' : 'Offline', reason: 'Seen', message: '' },
      assigned,
      reported,
    }
  }

  #assemble(index: number, bundle: BundleName): void {
    const now = last(this.#clusters[index]!)
    const admitted = this.#rollouts.flatMap((history, i) => {
      const isOwn = (one: RolloutAdmission) => one.cluster === CLUSTERS[index] && one.bundle === bundle
      const slot = last(history).admissions.find(isOwn)
      return slot ? [{ assigned: i + 1, attempt: slot.attempt ?? 0 }] : []
    })
    const { assigned, attempt } = now[bundle]
    const newest = admitted.at(-1)
    const setOf = (generation: number) => this.#revision(bundle, index, generation).set
    if (!newest || newest.assigned < assigned || (newest.assigned === assigned && newest.attempt <= attempt)) return
    const before = this.#before(bundle, index, newest.assigned)
    const ready = this.#everReady[index]!
    // The same content under a newer generation changes nothing in the cluster.
    const isSame = assigned > 0 && setOf(newest.assigned) === setOf(assigned)
    if (isSame && ready.has(`${bundle}${assigned}`)) ready.add(`${bundle}${newest.assigned}`)
    this.#clusters[index]!.push({ ...now, [bundle]: { ...now[bundle], ...newest, before } })
  }

  /** What it goes back to once it has the next one; see plan/document/assemble-document.ts. */
  #before(bundle: BundleName, index: number, next: number): Revision | undefined {
    const { assigned, before, reported } = last(this.#clusters[index]!)[bundle]
    if (assigned === 0 || reported?.[0] !== 'Ready' || reported[1] !== assigned) return before
    const present = this.#revision(bundle, index, assigned)
    return present.set === this.#revision(bundle, index, next).set ? before : present
  }

  /** A rollback that came later leaves it as it is. */
  #isSpared(bundle: BundleName, index: number): boolean {
    const { assigned } = last(this.#clusters[index]!)[bundle]
    if (assigned === 0) return false
    const { set } = this.#revision(bundle, index, assigned)
    return this.#takesBack.some(
      (back, i) =>
        back && i + 1 > assigned && this.#contents[i]![bundle] && this.#revision(bundle, index, i + 1).set === set,
    )
  }

  /** How many may be unwell. */
  get total(): number {
    return this.#budget.concurrency + (this.#budget.maxFailed ?? 0)
  }

  /** Whether every release carries every bundle: then they share one budget. */
  get isTogether(): boolean {
    return this.#carries.every((carries) => carries.length === BUNDLES.length)
  }

  /** Handed a revision of the bundle and never well at it, and not left so by a rollback. */
  unproven(bundle: BundleName): string[] {
    return CLUSTERS.filter(
      (_, i) =>
        !this.#everReady[i]!.has(`${bundle}${last(this.#clusters[i]!)[bundle].assigned}`) && !this.#isSpared(bundle, i),
    )
  }

  /** Those of them that have not failed at it either: they are changing. */
  changing(bundle: BundleName): string[] {
    return this.unproven(bundle).filter((name) => {
      const i = CLUSTERS.indexOf(name)
      const { assigned, attempt } = last(this.#clusters[i]!)[bundle]
      return !this.#everFailed[i]!.has(`${bundle}${assigned}/${attempt}`)
    })
  }

  /**
   * Fresh caches, honest agents, all clusters online: run until nothing changes. With `isFix`, a failed cluster stays
   * failed until it has the newest Release, which is healthy everywhere.
   */
  settle({ isFix = false } = {}): void {
    const outcomeOf = (i: number, bundle: BundleName) => {
      const { assigned, attempt } = last(this.#clusters[i]!)[bundle]
      if (!isFix || assigned === this.newestOf(bundle)) return 'Ready'
      return this.#everFailed[i]!.has(`${bundle}${assigned}/${attempt}`) ? 'Failed' : 'Ready'
    }
    for (let round = 0; round < 60; round++) {
      for (const [i, history] of this.#clusters.entries())
        if (!last(history).online) this.step({ do: 'toggle', cluster: i })
      this.#round(outcomeOf)
    }
  }

  /** Everything is planned, handed out and told once, in order. */
  #round(outcomeOf: (cluster: number, bundle: BundleName) => 'Ready' | 'Failed'): void {
    for (let i = 0; i < this.#rollouts.length; i++) this.step({ do: 'plan', rollout: i, age: 0, knowsNewer: true })
    for (let i = 0; i < CLUSTERS.length; i++) {
      this.step({ do: 'assemble', cluster: i })
      for (const bundle of BUNDLES) this.step({ do: 'agent', cluster: i, bundle, outcome: outcomeOf(i, bundle) })
    }
  }

  /** The content of all clusters for each bundle, and the remaining slots. */
  end(): {
    readonly generations: Record<BundleName, number[]>
    /** Who does not have what the newest release has for it. */
    readonly behind: string[]
    readonly slots: number
    readonly open: string[]
  } {
    const generationsOf = (bundle: BundleName) => this.#clusters.map((history) => last(history)[bundle].assigned)
    const isBehind = (bundle: BundleName, i: number) => {
      const newest = this.newestOf(bundle)
      const { assigned } = last(this.#clusters[i]!)[bundle]
      if (newest === 0 || assigned === newest) return false
      return assigned === 0 || this.#revision(bundle, i, assigned).set !== this.#revision(bundle, i, newest).set
    }
    return {
      generations: { x: generationsOf('x'), y: generationsOf('y') },
      behind: BUNDLES.flatMap((bundle) =>
        CLUSTERS.filter((_, i) => isBehind(bundle, i)).map((name) => `${bundle}/${name}`),
      ),
      slots: this.#rollouts.reduce((sum, history) => sum + last(history).admissions.length, 0),
      open: this.#rollouts.flatMap((history, i) => {
        const { phase } = last(history)
        return phase === 'Completed' || phase === 'Superseded' ? [] : [`r${i} ${phase}`]
      }),
    }
  }

  /** Whether the newest release of a bundle takes an older one back. */
  isTakenBack(bundle: BundleName): boolean {
    return this.#takesBack[this.newestOf(bundle) - 1] ?? false
  }

  /** The generation of a bundle that all clusters should have in the end. */
  newestOf(bundle: BundleName): number {
    return this.#carries.findLastIndex((carries) => carries.includes(bundle)) + 1
  }
}

const NOTHING: Held = { assigned: 0, before: undefined, attempt: 0, reported: undefined }

function inputsOf(index: number): ClusterInputs {
  return { name: CLUSTERS[index]!, labels: {}, annotations: {}, claims: {}, values: {} }
}

function last<T>(history: readonly T[]): T {
  return history[history.length - 1]!
}

function aged<T>(history: readonly T[], age: number): T {
  return history[Math.max(0, history.length - 1 - age)]!
}
