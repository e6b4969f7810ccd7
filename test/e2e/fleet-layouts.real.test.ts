import { test } from 'node:test'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { deliverLayouts, embeddedSite, kubeconfigSite } from './fleet-layouts.ts'

test('every layout of a Fleet repository for test clusters reaches a real one', async (t) => {
  // No controller sets the address of a LoadBalancer there, so the real cluster is no prod cluster.
  const plane = await startControlPlane({ controllers: true, nodes: 1 })
  t.after(() => plane.stop())
  const sites = {
    'test-1': await kubeconfigSite(t, plane.kubeconfigPath),
    'prod-1': embeddedSite(t, 'prod-1'),
  }
  await deliverLayouts(t, sites)
})
