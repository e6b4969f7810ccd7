/**
 * Two tenants on a hub whose home is a kube-apiserver, with all dialects, known by their client certificates; and what
 * the content of one of them can do in a real cluster.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createClient } from '../../src/client/create-client.ts'
import { readKubeconfig } from '../../src/client/kubeconfig.ts'
import { createRest } from '../../src/client/rest.ts'
import { createUndiciTransport } from '../../src/client/undici-transport.ts'
import type { Transport } from '../../src/core/http.ts'
import { systemClock } from '../../src/core/time/system-clock.ts'
import { ConfigMap, Namespace, Secret } from '../../src/kinds/builtin/core.ts'
import { Role, RoleBinding } from '../../src/kinds/builtin/rbac.ts'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { ClusterReport } from '../../src/kinds/native/cluster-report.ts'
import { Cluster } from '../../src/kinds/native/cluster.ts'
import { Placement } from '../../src/kinds/native/placement.ts'
import { Project } from '../../src/kinds/native/project.ts'
import { Source } from '../../src/kinds/native/source.ts'
import { startControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import type { ControlPlane } from '../../src/testing/control-plane/control-plane.ts'
import { build, buildBundle, configMapManifest } from '../../src/testing/fixtures/builders.ts'
import { createTestRepository } from '../../src/testing/fixtures/git-repository.ts'
import { deputiesContract } from '../../src/testing/tenancy/deputies-contract.ts'
import { dialectDeputiesContract } from '../../src/testing/tenancy/dialect-deputies-contract.ts'
import { eventually, passRealTime, prepareTenants, refusalOf } from '../../src/testing/tenancy/tenancy-world.ts'
import type { TenancyWorld } from '../../src/testing/tenancy/tenancy-world.ts'
import { walkContract } from '../../src/testing/tenancy/walk-contract.ts'
import { startFleetHub } from './fleet-flow.ts'
import { lastFirst, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { FlotillaProcess } from './flotilla-process.ts'

const RBAC = 'rbac.authorization.k8s.io'
const ends: (() => void | Promise<void>)[] = []
const t = lastFirst({ after: (end) => void ends.push(end) })
let world: TenancyWorld
let kubeconfig: string
let site: ControlPlane
let siteWorld: TenancyWorld['admin']
const repository = createTestRepository()

async function transportOf(file: string): Promise<Transport> {
  const text = readFileSync(file, 'utf8')
  const { connection } = await readKubeconfig({ text, file, readFile: async (path) => readFileSync(path, 'utf8') })
  const { transport, close } = createUndiciTransport(connection)
  t.after(close)
  return transport
}

const USERS = ['viewer-a', 'viewer-b', 'editor-a', 'editor-b', 'tokens', 'owner', 'operator', 'binder', 'fetcher']
const MORE_USERS = ['fleet-user', 'self-approver']

before(async () => {
  t.after(() => repository.remove())
  const home = await startControlPlane({ controllers: true })
  t.after(() => home.stop())
  site = await startControlPlane()
  t.after(() => site.stop())
  const flags = ['--dialects', 'fleet,flux,ocm,argo', '--source-paths', repository.path]
  const started = await startFleetHub(t, '--kubeconfig', home.kubeconfigPath, ...flags)
  kubeconfig = started.kubeconfig
  const transport = await transportOf(home.kubeconfigPath)
  const users = new Map<string, ReturnType<TenancyWorld['as']>>()
  for (const user of [...USERS, ...MORE_USERS]) {
    const own = await transportOf(home.writeKubeconfig(user))
    users.set(user, { transport: own, client: createClient({ transport: own, clock: systemClock }) })
  }
  const rest = createRest({ transport, clock: systemClock, userAgent: 'test' })
  world = {
    admin: createClient({ transport, clock: systemClock }),
    as: (user) => users.get(user)!,
    pass: passRealTime,
    read: (path) => rest.json({ method: 'GET', path }),
  }
  siteWorld = createClient({ transport: await transportOf(site.kubeconfigPath), clock: systemClock })
  await prepareTenants(world)
  // The controller manager has aggregated view and edit, and the policies know their parameters.
  await eventually(world, 'edit of a namespace', async () => {
    const probe = buildBundle('team-a/probe')
    const [made] = await Promise.allSettled([world.as('editor-a').client.create(Bundle, probe, { dryRun: true })])
    return made.status === 'fulfilled' ? true : undefined
  })
  const foreign = { ...buildBundle('team-b/probe'), spec: { ...buildBundle('team-b/probe').spec } }
  const executor = { namespace: 'team-a', name: 'deployer' }
  await eventually(world, 'policies with their parameters', async () => {
    const probe = { ...foreign, spec: { ...foreign.spec, executor } }
    const refused = refusalOf(world.as('editor-b').client.create(Bundle, probe, { dryRun: true }))
    return (await refused.catch(() => '')).includes('spec.executors.allowed') ? true : undefined
  })
})
after(async () => {
  for (const end of ends) await end()
})

// Hub templates are refused beside controllers that would run them.
walkContract(
  'kube-apiserver',
  () => world,
  (resource) => !resource.endsWith('.karmada.io'),
)
deputiesContract('kube-apiserver', () => world)
dialectDeputiesContract('kube-apiserver', () => world)

describe('content of a tenant on a real cluster', () => {
  let code = ''
  let agent: FlotillaProcess

  async function addCluster(): Promise<string> {
    const args = ['cluster', 'add', 'store-2', '-o', 'json', '--kubeconfig', kubeconfig]
    const added = await runFlotilla(t, args)
    assert.equal(added.code, 0, added.stderr)
    return (JSON.parse(added.stdout) as { code: string }).code
  }

  function runAgent(joinCode: string): FlotillaProcess {
    const folder = join(temporaryFolder(t), 'agent')
    return startFlotilla(t, ['agent', 'run', '--join', joinCode, '--kubeconfig', site.kubeconfigPath, '--data', folder])
  }

  /** The message of the bundle on store-2, once it matches. */
  async function untilRow(bundle: string, says: RegExp): Promise<void> {
    let last = 'no row'
    await eventually(world, bundle, async () => {
      const [report] = (await world.admin.list(ClusterReport)).items.filter(
        ({ metadata }) => metadata.name === 'store-2',
      )
      const row = report?.spec.bundles?.find((one) => one.bundle === `team-b/${bundle}`)
      last = `${row?.state} ${row?.message ?? ''}`
      return says.test(last) ? true : undefined
    }).catch((caught: unknown) => assert.match(last, says, String(caught)))
  }

  const deliver = (name: string, spec: Partial<Bundle['spec']>) =>
    world.as('editor-b').client.create(Bundle, buildBundle(`team-b/${name}`, { placement: 'stores', ...spec }))

  before(async () => {
    for (const team of ['team-a', 'team-b', 'flotilla-agent'])
      await siteWorld.create(Namespace, build(Namespace, team, {}))
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }]
    const roleRef = { apiGroup: RBAC, kind: 'Role', name: 'deployer' }
    for (const namespace of ['team-a', 'team-b']) {
      await siteWorld.create(Role, build(Role, `${namespace}/deployer`, { rules }))
      const subjects = [{ kind: 'ServiceAccount', namespace, name: 'deployer' }]
      await siteWorld.create(RoleBinding, build(RoleBinding, `${namespace}/deployer`, { roleRef, subjects }))
    }
    await siteWorld.create(Secret, build(Secret, 'team-a/db', { stringData: { password: 'of-a' } }))
    code = await addCluster()
    agent = runAgent(code)
  })

  test('runs as the executor of the Project of its own team', async () => {
    await deliver('mine', { manifests: configMapManifest('mine', { v: '1' }, 'team-b') })
    await untilRow('mine', /^Ready /)
    const { metadata } = await siteWorld.get(ConfigMap, { namespace: 'team-b', name: 'mine' })
    assert.equal(metadata.name, 'mine')
  })

  test('does not leave its namespaces when a Project allows everything by mistake: the cluster refuses', async () => {
    const project = await world.admin.get(Project, { name: 'team-b' })
    const spec = { ...project.spec, kinds: ['*'], targetNamespaces: ['*'] }
    await world.admin.update(Project, { ...project, spec })
    for (const [name, content, says] of [
      ['system', configMapManifest('x', {}, 'kube-system'), /system:serviceaccount:team-b:deployer/],
      ['other', configMapManifest('x', {}, 'team-a'), /system:serviceaccount:team-b:deployer/],
      ['agents', configMapManifest('x', {}, 'flotilla-agent'), /flotilla-agent/],
      [
        'roles',
        `apiVersion: ${RBAC}/v1\nkind: ClusterRole\nmetadata: {name: all}\nrules: []\n`,
        /system:serviceaccount:team-b:deployer/,
      ],
    ] as const) {
      await deliver(name, { manifests: content })
      await untilRow(name, says)
    }
    for (const namespace of ['kube-system', 'team-a', 'flotilla-agent']) {
      const { items } = await siteWorld.list(ConfigMap, { namespace })
      assert.deepEqual(
        items.filter(({ metadata }) => metadata.name === 'x'),
        [],
      )
    }
  })

  test('does not look up the Secret of another team', async () => {
    const template = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: found, namespace: team-b}\ndata: {v: '{{ (lookup "v1" "Secret" "team-a" "db").data }}'}\n`
    const chart = {
      'chart/Chart.yaml': 'apiVersion: v2\nname: c\nversion: 1.0.0\n',
      'chart/templates/a.yaml': template,
    }
    repository.commit(chart, { branch: 'main' })
    const git = { url: repository.path, ref: { branch: 'main' } }
    await world.as('fetcher').client.create(Source, build(Source, 'team-b/charts', { spec: { git, interval: '1m' } }))
    const content = {
      manifests: undefined,
      source: { name: 'charts', path: 'chart' },
      render: { at: 'Agent' as const },
    }
    await deliver('lookup', content)
    await untilRow('lookup', /secrets "db" is forbidden|team-a/)
    const { items } = await siteWorld.list(ConfigMap, { namespace: 'team-b' })
    assert.ok(!items.some(({ metadata }) => metadata.name === 'found'))
  })

  test('a code that was used, and a name that is taken, give no identity', async () => {
    const before = await world.admin.get(Cluster, { name: 'store-2' })
    const again = await runFlotilla(t, ['cluster', 'add', 'store-2', '--kubeconfig', kubeconfig])
    assert.match(again.stderr, /cluster "store-2" already exists/)
    const thief = runAgent(code)
    await eventually(world, 'the refusal', async () => (/refused|used/i.test(thief.logged()) ? true : undefined))
    await thief.stop()
    const now = await world.admin.get(Cluster, { name: 'store-2' })
    assert.equal(now.spec.identityKey, before.spec.identityKey)
    assert.equal(now.spec.sealingKey, before.spec.sealingKey)
    await deliver('still', { manifests: configMapManifest('still', {}, 'team-b') })
    await untilRow('still', /^Ready /)
  })

  test('a chart that is never rendered keeps no object of the other team, and each deletes only its own', async () => {
    const ann = world.as('editor-a').client
    await ann.create(Placement, build(Placement, 'team-a/stores', { spec: { clusterSelector: {} } }))
    const manifests = configMapManifest('theirs', {}, 'team-a')
    await ann.create(Bundle, buildBundle('team-a/theirs', { placement: 'stores', manifests }))
    const isThere = async (namespace: string, name: string) =>
      (await siteWorld.list(ConfigMap, { namespace })).items.some(({ metadata }) => metadata.name === name)
    const until = (is: boolean, namespace: string, name: string) =>
      eventually(world, `${namespace}/${name} is there: ${is}`, async () =>
        (await isThere(namespace, name)) === is ? true : undefined,
      )
    await until(true, 'team-a', 'theirs')
    const project = await world.admin.get(Project, { name: 'team-b' })
    const spec = { ...project.spec, kinds: ['ConfigMap'], targetNamespaces: ['team-b'] }
    await world.admin.update(Project, { ...project, spec })
    await untilRow('lookup', /spec\.targetNamespaces does not list team-a, so Secret cannot be looked up there/)
    await ann.delete(Bundle, { namespace: 'team-a', name: 'theirs' })
    await until(false, 'team-a', 'theirs')
    await world.as('editor-b').client.delete(Bundle, { namespace: 'team-b', name: 'lookup' })
    await world.as('editor-b').client.delete(Bundle, { namespace: 'team-b', name: 'mine' })
    await until(false, 'team-b', 'mine')
    assert.ok(await isThere('team-b', 'still'))
    assert.equal((await agent.stop()).code, 0)
  })
})
