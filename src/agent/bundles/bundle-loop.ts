// Tested by src/agent/bundles/operation.contract.test.ts
/** Runs the document: one bundle for each entry, stepped when it is due. The reporter sends the rows. */
import { createWakeup } from '../../core/async/wakeup.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import type { ObjectValues } from '../../plan/drift/drift-values.ts'
import type { ClusterDocument } from '../../wire/document/cluster-document.ts'
import type { RemovalRow, ReportedFeedback, ReportRow } from '../../wire/link/frames.ts'
import { createProjectRules } from '../cluster/project-rules.ts'
import type { Content } from '../documents/content.ts'
import type { Documents } from '../documents/documents.ts'
import type { HubTime } from '../link/hub-time.ts'
import type { PolicyLoop } from '../policies/policy-loop.ts'
import { createSettledChecks } from '../policies/settled-checks.ts'
import { createClusterRender } from '../render/cluster-render.ts'
import type { ClusterRenderPorts } from '../render/cluster-render.ts'
import { LOOP_TIMING } from '../timing.ts'
import { createBundleStep } from './bundle-step.ts'
import { createBundleTable } from './bundle-table.ts'
import type { BundleTable, TrackedBundle } from './bundle-table.ts'
import { createBundleTriggers } from './bundle-triggers.ts'
import { createAlignment } from './document-alignment.ts'
import { createHandover } from './handover/handover.ts'
import type { PeerCluster } from './handover/peer-cluster.ts'
import { createOperation } from './operation.ts'
import { createPlanLoader } from './plan-loader.ts'
import { driftValuesOf } from './report-row.ts'
import { createReceipts } from './removal/receipts.ts'
import { createRemoval } from './removal/removal.ts'
import { createStartConditions } from './start-conditions.ts'

/** Ports of the loop, and of rendering in the cluster. */
export interface BundleLoopPorts extends ClusterRenderPorts {
  readonly documents: Pick<Documents, 'current' | 'held' | 'refusal' | 'refresh'>
  readonly log: Logger
  readonly hubTime: Pick<HubTime, 'now'>
  /** Maximum number of objects of a bundle that may be deleted at once. */
  readonly maxPrune: () => number | undefined
  /** Another system in the cluster, for handovers. */
  readonly peers: PeerCluster
  /** Removes what the enforced policies of a bundle created. */
  readonly removeChecks: PolicyLoop['remove']
  /** Called after every change of a row or of the document. */
  readonly onChange: () => void
  /** The document says that the cluster left the fleet: the loop carries out nothing any more. */
  readonly onTerminal?: (terminal: NonNullable<ClusterDocument['terminal']>) => void
}

