import type { Caller } from '../../../core/http.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'

/** The part of a kind that policies match by and read. */
export type PolicyKind = Pick<Kind, 'group' | 'version' | 'kind' | 'plural' | 'scope'>

/** A write, as admission policies see it. */
export interface PolicyRequest {
  readonly caller: Caller
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly kind: PolicyKind
  readonly subresource?: string | undefined
  readonly object: UnknownObject | undefined
  readonly oldObject: UnknownObject | undefined
  readonly dryRun: boolean
}
