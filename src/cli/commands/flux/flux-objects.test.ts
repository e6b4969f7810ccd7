/** `flotilla flux get`, `suspend`, `resume`, `reconcile` and `tree` against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../../core/time/system-clock.ts'
import { GitRepository, Kustomization } from '../../../dialects/flux/kinds.ts'
import { HelmRelease } from '../../../dialects/flux/release/release-kind.ts'
import { HelmChart, HelmRepository } from '../../../dialects/flux/source-kinds.ts'
import { installDialects } from '../../../hub/home/dialects.ts'
import { RoleBinding } from '../../../kinds/builtin/rbac.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject, ObjectMeta } from '../../../kinds/meta.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { FLUX_COMMAND_KINDS } from './flux-kinds.ts'
import { fluxGet, fluxReconcile, fluxSuspend } from './flux-objects.ts'
import { fluxTree } from './flux-tree.ts'
import type { FluxInput } from './flux-objects.ts'

const { signal } = new AbortController()
const NS = 'flux-system'
const HASH = 'abcdef0123456789abcdef0123456789abcdef01'

async function started(t: TestContext) {
  const hub = createCliHub(t)
  const { client, terminal } = hub
  await installDialects(['flux'], { client, clock: systemClock, signal })
  const input = (flags: FluxInput['flags'] = {}, user?: string) => ({
    connection: user === undefined ? hub.connection : hub.connectionOf(user),
    terminal,
    signal,
    flags,
  })
  const condition = (status: 'True' | 'False', message: string) => [
    { type: 'Ready', status, reason: 'X', message, lastTransitionTime: '2026-01-01T00:00:00Z' },
  ]
  const repository = await client.create(
    GitRepository,
    build(GitRepository, `${NS}/fleet`, { spec: { interval: '1m', url: 'https://git/x' } }),
  )
  const artifact = { revision: `main@sha1:${HASH}`, digest: 'x', lastUpdateTime: '2026-01-01T00:00:00Z', size: 1 }
  const stored = condition('True', `stored artifact for revision 'main@sha1:${HASH}'`)
  await client.update(
    GitRepository,
    { ...repository, status: { artifact, conditions: stored } },
    { subresource: 'status' },
  )
  for (const [name, conditions] of Object.entries({
    apps: condition('True', `Applied revision: main@sha1:${HASH}`),
    infra: condition('False', 'no cluster is named'),
  })) {
    const spec = { interval: '1m', prune: true, sourceRef: { kind: 'GitRepository', name: 'fleet' } }
    const labels: Record<string, string> = name === 'infra' ? { team: 'web' } : {}
    const made = await client.create(Kustomization, build(Kustomization, `${NS}/${name}`, { spec }, { labels }))
    const inventory = {
      entries: [
        { id: '_apps__Namespace', v: 'v1' },
        { id: 'apps_web_apps_Deployment', v: 'v1' },
      ],
    }
    const status = { conditions, ...(name === 'apps' ? { inventory, lastAppliedRevision: `main@sha1:${HASH}` } : {}) }
    await client.update(Kustomization, { ...made, status }, { subresource: 'status' })
  }
  return { hub, client, input }
}

const { kustomization, git } = FLUX_COMMAND_KINDS

test('get prints the columns of Flux', async (t) => {
  const { hub, input } = await started(t)
  await fluxGet([kustomization], undefined, input())
  assert.deepEqual(
    hub
      .taken()
      .out.trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
    [
      ['NAME', 'REVISION', 'SUSPENDED', 'READY', 'MESSAGE'],
      ['apps', 'main@sha1:abcdef01', 'False', 'True', 'Applied revision: main@sha1:abcdef01'],
      ['infra', '', 'False', 'False', 'no cluster is named'],
    ].map((cells) => cells.map((cell) => (cell === '' ? '<none>' : cell))),
  )
  await fluxGet([git, kustomization], undefined, input({ allNamespaces: true, statusSelector: 'ready=false' }))
  assert.match(hub.taken().out, /^NAMESPACE +NAME .*\nflux-system +kustomization\/infra /)
  await fluxGet([kustomization], undefined, input({ namespace: 'none' }))
  assert.deepEqual(hub.taken(), { out: '', err: 'no Kustomization objects found in none namespace\n' })
  await fluxGet([kustomization], undefined, input({ labelSelector: 'team=web' }))
  assert.match(hub.taken().out, /^NAME .*\ninfra [^\n]*\n$/)
  await fluxGet([kustomization], undefined, input({ labelSelector: 'team!=web' }))
  assert.match(hub.taken().out, /^NAME .*\napps [^\n]*\n$/)
  assert.match(
    await expectErrorText(fluxGet([kustomization], 'infra', input({ labelSelector: 'team=web' }))),
    /--label-selector cannot be combined with a name/,
  )
  assert.match(await expectErrorText(fluxGet([git], 'flet', input())), /GitRepository "flet" not found.*\n.*fleet/)
  assert.match(
    await expectErrorText(fluxGet([git], undefined, input({ statusSelector: 'ready' }))),
    /invalid --status-selector "ready": must be TYPE=STATUS/,
  )
})

test('an editor of the namespace suspends and resumes, a viewer only reads', async (t) => {
  const { hub, client, input } = await started(t)
  for (const [user, name] of Object.entries({ vera: 'view', ed: 'edit' })) {
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name }
    const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }]
    await client.create(RoleBinding, build(RoleBinding, `${NS}/${user}`, { roleRef, subjects }))
  }
  const suspended = async () => (await client.get(Kustomization, { namespace: NS, name: 'apps' })).spec['suspend']
  // Roles take a moment to be known.
  for (let tries = 0; ; tries += 1) {
    const failed = await fluxGet([kustomization], 'apps', input({}, 'vera')).catch((caught: unknown) => caught)
    if (!failed) break
    if (tries > 100) throw failed as Error
    await systemClock.sleep(50, signal)
  }
  assert.match(
    await expectErrorText(fluxSuspend(kustomization, ['apps'], true, input({}, 'vera'))),
    /cannot patch|forbidden/,
  )
  await fluxSuspend(kustomization, ['apps'], true, input({}, 'ed'))
  assert.equal(await suspended(), true)
  hub.taken()
  await fluxSuspend(kustomization, ['apps'], true, input({}, 'ed'))
  assert.match(hub.taken().err, /kustomization apps in flux-system namespace is already suspended/)
  assert.match(await expectErrorText(fluxReconcile(kustomization, 'apps', input())), /is suspended\n.*flux resume/)
  await fluxSuspend(kustomization, [], false, input({ all: true }, 'ed'))
  assert.equal(await suspended(), false)
  assert.match(await expectErrorText(fluxSuspend(kustomization, [], true, input())), /a name is required/)
})

test('reconcile waits until the request is handled, and tree prints the inventory', async (t) => {
  const { hub, client, input } = await started(t)
  const running = fluxReconcile(git, 'fleet', input())
  for (;;) {
    const found = await client.get(GitRepository, { namespace: NS, name: 'fleet' })
    const token = found.metadata.annotations?.['reconcile.fluxcd.io/requestedAt']
    if (token !== undefined) {
      const status = { ...found.status, lastHandledReconcileAt: token }
      await client.update(GitRepository, { ...found, status }, { subresource: 'status' })
      break
    }
    await systemClock.sleep(20, signal)
  }
  await running
  assert.match(hub.taken().err, /annotated source git fleet in flux-system namespace\n.*stored artifact for revision/)
  await fluxTree('apps', input())
  assert.equal(hub.taken().out, 'Kustomization/flux-system/apps\n├── Namespace/apps\n└── Deployment/apps/web\n')
  assert.match(await expectErrorText(fluxTree('infra', input())), /has no inventory/)
})

async function withRelease(client: Awaited<ReturnType<typeof started>>['client']) {
  const since = { lastTransitionTime: '2026-01-01T00:00:00Z' }
  const ready = (message: string) => [{ type: 'Ready', status: 'True' as const, reason: 'X', message, ...since }]
  const oci = { url: 'oci://ghcr.io/charts', type: 'oci' }
  await client.create(HelmRepository, build(HelmRepository, `${NS}/charts`, { spec: oci }))
  const sourceRef = { kind: 'HelmRepository', name: 'charts' }
  const chart = { chart: 'web', version: '1.x', sourceRef }
  const spec = { chart: { spec: chart }, interval: '1m' }
  const release = await client.create(
    HelmRelease,
    build(HelmRelease, `${NS}/web`, { spec }, { annotations: { 'flotilla.dev/nested-in': 'apps' } }),
  )
  const inventory = { entries: [{ id: 'web_web_apps_Deployment', v: 'v1' }] }
  const status = { conditions: ready('Helm install succeeded'), inventory, lastAppliedRevision: '1.2.0' }
  await client.update(HelmRelease, { ...release, status }, { subresource: 'status' })
  const helmChart = build(HelmChart, `${NS}/flux-system-web`, { spec: { ...chart, interval: '1m' } })
  await client.create(HelmChart, helmChart)
}

/** Answers a request as the hub does. */
async function answer(client: Awaited<ReturnType<typeof started>>['client'], kind: Kind, name: string) {
  for (;;) {
    const found = (await client.get(kind, { namespace: NS, name })) as { metadata: ObjectMeta; status?: object }
    const token = found.metadata.annotations?.['reconcile.fluxcd.io/requestedAt']
    if (token !== undefined) {
      const ready = { type: 'Ready', status: 'True', reason: 'X', message: `${name} is ready` }
      const conditions = [{ ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }]
      const status = { conditions, ...found.status, lastHandledReconcileAt: token }
      await client.update(kind, { ...found, status } as unknown as KubeObject, { subresource: 'status' })
      return
    }
    await systemClock.sleep(20, signal)
  }
}

