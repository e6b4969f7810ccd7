import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import { test } from 'node:test'
import { startApiHome } from '../../src/testing/control-plane/embedded-api.ts'

test('CVE-2023-44487: streams that are opened and reset at once stop no other client', async (t) => {
  const home = await startApiHome()
  t.after(() => home.close())
  const attacker = connect(home.url, { ca: home.ca })
  attacker.on('error', () => {}) // the server may end the session
  for (let n = 0; n < 3_000 && !attacker.destroyed; n++) {
    const stream = attacker.request({ ':path': '/healthz' })
    stream.on('error', () => {})
    stream.close(constants.NGHTTP2_CANCEL)
    if (n % 100 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  const { certificate, privateKey } = home.admin
  const session = connect(home.url, { ca: home.ca, cert: certificate, key: privateKey })
  try {
    const stream = session.request({ ':path': '/api/v1/namespaces' })
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>]
    assert.equal(headers[':status'], 200)
    stream.close()
  } finally {
    session.destroy()
    attacker.destroy()
  }
})
