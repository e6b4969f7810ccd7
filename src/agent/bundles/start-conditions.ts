/** Why a bundle may not begin now: bundles it depends on, windows and freezes, catch-up. */
import type { Clock } from '../../core/time/clock.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { decideDependencies } from '../../plan/apply/dependencies.ts'
import type { DependencyFacts } from '../../plan/apply/dependencies.ts'
import { catchUpHold, decideWindows, strictest } from '../../plan/windows/window.ts'
import type { WindowDecision, WindowSubject } from '../../plan/windows/window.ts'
import { OBSERVE_INTERVAL_MS } from './bundle-run.ts'
import type { StepResult } from './bundle-run.ts'
import type { Documents } from '../documents/documents.ts'
import type { HubTime } from '../link/hub-time.ts'
import type { TrackedBundle } from './bundle-table.ts'

/** What the gates look at. */
export interface StartConditionPorts {
  readonly slots: ReadonlyMap<string, TrackedBundle>
  /** What each set says about dependencies. */
  readonly optionsOf: ReadonlyMap<Digest, BundleOptions>
  readonly documents: Pick<Documents, 'current'>
  readonly hubTime: Pick<HubTime, 'now'>
  readonly clock: Clock
}

/** Makes the gates. */
export function createStartConditions(ports: StartConditionPorts) {
  const { optionsOf, documents, clock } = ports

  /** Whether the bundles it depends on let a bundle begin. */
  function dependencyGate(bundle: string): StepResult | undefined {
    const facts = new Map<string, DependencyFacts>()
    for (const [name, { run, row }] of ports.slots) {
      const { inventory, entry } = run
      // From its beginning on its state is about what its document asks for.
      const isBegun = inventory?.set === entry.set
      facts.set(name, {
        dependsOn: optionsOf.get(entry.set)?.dependsOn ?? [],
        generation: entry.generation,
        state: row.state,
        applied: isBegun ? entry.generation : undefined,
      })
    }
    const decision = decideDependencies(bundle, facts)
    if (decision.kind === 'Met') return undefined
    const state = decision.kind === 'Cycle' ? 'Failed' : 'Pending'
    return { row: { state, message: decision.message }, lookAgainMs: OBSERVE_INTERVAL_MS.progressing }
  }

  /** Whether windows, freezes and catch-up let a bundle begin. */
  function windowGate({ run, came }: TrackedBundle, options: BundleOptions): StepResult | undefined {
    const { catchUp } = run.entry
    const windows = windowsNow(run.entry)
    const policy = strictest([catchUp, options.catchUp])
    const openSinceMs = windows.kind === 'Open' ? windows.sinceMs : undefined
    const nowMs = ports.hubTime.now()
    // Not known yet: as if it had been away, until the hub is heard.
    const receivedMs = nowMs === undefined ? Infinity : nowMs - (clock.monotonicMs() - came.monotonicMs)
    const facts = { policy, issuedMs: came.issuedMs, receivedMs, openSinceMs }
    const hold = windows.kind === 'Closed' ? windows.message : catchUpHold(facts)
    if (hold === undefined) return undefined
    const againMs = windows.kind === 'Closed' && nowMs !== undefined ? (windows.againMs ?? Infinity) - nowMs : Infinity
    return {
      row: { state: 'Pending', message: hold },
      lookAgainMs: Math.min(Math.max(againMs, 0), OBSERVE_INTERVAL_MS.held),
    }
  }

  function windowsNow(subject: WindowSubject): WindowDecision {
    const { windows = [], hold } = documents.current()?.document.rules ?? {}
    if (hold) return { kind: 'Closed', by: 'freeze', message: hold.message, againMs: undefined }
    return decideWindows(windows, subject, ports.hubTime.now())
  }

  return { dependencyGate, windowGate, windowsNow }
}
