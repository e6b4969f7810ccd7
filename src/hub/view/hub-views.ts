/** The views of the embedded home: rows over its own store. */
import type { ApiView } from '../../apiserver/server/api-server.ts'
import type { Clock } from '../../core/time/clock.ts'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import { BundleDeployment, bundleDeploymentOf, isOfGitRepo } from '../../dialects/fleet/status/bundle-deployment.ts'
import { BundleCount } from '../../kinds/views/bundle-count.ts'
import { BundleState } from '../../kinds/views/bundle-state.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { BundleObject } from '../../kinds/views/bundle-object.ts'
import { bundleCountRows, placedStateRows } from './bundle-rows.ts'
import type { ViewReader } from './bundle-rows.ts'
import { bundleStateRows } from './delivery-rows.ts'
import { bundleObjectRows } from './object-rows.ts'
import type { SetReader } from './object-rows.ts'
import { storeViewReader } from './store-reads.ts'
import { createViewStore } from './view-store.ts'
import type { RowSource } from './row-source.ts'

/** What can be read of `view.flotilla.dev`, and of dialects; without blobs nothing is known of objects. */
export function hubViews(
  clock: Clock,
  blobs: SetReader | undefined,
  dialects: readonly string[] = [],
): readonly ApiView[] {
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
    ...(dialects.includes('fleet') ? [viewOf(BundleDeployment, bundleDeployments)] : []),
    ...(blobs ? [viewOf(BundleObject, (reads) => bundleObjectRows(reads, blobs))] : []),
  ]
}

/** The rows of bundles that were made of GitRepos, in Fleet's words. */
function bundleDeployments(reads: ViewReader): RowSource {
  const source = placedStateRows({
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
