/** ApplicationSets that ask git services, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, utf8 } from '../../../core/bytes.ts'
import { ConfigMap, Secret } from '../../../kinds/builtin/core.ts'
import type { HttpGet } from '../../../source/http-get.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import { Application, ApplicationSet } from '../kinds.ts'

const REPO = 'https://git.example.com/apps.git'
const cm = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n'

const set = build(ApplicationSet, 'argocd/previews', {
  spec: {
    goTemplate: true,
    generators: [
      {
        pullRequest: {
          github: { owner: 'acme', repo: 'web', tokenRef: { secretName: 'scm', key: 'token' } },
          requeueAfterSeconds: 60,
        },
      },
    ],
    template: {
      metadata: { name: 'pr-{{ .number }}' },
      spec: {
        project: 'default',
        source: { repoURL: REPO, path: 'web', targetRevision: 'main' },
        destination: { name: 'c1', namespace: 'pr-{{ .number }}' },
        syncPolicy: { automated: {} },
      },
    },
  },
})

const secret: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'scm', namespace: 'argocd' },
  data: { token: base64(utf8('s3cret\n')) },
}

test('pull requests come and go; a service that fails changes nothing; the token must be meant for it', async (t) => {
  const { hub, settle } = await startArgoHome(t, { [REPO]: { 'web/cm.yaml': cm } })
  let open: number[] = [1, 2]
  let status = 200
  const seen: string[] = []
  const httpGet: HttpGet = async ({ url, authorization }) => {
    seen.push(`${url} ${authorization ?? '-'}`)
    const body = open.map((number) => ({ number, head: { ref: 'x', sha: 'a' }, base: { ref: 'main' }, labels: [] }))
    return { status, headers: {}, body: utf8(JSON.stringify(body)), url }
  }
  hub.serveHttp(httpGet)
  // A deleted Application stays until the agent has removed its objects.
  const names = async () =>
    (await hub.client.list(Application)).items
      .filter(({ metadata }) => !metadata.deletionTimestamp)
      .map(({ metadata }) => metadata.name)
      .sort()
  const said = async () =>
    (await hub.find(ApplicationSet, 'argocd/previews'))?.status?.conditions?.find(
      ({ type }) => type === 'ErrorOccurred',
    )?.message ?? ''
  await hub.create(secret, Secret)
  await hub.create(set, ApplicationSet)
  await settle()
  assert.match(await said(), /Secret scm must have the label argocd\.argoproj\.io\/secret-type: scm-creds/)
  assert.deepEqual([seen, await names()], [[], []], 'nothing is sent')
  const found = (await hub.find(Secret, 'argocd/scm'))!
  const labels = { 'argocd.argoproj.io/secret-type': 'scm-creds' }
  await hub.client.update(Secret, { ...found, metadata: { ...found.metadata, labels } })
  await settle()
  await settle()
  assert.deepEqual(await names(), ['pr-1', 'pr-2'])
  assert.equal(seen[0], 'https://api.github.com/repos/acme/web/pulls?per_page=100 Bearer s3cret')
  seen.length = 0
  await hub.clock.advance(600_000)
  assert.ok(seen.length >= 9 && seen.length <= 11, `once a minute: ${seen.length}`)
  status = 500
  await settle()
  await settle()
  assert.match(await said(), /error listing repos: https:\/\/api\.github\.com\/repos\/acme\/web\/pulls answered 500/)
  assert.deepEqual(await names(), ['pr-1', 'pr-2'])
  status = 200
  open = [2, 3]
  await settle()
  await settle()
  assert.deepEqual(await names(), ['pr-2', 'pr-3'])
  open = []
  await settle()
  await settle()
  assert.deepEqual(await names(), ['pr-2', 'pr-3'], 'an empty answer asks before it removes')
})

test('a plugin is asked with the token of its Secret, which must belong to Argo CD', async (t) => {
  const { hub, settle } = await startArgoHome(t, { [REPO]: { 'web/cm.yaml': cm } })
  const seen: string[] = []
  hub.serveHttp(async ({ url, authorization, method, body }) => {
    seen.push(`${method ?? 'GET'} ${url} ${authorization ?? '-'} ${body ?? ''}`)
    return { status: 200, headers: {}, body: utf8('{"output": {"parameters": [{"number": "7"}]}}'), url }
  })
  const data = { baseUrl: 'https://plugin.example.com', token: '$plugin:token' }
  await hub.create({ ...build(ConfigMap, 'argocd/plugin', {}), data }, ConfigMap)
  await hub.create({ ...secret, metadata: { name: 'plugin', namespace: 'argocd' } }, Secret)
  const generators = [{ plugin: { configMapRef: { name: 'plugin' }, input: { parameters: { team: 'pos' } } } }]
  await hub.create({ ...set, spec: { ...set.spec, generators } }, ApplicationSet)
  await settle()
  const found = await hub.find(ApplicationSet, 'argocd/previews')
  assert.match(
    found?.status?.conditions?.find(({ type }) => type === 'ErrorOccurred')?.message ?? '',
    /Secret plugin must have the label app\.kubernetes\.io\/part-of: argocd/,
  )
  assert.deepEqual(seen, [], 'nothing is sent')
  const own = (await hub.find(Secret, 'argocd/plugin'))!
  const labels = { 'app.kubernetes.io/part-of': 'argocd' }
  const ofCluster = { ...labels, 'argocd.argoproj.io/secret-type': 'cluster' }
  await hub.client.update(Secret, { ...own, metadata: { ...own.metadata, labels: ofCluster } })
  await settle()
  await settle()
  assert.match(
    (await hub.find(ApplicationSet, 'argocd/previews'))?.status?.conditions?.find(
      ({ type }) => type === 'ErrorOccurred',
    )?.message ?? '',
    /Secret plugin has the label argocd\.argoproj\.io\/secret-type: cluster, and what it holds is not sent to plugins: put the/,
  )
  assert.deepEqual(seen, [], 'nothing is sent')
  const refused = (await hub.find(Secret, 'argocd/plugin'))!
  await hub.client.update(Secret, { ...refused, metadata: { ...refused.metadata, labels } })
  await settle()
  await settle()
  const names = (await hub.client.list(Application)).items.map(({ metadata }) => metadata.name)
  assert.deepEqual(names, ['pr-7'])
  assert.deepEqual(seen, [
    'POST https://plugin.example.com/api/v1/getparams.execute Bearer s3cret {"applicationSetName":"previews","input":{"parameters":{"team":"pos"}}}',
  ])
})
