/** `check --agent` beside a running agent: all is well, then one thing after the other is not. */
import assert from 'node:assert/strict'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { Role, RoleBinding } from '../../src/kinds/builtin/rbac.ts'
import { Namespace, ServiceAccount } from '../../src/kinds/builtin/core.ts'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { Placement } from '../../src/kinds/native/placement.ts'
import { build } from '../../src/testing/fixtures/builders.ts'
import { clientByKubeconfig } from '../../src/testing/control-plane/kubeconfig-client.ts'
import { eventually, FREE, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const EXECUTOR = { namespace: 'shop', name: 'deployer' }
const MANIFESTS = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata: {a: b}\n'

/** Runs it with a cluster; `strangers` is a kubeconfig of a user without permissions. */
export async function checkAgentFlow(t: Cleanup, kubeconfig: string, strangers: string): Promise<void> {
  const cluster = await clientByKubeconfig(kubeconfig)
  t.after(() => cluster.close())
  await cluster.client.create(Namespace, build(Namespace, EXECUTOR.namespace, {}))
  const account = `${EXECUTOR.namespace}/${EXECUTOR.name}`
  await cluster.client.create(ServiceAccount, build(ServiceAccount, account, {}))
  const verbs = ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete']
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs }]
  await cluster.client.create(Role, build(Role, account, { rules }))
  const binding = build(RoleBinding, account, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: EXECUTOR.name },
    subjects: [{ kind: 'ServiceAccount', ...EXECUTOR }],
  })
  await cluster.client.create(RoleBinding, binding)

  const hub = startFlotilla(t, ['hub', 'run', '--data', join(temporaryFolder(t), 'hub'), ...FREE])
  const [, gateway = '', admin = ''] = await hub.says(/gateway (\S+?),? .*kubeconfig (\S+)\n/)
  const added = await runFlotilla(t, ['cluster', 'add', 'shop-1', '-o', 'json', '--kubeconfig', admin])
  const { code } = JSON.parse(added.stdout) as { code: string }
  const data = join(temporaryFolder(t), 'agent')
  const agent = startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', kubeconfig, '--data', data])
  const fleet = await clientByKubeconfig(admin)
  t.after(() => fleet.close())
  const placed = { spec: { clusterSelector: {} } }
  await fleet.client.create(Placement, build(Placement, 'default/all', placed))
  const spec = { placement: 'all', manifests: MANIFESTS, executor: EXECUTOR }
  await fleet.client.create(Bundle, build(Bundle, 'default/web', { spec }))

  const check = async (by = kubeconfig) => {
    const args = ['check', '--agent', '--data', data, '--kubeconfig', by, '-o', 'short']
    const { code: exit, stdout } = await runFlotilla(t, args)
    return { exit, said: stdout }
  }
  let last = ''
  const whole = await eventually('the agent has the bundle and all is well', async () => {
    const { stdout, code: exit } = await runFlotilla(t, [
      'check',
      '--agent',
      '--data',
      data,
      '--kubeconfig',
      kubeconfig,
    ])
    last = stdout
    return exit === 0 && stdout.includes('default/web') ? stdout : undefined
  }).catch(() => assert.fail(last))
  for (const line of [
    '√ joined as shop-1',
    `√ ${gateway} answers`,
    '√ the server is the hub of the join code',
    '√ the agent may store its state',
    '√ ServiceAccount shop/deployer may change the objects of default/web (6 permissions)',
  ]) {
    assert.ok(whole.includes(line), `${line}\n${whole}`)
  }

  await cluster.client.delete(RoleBinding, EXECUTOR)
  const denied = await check()
  assert.equal(denied.exit, 1)
  assert.match(
    denied.said,
    /× ServiceAccount shop\/deployer, for default\/web, may not get, create, patch, delete configmaps in namespace shop\n {4}see https:\/\/\S+\/checks\.md#executor-rights/,
  )
  await cluster.client.create(RoleBinding, binding)
  const stranger = await check(strangers)
  assert.equal(stranger.exit, 1)
  assert.match(
    stranger.said,
    /× the agent cannot store its state: it may not get, list, create, update, delete configmaps in namespace flotilla-agent/,
  )
  chmodSync(data, 0o755)
  const open = await check()
  assert.equal(open.exit, 0, open.said)
  assert.match(open.said, /‼ \S+ contains the keys of the agent and can be read by other users/)
  chmodSync(data, 0o700)

  await agent.stop()
  await hub.stop()
  const silent = await check()
  assert.equal(silent.exit, 1)
  assert.match(
    silent.said,
    /× https:\S+: connect ECONNREFUSED \S+\n {4}see https:\/\/\S+\/checks\.md#gateway-reachable/,
  )
  const listen = gateway.replace('https://', '')
  const free = FREE.map((word, at) => (FREE[at - 1] === '--gateway-listen' ? listen : word))
  const other = startFlotilla(t, ['hub', 'run', '--data', join(temporaryFolder(t), 'other'), ...free])
  await other.says(/flotilla hub ready/)
  const wrong = await check()
  assert.equal(wrong.exit, 1)
  assert.match(wrong.said, /× the hub's root key is sha256:\w+, but the join code pins sha256:\w+: this is not the hub/)
  await other.stop()
}
