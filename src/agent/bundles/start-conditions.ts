// Tested by src/agent/bundles/start-conditions.contract.test.ts
/** Why a bundle may not begin now: the bundles it depends on, windows and freezes, catch-up. */
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { decideDependencies } from '../../plan/apply/dependencies.ts'
import type { DependencyFacts } from '../../plan/apply/dependencies.ts'
import { catchUpHold, decideWindows, strictest } from '../../plan/windows/window.ts'
import type { WindowDecision, WindowSubject } from '../../plan/windows/window.ts'
import type { StepResult } from './bundle-run.ts'
import type { Content } from '../documents/content.ts'
import type { Documents } from '../documents/documents.ts'
import type { HubTime } from '../link/hub-time.ts'
import { OBSERVE_INTERVAL_MS } from '../timing.ts'
import type { TrackedBundle } from './bundle-table.ts'

/** Ports of start conditions. */
export interface StartConditionPorts {
  readonly tracked: ReadonlyMap<string, TrackedBundle>
  readonly content: Pick<Content, 'set'>
  readonly documents: Pick<Documents, 'current'>
  readonly hubTime: Pick<HubTime, 'now'>
  readonly clock: Clock
}

/** Creates the start conditions of all bundles. */
export function createStartConditions(ports: StartConditionPorts) {
  const { tracked, content, documents, clock } = ports
  /** The options of each set, for dependencies: small, and needed in every pass. */
  const optionsBySet = new Map<Digest, BundleOptions>()

  /** Reads the options of the document's sets; a set that is not on disk has no dependencies until it is. */
  async function readOptions(signal: AbortSignal): Promise<void> {
    const current = new Set([...tracked.values()].map(({ run }) => run.entry.set))
    for (const set of optionsBySet.keys()) if (!current.has(set)) optionsBySet.delete(set)
    for (const { run } of tracked.values()) {
      const { set } = run.entry
      if (optionsBySet.has(set)) continue
      const found = await content.set(set, signal).catch((caught: unknown) => {
        if (signal.aborted) throw caught
        return undefined
      })
      if (found) optionsBySet.set(set, found.options ?? {})
    }
  }

  /** The result of a bundle that waits for a bundle it depends on; undefined when it may begin. */
  function dependencyHold(bundle: string): StepResult | undefined {
    const facts = new Map<string, DependencyFacts>()
    for (const [name, { run, row }] of tracked) {
      const { inventory, entry } = run
      // Once a bundle has begun with the document's set, its state is about that set.
      const isBegun = inventory?.set === entry.set
      facts.set(name, {
        dependsOn: optionsBySet.get(entry.set)?.dependsOn ?? [],
        generation: entry.generation,
        state: row.state,
        applied: isBegun ? entry.generation : undefined,
      })
    }
    const decision = decideDependencies(bundle, facts)
    if (decision.kind === 'Met') return undefined
    const state = decision.kind === 'Cycle' ? 'Failed' : 'Pending'
    return { row: { state, message: decision.message }, nextStepMs: OBSERVE_INTERVAL_MS.progressing }
  }

  /** The result of a bundle that a window, a freeze or catch-up keeps from beginning; undefined when it may begin. */
  function windowHold({ run, admitted }: TrackedBundle, options: BundleOptions): StepResult | undefined {
    const { catchUp } = run.entry
    const windows = windowsNow(run.entry)
    const policy = strictest([catchUp, options.catchUp])
    const openSinceMs = windows.kind === 'Open' ? windows.sinceMs : undefined
    const nowMs = ports.hubTime.now()
    // Until the hub's time is known, the cluster counts as offline.
    const receivedMs = nowMs === undefined ? Infinity : nowMs - (clock.monotonicMs() - admitted.monotonicMs)
    const facts = { policy, issuedMs: admitted.issuedMs, receivedMs, openSinceMs }
    const hold = windows.kind === 'Closed' ? windows.message : catchUpHold(facts)
    if (hold === undefined) return undefined
    const againMs = windows.kind === 'Closed' && nowMs !== undefined ? (windows.againMs ?? Infinity) - nowMs : Infinity
    return {
      row: { state: 'Pending', message: hold },
      nextStepMs: Math.min(Math.max(againMs, 0), OBSERVE_INTERVAL_MS.waiting),
    }
  }

  /** The decision of windows, freezes and the cluster's hold, by the hub's time. */
  function windowsNow(subject: WindowSubject): WindowDecision {
    const { windows = [], hold } = documents.current()?.document.rules ?? {}
    if (hold) return { kind: 'Closed', by: 'freeze', message: hold.message, againMs: undefined }
    return decideWindows(windows, subject, ports.hubTime.now())
  }

  return { readOptions, dependencyHold, windowHold, windowsNow }
}

/** Start conditions of all bundles. */
export type StartConditions = ReturnType<typeof createStartConditions>
