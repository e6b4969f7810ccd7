// Tested by src/agent/report/capacity.test.ts
/** Free resources of the cluster for the report, read at an interval while the hub asks for them. */
import type { Client } from '../../client/client.ts'
import { createWakeup } from '../../core/async/wakeup.ts'
import { toError } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { addPods, freeResources } from '../../plan/division/free-resources.ts'
import type { CapacityNode, CapacityPod, CapacityQuota, PodRequests } from '../../plan/division/free-resources.ts'
import type { ReportedCapacity } from '../../wire/link/frames.ts'
import { CAPACITY_TIMING } from '../timing.ts'
import { listAll, readPages } from './list-all.ts'

/** Ports of the free resources. */
export interface CapacityPorts {
  readonly client: Client
  readonly clock: Clock
  readonly log: Logger
  /** The rules of the document, which can ask for free resources. */
  readonly rules: () => { readonly capacity?: boolean | undefined } | undefined
  readonly onChange: () => void
}

const core = <T extends object>(kind: string, plural: string, scope: 'Cluster' | 'Namespaced') =>
  ({ group: '', version: 'v1', kind, plural, scope }) as ResourceType<KubeObject & T>
const NODES = core<CapacityNode>('Node', 'nodes', 'Cluster')
const PODS = core<CapacityPod>('Pod', 'pods', 'Namespaced')
const QUOTAS = core<CapacityQuota>('ResourceQuota', 'resourcequotas', 'Namespaced')
/** A cluster with more pods than these pages hold looks roomier than it is. */
const POD_PAGES = 400

/** Creates the free resources; nothing is read before `run`, and nothing while the hub does not ask. */
export function createCapacity({ client, clock, log, rules, onChange }: CapacityPorts) {
  const isAsked = () => rules()?.capacity === true
  const wakeup = createWakeup(clock)
  let current: ReportedCapacity | undefined
  let readAt = Number.NEGATIVE_INFINITY

  function show(next: ReportedCapacity | undefined): void {
    if (jsonEqual(current ?? null, next ?? null)) return
    current = next
    onChange()
  }

  async function read(signal: AbortSignal): Promise<void> {
    const nodes = await listAll(client, NODES, signal)
    const requests: PodRequests = { byNode: new Map(), waiting: [] }
    const take = (pods: readonly CapacityPod[]) => addPods(requests, pods)
    const hasPods = nodes !== undefined && (await readPages(client, PODS, { pages: POD_PAGES, take, signal }))
    const quotas = await listAll(client, QUOTAS, signal)
    // Without the right to read, the cluster has no estimate: no replicas are divided to it.
    show(hasPods ? freeResources({ nodes, requests, quotas: quotas ?? [] }) : undefined)
  }

  /** Resolves to the time until the next pass. */
  async function pass(signal: AbortSignal): Promise<number> {
    if (!isAsked()) return CAPACITY_TIMING.idleMs
    const restMs = readAt + CAPACITY_TIMING.intervalMs - clock.now()
    if (restMs > 0) return restMs
    try {
      await read(signal)
    } catch (caught) {
      if (!signal.aborted) log.debug({ err: toError(caught) }, 'the free resources of the cluster cannot be read')
      return CAPACITY_TIMING.retryMs
    }
    readAt = clock.now()
    return CAPACITY_TIMING.intervalMs
  }

  return {
    /** The estimate for a report; absent while the hub does not ask, or before the first read. */
    current: (): ReportedCapacity | undefined => (isAsked() ? current : undefined),
    /** The document may have changed. */
    wake: wakeup.notify,
    async run(signal: AbortSignal): Promise<void> {
      while (!signal.aborted) {
        const restMs = await pass(signal)
        await wakeup.wait(restMs, signal).catch(() => {}) // aborted: the loop ends
      }
    },
  }
}
