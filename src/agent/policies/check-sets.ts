// Tested by src/agent/policies/policies.contract.test.ts
/** The checks of the bundles that run on the cluster, with what must survive a restart of the agent. */
import { digestOfJson } from '../../core/crypto/digest.ts'
import { Waiting } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { formatTime } from '../../core/time/time.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Executor } from '../../plan/apply/local-limits.ts'
import { pruneObjects } from '../../plan/policy/prune-objects.ts'
import type { ReportedCheck } from '../../wire/link/frames.ts'
import type { Appliers } from '../cluster/executor-appliers.ts'
import { STEP_TIMING } from '../timing.ts'
import { policyOf } from './check-policy.ts'
import type { CheckRun } from './check-runs.ts'
import type { CheckMemory, PolicyMemory, RememberedCheck } from './policy-memory.ts'
import { replay } from './replay.ts'

/** The checks of a bundle, as it runs on the cluster. */
export interface BundleChecks {
  readonly bundle: string
  readonly generation: number
  readonly options: BundleOptions
  readonly checks: readonly UnknownObject[]
}

/** Where checks come from. */
export interface CheckSource {
  /** The checks of all bundles that have settled. A bundle between two revisions is absent, and keeps its checks. */
  readonly settled: (signal: AbortSignal) => Promise<readonly BundleChecks[]>
  /** Whether the document names a bundle. */
  readonly tracked: (bundle: string) => boolean
}

/** Ports of the sets. */
export interface CheckSetPorts extends CheckSource {
  readonly state: PolicyMemory
  readonly appliers: Pick<Appliers, 'policies'>
  readonly clock: Clock
  readonly hubTime: { now(): number | undefined }
  readonly log: Logger
}

interface ActiveSet {
  readonly digest: string
  readonly executor: Executor | undefined
  runs: readonly CheckRun[]
  remembered: CheckMemory
}

