/** Doors to the API and the gateway: callers without rights, with lost rights, and with too much to say. */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { request as httpsRequest } from 'node:https'
import { connect as connectHttp2 } from 'node:http2'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import { createApplicant } from '../../../src/testing/agents/hostile-agent.ts'
import { sendRaw, statusesIn } from '../../../src/testing/hub/hostile-requests.ts'
import { ROUTES } from '../../../src/wire/link/frames.ts'
import { parseJoinCode } from '../../../src/wire/trust/join-code.ts'
import { eventually, runFlotilla, startFlotilla, temporaryFolder } from '../flotilla-process.ts'
import { tokenOf } from '../hub-rest.ts'
import { send, startDoorHub } from './door-hub.ts'
import type { DoorHub } from './door-hub.ts'

const RBAC = '/apis/rbac.authorization.k8s.io/v1'
const SECRETS = '/api/v1/namespaces/default/secrets'
const READ = ['get', 'list', 'watch']
const POST_CONFIG_MAP = {
  ':method': 'POST',
  ':path': '/api/v1/namespaces/default/configmaps',
  'content-type': 'application/json',
  'content-length': '3000000',
}

const post = (hub: DoorHub, path: string, body: unknown) => hub.admin.json({ method: 'POST', path, body })

/** A watch as its caller sees it: all text so far, and whether the server ended it. */
function openWatch(url: string, token: string) {
  const seen = { text: '', isOver: false }
  const headers = { authorization: `Bearer ${token}` }
  const request = httpsRequest(url, { headers, rejectUnauthorized: false }, (response) => {
    response.setEncoding('utf8').on('data', (chunk: string) => (seen.text += chunk))
    response.on('close', () => (seen.isOver = true)).on('error', () => {})
  })
  request.on('error', () => (seen.isOver = true)).end()
  return { seen, end: () => request.destroy() }
}