test('HelmReleases, charts and registries have the words of Flux', async (t) => {
  const { hub, client, input } = await started(t)
  await withRelease(client)
  await fluxGet(Object.values(FLUX_COMMAND_KINDS), undefined, input())
  const rows = hub.taken().out.split('\n')
  const cells = rows.filter((line) => /\//.test(line.split(' ')[0]!)).map((line) => line.split(/ {2,}/))
  assert.deepEqual(cells, [
    ['gitrepository/fleet', 'main@sha1:abcdef01', 'False', 'True', "stored artifact for revision 'main@sha1:abcdef01'"],
    ['helmrepository/charts', '<none>', 'False', 'True', 'Helm repository is Ready'],
    ['helmchart/flux-system-web', '<none>', 'False', 'False', 'waiting to be reconciled'],
    ['kustomization/apps', 'main@sha1:abcdef01', 'False', 'True', 'Applied revision: main@sha1:abcdef01'],
    ['kustomization/infra', '<none>', 'False', 'False', 'no cluster is named'],
    ['helmrelease/web', '1.2.0', 'False', 'True', 'Helm install succeeded'],
  ])
  await fluxSuspend(FLUX_COMMAND_KINDS.helmrelease, ['web'], true, input())
  assert.match(hub.taken().err, /helmrelease web in flux-system namespace suspended/)
  await fluxSuspend(FLUX_COMMAND_KINDS.helmrelease, ['web'], false, input())
  hub.taken()

  // The registry is not polled, so the chart is the first that is asked.
  const running = fluxReconcile(FLUX_COMMAND_KINDS.helmrelease, 'web', input({ withSource: true }))
  await answer(client, HelmChart, 'flux-system-web')
  await answer(client, HelmRelease, 'web')
  await running
  assert.deepEqual(
    hub
      .taken()
      .err.split('\n')
      .filter((line) => line.includes('annotated'))
      .map((line) => line.replace(/^.*annotated /, '')),
    ['source chart flux-system-web in flux-system namespace', 'helmrelease web in flux-system namespace'],
  )
  assert.match(
    await expectErrorText(fluxReconcile(FLUX_COMMAND_KINDS.helm, 'charts', input())),
    /source helm "charts" is of type oci, which is not polled/,
  )
  const late = fluxReconcile(FLUX_COMMAND_KINDS.kustomization, 'apps', input({ timeout: '1ms' }))
  assert.match(await expectErrorText(late), /was not reconciled within 0.001 s\n.*flux get kustomizations apps/)

  await fluxTree('apps', input())
  assert.equal(
    hub.taken().out,
    'Kustomization/flux-system/apps\n├── Namespace/apps\n├── Deployment/apps/web\n└── HelmRelease/flux-system/web\n    └── Deployment/web/web\n',
  )
  await fluxTree('apps', input({ compact: true }))
  assert.equal(hub.taken().out, 'Kustomization/flux-system/apps\n└── HelmRelease/flux-system/web\n')
})

test('a hub without the dialect says so', async (t) => {
  const { connection, terminal } = createCliHub(t)
  const input = { connection, terminal, signal, flags: {} }
  assert.match(
    await expectErrorText(fluxGet([kustomization], undefined, input)),
    /the hub does not serve kustomizations\.kustomize\.toolkit\.fluxcd\.io\n.*--dialects flux/,
  )
})
