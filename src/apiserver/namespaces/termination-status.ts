import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { formatTime } from '../../core/time/time.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { ServerParts } from '../server/context.ts'
import { parseStored, storePrefix } from '../storage/stored-object.ts'

/** What keeps a namespace that is being deleted, in the words of Kubernetes' namespace controller. */

/** Objects of one kind that are still there. */
export interface Remaining {
  readonly kind: Pick<Kind, 'group' | 'plural'>
  readonly count: number
  /** How many of them have each finalizer. */
  readonly finalizers: ReadonlyMap<string, number>
}

/** The remaining objects of a namespace. */
export async function remainingContent({ store, registry }: ServerParts, namespace: string): Promise<Remaining[]> {
  const remaining: Remaining[] = []
  for (const kind of registry.all()) {
    if (kind.scope !== 'Namespaced') continue
    const { entries } = await store.list({ prefix: storePrefix(kind, namespace) })
    if (entries.length === 0) continue
    const finalizers = new Map<string, number>()
    for (const { value } of entries) {
      for (const name of parseStored(value).metadata.finalizers ?? []) {
        finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
      }
    }
    remaining.push({ kind, count: entries.length, finalizers })
  }
  return remaining
}

interface Finding {
  readonly type: string
  readonly status: 'True' | 'False'
  readonly reason: string
  readonly message: string
}

// Ours cannot fail: the server asks itself.
const FOUND: readonly Finding[] = [
  {
    type: 'NamespaceDeletionDiscoveryFailure',
    status: 'False',
    reason: 'ResourcesDiscovered',
    message: 'All resources successfully discovered',
  },
  {
    type: 'NamespaceDeletionGroupVersionParsingFailure',
    status: 'False',
    reason: 'ParsedGroupVersions',
    message: 'All legacy kube types successfully parsed',
  },
  {
    type: 'NamespaceDeletionContentFailure',
    status: 'False',
    reason: 'ContentDeleted',
    message: 'All content successfully deleted, may be waiting on finalization',
  },
]

/** The status with these conditions. Undefined when the current status already has them. */
export function terminationStatus(
  status: unknown,
  remaining: readonly Remaining[],
  nowMs: number,
): JsonObject | undefined {
  const present = isObject(status) ? status : {}
  const before: readonly unknown[] = Array.isArray(present['conditions']) ? present['conditions'] : []
  const conditions = [...FOUND, contentFinding(remaining), finalizerFinding(remaining)].map((finding) => {
    const known = before.find((condition) => isObject(condition) && condition['type'] === finding.type)
    const isSame =
      isObject(known) && (['status', 'reason', 'message'] as const).every((field) => known[field] === finding[field])
    return isSame ? known : { ...finding, lastTransitionTime: formatTime(nowMs) }
  })
  const next = { ...present, phase: 'Terminating', conditions }
  return jsonEqual(next, present) ? undefined : next
}

function contentFinding(remaining: readonly Remaining[]): Finding {
  const list = remaining.map(({ kind, count }) => `${kind.plural}.${kind.group} has ${count} resource instances`).sort()
  return {
    type: 'NamespaceContentRemaining',
    status: 'True',
    reason: 'SomeResourcesRemain',
    message: `Some resources are remaining: ${list.join(', ')}`,
  }
}

function finalizerFinding(remaining: readonly Remaining[]): Finding {
  const counts = new Map<string, number>()
  for (const { finalizers } of remaining) {
    for (const [name, count] of finalizers) counts.set(name, (counts.get(name) ?? 0) + count)
  }
  const type = 'NamespaceFinalizersRemaining'
  if (counts.size === 0) {
    const message = 'All content-preserving finalizers finished'
    return { type, status: 'False', reason: 'ContentHasNoFinalizers', message }
  }
  const list = [...counts].map(([name, count]) => `${name} in ${count} resource instances`).sort()
  const message = `Some content in the namespace has finalizers remaining: ${list.join(', ')}`
  return { type, status: 'True', reason: 'SomeFinalizersRemain', message }
}
