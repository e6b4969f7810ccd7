/** The views of the embedded home: rows over its own store. */
import type { ApiView } from '../../apiserver/api-server.ts'
import type { Clock } from '../../core/clock.ts'
import { prefixOf } from '../../apiserver/objects.ts'
import { BundleDeployment, bundleDeploymentOf, isOfGitRepo } from '../../dialects/fleet/bundle-deployment.ts'
import { BundleCount } from '../../kinds/bundle-count.ts'
import { BundleState } from '../../kinds/bundle-state.ts'
import { BundleObject } from '../../kinds/bundle-object.ts'
import { bundleCounts, bundleStates } from './bundle-rows.ts'
import type { ViewReads } from './bundle-rows.ts'
import { bundleObjects } from './object-rows.ts'
import type { SetReads } from './object-rows.ts'
import { storeReads } from './store-reads.ts'
import { createViewStore } from './view-store.ts'
import type { RowSource } from './view-store.ts'

/** What can be read of `view.flotilla.dev`, and of dialects; without blobs nothing is known of objects. */
export function hubViews(
  clock: Pick<Clock, 'now'>,
  blobs: SetReads | undefined,
  dialects: readonly string[] = [],
): readonly ApiView[] {
  const views: ApiView[] = [
    {
      kind: BundleState,
      over: (store) => createViewStore(store, prefixOf(BundleState), bundleStates(storeReads(store, clock))),
    },
    {
      kind: BundleCount,
      over: (store) => createViewStore(store, prefixOf(BundleCount), bundleCounts(storeReads(store, clock))),
    },
  ]
  if (dialects.includes('fleet')) {
    views.push({
      kind: BundleDeployment,
      over: (store) => createViewStore(store, prefixOf(BundleDeployment), bundleDeployments(storeReads(store, clock))),
    })
  }
  if (!blobs) return views
  const over: ApiView['over'] = (store) =>
    createViewStore(store, prefixOf(BundleObject), bundleObjects(storeReads(store, clock), blobs))
  return [...views, { kind: BundleObject, over }]
}

/** The rows of bundles that were made of GitRepos, in Fleet's words. */
function bundleDeployments(reads: ViewReads): RowSource {
  const source = bundleStates({
    ...reads,
    bundle: async (namespace, name) => {
      const bundle = await reads.bundle(namespace, name)
      return bundle && isOfGitRepo(bundle) ? bundle : undefined
    },
    bundles: async function* (namespace, from) {
      for await (const bundle of reads.bundles(namespace, from)) if (isOfGitRepo(bundle)) yield bundle
    },
  })
  return {
    get: async (namespace, name) => {
      const row = await source.get(namespace, name)
      return row && bundleDeploymentOf(row)
    },
    rows: async function* (range) {
      for await (const { at, object } of source.rows(range)) {
        const row = bundleDeploymentOf(object)
        if (row) yield { at, object: row }
      }
    },
  }
}
