/**
 * What others were told, imported with the command, taken by a live hub, and delivered from a git server to clusters.
 */
import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { Bundle } from '../../src/kinds/native/bundle.ts'
import { Rollout } from '../../src/kinds/native/rollout.ts'
import { serveGit, startContentServer } from '../../src/testing/fixtures/content-server.ts'
import { createTestRepository } from '../../src/testing/fixtures/git-repository.ts'
import { embeddedSite, objectsIn, startHubWithSites } from './fleet-layouts.ts'
import { eventually, runFlotilla, temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'

const configMap = (name: string, data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {${data}}\n`

const FILES = {
  'till/Chart.yaml': 'apiVersion: v2\nname: till\nversion: 1.0.0\n',
  'till/templates/cm.yaml': configMap(
    '"{{ .Release.Name }}"',
    'host: "{{ .Values.host }}", color: "{{ .Values.color }}"',
  ),
  'values/prod.yaml': 'color: blue\n',
  'shelf/cm.yaml': configMap('shelf', 'a: b'),
  'shelf/below/cm.yaml': configMap('below', 'a: b'),
  'sites/eu/config.json': '{"city": "Berlin", "to": "dev-1"}',
  'sites/us/config.json': '{"city": "Boston", "to": "prod-1"}',
  'clock/kustomization.yaml': 'resources: [cm.yaml]\n',
  'clock/cm.yaml': configMap('clock', 'a: b'),
  'door/fleet.yaml':
    'defaultNamespace: door\ntargetCustomizations:\n- name: prod\n  clusterSelector: {matchLabels: {env: prod}}\n  yaml: {overlays: [prod]}\n',
  'door/cm.yaml': configMap('door', 'text: hello'),
  'door/overlays/prod/cm_patch.yaml': 'data: {text: good morning}\n',
}

const argo = (url: string): string => `apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: tills, namespace: argocd}
spec:
  goTemplate: true
  generators: [{clusters: {selector: {matchExpressions: [{key: env, operator: In, values: [dev, prod]}]}}}]
  strategy: {type: RollingSync, rollingSync: {steps: [{matchExpressions: [{key: env, operator: In, values: [dev]}]}, {matchExpressions: [{key: env, operator: In, values: [prod]}]}]}}
  template:
    metadata: {name: 'till-{{.name}}', labels: {env: '{{.metadata.labels.env}}'}}
    spec:
      project: default
      sources:
      - {repoURL: ${url}, targetRevision: main, path: till, helm: {releaseName: till, valueFiles: [$values/values/prod.yaml], valuesObject: {host: '{{.name}}.{{.metadata.labels.env}}'}}}
      - {repoURL: ${url}, targetRevision: main, ref: values}
      destination: {server: '{{.server}}', namespace: till}
      syncPolicy: {automated: {prune: true}, syncOptions: [CreateNamespace=true]}
---
apiVersion: argoproj.io/v1alpha1
kind: ApplicationSet
metadata: {name: clocks, namespace: argocd}
spec:
  goTemplate: true
  generators: [{git: {repoURL: ${url}, revision: main, files: [{path: 'sites/**/config.json'}]}}]
  template:
    metadata: {name: 'clock-{{.path.basename}}'}
    spec:
      source: {repoURL: ${url}, targetRevision: main, path: clock}
      destination: {name: '{{.to}}', namespace: '{{lower .city}}'}
      syncPolicy: {automated: {}, syncOptions: [CreateNamespace=true]}
---
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: shelf, namespace: argocd}
spec:
  source: {repoURL: ${url}, targetRevision: main, path: shelf}
  destination: {server: 'https://kubernetes.default.svc', namespace: shelf}
  syncPolicy: {syncOptions: [CreateNamespace=true]}
`

const fleet = (url: string): string => `apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: doors, namespace: fleet-local}
spec: {repo: ${url}, branch: main, paths: [door]}
`

/** What the git server has, and a clone of it. */
async function serveFiles(t: Cleanup) {
  const repository = createTestRepository()
  t.after(() => repository.remove())
  repository.commit(FILES)
  const server = await startContentServer([serveGit(repository.path)], { plain: true })
  t.after(() => server.close())
  const root = temporaryFolder(t)
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return { url: `${server.url}/repo.git`, root }
}

test('Applications and GitRepos are imported, and reach clusters from a git server', async (t) => {
  const { url, root } = await serveFiles(t)
  const sites = { 'dev-1': embeddedSite(t, 'dev-1'), 'prod-1': embeddedSite(t, 'prod-1') }
  const { client, kubeconfig } = await startHubWithSites(t, sites)
  const run = async (input: string, ...args: string[]) => {
    const ended = await runFlotilla(t, [...args, '--kubeconfig', kubeconfig], { input })
    assert.equal(ended.code, 0, ended.stderr)
    return ended
  }
  const imports = [
    [argo(url), ['argo', '-', '--root', root, '--cluster', 'https://kubernetes.default.svc=dev-1']],
    [fleet(url), ['fleet', '-', '--root', root, '--all-clusters']],
  ] as const
  for (const [text, args] of imports) {
    const { stdout } = await run(text, 'bundle', 'import', ...args)
    const dry = await run(stdout, 'apply', '-f', '-', '--dry-run=server')
    assert.match(dry.stdout, /^bundle\.flotilla\.dev\/\S+ created \(server dry run\)$/m)
    await run(text, 'bundle', 'import', ...args, '--apply')
  }
  await eventually('the Application that syncs by hand waits for a person', async () => {
    const { items } = await client.list(Rollout)
    return items.find(({ metadata, status }) => metadata.name.startsWith('shelf') && status?.phase === 'Paused')
  })
  // The Rollout of a new Release exists before the Bundle names the Release.
  await eventually('the Bundle names its Release', async () => {
    const { status } = await client.get(Bundle, { namespace: 'default', name: 'shelf' })
    return status?.release
  })
  await run('', 'rollout', 'start', 'shelf')
  const expected = {
    'dev-1': ['berlin/clock a=b', 'door/door text=hello', 'shelf/shelf a=b', 'till/till color=blue,host=dev-1.dev'],
    'prod-1': ['boston/clock a=b', 'door/door text=good morning', 'till/till color=blue,host=prod-1.prod'],
  }
  let seen: unknown
  await eventually('everything is in the clusters', async () => {
    const lists = await Promise.all(
      Object.entries(sites).map(
        async ([name, site]) => [name, (await objectsIn(site.client)).filter(isBrought).map(shown).sort()] as const,
      ),
    )
    seen = Object.fromEntries(lists)
    return JSON.stringify(seen) === JSON.stringify(expected) || undefined
  }).catch(() => assert.deepEqual(seen, expected))
})

type Found = Awaited<ReturnType<typeof objectsIn>>[number]

function isBrought({ metadata }: Found): boolean {
  return !['default', 'flotilla-agent'].includes(metadata.namespace ?? '')
}

function shown({ metadata, ...rest }: Found): string {
  const data = Object.entries((rest['data'] ?? {}) as Record<string, string>)
  const pairs = data.map(([key, value]) => `${key}=${value}`).sort()
  return `${metadata.namespace}/${metadata.name} ${pairs.join(',')}`
}
