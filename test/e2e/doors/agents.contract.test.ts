/** Doors between a hub and its agents: what content looks up in a cluster, and what one agent learns of another. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { test } from 'node:test'
import { createApplicant } from '../../../src/testing/agents/hostile-agent.ts'
import { createTestRepository } from '../../../src/testing/fixtures/git-repository.ts'
import { BASE_HEADER, ROUTES } from '../../../src/wire/link/frames.ts'
import { eventually, startFlotilla, temporaryFolder } from '../flotilla-process.ts'
import { send, startDoorHub } from './door-hub.ts'
import type { DoorHub } from './door-hub.ts'

const NATIVE = '/apis/flotilla.dev/v1alpha1'
const DEFAULT = `${NATIVE}/namespaces/default`

const add = (hub: DoorHub, kind: string, name: string, spec: object) =>
  hub.admin.json({
    method: 'POST',
    path: `${DEFAULT}/${kind.toLowerCase()}s`,
    body: { apiVersion: 'flotilla.dev/v1alpha1', kind, metadata: { name }, spec },
  })

const codeFor = async (hub: DoorHub, name: string) => {
  const added = await hub.flotilla('cluster', 'add', name, '--label', `own=${name}`, '-o', 'json')
  return (JSON.parse(added) as { code: string }).code
}

test('F17: a chart that looks up all namespaces sees nothing of the agent, and no Secrets', async (t) => {
  const repository = createTestRepository()
  t.after(() => repository.remove())
  const chart = (name: string, seen: string) => ({
    [`${name}/Chart.yaml`]: `apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`,
    [`${name}/templates/a.yaml`]: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: default}\ndata: {seen: "${seen}"}\n`,
  })
  const namesOf = (kind: string) =>
    `{{ range (lookup "v1" "${kind}" "" "").items }}{{ .metadata.namespace }}/{{ .metadata.name }} {{ end }}`
  repository.commit(
    { ...chart('maps', namesOf('ConfigMap')), ...chart('secrets', namesOf('Secret')) },
    { branch: 'main' },
  )
  const hub = await startDoorHub(t, ['--source-paths', repository.path])
  // An embedded hub is a Kubernetes API: it stands in for a cluster.
  const site = await startDoorHub(t)
  const known = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'known' }, data: {} }
  await site.admin.json({ method: 'POST', path: '/api/v1/namespaces/default/configmaps', body: known })
  const data = join(temporaryFolder(t), 'agent')
  const more = ['--kubeconfig', site.kubeconfig, '--data', data]
  const agent = startFlotilla(t, ['agent', 'run', '--join', await codeFor(hub, 'store-1'), ...more])
  await add(hub, 'Placement', 'all', { clusterSelector: {} })
  await add(hub, 'Source', 'charts', { git: { url: repository.path, ref: { branch: 'main' } } })
  for (const path of ['maps', 'secrets']) {
    await add(hub, 'Bundle', path, { source: { name: 'charts', path }, render: { at: 'Agent' }, placement: 'all' })
  }
  const row = (bundle: string) =>
    eventually(`${bundle} is on the cluster or refused`, async () => {
      const path = `${NATIVE}/clusterreports/store-1`
      const report = (await hub.admin.json({ method: 'GET', path }).catch(() => ({}))) as {
        spec?: { bundles?: { bundle: string; state: string; message?: string }[] }
      }
      const found = report.spec?.bundles?.find((one) => one.bundle === `default/${bundle}`)
      return found?.state === 'Ready' || found?.state === 'Failed' ? found : undefined
    })
  assert.equal((await row('maps')).state, 'Ready')
  const path = '/api/v1/namespaces/default/configmaps/maps'
  const { data: found } = (await site.admin.json({ method: 'GET', path })) as { data: { seen: string } }
  assert.match(found.seen, /default\/known /)
  assert.doesNotMatch(found.seen, /flotilla-agent/)
  assert.match((await row('secrets')).message ?? '', /Secrets of all namespaces cannot be looked up; name a namespace/)
  assert.equal((await agent.stop()).code, 0)
  for (const one of [hub, site]) assert.equal((await one.process.stop()).code, 0)
})

test('F20, F25: an agent learns nothing of the content of another cluster, and writes no control characters', async (t) => {
  const repository = createTestRepository()
  t.after(() => repository.remove())
  const hub = await startDoorHub(t, ['--source-paths', repository.path])
  const joined = async (name: string) => {
    const code = await codeFor(hub, name)
    const who = createApplicant(hub.asApplicant(code), name)
    const { certificate } = await who.join(code)
    const by = { certificate, key: who.tls.privateKey }
    await eventually(`the gateway knows ${name}`, async () => {
      const report = `sha256:${'0'.repeat(64)}`
      const body = JSON.stringify({ report })
      return (await send('POST', `${hub.gateway}${ROUTES.checkIn}`, { ...by, body })).status === 200 || undefined
    })
    return by
  }
  const [thief, victim] = [await joined('thief'), await joined('victim')]
  const lines = (of: string) => Array.from({ length: 200 }, (_, n) => `${of} line ${n}`).join(' ')
  for (const [name, words] of [
    ['thief', lines('guess')],
    ['victim', lines('theirs')],
  ] as const) {
    await add(hub, 'Placement', name, { clusterSelector: { matchLabels: { own: name } } })
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { words } }
    await add(hub, 'Bundle', name, { manifests: JSON.stringify(object), placement: name })
  }
  const setOf = (name: string) =>
    eventually(`${name} has a document`, async () => {
      const { items } = (await hub.admin.json({ method: 'GET', path: `${NATIVE}/assignments` })) as {
        items: { metadata: { name: string }; spec: { entries?: { set: string }[] } }[]
      }
      return items.find(({ metadata }) => metadata.name === name)?.spec.entries?.[0]?.set
    })
  const [own, theirs] = [await setOf('thief'), await setOf('victim')]
  const document = await eventually('the gateway has the document of the thief', async () => {
    const answer = await send('GET', `${hub.gateway}${ROUTES.document}`, thief)
    return answer.status === 200 && answer.text.includes('payload') ? answer.text : undefined
  })

  // A file of a Source is a blob with the digest of its content. This one looks like a document that names both sets.
  const envelope = JSON.parse(document) as { payload: string }
  const told = Buffer.from(envelope.payload, 'base64').toString().replaceAll(own, theirs)
  assert.ok(told.includes(theirs), 'the document names its set')
  const forged = JSON.stringify({ ...envelope, payload: Buffer.from(told).toString('base64') })
  repository.commit({ 'forged.json': forged }, { branch: 'main' })
  await add(hub, 'Source', 'forged', { git: { url: repository.path, ref: { branch: 'main' } } })
  await eventually('the Source is fetched', async () => {
    const source = (await hub.admin.json({ method: 'GET', path: `${DEFAULT}/sources/forged` })) as {
      status?: { artifact?: object }
    }
    return source.status?.artifact
  })
  const held = `sha256:${createHash('sha256').update(forged).digest('hex')}`
  const plain = await send('GET', `${hub.gateway}${ROUTES.set}${own}`, thief)
  assert.equal(plain.status, 200)
  for (const query of [`base=${theirs}`, `base=${theirs}&held=${held}`]) {
    const answer = await send('GET', `${hub.gateway}${ROUTES.set}${own}?${query}`, thief)
    assert.equal(answer.headers[BASE_HEADER], undefined, query)
    assert.equal(answer.text, plain.text, query)
  }
  for (const route of [ROUTES.set, ROUTES.blob]) {
    assert.equal((await send('GET', `${hub.gateway}${route}${theirs}`, thief)).status, 404, route)
    assert.equal((await send('GET', `${hub.gateway}${route}${held}`, thief)).status, 404, route)
  }
  assert.equal((await send('GET', `${hub.gateway}${ROUTES.set}${theirs}`, victim)).status, 200)

  const report = { epoch: 1, revision: 1, agentVersion: '0.1.0', kubernetesVersion: 'v1.36.0', bundles: [] }
  for (const field of ['agentVersion', 'kubernetesVersion']) {
    const body = JSON.stringify({ ...report, [field]: 'v1\u001b[31m\u0007' })
    assert.equal((await send('POST', `${hub.gateway}${ROUTES.report}`, { ...thief, body })).status, 400, field)
  }
  assert.equal((await hub.flotilla('get', 'clusters', '-o', 'wide')).includes('\u001b'), false)
  await hub.checkAlive()
  assert.equal((await hub.process.stop()).code, 0)
})
