import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { silentLogger } from '../../core/log.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { Project } from '../../kinds/native/project.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { buildProject } from '../../testing/fixtures/projects.ts'
import { createApiServer } from '../server/api-server.ts'
import { createRegistry } from '../server/registry.ts'
import { startTenants } from './tenants.ts'

test('the namespaces of a Project are one tenant; a namespace in two Projects is its own', async (t) => {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
  const api = createApiServer({ clock, ids: createSeededIds('tenants'), log: silentLogger, store, kinds })
  const stop = new AbortController()
  const tenants = startTenants({ store, clock, log: silentLogger, registry: createRegistry(kinds) }, stop.signal)
  t.after(async () => {
    stop.abort()
    await tenants.done
    await api.close()
  })
  const caller = { user: 'admin', groups: ['system:masters'] }
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, caller, signal) })
  const seen = async () => {
    for (let turn = 0; turn < 50; turn += 1) await new Promise((resolve) => setImmediate(resolve))
    return ['a', 'b', 'c'].map(tenants.tenantOf)
  }
  await client.create(Project, buildProject('team', ['a', 'b']))
  assert.deepEqual(await seen(), ['Project team', 'Project team', 'c'])
  await client.create(Project, buildProject('second', ['b', 'c']))
  assert.deepEqual(await seen(), ['Project team', 'b', 'Project second'])
  await client.delete(Project, { name: 'second' })
  assert.deepEqual(await seen(), ['Project team', 'Project team', 'c'])
})
