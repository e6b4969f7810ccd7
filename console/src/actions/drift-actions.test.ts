import assert from 'node:assert/strict'
import { test } from 'node:test'
import { driftActions, revealAction } from './drift-actions.ts'

const since = '2026-01-01T00:00:00Z'
const ana = { username: 'ana', groups: [], reason: ' sale ', nowMs: Date.parse(since) }
const rowOf = (...fields: string[]) => ({ bundle: 'shop/web', drift: [{ object: 'ConfigMap pos/a', fields, since }] })

test('revert and accept apply the Override of the CLI, in the name of the user', () => {
  const [revert, accept] = driftActions('store-1', rowOf('.data.x'))
  assert.equal(revert!.command, 'flotilla drift revert store-1 --bundle web')
  const { path, method, contentType, body } = revert!.change(ana)
  assert.match(
    path,
    /^\/apis\/flotilla\.dev\/v1alpha1\/namespaces\/shop\/overrides\/revert-web-store-1-[0-9a-f]{8}\?fieldManager=flotilla-cli&force=true$/,
  )
  assert.deepEqual([method, contentType], ['PATCH', 'application/apply-patch+yaml'])
  const { spec } = body as { spec: Record<string, unknown> }
  assert.deepEqual([spec['owner'], spec['reason'], spec['expiresAt']], ['ana', 'sale', '2026-01-01T01:00:00Z'])
  assert.equal(accept!.problem, undefined)
})

test('what cannot be accepted says why; without drift there is nothing to do', () => {
  const [revert, accept] = driftActions('store-1', rowOf('.'))
  assert.equal(revert!.problem, undefined)
  assert.match(accept!.problem ?? '', /^The field \. cannot be accepted/)
  assert.deepEqual(driftActions('store-1', { bundle: 'shop/web' }), [])
})

test('values are asked for with a key of the browser, and the button names the right that is missing', () => {
  const action = revealAction('store-1', 'shop/web', { key: 'KEY', mayAsk: true })
  assert.deepEqual(action.right, { verb: 'reveal', resource: 'bundlestates', namespace: 'shop' })
  assert.equal(action.command, 'flotilla drift show store-1 --bundle shop/web --values')
  const { path, body } = action.change(ana)
  assert.equal(path, '/apis/flotilla.dev/v1alpha1/clusters/store-1?fieldManager=flotilla-console')
  assert.deepEqual(body, { spec: { valuesAsked: { at: since, bundle: 'shop/web', key: 'KEY' } } })
  const unable = revealAction('store-1', 'shop/web', { key: 'KEY', mayAsk: false })
  assert.deepEqual(unable.right, { verb: 'patch', resource: 'clusters' })
})
