import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { needBinary } from '../../testing/testenv.ts'

describe('the real kubectl on who may do what, and its typed commands', { timeout: 120_000 }, () => {
  let home: ApiHome
  let folder: string

  before(async () => {
    home = await startApiHome()
    folder = await mkdtemp(join(tmpdir(), 'flotilla-kubectl-'))
    await writeFile(join(folder, 'kubeconfig'), home.kubeconfig)
    assert.equal(await ok('create', 'namespace', 'shop'), 'namespace/shop created\n')
  })
  after(async () => {
    await home?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  interface Outcome {
    readonly code: number
    readonly out: string
    readonly err: string
  }

  function run(config: string, args: readonly string[]): Promise<Outcome> {
    const all = ['--kubeconfig', join(folder, config), '--cache-dir', join(folder, 'cache'), '-n', 'shop', ...args]
    return new Promise((resolve) => {
      execFile(needBinary('kubectl'), all, { cwd: folder, timeout: 60_000 }, (error, out, err) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, out, err })
      })
    })
  }

  const kubectl = (...args: readonly string[]) => run('kubeconfig', args)

  async function ok(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await kubectl(...args)
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${err}${out}`)
    return out
  }

  /** A kubeconfig that proves its user by a token alone. */
  async function configWithToken(name: string, token: string): Promise<void> {
    const config = JSON.parse(home.kubeconfig) as { users: unknown[] }
    await writeFile(join(folder, name), JSON.stringify({ ...config, users: [{ name: 'admin', user: { token } }] }))
  }

  it('typed create commands', async () => {
    assert.equal(await ok('create', 'configmap', 'c', '--from-literal=a=b'), 'configmap/c created\n')
    assert.equal(await ok('get', 'cm', 'c', '-o', 'jsonpath={.data.a}'), 'b')
    await ok('create', 'secret', 'generic', 's', '--from-literal=a=b')
    assert.equal(await ok('get', 'secret', 's', '-o', 'jsonpath={.data.a} {.type}'), 'Yg== Opaque')
    await ok('create', 'deployment', 'd', '--image=web:1', '--replicas=0', '--port=80', '--', 'serve', '-x')
    const path = '-o=jsonpath={.spec.replicas} {.spec.template.spec.containers[0].ports[0].containerPort}'
    assert.equal(await ok('get', 'deploy', 'd', path), '0 80')
    assert.equal(
      await ok('get', 'deploy', 'd', '-o=jsonpath={.spec.template.spec.containers[0].command}'),
      '["serve","-x"]',
    )
    await ok('delete', 'deploy', 'd')
  })

  it('create role and rolebinding, auth can-i, can-i --list', async () => {
    await ok('create', 'serviceaccount', 'robot')
    await ok('create', 'role', 'reader', '--verb=get,list', '--resource=configmaps', '--resource-name=c')
    await ok('create', 'role', 'lister', '--verb=list', '--resource=bundles.flotilla.dev/status')
    await ok('create', 'rolebinding', 'reader', '--role=reader', '--serviceaccount=shop:robot', '--user=bob')
    await ok('create', 'clusterrole', 'health', '--verb=get', '--non-resource-url=/metrics')
    await ok('create', 'clusterrolebinding', 'health', '--clusterrole=health', '--group=watchers')
    assert.equal(await ok('auth', 'can-i', 'delete', 'bundles'), 'yes\n')
    const bob = ['--as=bob'] as const
    assert.equal(await ok('auth', 'can-i', 'get', 'configmaps/c', ...bob), 'yes\n')
    const no = await kubectl('auth', 'can-i', 'get', 'configmaps/d', ...bob)
    assert.deepEqual([no.code, no.out], [1, 'no\n'])
    assert.equal(await ok('auth', 'can-i', 'get', '/metrics', '--as=x', '--as-group=watchers'), 'yes\n')
    const listed = await ok('auth', 'can-i', '--list', ...bob)
    assert.match(listed, /^configmaps +\[\] +\[c\] +\[get list\]$/m)
    assert.match(listed, /^selfsubjectaccessreviews\.authorization\.k8s\.io .*\[create\]$/m)
    assert.match(await ok('get', 'rolebindings', '-o', 'wide'), /^reader +Role\/reader +\S+ +bob +shop\/robot$/m)
  })

  it('auth whoami, with groups in their order', async () => {
    assert.match(await ok('auth', 'whoami'), /^Username +admin\s/m)
    const bob = await ok('auth', 'whoami', '--as=bob', '--as-group=b', '--as-group=a', '--as-uid=7')
    assert.match(bob, /^Groups +\[b a system:authenticated\]$/m)
    assert.match(bob, /^UID +7$/m)
    const alone = await kubectl('get', 'cm', '--as-group=b')
    assert.match(alone.err, /without impersonating a user|user must be specified|requires.*--as/i)
  })

  it('create token: its bearer may what the account may, until the account is gone', async () => {
    const token = (await ok('create', 'token', 'robot', '--duration=20m')).trim()
    await configWithToken('robot', token)
    assert.match((await run('robot', ['auth', 'whoami'])).out, /^Username +system:serviceaccount:shop:robot$/m)
    assert.equal((await run('robot', ['get', 'cm', 'c', '-o', 'name'])).out, 'configmap/c\n')
    const refused = await run('robot', ['get', 'cm'])
    assert.match(
      refused.err,
      /configmaps is forbidden: User "system:serviceaccount:shop:robot" cannot list resource "configmaps" in API group "" in the namespace "shop"/,
    )
    const secret = await ok('get', 'secret', 's', '-o', 'jsonpath={.metadata.uid}')
    const bound = ['--bound-object-kind=Secret', '--bound-object-name=s', `--bound-object-uid=${secret}`]
    await configWithToken('bound', (await ok('create', 'token', 'robot', ...bound)).trim())
    assert.equal((await run('bound', ['get', 'cm', 'c', '-o', 'name'])).code, 0)
    await ok('delete', 'secret', 's')
    assert.match((await run('bound', ['get', 'cm', 'c'])).err, /logged in|Unauthorized/)
    await ok('delete', 'serviceaccount', 'robot')
    assert.match((await run('robot', ['get', 'cm', 'c'])).err, /logged in|Unauthorized/)
  })

  it('auth reconcile, and a refusal to give away what one does not have', async () => {
    await ok('create', 'role', 'maker', '--verb=create', '--resource=roles.rbac.authorization.k8s.io')
    await ok('create', 'rolebinding', 'maker', '--role=maker', '--user=eve')
    const refused = await kubectl('create', 'role', 'more', '--verb=get', '--resource=secrets', '--as=eve')
    assert.equal(refused.code, 1)
    assert.match(refused.err, /user "eve" .*is attempting to grant RBAC permissions not currently held:/)
    const rules = '[{apiGroups: [""], resources: [secrets], verbs: [get]}]'
    const text = `apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata: {name: maker, namespace: shop}\nrules: ${rules}\n`
    await writeFile(join(folder, 'role.yaml'), text)
    assert.match(await ok('auth', 'reconcile', '-f', 'role.yaml'), /maker reconciled/)
    assert.equal(await ok('auth', 'can-i', 'get', 'secrets', '--as=eve'), 'yes\n')
  })
})
