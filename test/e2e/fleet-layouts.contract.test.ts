import { test } from 'node:test'
import { EXAMPLE_CLUSTERS } from '../../src/testing/fixtures/rancher-fleet/expected-objects.ts'
import { deliverLayouts, embeddedSite } from './fleet-layouts.ts'

test('every layout of a Fleet repository reaches embedded clusters from a git server', async (t) => {
  const names = Object.keys(EXAMPLE_CLUSTERS)
  await deliverLayouts(t, Object.fromEntries(names.map((name) => [name, embeddedSite(t, name)])))
})
