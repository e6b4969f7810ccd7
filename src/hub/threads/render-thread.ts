/** The render thread, so that hostile or huge content slows down no other part of the hub. */
import { openBlobs } from '../../blobs/open-blobs.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createBundleRenderer } from '../compose/bundle-renderer.ts'
import { serveThread } from './serve-thread.ts'

await serveThread<'render'>(async (init) => {
  const blobs = await openBlobs(init.blobs, { clock: systemClock, ids: systemIds })
  return {
    ready: undefined,
    answer: createBundleRenderer({ blobs, clock: systemClock, ids: systemIds, timeLimitMs: init.timeLimitMs }),
    close: blobs.close,
  }
})
