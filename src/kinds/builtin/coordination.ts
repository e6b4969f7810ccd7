import type { KubeObject } from '../meta.ts'
import { builtinKind } from './kind-table.ts'

/** A lease: the holder of a lock, and its renewal time. */
export interface Lease extends KubeObject {
  spec?: {
    holderIdentity?: string
    leaseDurationSeconds?: number
    acquireTime?: string | null
    renewTime?: string | null
    leaseTransitions?: number
    strategy?: string
    preferredHolder?: string
  }
}
export const Lease = builtinKind<Lease>('coordination.k8s.io/v1', 'Lease')
