/** `flotilla access`, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { ClusterRoleBinding, RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Project } from '../../../kinds/native/project.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { buildProject } from '../../../testing/fixtures/projects.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { access } from './access.ts'
import type { AccessFlags } from './access.ts'

async function scene(t: TestContext) {
  const hub = createCliHub(t)
  const { client } = hub
  const role = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole' }
  const subject = (kind: string, name: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name })
  await client.create(Cluster, buildCluster('store-1', { labels: { 'flotilla.dev/cluster-set': 'stores' } }))
  await client.create(Cluster, buildCluster('lab-1'))
  const team = buildProject('team-a', ['default'], { executors: { default: 'team-a/deployer' } })
  await client.create(Project, team)
  await client.create(
    RoleBinding,
    build(RoleBinding, 'default/a', { roleRef: { ...role, name: 'edit' }, subjects: [subject('Group', 'shop')] }),
  )
  await client.create(
    RoleBinding,
    build(RoleBinding, 'kube-public/b', { roleRef: { ...role, name: 'edit' }, subjects: [subject('User', 'bob')] }),
  )
  await client.create(
    ClusterRoleBinding,
    build(ClusterRoleBinding, 'ops', { roleRef: { ...role, name: 'view' }, subjects: [subject('Group', 'ops')] }),
  )
  const run = async (flags: AccessFlags, user?: string) => {
    const connection = user === undefined ? hub.connection : hub.connectionOf(user)
    await access({ connection, terminal: hub.terminal, flags })
    return hub.taken()
  }
  return { ...hub, run }
}

test('shows what each subject may do, on which clusters and as whom', async (t) => {
  const { run } = await scene(t)
  const { out, err } = await run({})
  assert.match(
    out,
    /Group shop +default +deliver, remove, place, change rollouts, read +team-a +all 2 +team-a\/deployer\n/,
  )
  assert.match(out, /User bob +kube-public +deliver.* +none \(NoProject\) +none +-\n/)
  assert.match(out, /Group ops +\(all\) +read +- +none +-\n/)
  assert.doesNotMatch(out, /system/)
  assert.match(err, /rows of subjects of the system are not shown; use --system/)
  assert.match(err, /Members of the group system:masters may do everything/)
})

test('by caller and by cluster', async (t) => {
  const { run } = await scene(t)
  const ofAnn = JSON.parse((await run({ user: 'ann', group: ['shop'], output: 'json' })).out) as { subject: string }[]
  assert.deepEqual(
    ofAnn.map(({ subject }) => subject),
    ['Group shop'],
  )
  const { out } = await run({ cluster: 'store-1' })
  assert.match(out, /Group shop/)
  assert.doesNotMatch(out, /bob|ops/)
  assert.match(await expectErrorText(run({ cluster: 'store-2' })), /cluster "store-2" not found/)
  assert.match(await expectErrorText(run({ serviceAccount: 'x' })), /must be NAMESPACE\/NAME/)
  assert.match((await run({ serviceAccount: 'default/ci' })).err, /No role gives any of them a right/)
})

test('a caller who may not read roles is refused', async (t) => {
  const { run } = await scene(t)
  await assert.rejects(run({}, 'eve'), /forbidden/)
})
