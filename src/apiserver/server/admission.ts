import type { Caller } from '../../core/http.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

/** What stands between a valid request and its write: some change the object first, the rest may only refuse. */

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

/**
 * Changes the object of a write in place before validation. No field manager owns the fields that are set. Returns
 * warnings.
 */
export type Mutation = (request: AdmissionRequest) => Promise<readonly string[]>

/** Asks the admissions in order. */
export function chainAdmission(parts: readonly Admission[]): Admission {
  return async (request) => {
    const warnings: string[] = []
    for (const part of parts) warnings.push(...(await part(request)))
    return warnings
  }
}

/** Admits everything. */
export const admitAll: Admission = async () => []
