import type { ObjectMeta } from '../../kinds/meta.ts'

/** Preconditions for exactly this object as it was seen: not one that was changed since, and no other under its name. */
export function preconditionsFor({ uid, resourceVersion }: ObjectMeta): {
  readonly uid?: string
  readonly resourceVersion?: string
} {
  return { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
}
