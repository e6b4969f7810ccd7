// Tested by src/hub/view/view.contract.test.ts
/** The kinds of a hub whose objects are computed: the rows of `view.flotilla.dev` and the projections of dialects. */
import type { ApiView } from '../../apiserver/server/api-server.ts'
import type { Clock } from '../../core/time/clock.ts'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import type { AnyProjection, BundleStateRow } from '../../dialects/projection.ts'
import { BundleCount } from '../../kinds/views/bundle-count.ts'
import { BundleState } from '../../kinds/views/bundle-state.ts'
import { inViewGroup } from '../../kinds/views/define-view.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { BundleObject } from '../../kinds/views/bundle-object.ts'
import { ReleaseObject } from '../../kinds/views/release-object.ts'
import type { Store } from '../../store/store.ts'
import { bundleCountRows } from './bundle-rows.ts'
import type { ViewReader } from './bundle-rows.ts'
import { bundleStateRows } from './delivery-rows.ts'
import { bundleObjectRows } from './object-rows.ts'
import type { SetReader } from './object-rows.ts'
import { releaseObjectRows } from './release-rows.ts'
import { projectedRows } from './projected-rows.ts'
import { createProjectedStore } from './projected-store.ts'
import { storeViewReader } from './store-reads.ts'
import { createViewStore } from './view-store.ts'
import type { RowSource } from './row-source.ts'

/** The rows of `view.flotilla.dev`. Without blobs, BundleObjects and ReleaseObjects are not served. */
export function hubViews(clock: Clock, blobs: SetReader | undefined): readonly ApiView[] {
  const viewOf = (kind: Kind, rows: (reads: ViewReader) => RowSource): ApiView => ({
    kind,
    over: (base) =>
      createViewStore({
        base,
        clock,
        prefix: storePrefix(kind),
        source: (store) => rows(storeViewReader(store, clock)),
      }),
  })
  return [
    viewOf(BundleState, bundleStateRows),
    viewOf(BundleCount, bundleCountRows),
    ...(blobs
      ? [
          viewOf(BundleObject, (reads) => bundleObjectRows(reads, blobs)),
          viewOf(ReleaseObject, (reads) => releaseObjectRows(reads, blobs)),
        ]
      : []),
  ]
}

/** A projection on the embedded home, under the kind of the peer. */
export function projectedView(projection: AnyProjection, clock: Clock): ApiView {
  const { kind, isStoredToo = false } = projection
  return {
    kind,
    isStoredToo,
    over: (base: Store) =>
      createProjectedStore({
        base,
        clock,
        prefix: storePrefix(kind),
        isStoredToo,
        source: (store) => projectedRows(storeViewReader(store, clock), projection),
      }),
  }
}

/**
 * A projection beside a kube-apiserver, as `<plural>.view.flotilla.dev`: the group of the peer is served from
 * its CustomResourceDefinitions there, which have the objects that are stored.
 */
export function aggregatedProjection({ isStoredToo: _stored, ...projection }: AnyProjection, clock: Clock): ApiView {
  const kind = inViewGroup(projection.kind)
  return projectedView(
    {
      ...projection,
      kind,
      objectOf(row: BundleStateRow, facts: never) {
        const object = projection.objectOf(row, facts)
        return object && { ...object, apiVersion: apiVersionOf(kind) }
      },
    },
    clock,
  )
}
