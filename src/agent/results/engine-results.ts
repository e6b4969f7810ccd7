// Tested by src/agent/results/engine-results.contract.test.ts
/**
 * What policy engines of the cluster found, for the report: Kyverno and all engines that write PolicyReports or
 * Reports of OpenReports, and Gatekeeper. The agent reads with its own rights and within the local limits.
 */
import { createWakeup } from '../../core/async/wakeup.ts'
import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { toError } from '../../core/errors.ts'
import { canonicalJson, jsonEqual } from '../../core/json.ts'
import { readRefusal } from '../../plan/apply/local-limits.ts'
import type { LocalLimits } from '../../plan/apply/local-limits.ts'
import type { Finding } from '../../plan/policy/results/read-results.ts'
import { createResultSums } from '../../plan/policy/results/sum-results.ts'
import { ReportedResults } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { parseJson } from '../../wire/validate.ts'
import { AGENT_FILES } from '../storage/storage.ts'
import type { AgentStorage } from '../storage/storage.ts'
import { RESULTS_TIMING } from '../timing.ts'
import { createResultWatches } from './result-watches.ts'
import type { ResultWatchPorts } from './result-watches.ts'

/** Ports of the results. */
export interface EngineResultsPorts extends Omit<ResultWatchPorts, 'onFindings'> {
  readonly localLimits: LocalLimits
  readonly storage: AgentStorage
  /** The results for the report changed. */
  readonly onChange: () => void
  /** If omitted, RESULTS_TIMING. Tests on real clusters look more often. */
  readonly timing?: Readonly<Record<keyof typeof RESULTS_TIMING, number>>
}

/** The most objects with results that an agent counts. */
const MOST_OBJECTS = 20_000
const MOST_DENIED = 16

/** Creates the results; nothing is read before `run`. */
export function createEngineResults(ports: EngineResultsPorts) {
  const { clock, storage, timing = RESULTS_TIMING } = ports
  const log = ports.log.child({ part: 'results' })
  const wakeup = createWakeup(clock)
  const newSums = () =>
    createResultSums({
      objects: MOST_OBJECTS,
      policies: LIMITS.resultPolicies,
      namespaces: LIMITS.resultNamespaces,
      samples: LIMITS.resultObjects,
      // The kinds that the agent may not read are beside the sums.
      bytes: LIMITS.resultBytes - MOST_DENIED * 330,
    })
  let sums = newSums()
  const watches = createResultWatches({
    ...ports,
    log,
    onFindings: (object, findings) => {
      sums.set(
        object,
        findings.filter((one) => isWithin(ports.localLimits, one)),
      )
      isDirty = true
      if (reported) wakeup.notify()
    },
  })
  /** What the report has. It stays as it is until it is worth a report. */
  let reported: ReportedResults | undefined
  let reportedAt = Number.NEGATIVE_INFINITY
  let isDirty = false
  let lookAt = 0

  async function load(): Promise<void> {
    const bytes = await storage.read(AGENT_FILES.results)
    if (!bytes || bytes.byteLength === 0) return
    // What the last start reported is told until all objects are read again.
    reported = parseJson(ReportedResults, bytes, { what: 'the stored results', maxBytes: LIMITS.resultBytes })
  }

  function summary(): ReportedResults | undefined {
    if (!watches.isServed()) return undefined
    const denied = watches.denied().slice(0, MOST_DENIED)
    const { policies, ...rest } = sums.summary()
    return { policies: [...policies], ...rest, ...compact({ denied: denied.length > 0 ? denied : undefined }) } as ReportedResults // prettier-ignore
  }

  /** Reports a change, or returns how long it waits. */
  async function publish(): Promise<number> {
    const next = summary()
    if (jsonEqual(reported, next)) return Number.POSITIVE_INFINITY
    const waitsMs = jsonEqual(violationsOf(reported), violationsOf(next)) ? timing.countsMs : timing.betweenMs // prettier-ignore
    const restMs = reportedAt + waitsMs - clock.monotonicMs()
    if (restMs > 0) return restMs
    reported = next
    reportedAt = clock.monotonicMs()
    await storage.write(AGENT_FILES.results, utf8(next ? canonicalJson(next) : ''))
    ports.onChange()
    return Number.POSITIVE_INFINITY
  }

  async function pass(signal: AbortSignal): Promise<number> {
    if (lookAt <= clock.monotonicMs()) {
      if (sums.isBehind()) startOver()
      await watches.align(signal)
      lookAt = clock.monotonicMs() + (watches.isServed() ? timing.lookMs : timing.lookIdleMs)
      isDirty = true
    }
    const untilLook = lookAt - clock.monotonicMs()
    // A part of the results would say that the violations of the rest are gone.
    if (!watches.isSynced()) return Math.min(timing.coalesceMs, untilLook)
    if (!isDirty) return untilLook
    const restMs = await publish()
    isDirty = restMs !== Number.POSITIVE_INFINITY
    return Math.min(restMs, untilLook)
  }

  function startOver(): void {
    watches.stop()
    sums = newSums()
  }

  return {
    current: (): ReportedResults | undefined => reported,
    /** The cluster was restored: all objects are read again. */
    forget(): void {
      startOver()
      lookAt = 0
      wakeup.notify()
    },
    async run(signal: AbortSignal): Promise<void> {
      await load().catch((caught: unknown) => log.warn({ err: toError(caught) }, 'the stored results are not used'))
      while (!signal.aborted) {
        let restMs: number = timing.lookMs
        try {
          restMs = await pass(signal)
        } catch (caught) {
          if (!signal.aborted) log.debug({ err: toError(caught) }, 'the results of policy engines could not be read')
        }
        await wakeup.wait(restMs, signal).catch(() => {}) // aborted: the loop ends
        if (!signal.aborted) await clock.sleep(timing.coalesceMs, signal).catch(() => {})
      }
    },
  }
}

/** The results of policy engines. */
export type EngineResults = ReturnType<typeof createEngineResults>

/** What changes when an object begins or ends to violate a policy. */
function violationsOf(results: ReportedResults | undefined): unknown {
  if (!results) return undefined
  const { policies, ...rest } = results
  return {
    ...rest,
    policies: policies.map(({ engine, policy, severity, fail, warn, error, namespaces }) => ({ engine, policy, severity, fail, warn, error, namespaces })), // prettier-ignore
  }
}

/** The local limits hide objects of the cluster from the hub. What an engine only counts may be about such objects. */
function isWithin(limits: LocalLimits, { subject }: Finding): boolean {
  if (!subject) return limits.namespaces === undefined && limits.clusterScoped !== false
  const { kind, namespace, name } = subject
  return readRefusal(limits, { kind, name, ...compact({ namespace: namespace === '' ? undefined : namespace }) }) === undefined // prettier-ignore
}
