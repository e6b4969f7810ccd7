/** Watches end with the right, the token or the account of their caller (CVE-2023-32199, F15). */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Secret } from '../../core/secret.ts'
import { createUndiciTransport } from '../../client/undici-transport.ts'
import { createApi } from '../../testing/api-contract/harness.ts'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const WATCH = '/api/v1/namespaces/default/secrets?watch=true&resourceVersion='

describe('open watches', () => {
  let home: ApiHome
  let admin: ReturnType<typeof createApi>
  let closeAdmin = async () => {}
  before(async () => {
    home = await startApiHome(undefined, { namespaceDefaults: true })
    const { certificate, privateKey } = home.admin
    const socket = createUndiciTransport({
      server: home.url,
      ca: home.ca,
      cert: certificate,
      key: new Secret(privateKey),
    })
    admin = createApi(socket.transport, 'default')
    closeAdmin = socket.close
    const rules = [{ apiGroups: [''], resources: ['secrets'], verbs: ['list', 'watch'] }]
    await made('POST', `${RBAC}/namespaces/default/roles`, { metadata: { name: 'reader' }, rules })
  })
  after(async () => {
    await closeAdmin()
    await home?.close()
  })

  async function made(method: string, path: string, body: object) {
    const reply = await admin.send(method, path, { body: JSON.stringify(body) })
    assert.ok(reply.status < 300, `${path}: ${reply.text}`)
    return reply.body as { status: { token: string }; metadata: { resourceVersion: string } }
  }

  /** An account that may watch Secrets, and its open watch. */
  async function watcher(name: string) {
    const account = { kind: 'ServiceAccount', name, namespace: 'default' }
    await made('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name } })
    await made('POST', `${RBAC}/namespaces/default/rolebindings`, {
      metadata: { name },
      subjects: [account],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
    })
    const path = `/api/v1/namespaces/default/serviceaccounts/${name}/token`
    const { status } = await made('POST', path, { spec: { expirationSeconds: 3600 } })
    const socket = createUndiciTransport({ server: home.url, ca: home.ca, token: new Secret(status.token) })
    const now = await made('POST', '/api/v1/namespaces/default/configmaps', { metadata: { name: `at-${name}` } })
    const request = { method: 'GET', path: `${WATCH}${now.metadata.resourceVersion}`, headers: {} }
    const response = await socket.transport(request, new AbortController().signal)
    assert.equal(response.status, 200)
    const text = (async () => {
      let seen = ''
      for await (const chunk of response.body) seen += Buffer.from(chunk).toString()
      return seen
    })()
    return { text, close: socket.close }
  }

  const addSecret = (name: string) =>
    made('POST', '/api/v1/namespaces/default/secrets', { metadata: { name }, stringData: { a: 'b' } })

  const revocations = {
    binding: (name: string) => admin.send('DELETE', `${RBAC}/namespaces/default/rolebindings/${name}`),
    account: (name: string) => admin.send('DELETE', `/api/v1/namespaces/default/serviceaccounts/${name}`),
  }
  for (const [what, revoke] of Object.entries(revocations)) {
    it(`end when the ${what} of the caller is deleted`, async () => {
      const revoked = await watcher(`no-${what}`)
      const kept = await watcher(`yes-${what}`)
      await addSecret(`before-${what}`)
      assert.equal((await revoke(`no-${what}`)).status, 200)
      const text = await revoked.text
      await addSecret(`after-${what}`)
      assert.match(text, new RegExp(`before-${what}`))
      assert.doesNotMatch(text, new RegExp(`after-${what}`))
      // The other watch goes on.
      const first = await Promise.race([kept.text, new Promise((resolve) => setTimeout(resolve, 200, 'open'))])
      assert.equal(first, 'open')
      kept.text.catch(() => {})
      await Promise.all([revoked.close(), kept.close()])
    })
  }
})
