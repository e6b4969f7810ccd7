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
import { dialectControllers } from '../home/dialects.ts'
import type { DialectName } from '../home/dialect-names.ts'
import { SYSTEM_NAMESPACE } from '../home/hub-info.ts'
import type { PeerWatch } from '../home/peer-controllers.ts'
import { runBeside } from './starting.ts'
import type { Starting } from './starting.ts'

export interface ControllerInputs extends Pick<
  ControllerParts,
  'client' | 'trust' | 'onTrustChange' | 'render' | 'fetchSource' | 'askGate' | 'httpGet' | 'pushedAgents' | 'metrics'
> {
  readonly blobs: CollectableBlobs
  readonly isShared: boolean
  readonly dialects: readonly DialectName[]
  /** On a kube-apiserver: which dialects wait for the controllers of the other system. */
  readonly peers?: PeerWatch | undefined
  /** Further work of the leading hub. */
  readonly alongside?: ((term: AbortSignal) => Promise<void>) | undefined
}

export function startControllers(inputs: ControllerInputs, starting: Starting) {
  const { blobs, isShared, alongside, dialects, peers, ...parts } = inputs
  const { clock, ids, log } = starting
  const ports = { clock, ids, log }
  const roots = (term: AbortSignal) => blobRoots(parts.client, term)
  const leaves = (term: AbortSignal) => journalBlobs(parts.client, blobs, { now: clock.now(), signal: term })
  const lead = async (signal: AbortSignal): Promise<void> => {
    // The other loops end with a loop that fails, because all of them begin again.
    const failed = new AbortController()
    const term = AbortSignal.any([signal, failed.signal])
    const free = peers === undefined ? dialects : await peers.look(term)
    // The term ends when another dialect has to wait, or none any more: the next term begins with those that run.
    const untilChanged = peers?.untilChanged(term).then(
      () => failed.abort(),
      () => {}, // aborted with the term
    )
    const collecting = runBlobCollector({ blobs, roots, leaves, clock, log }, term)
    const beside = Promise.all([collecting, alongside?.(term), untilChanged])
    beside.catch(() => failed.abort())
    try {
      await composeControllers({ ...parts, ...ports, blobs, dialects: dialectControllers(free) }).run(term)
    } finally {
      failed.abort()
      peers?.stop()
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
