import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { build, buildBundle } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import { BUNDLE_ANNOTATION, BUNDLE_SECRET_LABEL, BUNDLE_SECRET_MAKER, bundleSecret } from '../secrets/bundle-secrets.ts'
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

test('Secrets of bundles from before they were marked are found at the start, and wait as the others; those of people are not touched', async (t) => {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  const make = (name: string, data: Record<string, string>, fieldManager: string) =>
    hub.client.create(Secret, build(Secret, `default/${name}`, { data }), { fieldManager })
  await make('gone-values-key', { key: 'QUFB' }, BUNDLE_SECRET_MAKER)
  await make('gone-frozen', { 'frozen.json': 'e30=' }, BUNDLE_SECRET_MAKER)
  await make('yoghurt-frozen', { 'frozen.json': 'e30=' }, 'kubectl-create')
  await make('tls-values-key', { other: 'QUFB' }, BUNDLE_SECRET_MAKER)
  await hub.restart()
  await hub.clock.advance(2000)
  const marked = (await hub.client.list(Secret, { labelSelector: `${BUNDLE_SECRET_LABEL}=true` })).items
  assert.deepEqual(
    marked.map(({ metadata }) => [metadata.name, metadata.annotations?.[BUNDLE_ANNOTATION]]),
    [
      ['gone-frozen', 'gone'],
      ['gone-values-key', 'gone'],
    ],
  )
  for (const { metadata } of marked) assert.ok(metadata.annotations?.[UNUSED_SINCE], 'their week has begun')
})
