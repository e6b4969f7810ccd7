/** Doors to the process itself: single requests that ended the hub, or kept it busy. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freePort } from '../../../src/hub/http/free-port.ts'
import { connectTo, rawGet, sendRaw, statusesIn } from '../../../src/testing/hub/hostile-requests.ts'
import { startDoorHub } from './door-hub.ts'

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps'

test('F2, F5, F10: no single request ends the hub or stops it', async (t) => {
  const [metrics, webhook] = [await freePort('127.0.0.1'), await freePort('127.0.0.1')]
  const listen = ['--metrics-listen', `127.0.0.1:${metrics}`, '--webhook-listen', `127.0.0.1:${webhook}`]
  const hub = await startDoorHub(t, listen)
  const page = Number(new URL(hub.console).port)
  const verbs = ['get', 'create', 'update', 'patch']
  const editor = await hub.account('editor', [{ apiGroups: [''], resources: ['configmaps'], verbs }])
  const object = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { a: 'b' } })

  await t.test('F2: a malformed target', async () => {
    for (const port of [page, metrics, webhook]) {
      for (const target of ['//', 'http://[']) {
        const answer = await sendRaw(connectTo(port), rawGet(target, `127.0.0.1:${port}`))
        assert.deepEqual(statusesIn(answer), [400], answer)
      }
    }
    await hub.checkAlive()
  })

  await t.test('F2: an image in a page of another origin', async () => {
    for (const target of ['/', '//']) {
      const headers = ['Sec-Fetch-Site: cross-site', 'Sec-Fetch-Dest: image']
      const [status] = statusesIn(await sendRaw(connectTo(page), rawGet(target, `127.0.0.1:${page}`, headers)))
      assert.ok(status === 403 || (target === '//' && status === 400), `${target}: ${status}`)
    }
    await hub.checkAlive()
  })

  await t.test('F5: copies that double', async () => {
    assert.equal((await editor('POST', CONFIG_MAPS, object('bomb'))).status, 201)
    const copies = (count: number, from: string, path: (n: number) => string) =>
      Array.from({ length: count }, (_, n) => ({ op: 'copy', from, path: path(n) }))
    const bombs = [copies(25, '/data', (n) => `/data/k${n}`), copies(9_999, '/metadata', () => '/metadata/k')]
    for (const bomb of bombs) {
      const answer = await editor('PATCH', `${CONFIG_MAPS}/bomb`, bomb, 'application/json-patch+json')
      assert.equal(answer.status, 413, answer.text)
    }
    await hub.checkAlive()
  })

  await t.test('F10: a strategic merge of very many items', async () => {
    assert.equal((await editor('POST', CONFIG_MAPS, object('many'))).status, 201)
    const finalizers = Array.from({ length: 20_000 }, (_, n) => `a.b/f${n}`)
    const [patched] = await Promise.all([
      editor('PATCH', `${CONFIG_MAPS}/many`, { metadata: { finalizers } }, 'application/strategic-merge-patch+json'),
      hub.checkAlive(),
    ])
    assert.equal(patched.status, 200, patched.text.slice(0, 500))
    await hub.checkAlive()
  })

  assert.equal((await hub.process.stop()).code, 0)
})
