/** The views of the embedded home: rows over its own store. */
import type { ApiView } from '../../apiserver/api-server.ts'
import { prefixOf } from '../../apiserver/objects.ts'
import { BundleCount } from '../../kinds/bundle-count.ts'
import { BundleState } from '../../kinds/bundle-state.ts'
import { BundleObject } from '../../kinds/bundle-object.ts'
import { bundleCounts, bundleStates } from './bundle-rows.ts'
import { bundleObjects } from './object-rows.ts'
import type { SetReads } from './object-rows.ts'
import { storeReads } from './store-reads.ts'
import { createViewStore } from './view-store.ts'

/** What can be read of `view.flotilla.dev`; without blobs nothing is known of objects. */
export function hubViews(blobs: SetReads | undefined): readonly ApiView[] {
  const views: ApiView[] = [
    {
      kind: BundleState,
      over: (store) => createViewStore(store, prefixOf(BundleState), bundleStates(storeReads(store))),
    },
    {
      kind: BundleCount,
      over: (store) => createViewStore(store, prefixOf(BundleCount), bundleCounts(storeReads(store))),
    },
  ]
  if (!blobs) return views
  const over: ApiView['over'] = (store) =>
    createViewStore(store, prefixOf(BundleObject), bundleObjects(storeReads(store), blobs))
  return [...views, { kind: BundleObject, over }]
}
