// Tested by src/hub/run.contract.test.ts
/**
 * Runs the controllers and the blob collector: at once with the embedded home; with a shared home while this hub is the
 * elected leader of their group. Each group has a Lease, so that hubs share the work.
 */
import { runBlobCollector } from '../../blobs/collector.ts'
import type { CollectableBlobs } from '../../blobs/blobs.ts'
import type { ControllerGroup } from '../../controllers/controllers.ts'
import { runLeaderElection } from '../../engine/leader-election.ts'
import { composeControllers } from '../compose/compose-controllers.ts'
import type { ControllerParts } from '../compose/compose-controllers.ts'
import { blobRoots, journalBlobs } from '../home/blob-roots.ts'
import { dialectControllers } from '../home/dialects.ts'
import type { DialectName } from '../home/dialect-names.ts'
import { SYSTEM_NAMESPACE } from '../home/hub-info.ts'
import type { PeerWatch } from '../home/peer-controllers.ts'
import type { PushedAgents } from '../push/pushed-agents.ts'
import type { AggregatedApi } from '../view/aggregated-api.ts'
import { createControllerGroups } from './controller-groups.ts'
import type { ControllerGroups } from './controller-groups.ts'
import { runBeside } from './starting.ts'
import type { Starting } from './starting.ts'

export interface ControllerInputs extends Pick<
  ControllerParts,
  'client' | 'trust' | 'onTrustChange' | 'render' | 'fetchSource' | 'askGate' | 'httpGet' | 'metrics'
> {
  readonly blobs: CollectableBlobs
  readonly isShared: boolean
  /** Name of this hub. Its Leases name it as their holder. */
  readonly name: string
  readonly dialects: readonly DialectName[]
  /** On a kube-apiserver: which dialects wait for the controllers of the peer. */
  readonly peers?: PeerWatch | undefined
  /** Whether the hub is in maintenance now. */
  readonly isPaused: boolean
  /** The groups of this process. */
  readonly groups: readonly ControllerGroup[]
  readonly pushedAgents: PushedAgents | undefined
  /** Registered by the leader among the hubs that serve them. */
  readonly views: Pick<AggregatedApi, 'run'> | undefined
}

/** Leases by what their holder does. Hubs of an earlier version hold the first one for all of it. */
const LEASES = {
  controllers: 'flotilla-hub',
  renderers: 'flotilla-hub-renderers',
  views: 'flotilla-hub-views',
} as const

type Lead = (term: AbortSignal) => Promise<unknown>

export function startControllers(inputs: ControllerInputs, starting: Starting): ControllerGroups {
  const { isShared, groups, pushedAgents, views, client } = inputs
  const { clock, ids, log } = starting
  const running = createControllerGroups(async (led, signal) => {
    while (!signal.aborted) await runGroups(led, { inputs, starting }, signal)
  }, inputs)
  const leads: Record<keyof typeof LEASES, Lead[]> = {
    controllers: [(term) => running.lead('controllers', term), ...(pushedAgents ? [pushedAgents.serve] : [])],
    renderers: [(term) => running.lead('renderers', term)],
    views: views ? [views.run] : [],
  }
  const names = [...groups, ...(views ? (['views'] as const) : [])]
  const identity = `${inputs.name}-${ids.suffix(5)}`
  const candidacies = names.map((name): Lead => {
    const lead = (term: AbortSignal) => runTogether(leads[name], term)
    // The lock of the data directory makes an embedded hub the only one, so it leads without an election.
    if (!isShared) return lead
    const election = { clock, ids, log, client, namespace: SYSTEM_NAMESPACE, identity, lead }
    return (signal) => runLeaderElection({ ...election, name: LEASES[name] }, signal)
  })
  if (candidacies.length > 0) runBeside(starting, 'controllers', (signal) => runTogether(candidacies, signal))
  return running
}

/** Runs the controllers of these groups, and ends when other dialects have to wait than at the beginning. */
async function runGroups(
  led: readonly ControllerGroup[],
  { inputs, starting }: { readonly inputs: ControllerInputs; readonly starting: Starting },
  signal: AbortSignal,
): Promise<void> {
  const { blobs, dialects, peers, isShared: _isShared, name: _name, groups: _groups, views: _views, ...parts } = inputs
  const { clock, ids, log } = starting
  const changed = new AbortController()
  const free = peers && led.includes('renderers') ? await peers.look(signal) : dialects
  const options = { ...parts, clock, ids, log, blobs, groups: led, dialects: dialectControllers(free) }
  const work: Lead[] = [(term) => composeControllers(options).run(term)]
  if (led.includes('renderers')) {
    const roots = (term: AbortSignal) => blobRoots(parts.client, term)
    const leaves = (term: AbortSignal) => journalBlobs(parts.client, blobs, { now: clock.now(), signal: term })
    work.push((term) => runBlobCollector({ blobs, roots, leaves, clock, log }, term))
    if (peers) work.push((term) => peers.untilChanged(term).then(() => changed.abort(), ignoreAbort(term)))
  }
  try {
    await runTogether(work, AbortSignal.any([signal, changed.signal]))
  } finally {
    if (led.includes('renderers')) peers?.stop()
  }
}

function ignoreAbort(signal: AbortSignal): (caught: unknown) => void {
  return (caught) => {
    if (!signal.aborted) throw caught
  }
}

/** Does all of it until the signal is aborted. When one fails, the others end, because all of them begin again. */
async function runTogether(work: readonly Lead[], signal: AbortSignal): Promise<void> {
  const failed = new AbortController()
  const term = AbortSignal.any([signal, failed.signal])
  const results = await Promise.allSettled(
    work.map((one) =>
      one(term).catch((caught: unknown) => {
        failed.abort()
        throw caught
      }),
    ),
  )
  const first = results.find((result) => result.status === 'rejected')
  if (first && !signal.aborted) throw first.reason
}
