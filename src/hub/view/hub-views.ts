/** The views of the embedded home: rows over its own store. */
import type { ApiView } from '../../apiserver/server/api-server.ts'
import type { Clock } from '../../core/time/clock.ts'
import { prefixOf } from '../../apiserver/storage/stored-object.ts'
import { BundleDeployment, bundleDeploymentOf, isOfGitRepo } from '../../dialects/fleet/status/bundle-deployment.ts'
import { BundleCount } from '../../kinds/views/bundle-count.ts'
import { BundleState } from '../../kinds/views/bundle-state.ts'
import type { Kind } from '../../kinds/define-kind.ts'
import { BundleObject } from '../../kinds/views/bundle-object.ts'
import { bundleCounts, bundleStates } from './bundle-rows.ts'
import type { ViewReads } from './bundle-rows.ts'
import { bundleObjects } from './object-rows.ts'
import type { SetReads } from './object-rows.ts'
import { storeReads } from './store-reads.ts'
import { createViewStore } from './view-store.ts'
import type { RowSource } from './row-source.ts'

/** What can be read of `view.flotilla.dev`, and of dialects; without blobs nothing is known of objects. */
export function hubViews(
  clock: Clock,
  blobs: SetReads | undefined,
  dialects: readonly string[] = [],
): readonly ApiView[] {
  const viewOf = (kind: Kind, rows: (reads: ViewReads) => RowSource): ApiView => ({
    kind,
    over: (base) =>
      createViewStore({ base, clock, prefix: prefixOf(kind), source: (store) => rows(storeReads(store, clock)) }),
  })
  return [
    viewOf(BundleState, bundleStates),
    viewOf(BundleCount, bundleCounts),
    ...(dialects.includes('fleet') ? [viewOf(BundleDeployment, bundleDeployments)] : []),
    ...(blobs ? [viewOf(BundleObject, (reads) => bundleObjects(reads, blobs))] : []),
  ]
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
