/** Reconcilers without an engine: a draft and a context, for tests that pass lambdas as ports. */
import { silentLogger } from '../core/log.ts'
import { decideWrite, openDraft } from '../engine/draft.ts'
import type { DraftWrite, OpenDraft } from '../engine/draft.ts'
import type { Context, Reconciler, Result } from '../engine/reconciler.ts'
import type { Condition, KubeObject } from '../kinds/meta.ts'
import { createSeededIds } from '../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import type { VirtualClock } from '../sim/kernel/virtual-clock.ts'

/** One pass of a reconciler over an object. */
export interface Pass<T extends KubeObject> {
  readonly draft: OpenDraft<T>
  readonly result: Result | undefined
  /** What it threw, if it did. */
  readonly error: unknown
  /** What the engine would write. */
  readonly commit: DraftWrite
  /** `Status Reason: message` of a condition, or `-`. */
  condition(type: string): string
}

/** Runs a reconciler once. */
export async function reconcileOnce<T extends KubeObject>(
  reconciler: Reconciler<T>,
  object: T,
  clock: VirtualClock = createVirtualClock(),
): Promise<Pass<T>> {
  const draft = openDraft(object, clock.now())
  const { signal } = new AbortController()
  const context: Context = { clock, ids: createSeededIds(1), log: silentLogger, signal }
  let result: Result | undefined
  let error: unknown
  try {
    result = await reconciler.reconcile(draft, context)
  } catch (caught) {
    error = caught
  }
  return {
    draft,
    result,
    error,
    commit: decideWrite(draft),
    condition: (type) => {
      const found: Condition | undefined = draft.conditions.get(type)
      return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
    },
  }
}
