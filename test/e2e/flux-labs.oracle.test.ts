import { test } from 'node:test'
import { startFleetHub } from './fleet-flow.ts'
import { fluxLabs } from './flux-labs-flow.ts'

test('the labs about Flux run as written, under the identity of a namespace editor', async (t) => {
  // Another hub's API is cluster enough for ConfigMaps.
  await fluxLabs(t, { hub: [], site: await startFleetHub(t), roles: ['edit'] })
})
