import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../kinds/builtin/core.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { bundleSecret, bundleSecretKeys } from '../secrets/bundle-secrets.ts'
import { bundleSecretForgetReconciler, KEPT_MS, UNUSED_SINCE } from './reconcile.ts'

const DAY_MS = 24 * 3600 * 1000

function fixture() {
  const clock = createVirtualClock()
  const removed: string[] = []
  const used = new Set<string>()
  const reconciler = bundleSecretForgetReconciler({
    isUsed: (bundle) => used.has(bundle),
    remove: async ({ metadata }) => void removed.push(metadata.name),
  })
  const pass = (secret: Secret) => reconcileOnce(reconciler, secret, clock)
  return { clock, removed, used, pass }
}

const frozen = build(Secret, 'default/app-frozen', { data: {} }, bundleSecret('default/app', 'frozen'))

test('a Secret of a bundle waits a week for its bundle, and goes when that does not return', async () => {
  const { clock, removed, used, pass } = fixture()
  used.add('default/app')
  assert.equal((await pass(frozen)).commit, 'Nothing')
  used.clear()
  const marked = await pass(frozen)
  assert.equal(marked.commit, 'Object')
  assert.equal(marked.result?.requeueAfterMs, KEPT_MS)
  await clock.advance(6 * DAY_MS)
  assert.deepEqual([(await pass(marked.draft.next)).result?.requeueAfterMs, removed], [DAY_MS, []])
  await clock.advance(DAY_MS)
  await pass(marked.draft.next)
  assert.deepEqual(removed, ['app-frozen'])
})

test('a bundle that is back has its Secret again, with the whole time before it', async () => {
  const { clock, removed, used, pass } = fixture()
  const marked = (await pass(frozen)).draft.next
  await clock.advance(2 * KEPT_MS)
  used.add('default/app')
  const back = (await pass(marked)).draft.next
  assert.equal(back.metadata.annotations?.[UNUSED_SINCE], undefined)
  used.clear()
  assert.equal((await pass(back)).result?.requeueAfterMs, KEPT_MS)
  assert.deepEqual(removed, [])
})

test('Secrets without the name of a bundle, or on their way out, are left alone; a time that cannot be read begins anew', async () => {
  const { removed, pass } = fixture()
  const other = build(Secret, 'default/other', { data: {} })
  const going = { ...frozen, metadata: { ...frozen.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } }
  assert.deepEqual([(await pass(other)).commit, (await pass(going)).commit], ['Nothing', 'Nothing'])
  const odd = structuredClone(frozen)
  odd.metadata.annotations![UNUSED_SINCE] = 'long ago'
  assert.equal((await pass(odd)).commit, 'Object')
  assert.deepEqual(removed, [])
  assert.deepEqual(bundleSecretKeys('ns/app'), ['ns/app-frozen', 'ns/app-values-key'])
})
