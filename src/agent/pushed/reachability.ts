/**
 * Reachability of the cluster of an agent that the hub runs. Such an agent reaches the hub also when it cannot reach
 * its cluster. So that the cluster counts as offline then, the agent has no link to the hub while the cluster is away.
 */
import { deadline } from '../../core/async/deadline.ts'
import { toError } from '../../core/errors.ts'
import { readBody } from '../../core/http.ts'
import type { Transport } from '../../core/http.ts'
import type { Ids } from '../../core/ids.ts'
import type { Logger } from '../../core/log.ts'
import { backoffMs } from '../../core/time/backoff.ts'
import type { Clock } from '../../core/time/clock.ts'
import { PUSH_TIMING } from '../timing.ts'
import type { ConnectHub } from '../link/hub-api.ts'
import { noAccess } from './cluster-access.ts'
import type { ClusterAccess, NoAccess } from './cluster-access.ts'

export interface ReachabilityPorts {
  readonly access: Pick<ClusterAccess, 'transport' | 'renewWhenDue' | 'reset'>
  readonly clock: Clock
  readonly ids: Ids
  readonly log: Logger
}

const MAX_ANSWER_BYTES = 64 * 1024

export function createReachability({ access, clock, ids, log }: ReachabilityPorts) {
  let problem: NoAccess | undefined
  let isUp = false
  let failures = 0
  let lost = new AbortController()
  let waking = new AbortController()

  async function probe(signal: AbortSignal): Promise<void> {
    await deadline({ clock, ms: PUSH_TIMING.probeMs, signal, what: 'the API of the cluster' }, async (inner) => {
      await access.renewWhenDue(inner)
      const request = { method: 'GET', path: '/version', headers: { accept: 'application/json' } }
      const { body } = await access.transport(request, inner)
      // Each answer proves that the API can be reached; an overloaded API is not away.
      await readBody(body, MAX_ANSWER_BYTES)
    })
  }

  function note(caught: NoAccess | undefined): void {
    failures = caught ? failures + 1 : 0
    // A lost probe is not an outage.
    if (caught?.reason === 'Unreachable' && isUp && failures < PUSH_TIMING.lostAfter) return
    if (caught && (isUp || problem?.message !== caught.message))
      log.info({ reason: caught.reason, err: caught.message }, 'the cluster cannot be reached')
    else if (!caught && !isUp) log.info({}, 'the cluster can be reached')
    problem = caught
    isUp = caught === undefined
    if (isUp && lost.signal.aborted) lost = new AbortController()
    else if (!isUp) lost.abort(new Error('the cluster of this agent cannot be reached'))
  }

  const gate =
    (transport: Transport): Transport =>
    async (request, signal) => {
      lost.signal.throwIfAborted()
      if (!isUp) throw new Error('the cluster of this agent has not been reached yet')
      return await transport(request, AbortSignal.any([signal, lost.signal]))
    }

  return {
    /** Why the cluster cannot be reached; undefined while it can be, or before the first probe. */
    problem: () => problem,
    isUp: () => isUp,
    /** Probes at once, for example with a new credential. */
    wake(): void {
      waking.abort()
      waking = new AbortController()
    },
    /** The cluster while it can be reached. Only probes ask for access, so that a lost cluster is not asked often. */
    cluster: gate(access.transport),
    /** A connection to the hub that exists only while the cluster can be reached. */
    hub: (connect: ConnectHub): ConnectHub => {
      return (connection) => {
        const { transport, close } = connect(connection)
        return { transport: gate(transport), close }
      }
    },
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const caught = await probe(signal).then(() => undefined, noAccess)
        if (signal.aborted) return
        note(caught)
        if (caught)
          await access
            .reset()
            .catch((error: unknown) => log.debug({ err: toError(error) }, 'closing a connection failed'))
        const pause = caught ? backoffMs(failures - 1, ids.fraction(), PUSH_TIMING.retry) : PUSH_TIMING.intervalMs
        await clock.sleep(pause, AbortSignal.any([signal, waking.signal])).catch(() => {}) // aborted, or woken
      }
    },
  }
}
