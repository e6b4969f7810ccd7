import { test } from 'node:test'
import { checkRegion } from '../../testing/storm/region-return.ts'

test('500 clusters of a region return at once', () => checkRegion({ clusters: 500, concurrency: 40, maxFailed: 5 }))