test('F3, F11, F15, F16, F18, F25: the API gives a caller what its rights say, and no longer', async (t) => {
  const hub = await startDoorHub(t)

  await t.test('F3: an editor of a namespace without a Project reaches no cluster', async () => {
    await post(hub, '/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
    const mallory = await hub.account('mallory', [])
    await post(hub, `${RBAC}/namespaces/shop/rolebindings`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      metadata: { name: 'edit' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ kind: 'ServiceAccount', name: 'mallory', namespace: 'default' }],
    })
    const native = '/apis/flotilla.dev/v1alpha1/namespaces/shop'
    const add = (kind: string, spec: object) =>
      mallory('POST', `${native}/${kind.toLowerCase()}s`, {
        apiVersion: 'flotilla.dev/v1alpha1',
        kind,
        metadata: { name: 'own' },
        spec,
      })
    const manifests = JSON.stringify({
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: 'own' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'mallory' }],
    })
    const answers = [
      await add('Placement', { clusterSelector: {} }),
      await add('Bundle', { manifests, placement: 'own' }),
    ]
    if (answers.every(({ status }) => status === 201)) {
      const told = await eventually('the Placement says why it selects nothing', async () => {
        const { text } = await mallory('GET', `${native}/placements/own`)
        return /Project/.test(text) ? text : undefined
      })
      assert.match(told, /Project/)
    } else assert.match(answers.map(({ text }) => text).join('\n'), /Project/)
    const { items } = (await hub.admin.json({ method: 'GET', path: `${native}/rollouts` })) as { items: unknown[] }
    assert.deepEqual(items, [], 'nothing is rolled out')
  })

  await t.test('F11: a stranger is refused before its body is read', async () => {
    const { port } = new URL(hub.api)
    for (const authorization of ['Bearer not-a-token', 'Basic YTpi']) {
      const socket = connectTls({ host: '127.0.0.1', port: Number(port), rejectUnauthorized: false })
      const head = `POST /api/v1/namespaces HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\ncontent-length: 3000000\r\n\r\n{`
      assert.deepEqual(statusesIn(await sendRaw(socket, Buffer.from(head), 2_000)), [401], authorization)
    }
    // One connection with a hundred bodies that never end.
    const connection = connectHttp2(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
    const answers = Array.from({ length: 100 }, async () => {
      const stream = connection.request({ ...POST_CONFIG_MAP, authorization: 'Bearer not-a-token' })
      stream.on('error', () => {}).write(Buffer.alloc(16_000, 'x'))
      const [headers] = (await once(stream, 'response')) as [{ readonly ':status'?: number }]
      stream.close()
      return headers[':status']
    })
    assert.deepEqual(new Set(await Promise.all(answers)), new Set([401]))
    connection.destroy()
    await hub.checkAlive()
  })

  await t.test('F15: an open watch ends with the right of its caller', async () => {
    await hub.account('watcher', [{ apiGroups: [''], resources: ['secrets'], verbs: READ }])
    const token = await tokenOf(hub.admin, 'watcher')
    const { seen, end } = openWatch(`${hub.api}${SECRETS}?watch=true`, token)
    const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name }, stringData: { v: name } })
    await post(hub, SECRETS, secret('before-it'))
    await eventually('the watch delivers', async () => (seen.text.includes('before-it') ? true : undefined))
    await hub.admin.json({ method: 'DELETE', path: `${RBAC}/clusterrolebindings/watcher` })
    await eventually('the watch ends', async () => (seen.isOver ? true : undefined))
    await post(hub, SECRETS, secret('after-it'))
    assert.doesNotMatch(seen.text, /after-it/)
    end()
  })

  await t.test('F16: tokens, reads of Secrets and denials are in the audit log, which is verified', async () => {
    const nosy = await hub.account('nosy', [])
    assert.equal((await nosy('GET', `${SECRETS}/before-it`)).status, 403)
    await hub.admin.json({ method: 'GET', path: `${SECRETS}/before-it` })
    const text = await hub.flotilla('audit', '--tail', '500', '-o', 'json')
    for (const trace of [/token"/, /nosy/, /before-it/]) assert.ok(trace.test(text), String(trace))
    await hub.flotilla('audit', '--verify')
  })

  await t.test('F18: the certificate of the administrator lasts for days', () => {
    const config = readFileSync(hub.kubeconfig, 'utf8')
    const data = /client-certificate-data: "?([A-Za-z0-9+/=]+)/.exec(config)?.[1] ?? ''
    const { validFromDate, validToDate } = new X509Certificate(Buffer.from(data, 'base64'))
    const days = (validToDate.getTime() - validFromDate.getTime()) / 86_400_000
    assert.ok(days <= 90, `${days} days`)
  })

  await t.test('F25: huge numbers in a query are answered as Kubernetes does', async () => {
    const reader = await hub.account('reader', [{ apiGroups: [''], resources: ['secrets'], verbs: READ }])
    assert.equal((await reader('GET', `${SECRETS}?limit=99999999999999999999`)).status, 400)
    const { seen, end } = openWatch(
      `${hub.api}${SECRETS}?watch=true&timeoutSeconds=99999999`,
      await tokenOf(hub.admin, 'reader'),
    )
    await eventually('the watch delivers', async () => (seen.text.includes('before-it') ? true : undefined))
    assert.equal(seen.isOver, false, 'a timer that overflows ends at once')
    end()
  })

  await t.test('F25: a support bundle has no annotations of users', async () => {
    const path = '/apis/flotilla.dev/v1alpha1/namespaces/default/placements'
    const metadata = { name: 'noted', annotations: { note: 'canary-7b21' } }
    await post(hub, path, {
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'Placement',
      metadata,
      spec: { clusterSelector: {} },
    })
    const file = join(temporaryFolder(t), 'support.tar.gz')
    await hub.flotilla('support-bundle', file)
    const tar = gunzipSync(readFileSync(file))
    assert.ok(tar.includes('noted'), 'the Placement is in the bundle')
    assert.equal(tar.includes('canary-7b21'), false)
  })

  assert.equal((await hub.process.stop()).code, 0)
})

