/** Doors of Sources: the private content of another team, an archive that never ends, and the hub's own network. */
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { test } from 'node:test'
import { requireBasic, serveGit, startContentServer } from '../../../src/testing/fixtures/content-server.ts'
import { createTestRepository } from '../../../src/testing/fixtures/git-repository.ts'
import { tarWithPax } from '../../../src/testing/fixtures/hostile-tar.ts'
import { eventually } from '../flotilla-process.ts'
import { startDoorHub } from './door-hub.ts'
import { buildProject } from '../../../src/testing/fixtures/projects.ts'

const SOURCES = '/apis/flotilla.dev/v1alpha1/namespaces'

interface SourceStatus {
  readonly status?: {
    readonly artifact?: { readonly commit: string }
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[]
  }
}

test('F4, F6: a Source gets no content of another team, and stops no other Source', async (t) => {
  const repository = createTestRepository()
  const commit = repository.commit({ 'a.yaml': 'kind: ConfigMap\napiVersion: v1\nmetadata: {name: private}\n' })
  const git = await startContentServer([requireBasic('ana', 'pw'), serveGit(repository.path)])
  const endless = gzipSync(tarWithPax('1e-300 path=x\n'))
  const charts = await startContentServer([(_request, response) => void response.end(endless)], { plain: true })
  t.after(async () => {
    await Promise.all([git.close(), charts.close()])
    repository.remove()
  })
  const hub = await startDoorHub(t)
  const url = `${git.url}/repo.git`
  const post = (path: string, body: object) => hub.admin.json({ method: 'POST', path, body })
  const addTeam = async (name: string, stringData: object) => {
    await post('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    await post('/apis/flotilla.dev/v1alpha1/projects', buildProject(name, [name]))
    await post(`/api/v1/namespaces/${name}/secrets`, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'git', annotations: { 'flotilla.dev/urls': git.url } },
      stringData,
    })
  }
  const addSource = (namespace: string, name: string, spec: object) =>
    post(`${SOURCES}/${namespace}/sources`, {
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'Source',
      metadata: { name },
      spec: { timeout: '5s', ...spec },
    })
  const decided = (namespace: string, name: string) =>
    eventually(`Source ${namespace}/${name} is Ready or not`, async () => {
      const path = `${SOURCES}/${namespace}/sources/${name}`
      const { status } = (await hub.admin.json({ method: 'GET', path })) as SourceStatus
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      if (!ready || ready.status === 'Unknown' || ready.reason === 'Fetching') return undefined
      return { ready: ready.status, reason: ready.reason, commit: status?.artifact?.commit }
    })
  const pinned = { git: { url, ref: { commit } }, credentials: 'git' }
  await addTeam('team-a', { username: 'ana', password: 'pw', 'ca.crt': git.ca })
  // The CA is no right to read.
  await addTeam('team-b', { 'ca.crt': git.ca })

  await addSource('team-a', 'apps', pinned)
  assert.deepEqual(await decided('team-a', 'apps'), { ready: 'True', reason: 'Fetched', commit })

  const asked = git.log.length
  await addSource('team-b', 'stolen', pinned)
  const stolen = await decided('team-b', 'stolen')
  assert.deepEqual(stolen, { ready: 'False', reason: 'AuthenticationFailed', commit: undefined })
  assert.ok(git.log.length > asked, 'the server was asked')

  await addSource('team-b', 'endless', { helm: { url: `${charts.url}/web-1.0.0.tgz` } })
  const ended = await decided('team-b', 'endless')
  assert.equal(ended.ready, 'False', JSON.stringify(ended))
  await addSource('team-a', 'more', { ...pinned, paths: ['a.yaml'] })
  assert.equal((await decided('team-a', 'more')).ready, 'True')

  await hub.checkAlive()
  assert.equal((await hub.process.stop()).code, 0)
})

test('F12: a Source reaches nothing on the machine of the hub', async (t) => {
  const inside = await startContentServer([(_request, response) => void response.end('secret')], { plain: true })
  const outside = await startContentServer(
    [(request, response) => void response.writeHead(302, { location: `${inside.url}${request.url}` }).end()],
    { plain: true },
  )
  t.after(async () => await Promise.all([inside.close(), outside.close()]))
  const named = new URL(outside.url).host
  // Reached by other machines, so its users need not be on this one.
  const hub = await startDoorHub(t, ['--gateway-listen', '0.0.0.0:0', '--source-hosts', `*,${named}`])
  const at = new URL(inside.url).host
  const specs = {
    metadata: { helm: { url: `http://${at}/latest/meta-data` } },
    registry: { oci: { url: `oci://${at}/a/b` } },
    git: { git: { url: `http://${at}/repo.git` } },
    redirect: { helm: { url: `${outside.url}/web.tgz` } },
    moved: { git: { url: `${outside.url}/repo.git` } },
  }
  for (const [name, spec] of Object.entries(specs)) {
    const path = `${SOURCES}/default/sources`
    const body = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Source', metadata: { name }, spec }
    await hub.admin.json({ method: 'POST', path, body })
  }
  for (const name of Object.keys(specs)) {
    const reason = await eventually(`Source ${name} is refused`, async () => {
      const path = `${SOURCES}/default/sources/${name}`
      const { status } = (await hub.admin.json({ method: 'GET', path })) as SourceStatus
      const ready = status?.conditions?.find(({ type }) => type === 'Ready')
      return ready?.status === 'False' && ready.reason !== 'Fetching' ? ready.reason : undefined
    })
    assert.equal(reason, 'AddressRefused', name)
  }
  assert.deepEqual(inside.log, [])
  assert.ok(outside.log.length > 0)
  assert.equal((await hub.process.stop()).code, 0)
})
