/**
 * A region that comes back at one moment during a rollout of a version that is bad there; `region.deep.test.ts` has
 * five hundred.
 */
import { test } from 'node:test'
import { checkRegion } from '../../testing/storm/region-return.ts'

test('clusters return at once: slots, budget and start-by hold, and the correction reaches all clusters (I-04, I-12, I-14, I-15, I-23)', () =>
  checkRegion({ clusters: 60, concurrency: 10, maxFailed: 2 }))
