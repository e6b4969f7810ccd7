import type { Caller } from '../core/http.ts'
import type { Kind } from '../kinds/define-kind.ts'
import type { UnknownObject } from '../kinds/meta.ts'

/** The last word before a write: it may refuse, it never changes. Both homes have it as ValidatingAdmissionPolicies. */

/** A write that is about to happen. */
export interface AdmissionRequest {
  readonly caller: Caller
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly kind: Kind
  readonly subresource?: string | undefined
  readonly object: UnknownObject | undefined
  readonly oldObject: UnknownObject | undefined
  readonly dryRun: boolean
}

/** Throws an ApiError to refuse; returns warnings otherwise. */
export type Admission = (request: AdmissionRequest) => Promise<readonly string[]>

/** Admits everything. */
export const admitAll: Admission = async () => []
