/**
 * When each cluster was last heard, kept in memory and published as a summary: one small write every ten seconds,
 * whatever the size of the fleet. Ages count only time in which this gateway listened. Time in which the gateway stood
 * still, or for which it refused a cluster by load shedding, is not the cluster's silence (I-15).
 */
import type { Client } from '../client/client.ts'
import type { Clock } from '../core/time/clock.ts'
import { isApiError, toError } from '../core/errors.ts'
import type { Logger } from '../core/log.ts'
import { formatMicroTime } from '../core/time/time.ts'
import type { KubeObject, ResourceType } from '../kinds/meta.ts'
import {
  formatLiveness,
  LIVENESS_ANNOTATION,
  LIVENESS_INTERVAL_MS,
  LIVENESS_LABEL,
  LIVENESS_NAMESPACE,
  LIVENESS_PAGE,
  livenessLeaseName,
} from '../wire/link/liveness.ts'

interface Lease extends KubeObject {
  spec: { holderIdentity?: string; leaseDurationSeconds?: number; renewTime?: string }
}

const LEASES: ResourceType<Lease> = {
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  plural: 'leases',
  scope: 'Namespaced',
}
const NAMESPACES: ResourceType<KubeObject> = {
  group: '',
  version: 'v1',
  kind: 'Namespace',
  plural: 'namespaces',
  scope: 'Cluster',
}

export interface LivenessPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  /** Name of this gateway, unique among gateways. */
  readonly gateway: string
}

// The interval at which a gateway checks whether it stood still, and the delay that counts: garbage collection is
// shorter.
const CHECK_MS = 1000
const LATE_MS = 500
const BREAK_MS = 3 * LIVENESS_INTERVAL_MS

export function createLiveness({ client, clock, log, gateway }: LivenessPorts) {
  let deafMs = 0
  /** Milliseconds in which an agent could have been heard. */
  const listened = () => clock.monotonicMs() - deafMs
  let listeningSince = listened()
  /** Cluster id → listened milliseconds, in pages that each fit into the annotations of a Lease. */
  const pages: Map<string, number>[] = [new Map()]
  const pageOf = new Map<string, Map<string, number>>()
  const secondsSince = (ms: number) => Math.max(0, Math.floor((listened() - ms) / 1000))

  /** Records a contact. A refused agent counts as heard until `comesBackInMs` from now. */
  function touch(clusterId: string, comesBackInMs = 0): void {
    let page = pageOf.get(clusterId)
    if (!page) {
      page = pages.find(({ size }) => size < LIVENESS_PAGE)
      if (!page) pages.push((page = new Map()))
      pageOf.set(clusterId, page)
    }
    page.set(clusterId, listened() + comesBackInMs)
  }

  /** Measures when this gateway stood still: meanwhile agents waited in a queue, or gave up. */
  async function measurePauses(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const from = clock.monotonicMs()
      await clock.sleep(CHECK_MS, signal).catch(() => {}) // aborted: the loop ends
      const tookMs = clock.monotonicMs() - from
      if (tookMs > CHECK_MS + LATE_MS) deafMs += tookMs
    }
  }

  async function publishAll(signal: AbortSignal): Promise<void> {
    let lastRound = clock.monotonicMs()
    while (!signal.aborted) {
      // After a pause, or a slow API that made all agents wait, agents need time to reconnect: they get their whole
      // offline tolerance again.
      if (clock.monotonicMs() - lastRound > BREAK_MS) listeningSince = listened()
      lastRound = clock.monotonicMs()
      for (const [page, heard] of pages.entries()) {
        await publish(heard, page, signal).catch((caught: unknown) => {
          if (!signal.aborted) log.warn({ err: toError(caught) }, 'liveness summary could not be published')
        })
      }
      await clock.sleep(LIVENESS_INTERVAL_MS, signal).catch(() => {}) // aborted: the loop ends
    }
  }

  async function publish(heard: ReadonlyMap<string, number>, page: number, signal: AbortSignal): Promise<void> {
    const key = { namespace: LIVENESS_NAMESPACE, name: livenessLeaseName(gateway, page) }
    const seen = Object.fromEntries([...heard].map(([id, at]) => [id, secondsSince(at)]))
    const annotations = { [LIVENESS_ANNOTATION]: formatLiveness({ up: secondsSince(listeningSince), seen }) }
    const renewTime = formatMicroTime(clock.now())
    const leaseDurationSeconds = Math.ceil(BREAK_MS / 1000)
    const spec = { holderIdentity: gateway, leaseDurationSeconds, renewTime }
    try {
      const current = await client.get(LEASES, key, signal)
      const metadata = { ...current.metadata, annotations: { ...current.metadata.annotations, ...annotations } }
      await client.update(LEASES, { ...current, metadata, spec: { ...current.spec, ...spec } })
    } catch (caught) {
      if (!isApiError(caught, 'NotFound')) throw caught
      const metadata = { ...key, labels: { [LIVENESS_LABEL]: gateway }, annotations }
      const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec }
      await client.create(LEASES, lease).catch(async (refused: unknown) => {
        // The hub creates the namespace. A gateway tries only if it is missing, and may lack the permission.
        if (!isApiError(refused, 'NotFound')) throw refused
        await createNamespace()
        await client.create(LEASES, lease)
      })
    }
  }

  async function createNamespace(): Promise<void> {
    const metadata = { name: LIVENESS_NAMESPACE }
    await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata }).catch((caught: unknown) => {
      if (!isApiError(caught, 'AlreadyExists')) throw caught
    })
  }

  return {
    touch,
    forget(clusterId: string): void {
      pageOf.get(clusterId)?.delete(clusterId)
      pageOf.delete(clusterId)
    },
    /** Listens from now on. Call it when the gateway can answer agents. */
    async run(signal: AbortSignal): Promise<void> {
      listeningSince = listened()
      await Promise.all([measurePauses(signal), publishAll(signal)])
    },
  }
}

export type Liveness = ReturnType<typeof createLiveness>
