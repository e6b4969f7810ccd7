import type { Blobs } from '../../blobs/blobs.ts'
import { fromUtf8 } from '../../core/bytes.ts'
import { findCondition } from '../../core/conditions.ts'
import { Waiting } from '../../core/errors.ts'
import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import { Release } from '../../kinds/native/release.ts'
import { Source } from '../../kinds/native/source.ts'
import type { ReleaseVariant } from '../../plan/release/variants.ts'
import { bundlesOfSource, inNamespaceOf } from '../caches/caches.ts'
import { createOnce } from '../writes/create-once.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { selectedClusters } from '../caches/selected-clusters.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { releaseGatherReconciler } from './reconcile.ts'

const RETRY_MS = 10_000

/** What waits in Bundles → Release. */
export function createReleaseGather(parts: ControllerParts & { readonly blobs: Pick<Blobs, 'get'> }): Controller {
  const { caches, client, blobs } = parts
  const reconciler = releaseGatherReconciler({
    bundlesOf: (source) => bundlesOfSource(caches, keyOf(source)),
    isPlaced: (bundle) => selectedClusters(caches, inNamespaceOf(bundle, bundle.spec.placement)) !== undefined,
    released: (bundle) =>
      caches.releases.lister
        .by('bundle', keyOf(bundle))
        .flatMap(({ spec }) => spec.bundles)
        .filter(({ name }) => name === bundle.metadata.name)
        .reduce((highest, { generation }) => Math.max(highest, generation), 0),
    releaseOf: (source, name) => caches.releases.lister.get(inNamespaceOf(source, name)),
    variantsOf: async (digest) => {
      const bytes = await blobs.get(digest)
      if (!bytes) throw new Waiting('ContentMissing', `Rendered content ${digest} is not stored yet.`, RETRY_MS)
      return JSON.parse(fromUtf8(bytes)) as readonly ReleaseVariant[]
    },
    createRelease: (release, signal) =>
      createOnce(client, Release, release, { fieldManager: 'flotilla-release-gather', signal }),
  })
  const bundles = triggerOn(caches.bundles, ({ before, after }) => {
    const keys = [before, after].flatMap((bundle) =>
      bundle?.spec.source ? [inNamespaceOf(bundle, bundle.spec.source.name)] : [],
    )
    return jsonEqual(lookedAt(before), lookedAt(after)) ? [] : new Set(keys)
  })
  return createController({
    ...parts,
    type: Source,
    notesGeneration: false, // that a generation was looked at is source-fetch's to say
    informer: caches.sources,
    reconciler,
    triggers: [bundles],
    failureCondition: 'Released',
  })
}

/** What of a Bundle concerns its Release. */
function lookedAt(bundle: Bundle | undefined): unknown {
  const rendered = findCondition(bundle?.status?.conditions, 'Rendered')
  return [
    bundle?.status?.artifact,
    bundle?.status?.candidate,
    bundle?.metadata.deletionTimestamp,
    bundle?.spec.source?.name,
    rendered?.status === 'False' ? rendered.message : undefined,
  ]
}
