import type { Digest } from '../../core/crypto/digest.ts'
import type { KeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { Delivery } from '../../kinds/native/delivery.ts'
import type { DeliveryCluster } from '../../plan/document/delivery.ts'
import type { RowCluster } from '../../plan/fleet/view-rows.ts'

/** A cluster, as the admission and the state of a Delivery on it need it. */
export interface SeenCluster {
  readonly facts: DeliveryCluster
  readonly row: RowCluster
}

/** The ports of delivery-admit. */
export interface DeliveryAdmitPorts {
  clusterOf(delivery: Delivery, cluster: string): SeenCluster | undefined
  /** Clusters whose documents have an entry or a tombstone of the Delivery. */
  holdersOf(delivery: Delivery): readonly string[]
  /** The highest generation of the Delivery in the documents of all clusters. */
  highestAssigned(delivery: Delivery): number
  /** A set with the options and the executor of the Delivery, stored; undefined when the set is not stored. */
  storeSet(delivery: Delivery, set: string): Promise<Digest | undefined>
  /** The shortest time between two writes of counts. */
  readonly pace: KeyedThrottle
}