/** Creates the sets. */
export function createCheckSets(ports: CheckSetPorts) {
  const { state: memory, appliers, clock, log } = ports
  const active = new Map<string, ActiveSet>()

  /** Deletes what policies that left the bundle created; resolves to the policies that could not be pruned yet. */
  async function prune(
    bundle: string,
    executor: Executor | undefined,
    left: readonly [string, RememberedCheck][],
    signal: AbortSignal,
  ): Promise<Map<string, string>> {
    const waiting = new Map<string, string>()
    for (const [key, { prune: behavior, related = [] }] of left) {
      if (behavior === undefined || related.length === 0) continue
      const spec = { remediationAction: 'enforce', pruneObjectBehavior: behavior }
      const policy = policyOf({ apiVersion: '', kind: '', metadata: { name: key }, spec })
      const { result } = await replay(
        appliers.policies(bundle, executor),
        ({ cluster }) => pruneObjects({ policy, cluster, before: related }, []),
        signal,
      )
      if (result.length > 0) waiting.set(key, result.join(', '))
    }
    return waiting
  }

  async function activate(given: BundleChecks, digest: string, signal: AbortSignal): Promise<void> {
    const { bundle, generation, options, checks } = given
    const before = active.get(bundle)
    const remembered = before ? rememberedOf(before) : await memory.readChecks(bundle, signal)
    const keys = new Set(checks.map(keyOf))
    const left = Object.entries(remembered).filter(([key]) => !keys.has(key))
    const waiting = await prune(bundle, options.executor, left, signal)
    for (const [key, objects] of waiting) log.debug({ bundle, check: key, objects }, 'objects of a policy stay for now')
    const now = formatTime(ports.hubTime.now() ?? clock.now())
    const runs = checks.map((check): CheckRun => {
      const known = before?.runs.find((run) => keyOf(run.check) === keyOf(check))
      const past = remembered[keyOf(check)]
      const row: ReportedCheck = known
        ? { ...known.row, generation }
        : { bundle, generation, kind: check.kind, name: check.metadata.name, ...begun(past, now) }
      return {
        check,
        options: options.checks ?? {},
        executor: options.executor,
        row,
        reads: known?.reads ?? [],
        related: known?.related ?? past?.related ?? [],
        dueAt: 0,
        isTimed: false,
        isPolled: false,
        repairs: 0,
        repairedAt: 0,
      }
    })
    const kept = Object.fromEntries(Object.entries(remembered).filter(([key]) => keys.has(key) || waiting.has(key)))
    // A set whose objects are not gone yet is looked at again.
    active.set(bundle, { digest: waiting.size > 0 ? '' : digest, executor: options.executor, runs, remembered: kept })
  }

  return {
    all: (): readonly CheckRun[] => [...active.values()].flatMap(({ runs }) => runs),
    /** Checks that may wait for a check. */
    dependents: (changed: CheckRun): readonly CheckRun[] =>
      [...active.values()]
        .flatMap(({ runs }) => runs)
        .filter((run) => run !== changed && (run.options.dependsOn ?? []).length > 0),
    /** Takes the sets of the bundles that have settled, and drops bundles that the document no longer names. */
    async align(signal: AbortSignal): Promise<void> {
      for (const given of await ports.settled(signal)) {
        const digest = digestOfJson({ ...given, generation: 0 })
        const known = active.get(given.bundle)
        if (known?.digest !== digest) await activate(given, digest, signal)
        else for (const run of known.runs) run.row.generation = given.generation
      }
      for (const bundle of active.keys()) if (!ports.tracked(bundle)) active.delete(bundle)
    },
    /** Writes what must survive a restart, where it changed. */
    async remember(signal: AbortSignal): Promise<void> {
      for (const [bundle, set] of active) {
        const next = rememberedOf(set)
        if (signal.aborted || jsonEqual(next, set.remembered)) continue
        await memory.writeChecks(bundle, next)
        set.remembered = next
      }
    },
    forget: () => active.clear(),
    /** Removes what the enforced policies of a bundle created, unless the removal keeps its objects. */
    async remove(
      {
        bundle,
        executor,
        keeps,
      }: { readonly bundle: string; readonly executor: Executor | undefined; readonly keeps: boolean },
      signal: AbortSignal,
    ): Promise<void> {
      const set = active.get(bundle)
      const remembered = set ? rememberedOf(set) : await memory.readChecks(bundle, signal)
      active.delete(bundle)
      if (Object.keys(remembered).length === 0) return
      if (!keeps) {
        const waiting = await prune(bundle, executor, Object.entries(remembered), signal)
        const [first] = waiting.values()
        if (first !== undefined)
          throw new Waiting('Removing', `waiting for objects of policies: ${first}`, STEP_TIMING.removalRetryMs)
      }
      await memory.deleteChecks(bundle)
    },
  }
}

/** `kind/name` of a check. */
function keyOf({ kind, metadata }: UnknownObject): string {
  return `${kind}/${metadata.name}`
}

/** A check that was not evaluated since the agent started. */
function begun(past: RememberedCheck | undefined, now: string): Pick<ReportedCheck, 'state' | 'since' | 'objects'> {
  if (!past) return { state: 'Unknown', since: now }
  const objects = Object.entries(past.objects).map(([object, since]) => ({ object, since }))
  const state = past.state as ReportedCheck['state']
  return { state, since: past.since, ...(objects.length > 0 && { objects }) }
}

function rememberedOf({ runs, remembered }: ActiveSet): CheckMemory {
  const next: CheckMemory = {}
  // Objects of a policy that left the set, which are not gone yet.
  const present = new Set(runs.map(({ check }) => keyOf(check)))
  for (const [key, past] of Object.entries(remembered)) if (!present.has(key)) next[key] = past
  for (const { check, row, related } of runs) {
    const { remediationAction, pruneObjectBehavior } = policyOf(check)
    const prunes = remediationAction === 'enforce' && ['DeleteAll', 'DeleteIfCreated'].includes(pruneObjectBehavior)
    next[keyOf(check)] = {
      state: row.state,
      since: row.since,
      objects: Object.fromEntries((row.objects ?? []).map(({ object, since }) => [object, since])),
      ...(prunes && { prune: pruneObjectBehavior, related: related.map(withoutDiff) }),
    }
  }
  return next
}

function withoutDiff(object: CheckRun['related'][number]): CheckRun['related'][number] {
  if (!object.properties) return object
  const { diff: _diff, ...properties } = object.properties
  return { ...object, properties }
}