/** Creates the loop; nothing happens before `run`. */
export function createBundleLoop(ports: BundleLoopPorts) {
  const { documents, content, appliers, state, clock, ids } = ports
  const log = ports.log.child({ part: 'operator' })
  const wakeup = createWakeup(clock)
  const plans = createPlanLoader({ content, clock, clusterRender: createClusterRender(ports) })
  const projects = createProjectRules(() => documents.current()?.document.rules)
  const table = createBundleTable(content, projects.writeRefusal)
  const { tracked } = table
  const conditions = createStartConditions({ ...ports, tracked })
  const receipts = createReceipts(state, ports)
  const { windowsNow } = conditions
  const removal = createRemoval({ ...ports, plans, log, table, receipts, windowsNow })
  const align = createAlignment({ table, appliers, clock })
  const operation = createOperation({ ...ports, plans })
  const step = createBundleStep({ ...ports, log, table, conditions, operation })
  const handover = createHandover({ ...ports, plans, table })
  const triggers = createBundleTriggers({ tracked, clock, wake: wakeup.notify })
  let sweptAt = clock.monotonicMs()
  let isRestored = false
  let refreshFailures = 0
  let collectedFor: string | undefined

  /** Resolves to the time until the next try. After a failure, the loop continues with the document it has. */
  async function refresh(signal: AbortSignal): Promise<number> {
    const before = documents.held()?.digest
    const refused = documents.refusal()
    let retryMs: number = LOOP_TIMING.idleMs
    try {
      await documents.refresh(signal)
      refreshFailures = 0
    } catch (caught) {
      retryMs = backoffMs(refreshFailures, ids.fraction(), LOOP_TIMING.retry)
      refreshFailures += 1
      if (!signal.aborted) log.debug({ err: toError(caught), retryMs }, 'document could not be brought up to date')
    }
    if (documents.held()?.digest !== before || documents.refusal() !== refused) ports.onChange()
    return retryMs
  }

  function forgetCluster(): void {
    isRestored = false
    state.forget()
    appliers.reset()
    table.clear()
    receipts.forget()
    handover.forget()
  }

  /** Reads the inventories and receipts of the cluster, once. */
  async function learn(signal: AbortSignal): Promise<void> {
    if (!table.isKnown()) table.learn(await state.listInventories(signal))
    await receipts.load(signal)
  }

  /** After the end only records of finished removals are deleted, which a crash may have left. */
  async function endWith(terminal: NonNullable<ClusterDocument['terminal']>, signal: AbortSignal): Promise<void> {
    await learn(signal)
      .then(() => removal.forgetRemoved(signal))
      .catch((caught: unknown) => log.debug({ err: toError(caught) }, 'the inventories could not be read'))
    ports.onTerminal?.(terminal)
  }

  /** A pass over all bundles; resolves to the time until the next pass. */
  async function pass(signal: AbortSignal): Promise<number> {
    if (isRestored) forgetCluster()
    const retryMs = await refresh(signal)
    const current = documents.current()
    if (!current) return retryMs
    if (current.document.terminal) {
      await endWith(current.document.terminal, signal)
      return retryMs
    }
    await learn(signal)
    await receipts.align(current.document, signal)
    align(current.document)
    await conditions.readOptions(signal)
    const unfinished = await removal.removeBundles(current.document, signal)
    const rule = current.document.rules.handover
    await handover.before(rule, signal)
    for (const bundle of inStartOrder(tracked.values())) {
      if (signal.aborted) return 0
      if (bundle.dueAt <= clock.monotonicMs()) await step(bundle, signal)
    }
    await handover.after(rule, signal)
    if (collectedFor !== current.digest && (await collectContent(table, content, signal))) collectedFor = current.digest
    if (clock.monotonicMs() - sweptAt >= LOOP_TIMING.sweepMs) {
      appliers.sweep()
      sweptAt = clock.monotonicMs()
    }
    const dueAt = Math.min(handover.dueAt(), ...[...tracked.values()].map((bundle) => bundle.dueAt))
    const restMs = unfinished > 0 ? LOOP_TIMING.removalMs : retryMs
    return Math.min(restMs, retryMs, Math.max(0, dueAt - clock.monotonicMs()))
  }

  return {
    ...triggers,
    checkSource: createSettledChecks({ table, content, plans }),
    /** Starts the next pass now. */
    wake: wakeup.notify,
    /** The cluster was restored from a backup: the next pass reads all state again. */
    startOver(): void {
      isRestored = true
      wakeup.notify()
    },
    holdersOf: table.holdersOf,
    handover: handover.reported,
    removals: (): readonly RemovalRow[] => receipts.rows(),
    feedback: (): readonly ReportedFeedback[] => [...tracked.values()].flatMap((bundle) => bundle.feedback ?? []),
    /** Drifted objects of a bundle with the values of their fields. */
    driftOf: (bundle: string): readonly ObjectValues[] => {
      const found = tracked.get(bundle)
      return found ? driftValuesOf(found.run) : []
    },
    rows: (): readonly ReportRow[] => [...tracked.values()].map((bundle) => bundle.row),
    run: (signal: AbortSignal): Promise<void> => runPasses(pass, { wakeup, ids, log }, signal),
  }
}

/** Passes until the signal is aborted; after a failure the next pass waits longer. */
async function runPasses(
  pass: (signal: AbortSignal) => Promise<number>,
  { wakeup, ids, log }: Pick<BundleLoopPorts, 'ids' | 'log'> & { readonly wakeup: ReturnType<typeof createWakeup> },
  signal: AbortSignal,
): Promise<void> {
  let failures = 0
  while (!signal.aborted) {
    let restMs: number
    try {
      restMs = await pass(signal)
      failures = 0
    } catch (caught) {
      restMs = backoffMs(failures, ids.fraction(), LOOP_TIMING.retry)
      failures += 1
      if (!signal.aborted) log.debug({ err: toError(caught), retryMs: restMs }, 'pass failed')
    }
    await wakeup.wait(restMs, signal).catch(() => {}) // aborted: the loop ends
  }
}

/** Bundles by the order of their entries; bundles of the same order stay in the order in which they came. */
function inStartOrder(tracked: Iterable<TrackedBundle>): TrackedBundle[] {
  return [...tracked].sort((a, b) => (a.run.entry.order ?? 0) - (b.run.entry.order ?? 0))
}

/** Deletes older content once every bundle runs as the document says; resolves to true when it did. */
async function collectContent(
  { tracked, former }: BundleTable,
  content: Content,
  signal: AbortSignal,
): Promise<boolean> {
  const all = [...tracked.values()]
  if (!all.every(({ run }) => run.inventory?.phase === 'Settled')) return false
  const present = all.flatMap(({ run: { inventory } }) => (inventory ? [inventory.set] : []))
  // The sets of bundles that wait for removal have the uninstall hooks.
  const leaving = [...former().values()].map((inventory) => inventory.set)
  const wanted = all.map(({ run }) => run.entry.set)
  return content.collect(wanted, [...present, ...leaving], signal)
}
