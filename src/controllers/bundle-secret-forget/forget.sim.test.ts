import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/bundle.ts'
import { build, buildBundle } from '../../testing/builders.ts'
import { startControllersHome } from '../../testing/controllers-home.ts'
import { bundleSecret } from '../bundle-secrets.ts'
import { UNUSED_SINCE } from './reconcile.ts'

test('a Secret of a bundle that is gone is marked at once, and no longer when the bundle is back', async (t) => {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  for (const name of ['app-frozen', 'other'])
    await hub.create(
      build(Secret, `default/${name}`, { data: {} }, name === 'other' ? {} : bundleSecret('default/app', 'frozen')),
      Secret,
    )
  const since = async (name: string) =>
    (await hub.find(Secret, `default/${name}`))?.metadata.annotations?.[UNUSED_SINCE]
  await hub.clock.advance(1000)
  assert.ok(await since('app-frozen'))
  await hub.create(buildBundle('default/app'), Bundle)
  await hub.clock.advance(1000)
  assert.deepEqual([await since('app-frozen'), await since('other')], [undefined, undefined])
  await hub.client.delete(Bundle, { namespace: 'default', name: 'app' })
  await hub.clock.advance(1000)
  assert.ok(await since('app-frozen'))
})
