// Tested by src/agent/bundles/handover/handover.contract.test.ts
/** The controllers of another system: stopped by their number of replicas, which their annotation keeps. */
import { plural } from '../../../core/text/name-some.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import type { Peer, PeerWorkloads } from '../../../plan/handover/peers.ts'
import { restorePatch, savePatch } from '../../../plan/handover/saved-fields.ts'
import type { FieldChange } from '../../../plan/handover/saved-fields.ts'
import { describeObject } from '../../../plan/objects/object-id.ts'
import { objectIdOf } from '../../cluster/object-address.ts'
import type { PeerAccess } from './peer-access.ts'

const WORKLOAD_KINDS = ['Deployment', 'StatefulSet'] as const
const STOPPED: readonly FieldChange[] = [{ path: ['spec', 'replicas'], value: 0 }]

/** Creates the access to controllers. */
export function createPeerControllers({ typeOf, listAll, patch }: PeerAccess) {
  async function workloads({ labelSelector, names }: PeerWorkloads, signal: AbortSignal): Promise<UnknownObject[]> {
    const found: UnknownObject[] = []
    for (const kind of WORKLOAD_KINDS) {
      const type = await typeOf('apps/v1', kind, signal)
      if (!type) continue
      for await (const object of listAll(type, { labelSelector }, signal)) {
        if (names === undefined || names.test(object.metadata.name)) found.push(object)
      }
    }
    return found
  }

  async function runningPods(workload: UnknownObject, signal: AbortSignal): Promise<number> {
    const { matchLabels = {} } = ((workload['spec'] as Spec | undefined)?.selector ?? {}) as {
      matchLabels?: Record<string, string>
    }
    const { namespace } = workload.metadata
    const labelSelector = Object.entries(matchLabels)
      .map(([key, value]) => `${key}=${value}`)
      .join(',')
    const type = await typeOf('v1', 'Pod', signal)
    if (!type || namespace === undefined || labelSelector === '') return 0
    let running = 0
    for await (const pod of listAll(type, { namespace, labelSelector }, signal)) {
      const { phase } = (pod['status'] ?? {}) as { phase?: string }
      if (phase !== 'Succeeded' && phase !== 'Failed') running += 1
    }
    return running
  }

  /** Stops the controllers of a system, stage by stage. Resolves to the number found and what it waits for. */
  async function stop(
    { stages }: Peer,
    signal: AbortSignal,
  ): Promise<{ readonly found: number; readonly waitsFor?: string }> {
    let found = 0
    for (const stage of stages) {
      const all = await workloads(stage, signal)
      found += all.length
      const waiting: string[] = []
      for (const workload of all) {
        await patch(workload, savePatch(workload, STOPPED), signal)
        const pods = await runningPods(workload, signal)
        const { replicas = 0 } = (workload['status'] ?? {}) as { replicas?: number }
        const count = Math.max(pods, replicas)
        if (count > 0) waiting.push(`${describeObject(objectIdOf(workload))} still has ${plural(count, 'pod')}`)
      }
      if (waiting.length > 0) return { found, waitsFor: waiting.join('; ') }
    }
    return { found }
  }

  /** Starts the controllers that a handover stopped, the last stage first. */
  async function start({ stages }: Peer, signal: AbortSignal): Promise<void> {
    for (const stage of stages.toReversed()) {
      for (const workload of await workloads(stage, signal)) await patch(workload, restorePatch(workload), signal)
    }
  }

  return { stop, start }
}

interface Spec {
  readonly selector?: object
}
