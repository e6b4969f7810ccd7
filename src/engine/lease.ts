/** Decisions of leader election from the state of a Lease. Pure; the loop is in leader-election.ts. */
import { formatMicroTime } from '../core/time/time.ts'
import type { Lease } from '../kinds/builtin/coordination.ts'

/**
 * A Lease's resourceVersion, and when this process first saw it on its own monotonic clock. Clocks of different
 * machines are never compared.
 */
export interface LeaseObservation {
  readonly resourceVersion: string
  readonly atMs: number
}

export type LeaseAction =
  | { readonly kind: 'Create' }
  | { readonly kind: 'Renew' }
  | { readonly kind: 'Take' }
  /** Another process leads; the Lease expires in `forMs` unless that process renews it. */
  | { readonly kind: 'Wait'; readonly holder: string; readonly forMs: number }

/** The observation after reading a Lease: a new resourceVersion restarts the expiry. */
export function observeLease(previous: LeaseObservation | undefined, lease: Lease, nowMs: number): LeaseObservation {
  const resourceVersion = lease.metadata.resourceVersion ?? ''
  return previous?.resourceVersion === resourceVersion ? previous : { resourceVersion, atMs: nowMs }
}

/** Decides whether to create, renew or take the Lease, or to wait for its holder. */
export function decideLeaseAction(
  lease: Lease | undefined,
  seen: LeaseObservation | undefined,
  { identity, nowMs }: { readonly identity: string; readonly nowMs: number },
): LeaseAction {
  if (!lease || !seen) return { kind: 'Create' }
  const holder = lease.spec?.holderIdentity ?? ''
  if (holder === identity) return { kind: 'Renew' }
  if (holder === '') return { kind: 'Take' }
  // The holder's duration counts from when this process saw the last renewal, which was never earlier than the renewal.
  const freeAt = seen.atMs + (lease.spec?.leaseDurationSeconds ?? 15) * 1000
  return nowMs >= freeAt ? { kind: 'Take' } : { kind: 'Wait', holder, forMs: freeAt - nowMs }
}

/** The Lease to write for an action. */
export function leaseFor(
  move: 'Create' | 'Renew' | 'Take' | 'Release',
  lease: Lease,
  { identity, durationMs, wallMs }: { readonly identity: string; readonly durationMs: number; readonly wallMs: number },
): Lease {
  const now = formatMicroTime(wallMs)
  const spec = lease.spec ?? {}
  if (move === 'Release')
    return { ...lease, spec: { ...spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: now } }
  const transitions = spec.leaseTransitions ?? 0
  return {
    ...lease,
    spec: {
      ...spec,
      holderIdentity: identity,
      leaseDurationSeconds: Math.ceil(durationMs / 1000),
      renewTime: now,
      acquireTime: move === 'Renew' ? (spec.acquireTime ?? now) : now,
      leaseTransitions: move === 'Take' ? transitions + 1 : transitions,
    },
  }
}
