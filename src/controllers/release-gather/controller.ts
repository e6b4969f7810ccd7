// Tested by src/controllers/release-gather/reconcile.test.ts
import { findCondition } from '../../core/conditions.ts'
import { jsonEqual } from '../../core/json.ts'
import { createController } from '../../engine/controller.ts'
import type { Controller } from '../../engine/controller.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { KeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { Reconciler } from '../../engine/reconciler.ts'
import { triggerOn } from '../../engine/trigger.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { Release } from '../../kinds/native/release.ts'
import { Source } from '../../kinds/native/source.ts'
import { inNamespaceOf } from '../caches/caches.ts'
import type { ControllerParts } from '../caches/controller-parts.ts'
import { createOnce } from '../writes/create-once.ts'
import { assertCacheFresh } from './assert-cache-fresh.ts'
import { gatherSource } from './gather.ts'
import type { ReleaseGatherPorts } from './ports.ts'
import { releaseGatherReconciler } from './reconcile.ts'
import { createReleaseMaker } from './release-maker.ts'
import type { OfferPort } from './release-maker.ts'

/** release-gather: its controller over Sources, and the port through which bundle-render offers rendered content. */
export interface ReleaseGather {
  readonly controller: Controller
  readonly offers: OfferPort
}

/** Milliseconds between two passes of a Source: each rendered Bundle asks for a pass, which reads all its Bundles. */
const REST_MS = 250

/** Rendered content of Bundles → Release. */
export function createReleaseGather(parts: ControllerParts): ReleaseGather {
  const { caches, client } = parts
  const pace = createKeyedThrottle(parts.clock, REST_MS)
  const isKnown = (beside: Bundle, name: string) =>
    caches.releases.lister.get(inNamespaceOf(beside, name)) !== undefined
  const ports: ReleaseGatherPorts = {
    ...gatherSource(caches),
    createRelease: async (release, contents, signal) => {
      await assertCacheFresh(client, contents, isKnown, signal)
      await createOnce(client, Release, release, { fieldManager: 'flotilla-release-gather', signal })
    },
    enqueue: (source) => controller.enqueue(source),
  }
  const maker = createReleaseMaker(ports)
  const controller = createController({
    ...parts,
    type: Source,
    notesGeneration: false, // source-fetch records the observed generation of a Source
    informer: caches.sources,
    reconciler: paced(releaseGatherReconciler(ports, maker), pace),
    restMs: (source) => pace.waitMs(keyOf(source)),
    triggers: [
      triggerOn(caches.bundles, ({ key, before, after }) => {
        if (!after) maker.forget(key)
        const keys = [before, after].flatMap((bundle) =>
          bundle?.spec.source ? [inNamespaceOf(bundle, bundle.spec.source.name)] : [],
        )
        return jsonEqual(readByGather(before), readByGather(after)) ? [] : new Set(keys)
      }),
    ],
    failureCondition: 'Released',
  })
  return { controller, offers: maker }
}

function paced(reconciler: Reconciler<Source>, pace: KeyedThrottle): Reconciler<Source> {
  return {
    ...reconciler,
    reconcile: (draft, context) => {
      pace.note(keyOf(draft.next))
      return reconciler.reconcile(draft, context)
    },
  }
}

/** The fields of a Bundle that a pass reads. */
function readByGather(bundle: Bundle | undefined): unknown {
  const rendered = findCondition(bundle?.status?.conditions, 'Rendered')
  return [
    bundle?.status?.artifact,
    bundle?.metadata.deletionTimestamp,
    bundle?.spec.source?.name,
    rendered?.status === 'False' ? rendered.message : undefined,
  ]
}
