/** The render thread, so that hostile or huge content slows down no other part of the hub. */
import { createFileBlobs } from '../../blobs/file-blobs.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createBundleRenderer } from '../compose/bundle-renderer.ts'
import { serveThread } from './serve-thread.ts'

await serveThread<'render'>(async (init) => {
  const blobs = createFileBlobs({ folder: init.blobs, ids: systemIds })
  return {
    ready: undefined,
    answer: createBundleRenderer({ blobs, clock: systemClock, ids: systemIds, timeLimitMs: init.timeLimitMs }),
    close: async () => {},
  }
})
