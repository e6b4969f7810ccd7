/**
 * Runs the controllers and the blob collector: at once with the embedded home, as the elected leader with a shared
 * home.
 */
import { hostname } from 'node:os'
import { runBlobCollector } from '../../blobs/collector.ts'
import type { CollectableBlobs } from '../../blobs/blobs.ts'
import { runLeaderElection } from '../../engine/leader-election.ts'
import { composeControllers } from '../compose/compose-controllers.ts'
import type { ControllerParts } from '../compose/compose-controllers.ts'
import { blobRoots, journalBlobs } from '../home/blob-roots.ts'
import { SYSTEM_NAMESPACE } from '../home/hub-info.ts'
import { runBeside } from './starting.ts'
import type { Starting } from './starting.ts'

export interface ControllerInputs extends Pick<
  ControllerParts,
  | 'client'
  | 'trust'
  | 'onTrustChange'
  | 'render'
  | 'fetchSource'
  | 'askGate'
  | 'httpGet'
  | 'pushedAgents'
  | 'metrics'
  | 'dialects'
> {
  readonly blobs: CollectableBlobs
  readonly isShared: boolean
  /** Further work of the leading hub. */
  readonly alongside?: ((term: AbortSignal) => Promise<void>) | undefined
}

export function startControllers({ blobs, isShared, alongside, ...parts }: ControllerInputs, starting: Starting) {
  const { clock, ids, log } = starting
  const ports = { clock, ids, log }
  const roots = (term: AbortSignal) => blobRoots(parts.client, term)
  const leaves = (term: AbortSignal) => journalBlobs(parts.client, blobs, { now: clock.now(), signal: term })
  const lead = async (signal: AbortSignal): Promise<void> => {
    // The other loops end with a loop that fails, because all of them begin again.
    const failed = new AbortController()
    const term = AbortSignal.any([signal, failed.signal])
    const beside = Promise.all([runBlobCollector({ blobs, roots, leaves, clock, log }, term), alongside?.(term)])
    beside.catch(() => failed.abort())
    try {
      await composeControllers({ ...parts, ...ports, blobs }).run(term)
    } finally {
      failed.abort()
      await beside
    }
  }
  const election = {
    ...ports,
    client: parts.client,
    namespace: SYSTEM_NAMESPACE,
    name: 'flotilla-hub',
    identity: `${hostname()}-${ids.suffix(5)}`,
    lead,
  }
  // The lock of the data directory makes an embedded hub the only one, so it leads without an election.
  runBeside(starting, 'controllers', isShared ? (signal) => runLeaderElection(election, signal) : lead)
}
