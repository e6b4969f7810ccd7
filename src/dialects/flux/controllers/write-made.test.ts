import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ApiError } from '../../../core/errors.ts'
import type { ApiReason } from '../../../core/errors.ts'
import { jsonClone } from '../../../core/json.ts'
import { silentLogger } from '../../../core/log.ts'
import type { Context } from '../../../engine/reconciler.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { applyDefaults } from '../../../kinds/schema/apply-defaults.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { madeFor } from '../compile/made-objects.ts'
import { Kustomization } from '../kinds.ts'
import type { MadePorts } from './ports.ts'
import { writeMade } from './write-made.ts'

const OWNER = build(Kustomization, 'flux-system/apps', { spec: {} }, { uid: 'uid-apps' })
const DESIRED = madeFor(OWNER, Kustomization, { kind: Bundle, spec: { placement: 'all', source: { name: 'fleet' } } })
const context = { log: silentLogger, signal: new AbortController().signal } as Context

/** Ports with one object in the cache. */
function world(present?: KubeObject) {
  const writes: string[] = []
  const ports: MadePorts = {
    find: () => present,
    apply: async () => void writes.push('apply'),
    replaceSpec: async () => {
      writes.push('replace')
      return present!
    },
    replaced: new Map(),
  }
  return { ports, writes, write: () => writeMade(OWNER, [DESIRED], { ports, context }) }
}

/** The object as an API server stores it. */
function stored(more: object = {}): KubeObject {
  const { metadata, spec, ...rest } = jsonClone(DESIRED.object)
  const object = { ...rest, metadata: { ...metadata, generation: 3 }, spec: { ...(spec as object), ...more } }
  applyDefaults(object, Bundle.schema)
  return object
}

test('an object is written when it is missing, and not when only defaults were added', async () => {
  const missing = world()
  assert.equal(await missing.write(), true)
  assert.deepEqual(missing.writes, ['apply'])
  const same = world(stored())
  assert.equal(await same.write(), false)
  assert.deepEqual(same.writes, [])
})

test('a spec that another client changed is replaced; a server that stores it differently is asked once', async () => {
  const { write, writes } = world(stored({ suspend: true }))
  assert.equal(await write(), false, 'the generation did not change')
  await write()
  assert.deepEqual(writes, ['replace'])
})

test('a refusal of the API waits with its sentence; other errors stay what they are', async () => {
  const failing = (reason: ApiReason) => {
    const { ports } = world()
    const apply = async () => Promise.reject(new ApiError(reason, 'Project team: spec.plans does not list it'))
    return writeMade(OWNER, [DESIRED], { ports: { ...ports, apply }, context })
  }
  const message = 'Bundle kustomization-apps cannot be written: Project team: spec.plans does not list it'
  for (const reason of ['Forbidden', 'Invalid'] as const) {
    await assert.rejects(failing(reason), { name: 'Waiting', reason: 'Refused', message })
  }
  await assert.rejects(failing('Conflict'), { name: 'ApiError', reason: 'Conflict' })
})