test('F24: one agent does not fill the disk of the hub with reports', async (t) => {
  const hub = await startDoorHub(t)
  const { code } = JSON.parse(await hub.flotilla('cluster', 'add', 'store-1', '-o', 'json')) as { code: string }
  const who = createApplicant(hub.asApplicant(code), 'store-1')
  const { certificate } = await who.join(code)
  const by = { certificate, key: who.tls.privateKey }
  const report = (n: number) => {
    const message = `${n}`.padEnd(1000, 'x')
    const bundle = (at: number) => ({ bundle: `default/b${at}`, generation: 1, set: `sha256:${'0'.repeat(64)}` })
    const bundles = Array.from({ length: 500 }, (_, at) => ({ ...bundle(at), state: 'Failed', message }))
    const head = { epoch: 1, revision: 1, agentVersion: '0.1.0', kubernetesVersion: 'v1.36.0', bundles }
    return JSON.stringify(head)
  }
  const statuses: number[] = []
  for (let n = 0; n < 40; n += 1) {
    statuses.push((await send('POST', `${hub.gateway}${ROUTES.report}`, { ...by, body: report(n) })).status)
  }
  assert.ok(statuses.includes(429) || statuses.every((status) => status >= 400), statuses.join(' '))
  const data = dirname(hub.kubeconfig)
  const bytes = readdirSync(data)
    .filter((name) => name.startsWith('hub.db'))
    .reduce((sum, name) => sum + statSync(join(data, name)).size, 0)
  assert.ok(bytes < 30_000_000, `${bytes} bytes`)
  await hub.checkAlive()
  assert.equal((await hub.process.stop()).code, 0)
})

test('F21, F22: the CLI writes nothing outside its directory, and an agent shows and keeps no join code', async (t) => {
  const folder = temporaryFolder(t)
  const dir = join(folder, 'in')
  mkdirSync(dir)
  mkdirSync(join(folder, 'out', 'a', 'b'), { recursive: true })
  writeFileSync(join(dir, 'kustomization.yaml'), 'resources: [a.yaml]\n')
  const escaping = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "/../../../escaped"}\n'
  writeFileSync(join(dir, 'a.yaml'), escaping)
  const built = await runFlotilla(t, ['kustomize', 'build', dir, '-o', join(folder, 'out', 'a', 'b')])
  assert.notEqual(built.code, 0)
  assert.deepEqual(
    new Set(readdirSync(join(folder, 'out'), { recursive: true, encoding: 'utf8' })),
    new Set(['a', join('a', 'b')]),
  )

  const hub = await startDoorHub(t)
  const { code } = JSON.parse(await hub.flotilla('cluster', 'add', 'store-1', '-o', 'json')) as { code: string }
  writeFileSync(join(folder, 'code.txt'), code, { mode: 0o600 })
  const more = ['--kubeconfig', hub.kubeconfig, '--data', join(folder, 'agent')]
  const agent = startFlotilla(t, ['agent', 'run', '--join-file', join(folder, 'code.txt'), ...more])
  await eventually('the agent has its certificate and is in contact', async () => {
    const path = '/apis/flotilla.dev/v1alpha1/clusters'
    const { items } = (await hub.admin.json({ method: 'GET', path })) as { items: { status?: { state?: string } }[] }
    return items[0]?.status?.state === 'NotSelected' || undefined
  })
  assert.ok(!readFileSync(`/proc/${agent.pid}/cmdline`, 'utf8').includes(code), 'the process list has no join code')
  await agent.stop()
  const again = await hub.flotilla('cluster', 'add', 'store-2', '-o', 'json')
  const env = { FLOTILLA_JOIN: (JSON.parse(again) as { code: string }).code }
  const own = ['--kubeconfig', hub.kubeconfig, '--data', join(folder, 'agent-2')]
  const second = startFlotilla(t, ['agent', 'run', ...own], { env })
  await eventually('the agent takes the code of FLOTILLA_JOIN', async () => {
    const path = '/apis/flotilla.dev/v1alpha1/clusters'
    const { items } = (await hub.admin.json({ method: 'GET', path })) as { items: unknown[] }
    return items.length === 2 || undefined
  })
  await second.stop()
  const kept = readdirSync(join(folder, 'agent'), { recursive: true, withFileTypes: true }).filter((it) => it.isFile())
  const { token } = parseJoinCode(code)
  for (const { parentPath, name } of kept) {
    assert.ok(!readFileSync(join(parentPath, name), 'utf8').includes(token.secret), `${name} keeps the join token`)
  }
  assert.equal((await hub.process.stop()).code, 0)
})
