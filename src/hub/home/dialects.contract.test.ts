/** The CRDs of a dialect are installed if missing, and never overwrite existing CRDs. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createApiServer } from '../../apiserver/server/api-server.ts'
import { CONTROLLERS_USER } from '../../apiserver/rbac/controller-rules.ts'
import { createClient } from '../../client/create-client.ts'
import { isApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { FLEET_KINDS, GitRepo } from '../../dialects/fleet/kinds.ts'
import { toCrd } from '../../kinds/crd/to-crd.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { HUB_KINDS } from '../compose/compose-api.ts'
import { DIALECT_LABEL, installDialects } from './dialects.ts'
import { CrdResource } from './kube-home.ts'

test('a dialect installs its kinds once, renews its own, and leaves those of others alone', async (t) => {
  const store = createMemoryStore()
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds: HUB_KINDS, log: silentLogger })
  t.after(() => api.close())
  const caller = { user: 'hub', groups: ['system:masters'] }
  const client = createClient({
    clock: systemClock,
    transport: (request, signal) => api.handle(request, caller, signal),
  })
  const parts = { client, clock: systemClock, signal: new AbortController().signal }
  const theirs = toCrd(GitRepo)
  await client.create(CrdResource, { ...theirs, metadata: { ...theirs.metadata, labels: { app: 'fleet' } } })
  assert.deepEqual(await installDialects(['fleet'], parts), ['fleet'], 'installed for the first time')
  const crds = await Promise.all(
    FLEET_KINDS.map(({ plural, group }) => client.get(CrdResource, { name: `${plural}.${group}` })),
  )
  assert.deepEqual(
    crds.map(({ metadata }) => metadata.labels),
    FLEET_KINDS.map(({ kind }) => (kind === 'GitRepo' ? { app: 'fleet' } : { [DIALECT_LABEL]: 'fleet' })),
  )
  assert.deepEqual(await installDialects(['fleet'], parts), [])
  const again = await Promise.all(crds.map(({ metadata }) => client.get(CrdResource, { name: metadata.name })))
  assert.deepEqual(
    again.map(({ metadata }) => metadata.generation),
    crds.map(({ metadata }) => metadata.generation),
  )
})

test('the controllers have the rights of a dialect only while the hub serves it', async (t) => {
  const store = createMemoryStore()
  const api = createApiServer({ store, clock: systemClock, ids: systemIds, kinds: HUB_KINDS, log: silentLogger })
  t.after(() => api.close())
  const admin = { user: 'hub', groups: ['system:masters'] }
  const clientAs = (caller: typeof admin) =>
    createClient({ clock: systemClock, transport: (request, signal) => api.handle(request, caller, signal) })
  const client = clientAs(admin)
  const controllers = clientAs({ user: CONTROLLERS_USER, groups: ['system:authenticated'] })
  const parts = { client, controllers, clock: systemClock, signal: new AbortController().signal }
  await installDialects(['fleet'], parts)
  const repo = {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'GitRepo',
    metadata: { name: 'r', namespace: 'fleet-local' },
  }
  await client.create(GitRepo, { ...repo, spec: { repo: 'https://git.example/r' } })
  assert.equal((await controllers.list(GitRepo, {})).items.length, 1)
  await installDialects([], parts)
  const refused = async () => {
    try {
      await controllers.list(GitRepo, {})
      return false
    } catch (caught) {
      return isApiError(caught, 'Forbidden')
    }
  }
  while (!(await refused())) await systemClock.sleep(5)
  assert.equal((await client.list(GitRepo, {})).items.length, 1, 'the objects stay')
  await installDialects([], parts)
})
