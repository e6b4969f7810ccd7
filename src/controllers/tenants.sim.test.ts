/** Two tenants on the embedded API with all dialects, in virtual time. */
import { after, before } from 'node:test'
import { createClient } from '../client/create-client.ts'
import { installPolicies } from '../hub/home/kube-home.ts'
import { startControllersHome } from '../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../testing/hub/controllers-home.ts'
import { deputiesContract } from '../testing/tenancy/deputies-contract.ts'
import { dialectDeputiesContract } from '../testing/tenancy/dialect-deputies-contract.ts'
import { prepareTenants } from '../testing/tenancy/tenancy-world.ts'
import type { TenancyWorld } from '../testing/tenancy/tenancy-world.ts'
import { walkContract } from '../testing/tenancy/walk-contract.ts'

let hub: ControllersHome
let world: TenancyWorld

before(async () => {
  hub = await startControllersHome(['fleet', 'flux', 'ocm', 'argo', 'karmada'])
  await installPolicies(hub.client, new AbortController().signal)
  world = {
    admin: hub.client,
    as: (user) => ({
      transport: hub.as(user),
      client: createClient({ clock: hub.clock, transport: hub.as(user) }),
    }),
    pass: () => hub.clock.advance(1000),
    read: (path) => hub.rest.json({ method: 'GET', path }),
  }
  await prepareTenants(world)
  await hub.clock.advance(3000)
})
after(() => hub.close())

// CVE-2023-22736, CVE-2024-31990: each kind and verb is an entry path, and each has its own row.
walkContract('embedded API', () => world)
deputiesContract('embedded API', () => world)
dialectDeputiesContract('embedded API', () => world)
