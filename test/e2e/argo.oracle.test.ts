/**
 * An ApplicationSet of Argo CD as an editor of its namespace uses it: kubectl, `flotilla argo`, a real agent and git.
 */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createTestRepository } from '../../src/testing/fixtures/git-repository.ts'
import { readYaml } from '../../src/yaml/read/read-yaml.ts'
import { startFleetHub } from './fleet-flow.ts'
import { eventually, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'
import { startEmbeddedSite } from './keep-world.ts'

const WITHIN_MS = 120_000
const EDITOR = 'system:serviceaccount:argocd:editor'

const applicationSet = (repo: string) => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: demo, namespace: argocd}
spec:
  goTemplate: true
  goTemplateOptions: ["missingkey=error"]
  generators:
  - clusters: {selector: {matchLabels: {env: production}}}
  template:
    metadata: {name: 'guestbook-{{.name}}'}
    spec:
      project: default
      source: {repoURL: ${repo}, path: guestbook, targetRevision: main}
      destination: {server: '{{.server}}', namespace: default}
`

test('an editor applies an ApplicationSet, syncs an Application and reads its history', async (t) => {
  const repository = createTestRepository()
  t.after(() => repository.remove())
  const map = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: guestbook}\ndata: {text: hello}\n'
  const commit = repository.commit({ 'guestbook/cm.yaml': map }, { branch: 'main' })
  const { kubeconfig, kubectl } = await startFleetHub(t, '--dialects', 'argo', '--source-paths', repository.path)
  const folder = temporaryFolder(t)
  const args = ['cluster', 'add', 'shop-1', '--label', 'env=production', '-o', 'json', '--kubeconfig', kubeconfig]
  const { code } = JSON.parse((await runFlotilla(t, args)).stdout) as { code: string }
  const site = await startEmbeddedSite(t, folder, 'shop-1')
  startFlotilla(t, ['agent', 'run', '--join', code, '--kubeconfig', site, '--data', join(folder, 'agent')])

  await kubectl('create', 'serviceaccount', 'editor', '-n', 'argocd')
  await kubectl(
    'create',
    'rolebinding',
    'editor',
    '-n',
    'argocd',
    '--clusterrole=edit',
    '--serviceaccount=argocd:editor',
  )
  const token = (await kubectl('create', 'token', 'editor', '-n', 'argocd')).trim()
  const own = join(folder, 'editor.kubeconfig')
  writeFileSync(own, editorsConfig(readFileSync(kubeconfig, 'utf8'), token))
  const asEditor = (...words: string[]) => kubectl('--kubeconfig', own, ...words)
  assert.equal((await asEditor('auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}')).trim(), EDITOR)

  const file = join(folder, 'appset.yaml')
  writeFileSync(file, applicationSet(repository.path))
  await asEditor('apply', '-f', file)
  const columns = async () =>
    (await asEditor('get', 'applications', '-n', 'argocd', '--no-headers')).trimEnd().split(/ {2,}/).slice(0, 3)
  await eventually(
    'the Application waits for a sync',
    async () => ((await columns()).join(' ') === 'guestbook-shop-1 OutOfSync Missing' ? true : undefined),
    WITHIN_MS,
  )
  await assert.rejects(
    asEditor(
      'patch',
      'applications',
      'guestbook-shop-1',
      '-n',
      'argocd',
      '--type=merge',
      '-p',
      '{"spec":{"project":"x"}}',
    ),
    /is made by ApplicationSet demo; change the ApplicationSet instead/,
  )

  const flotilla = (...words: string[]) => runFlotilla(t, [...words, '--kubeconfig', own])
  const synced = await flotilla('argo', 'sync', 'guestbook-shop-1', '--timeout', '110')
  assert.equal(synced.code, 0, synced.stderr)
  assert.match(synced.stdout, /^Name: +argocd\/guestbook-shop-1\n/)
  assert.match(synced.stdout, new RegExp(`Sync Status: +Synced to main \\(${commit.slice(0, 7)}\\)`))
  assert.match(synced.stdout, /Phase: +Succeeded/)
  assert.match(synced.stdout, /\n +ConfigMap +default +guestbook +Synced +Healthy/)
  const at = `jsonpath={.data.text}`
  assert.equal(await kubectl('--kubeconfig', site, 'get', 'configmap', 'guestbook', '-n', 'default', '-o', at), 'hello')
  const listed = (await flotilla('argo', 'list')).stdout.trimEnd().split('\n')
  assert.match(
    listed[0]!,
    /^NAME +CLUSTER +NAMESPACE +PROJECT +STATUS +HEALTH +SYNCPOLICY +CONDITIONS +REPO +PATH +TARGET$/,
  )
  assert.match(listed[1]!, /^argocd\/guestbook-shop-1 .* default +default +Synced +Healthy +Manual +<none> /)
  const history = (await flotilla('argo', 'history', 'guestbook-shop-1')).stdout.trimEnd().split('\n')
  assert.match(history[1]!, new RegExp(`^0 .* main \\(${commit.slice(0, 7)}\\)$`))
  assert.equal((await flotilla('argo', 'wait', 'guestbook-shop-1', '--timeout', '20')).code, 0)
  assert.equal((await flotilla('argo', 'get', 'nothing')).code, 3)
})

/** The kubeconfig of the hub with the token of a ServiceAccount. */
function editorsConfig(text: string, token: string): string {
  const config = JSON.parse(JSON.stringify(readConfig(text))) as { users: { name: string; user: object }[] }
  return JSON.stringify({ ...config, users: config.users.map(({ name }) => ({ name, user: { token } })) })
}

function readConfig(text: string): unknown {
  return readYaml(text)[0]!.value
}
