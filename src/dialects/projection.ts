// Tested by src/hub/view/projected-store.contract.test.ts
/**
 * Projected kinds: what another system makes once per cluster (BundleDeployments, ManifestWorks of a replica set) is
 * computed from bundles on clusters when it is asked for, and never stored.
 */
import type { Kind } from '../kinds/define-kind.ts'
import type { BundleStateName } from '../kinds/fields/states.ts'
import type { KubeObject, UnknownObject } from '../kinds/meta.ts'
import type { Bundle } from '../kinds/native/bundle.ts'
import type { ClusterReport } from '../kinds/native/cluster-report.ts'
import type { Delivery } from '../kinds/native/delivery.ts'

/** A bundle on a cluster, as `bundlestates.view.flotilla.dev` has it. */
export interface BundleStateRow extends UnknownObject {
  readonly bundle: string
  readonly cluster: string
  readonly state?: BundleStateName
  readonly message: string
  readonly waitsFor?: string
  readonly lastKnown?: BundleStateName
  readonly generation?: number
  readonly target?: number
}

/** The bundles on clusters that a request can be about; an omitted part means all. */
export interface RowScope {
  /** Namespace of the bundles. */
  readonly namespace?: string
  readonly bundle?: string
  readonly cluster?: string
}

/** What a row is about. */
export interface RowFacts {
  /** The same object for consecutive rows of the bundle. */
  readonly bundle: Bundle
  /** The newest report of the cluster, if `readsReports` is set and there is one. */
  readonly report?: ClusterReport
}

/** A kind of a dialect whose objects are bundles on clusters in the words of the peer. */
export interface Projection {
  readonly kind: Kind
  /** True if users also write objects of the kind: the objects that are stored stand in the same lists and watches. */
  readonly isStoredToo?: boolean
  /** Whether clusters of a bundle have objects of the kind. */
  includes(bundle: Bundle): boolean
  /** Whether `objectOf` needs the newest report of the cluster. */
  readonly readsReports?: boolean
  /** The object of a bundle on a cluster; undefined if it has none. The name is unique within the namespace. */
  objectOf(row: BundleStateRow, facts: RowFacts): UnknownObject | undefined
  /** Which bundles on clusters can have their objects in a namespace. */
  within(namespace: string): RowScope
  /** Which bundles on clusters an object of this name can be about. */
  named(namespace: string, name: string): readonly RowScope[]
  /** The object that a user changes instead. */
  makerOf(bundle: Bundle): KubeObject
}

/** A kind of a dialect whose objects are Deliveries on clusters in the words of the peer. */
export interface DeliveryProjection extends Pick<Projection, 'kind' | 'isStoredToo' | 'within' | 'named'> {
  readonly of: 'Delivery'
  /** Whether clusters of a Delivery have objects of the kind. */
  includes(delivery: Delivery): boolean
  /** The object of a Delivery on a cluster, with the newest report of the cluster; undefined if it has none. */
  objectOf(
    row: BundleStateRow,
    facts: { readonly delivery: Delivery; readonly report?: ClusterReport },
  ): UnknownObject | undefined
  /** The object that a user changes instead. */
  makerOf(delivery: Delivery): KubeObject
}

/** A projection of Bundles or of Deliveries. */
export type AnyProjection = Projection | DeliveryProjection

/** Whether the objects are Deliveries on clusters. */
export function isOfDeliveries(projection: AnyProjection): projection is DeliveryProjection {
  return 'of' in projection
}

/** The scopes of a name `BUNDLE.CLUSTER`: both parts can contain dots. */
export function scopesOfDottedName(namespace: string, name: string): readonly RowScope[] {
  return [...name.matchAll(/\./g)]
    .map(({ index }) => ({ namespace, bundle: name.slice(0, index), cluster: name.slice(index + 1) }))
    .filter(({ bundle, cluster }) => bundle !== '' && cluster !== '')
}
