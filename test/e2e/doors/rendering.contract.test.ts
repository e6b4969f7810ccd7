/** The door of the renderer: charts without an end cost their own namespace time, and no other. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serveGit, startContentServer } from '../../../src/testing/fixtures/content-server.ts'
import { createTestRepository } from '../../../src/testing/fixtures/git-repository.ts'
import { eventually } from '../flotilla-process.ts'
import { startDoorHub } from './door-hub.ts'
import { buildProject } from '../../../src/testing/fixtures/projects.ts'

const NATIVE = '/apis/flotilla.dev/v1alpha1/namespaces'

interface Bundle {
  readonly status?: {
    readonly release?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[]
  }
}

test('F14: the Bundle of another namespace has its Release while hostile charts are rendered', async (t) => {
  const repository = createTestRepository()
  repository.commit({
    'evil/Chart.yaml': 'apiVersion: v2\nname: evil\nversion: 1.0.0\n',
    'evil/templates/a.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: evil}\n# {{ until 1000000 | uniq | len }}\n',
  })
  const git = await startContentServer([serveGit(repository.path)], { plain: true })
  t.after(async () => {
    await git.close()
    repository.remove()
  })
  const hub = await startDoorHub(t)
  const post = (path: string, body: object) => hub.admin.json({ method: 'POST', path, body })
  const add = (namespace: string, kind: string, name: string, spec: object) =>
    post(`${NATIVE}/${namespace}/${kind.toLowerCase()}s`, {
      apiVersion: 'flotilla.dev/v1alpha1',
      kind,
      metadata: { name },
      spec,
    })
  const bundle = async (namespace: string, name: string) =>
    (await hub.admin.json({ method: 'GET', path: `${NATIVE}/${namespace}/bundles/${name}` })) as Bundle
  const conditionOf = ({ status }: Bundle, wanted: string) => status?.conditions?.find(({ type }) => type === wanted)
  for (const name of ['team-a', 'team-b']) {
    await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await post('/apis/flotilla.dev/v1alpha1/projects', buildProject(name, [name]))
    await add(name, 'Placement', 'all', { clusterSelector: {} })
  }
  const url = `${git.url}/repo.git`
  await add('team-a', 'Source', 'evil', { git: { url, ref: { branch: 'main' } } })
  const names = ['evil-1', 'evil-2', 'evil-3', 'evil-4']
  const source = { name: 'evil', path: 'evil' }
  for (const name of names) await add('team-a', 'Bundle', name, { source, placement: 'all' })
  await eventually('the Source is Ready', async () => {
    const path = `${NATIVE}/team-a/sources/evil`
    return (
      conditionOf((await hub.admin.json({ method: 'GET', path })) as Bundle, 'Ready')?.status === 'True' || undefined
    )
  })

  const manifests = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n'
  await add('team-b', 'Bundle', 'fine', { manifests, placement: 'all' })
  await eventually('the Bundle of team-b has a Release', async () => {
    const { items } = (await hub.admin.json({ method: 'GET', path: `${NATIVE}/team-b/releases` })) as {
      items: unknown[]
    }
    return items.length > 0 || undefined
  })
  for (const name of names) {
    const { reason } = conditionOf(await bundle('team-a', name), 'Rendered') ?? {}
    assert.notEqual(reason, 'RenderFailed', `${name} was stopped before the other Bundle was rendered`)
  }

  await hub.checkAlive()
  assert.equal((await hub.process.stop()).code, 0)
})
