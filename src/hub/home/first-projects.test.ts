import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import { createClient } from '../../client/create-client.ts'
import { silentLogger } from '../../core/log.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { NATIVE_KINDS } from '../../kinds/native/native-kinds.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Project } from '../../kinds/native/project.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { buildBundle, buildPlacement } from '../../testing/fixtures/builders.ts'
import { buildProject } from '../../testing/fixtures/projects.ts'
import { installDialectProjects, installFirstProjects } from './first-projects.ts'
import { ensureNamespace } from './hub-info.ts'

function hub(t: TestContext) {
  const clock = createVirtualClock()
  const kinds = [...BUILTIN_KINDS, ...NATIVE_KINDS]
  const basis = { clock, ids: createSeededIds('projects'), log: silentLogger }
  const api = createApiServer({ ...basis, store: createMemoryStore(), kinds })
  t.after(() => api.close())
  const caller = { user: 'system:flotilla:hub', groups: ['system:masters'] }
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, caller, signal) })
  const parts = { client, signal: new AbortController().signal }
  const projects = async () =>
    (await client.list(Project, {}, parts.signal)).items.map(
      ({ metadata, spec }) => `${metadata.name}: ${spec.namespaces?.join(' ')}${metadata.labels ? ' migrated' : ''}`,
    )
  return { client, parts, projects }
}

test('the first start makes one Project, and a later start none', async (t) => {
  const { client, parts, projects } = hub(t)
  assert.deepEqual(await installFirstProjects(parts), [])
  assert.deepEqual(await projects(), ['default: default'])
  await client.delete(Project, { name: 'default' })
  await ensureNamespace(client, 'shop')
  await client.create(Bundle, buildBundle('shop/hello'))
  assert.deepEqual(await installFirstProjects(parts), [])
  assert.deepEqual(await projects(), [])
})

test('an upgrade makes one for each namespace with Bundles or Placements that has none', async (t) => {
  const { client, parts, projects } = hub(t)
  for (const name of ['shop', 'pos', 'team', 'empty', 'fleet-default']) await ensureNamespace(client, name)
  await client.create(Bundle, buildBundle('shop/hello'))
  await client.create(Bundle, buildBundle('team/hello'))
  await client.create(Bundle, buildBundle('fleet-default/hello'))
  await client.create(Placement, buildPlacement('pos/everywhere'))
  await client.create(Placement, buildPlacement('shop/everywhere'))
  await client.create(Project, buildProject('team', ['team']))
  await installDialectProjects(parts, 'fleet', ['fleet-default', 'fleet-local'])
  assert.deepEqual(await installFirstProjects(parts), ['pos', 'shop'])
  assert.deepEqual(await projects(), [
    'default: default',
    'fleet-default: fleet-default',
    'fleet-local: fleet-local',
    'migrated-pos: pos migrated',
    'migrated-shop: shop migrated',
    'team: team',
  ])
})

test('a dialect makes its Projects once, and never a second one for a namespace', async (t) => {
  const { client, parts, projects } = hub(t)
  await client.create(Project, buildProject('platform', ['fleet-default']))
  await installDialectProjects(parts, 'fleet', ['fleet-default', 'fleet-local'])
  assert.deepEqual(await projects(), ['fleet-local: fleet-local', 'platform: fleet-default'])
  await client.delete(Project, { name: 'fleet-local' })
  await installDialectProjects(parts, 'fleet', ['fleet-default', 'fleet-local'])
  assert.deepEqual(await projects(), ['platform: fleet-default'])
  await installDialectProjects(parts, 'other', [])
  await installFirstProjects(parts)
  assert.deepEqual(await projects(), ['default: default', 'platform: fleet-default'])
})
