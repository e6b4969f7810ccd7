import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fleetFlow, startFleetHub } from './fleet-flow.ts'

test('kubectl apply of a GitRepo delivers it, and kubectl shows what Fleet’s users know', async (t) => {
  // Another hub's API is cluster enough for a ConfigMap.
  const { kubectl } = await fleetFlow(t, [], await startFleetHub(t))
  const rows = (await kubectl('get', 'bundledeployments', '-A')).trimEnd().split('\n')
  assert.deepEqual(
    rows.map((line) => line.split(/ {2,}/)),
    [
      ['NAMESPACE', 'NAME', 'CLUSTER', 'DEPLOYED', 'MONITORED', 'STATE'],
      ['fleet-default', 'sample-apps-greeting.shop-1', 'shop-1', 'True', 'True', 'Ready'],
    ],
  )
})
