import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stalled } from '../../core/errors.ts'
import { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { windowCheckReconciler } from './reconcile.ts'

const window = (spec: Partial<ClusterWindow['spec']>) =>
  build(ClusterWindow, 'nights', {
    spec: { mode: 'Open', times: [{ schedule: '0 2 * * *', duration: '4h' }], reason: 'tills are off', ...spec },
  })

test('a window that can be read is Ready, and says in whose time', async () => {
  const pass = await reconcileOnce(windowCheckReconciler<ClusterWindow>(), window({}), createVirtualClock())
  assert.match(pass.condition('Ready'), /only within its times, in the clusters' own time zones/)
})

const WRONG: readonly [Partial<ClusterWindow['spec']>, RegExp][] = [
  [{ zone: 'Berlin' }, /"Berlin" is not a time zone; use a name such as Europe\/Berlin/],
  [{ times: [{ schedule: '0 2 * *', duration: '4h' }] }, /has 4 fields/],
  [{ times: [{ schedule: '* * * * *', duration: '8000h' }] }, /starts 1440 times a day, too often/],
  [{ times: [{ schedule: '0 2 * * *' }] }, /needs either schedule and duration, or from and until/],
]
for (const [spec, expected] of WRONG) {
  test(`what cannot be read is Stalled and closes: ${expected.source}`, async () => {
    const { error } = await reconcileOnce(windowCheckReconciler<ClusterWindow>(), window(spec), createVirtualClock())
    assert.ok(error instanceof Stalled)
    assert.match(error.message, expected)
    assert.match(error.message, /nothing begins where it is for\.$/)
  })
}
