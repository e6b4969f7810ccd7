import { readPath, textAt } from '../../kinds/builtin/read-path.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { parseTime } from '../../core/time/time.ts'
import type { DeleteOptions } from '../http/request-options.ts'

/**
 * A deleted pod has a grace period: the server sets its deletionTimestamp, and the kubelet deletes the pod again with a
 * grace period of 0 when its containers have ended. A pod without a node is deleted at once.
 */

/** When a pod is to be gone, and how many seconds that was from its delete. */
export interface GracePeriod {
  readonly at: number
  readonly seconds: number
}

/** Whether objects of a kind have time to end. */
export function isPod({ group, kind }: Pick<Kind, 'group' | 'kind'>): boolean {
  return group === '' && kind === 'Pod'
}

/**
 * What a delete gives a pod. One that is ending can only be hurried: `pending` when this delete does not, undefined
 * when it has no time left anyway.
 */
export function decideGracePeriod(
  pod: UnknownObject,
  { gracePeriodSeconds }: Pick<DeleteOptions, 'gracePeriodSeconds'>,
  now: number,
): GracePeriod | 'pending' | undefined {
  const { deletionTimestamp, deletionGracePeriodSeconds: before = 0 } = pod.metadata
  if (deletionTimestamp === undefined) {
    const seconds = firstGrace(pod, gracePeriodSeconds)
    return { at: now + seconds * 1000, seconds }
  }
  if (before === 0) return undefined
  if (gracePeriodSeconds === undefined || gracePeriodSeconds >= before) return 'pending'
  const seconds = Math.max(0, gracePeriodSeconds)
  return { at: (parseTime(deletionTimestamp) ?? now) + (seconds - before) * 1000, seconds }
}

function firstGrace(pod: UnknownObject, wanted: number | undefined): number {
  const isRunning = textAt(pod, 'spec.nodeName') !== '' && !ENDED.has(textAt(pod, 'status.phase'))
  if (!isRunning) return 0
  const seconds = wanted ?? Number(readPath(pod, 'spec.terminationGracePeriodSeconds') ?? 0)
  return seconds < 0 ? 1 : seconds
}

const ENDED: ReadonlySet<string> = new Set(['Failed', 'Succeeded'])
