/** Who leads, decided from what a Lease says: pure. The loop is in leader-election.ts. */
import { formatMicroTime } from '../core/time/time.ts'
import type { Lease } from '../kinds/builtin/coordination.ts'

/** A Lease's resourceVersion and when, on our own monotonic clock, we first saw it. Other machines' clocks are never compared. */
export interface LeaseObservation {
  readonly resourceVersion: string
  readonly atMs: number
}

/** What to do about a Lease. */
export type LeaseAction =
  | { readonly kind: 'Create' }
  | { readonly kind: 'Renew' }
  | { readonly kind: 'Take' }
  /** Somebody else leads; the Lease may be free in `forMs` if nothing renews it. */
  | { readonly kind: 'Wait'; readonly holder: string; readonly forMs: number }

/** The observation after reading a Lease: a new version starts a new count. */
export function observeLease(previous: LeaseObservation | undefined, lease: Lease, nowMs: number): LeaseObservation {
  const resourceVersion = lease.metadata.resourceVersion ?? ''
  return previous?.resourceVersion === resourceVersion ? previous : { resourceVersion, atMs: nowMs }
}

/** Decides the next move: renew one's own, take a free or expired one, wait for another's. */
export function decideLeaseAction(
  lease: Lease | undefined,
  seen: LeaseObservation | undefined,
  { identity, nowMs }: { readonly identity: string; readonly nowMs: number },
): LeaseAction {
  if (!lease || !seen) return { kind: 'Create' }
  const holder = lease.spec?.holderIdentity ?? ''
  if (holder === identity) return { kind: 'Renew' }
  if (holder === '') return { kind: 'Take' }
  // The holder's own duration counts, from when we saw its last renewal: it may have been renewed later, never earlier.
  const freeAt = seen.atMs + (lease.spec?.leaseDurationSeconds ?? 15) * 1000
  return nowMs >= freeAt ? { kind: 'Take' } : { kind: 'Wait', holder, forMs: freeAt - nowMs }
}

/** The Lease to write for a move that writes. */
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
