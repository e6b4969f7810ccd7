/** The views of the embedded home: rows over its own store. */
import type { ApiView } from '../../apiserver/api-server.ts'
import { prefixOf } from '../../apiserver/objects.ts'
import { BundleCount } from '../../kinds/bundle-count.ts'
import { BundleState } from '../../kinds/bundle-state.ts'
import { bundleCounts, bundleStates } from './bundle-rows.ts'
import { storeReads } from './store-reads.ts'
import { createViewStore } from './view-store.ts'

/** What can be read of `view.flotilla.dev`. */
export const HUB_VIEWS: readonly ApiView[] = [
  {
    kind: BundleState,
    over: (store) => createViewStore(store, prefixOf(BundleState), bundleStates(storeReads(store))),
  },
  {
    kind: BundleCount,
    over: (store) => createViewStore(store, prefixOf(BundleCount), bundleCounts(storeReads(store))),
  },
]
