import { test } from 'node:test'
import { startFleetHub } from './fleet-flow.ts'
import { ocmFlow } from './ocm-flow.ts'

test('kubectl shows a ManagedCluster joined and available, and its labels lead to a PlacementDecision', async (t) => {
  // Another hub's API is cluster enough for an agent.
  await ocmFlow(t, [], await startFleetHub(t))
})
