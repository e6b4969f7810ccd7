import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Context, Draft } from '../../../engine/reconciler.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { Application } from '../kinds.ts'
import type { ArgoPorts } from './ports.ts'
import { removeApplication } from './remove-application.ts'

/** The finalizers that are left while these removals of the Bundle exist; both clusters are online. */
async function left(...removals: readonly { readonly cause: string; readonly settled: readonly string[] }[]) {
  const finalizers = ['flotilla.dev/removal', 'resources-finalizer.argocd.argoproj.io']
  const app = { ...build(Application, 'n/web', { spec: {} }), metadata: { name: 'web', namespace: 'n', finalizers } }
  const ports = {
    madeFor: () => [],
    nestedIn: () => [],
    isOnline: () => true,
    removalsOf: () =>
      removals.map(({ cause, settled }) => ({
        metadata: { name: 'r' },
        spec: { paused: cause === 'unplaced', removal: { cause, clusters: ['c1'] } },
        status: { settled },
      })),
  } as unknown as ArgoPorts
  const context = { signal: new AbortController().signal } as unknown as Context
  await removeApplication({ next: app } as unknown as Draft<Application>, ports, context)
  return app.metadata.finalizers
}

test('an Application waits for the removal of its Bundle, and not for one of a former destination', async () => {
  assert.equal((await left({ cause: 'bundleDeleted', settled: [] })).length, 2)
  assert.deepEqual(await left({ cause: 'bundleDeleted', settled: ['c1'] }), [])
  assert.deepEqual(await left({ cause: 'unplaced', settled: [] }, { cause: 'bundleDeleted', settled: ['c1'] }), [])
})
