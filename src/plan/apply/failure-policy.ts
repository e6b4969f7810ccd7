/** What is done about an operation that failed: tried again so many times, then left, taken back, or taken out. */
import type { Digest } from '../../core/crypto/digest.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { OperationKind } from './operation.ts'

/** All that decides. */
export interface FailureFacts {
  readonly options: BundleOptions['remediation']
  readonly operation: OperationKind
  /** Which try failed, from 1. */
  readonly attempt: number
  readonly failedAtMs: number
  /** The set that ran here before. */
  readonly before: Digest | undefined
}

/** What to do. */
export type FailureAction =
  | { readonly kind: 'None' }
  /** Try again, at that time. */
  | { readonly kind: 'Retry'; readonly atMs: number; readonly attempt: number; readonly attempts: number }
  /** Apply the set that ran before. */
  | { readonly kind: 'RollBack'; readonly set: Digest }
  /** Remove everything. */
  | { readonly kind: 'Uninstall' }

// Soon enough for what was a moment's trouble, and not in the way of what is not.
const BASE_MS = 10_000
const MAX_MS = 300_000

/** Decides what is done about a failure. */
export function decideFailureAction({ options, operation, attempt, failedAtMs, before }: FailureFacts): FailureAction {
  const attempts = (options?.retries ?? 0) + 1
  if (attempt < attempts) {
    const waitMs = Math.min(BASE_MS * 2 ** (attempt - 1), MAX_MS)
    return { kind: 'Retry', atMs: failedAtMs + waitMs, attempt: attempt + 1, attempts }
  }
  const action = actionFor(options, operation)
  if (action === 'Uninstall') return { kind: 'Uninstall' }
  return action === 'RollBack' && before !== undefined ? { kind: 'RollBack', set: before } : { kind: 'None' }
}

/** Whether anything is ever done. */
export function hasFailureAction(options: BundleOptions['remediation'], operation: OperationKind): boolean {
  return (options?.retries ?? 0) > 0 || (actionFor(options, operation) ?? 'None') !== 'None'
}

function actionFor(options: BundleOptions['remediation'], operation: OperationKind) {
  return operation === 'Install' ? options?.install : options?.upgrade
}
