import { compact } from '../../core/compact.ts'
import type { ObjectMeta } from '../../kinds/meta.ts'

/** Preconditions for this object as it was read: not changed since, and not another object of the same name. */
export function preconditionsFor({ uid, resourceVersion }: ObjectMeta): {
  readonly uid?: string
  readonly resourceVersion?: string
} {
  return compact({ uid: uid || undefined, resourceVersion: resourceVersion || undefined })
}
