/** ApplicationSets of public courses as they are written, on the real controllers in virtual time. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { isApiError } from '../../../core/errors.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Project } from '../../../kinds/native/project.ts'
import { Source } from '../../../kinds/native/source.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startArgoHome } from '../../../testing/hub/argo-home.ts'
import type { ArgoHome } from '../../../testing/hub/argo-home.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { Application, ApplicationSet, AppProject } from '../kinds.ts'

function lab(name: string): ApplicationSet {
  const text = readFileSync(new URL(`../../../../test/labs/${name}.yaml`, import.meta.url), 'utf8')
  return readYaml(text)[0]!.value as ApplicationSet
}

const cm = (name: string, v = '1') => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "${v}"}\n`
const open = (name: string) =>
  build(AppProject, `argocd/${name}`, { spec: { sourceRepos: ['*'], destinations: [{ server: '*', namespace: '*' }] } })
const PRODUCTION = { east: { env: 'production' }, west: { env: 'production' }, lab: { env: 'test' } }

async function names({ hub }: ArgoHome): Promise<string[]> {
  const { items } = await hub.client.list(Application, { namespace: 'argocd' })
  return items
    .map(({ metadata, status }) => `${metadata.name} ${status?.sync?.status ?? '-'} ${status?.health?.status ?? '-'}`)
    .sort()
}

async function condition({ hub }: ArgoHome, set: string, type: string): Promise<string> {
  const found = (await hub.find(ApplicationSet, `argocd/${set}`))?.status?.conditions?.find((one) => one.type === type)
  return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
}

async function sync(home: ArgoHome, name: string): Promise<void> {
  await home.edit(name, (app) => ({ ...app, operation: { sync: {} } }))
  await home.settle()
}

test('lab 3: two apps and two production clusters are exactly four Applications; a third cluster makes two more', async (t) => {
  const repository = 'https://github.com/argoproj/argocd-example-apps'
  const home = await startArgoHome(t, { [repository]: { 'guestbook/cm.yaml': cm('guestbook') } }, PRODUCTION)
  await home.hub.create(lab('000-lab3-appset-fleet-demo'), ApplicationSet)
  await home.settle()
  assert.deepEqual(await names(home), [
    'fluent-bit-east OutOfSync Missing',
    'fluent-bit-west OutOfSync Missing',
    'prometheus-east OutOfSync Missing',
    'prometheus-west OutOfSync Missing',
  ])
  assert.deepEqual(await home.delivered(), {}, 'nothing is applied before a sync')
  await sync(home, 'prometheus-east')
  await home.edit('fluent-bit-west', (app) => ({
    ...app,
    metadata: { ...app.metadata, annotations: { ...app.metadata.annotations, 'argocd.argoproj.io/sync': 'now' } },
  }))
  await home.settle()
  assert.deepEqual(await home.delivered(), {
    east: ['prometheus-east: prometheus/guestbook 1'],
    west: ['fluent-bit-west: fluent-bit/guestbook 1'],
  })
  assert.equal((await home.hub.client.list(Source)).items.length, 1, 'all Applications share one Source')
  await home.hub.create(buildCluster('north', { labels: { env: 'production' } }), Cluster)
  await home.settle()
  assert.equal((await names(home)).length, 6)
  const set = await home.hub.find(ApplicationSet, 'argocd/fleet-demo')
  assert.equal(set?.status?.resourcesCount, 6)
  assert.equal(set?.status?.health?.status, 'Healthy')
  home.hub.writes.length = 0
  await home.hub.clock.advance(600_000)
  assert.deepEqual(
    home.hub.writes.filter((write) => write.includes('argoproj.io') || write.includes('bundles')),
    [],
    'nothing is written while nothing changes',
  )
})

test('a generated Application takes operation and annotations; anything else is 422 that names the set', async (t) => {
  const repository = 'https://github.com/argoproj/argocd-example-apps'
  const home = await startArgoHome(t, { [repository]: { 'guestbook/cm.yaml': cm('guestbook') } }, PRODUCTION)
  await home.hub.create(lab('000-lab3-appset-fleet-demo'), ApplicationSet)
  await home.settle()
  const change = home.edit('prometheus-east', (app) => ({ ...app, spec: { ...app.spec, project: 'other' } }))
  await assert.rejects(change, (caught) => {
    assert.ok(isApiError(caught, 'Invalid'))
    assert.match(
      caught.message,
      /Application prometheus-east is made by ApplicationSet fleet-demo; change the ApplicationSet instead/,
    )
    return true
  })
  await sync(home, 'prometheus-east')
  assert.deepEqual(Object.keys(await home.delivered()), ['east'])
})

test('directories × clusters; a directory that is added makes Applications, and an empty result asks first', async (t) => {
  const url = 'https://github.com/example/platform-fleet.git'
  const files = { 'workloads/prometheus/base/cm.yaml': cm('prometheus'), 'workloads/other/x/cm.yaml': cm('x') }
  const home = await startArgoHome(t, { [url]: files }, PRODUCTION)
  await home.hub.create(open('platform'), AppProject)
  await home.hub.create(lab('000-appset-fleet-prometheus'), ApplicationSet)
  await home.settle()
  assert.deepEqual(await names(home), ['base-east OutOfSync Missing', 'base-west OutOfSync Missing'])
  await sync(home, 'base-east')
  assert.deepEqual(await home.delivered(), { east: ['base-east: monitoring/prometheus 1'] })
  await home.push('c2', url, { 'workloads/prometheus/edge/cm.yaml': cm('edge') })
  assert.equal((await names(home)).length, 4)
  await home.push('c3', url, { 'workloads/prometheus/edge/cm.yaml': undefined })
  assert.equal((await names(home)).length, 4, 'half of them is more than a tenth')
  assert.match(
    await condition(home, 'fleet-prometheus', 'Held'),
    /^True DropHeld: The change would drop 2 of 4 bundles; at most 1 can be dropped at once/,
  )
  await home.push('c4', url, { 'workloads/prometheus/base/cm.yaml': undefined })
  assert.equal((await names(home)).length, 4, 'nothing is removed before a person says so')
  const held = await condition(home, 'fleet-prometheus', 'Held')
  assert.match(
    held,
    /^True DropHeld: .*The generators make no Application.*flotilla guard release applicationset fleet-prometheus -n argocd/,
  )
  const token = /token (\S+)\)/.exec(held)![1]!
  const found = (await home.hub.find(ApplicationSet, 'argocd/fleet-prometheus'))!
  const annotations = { ...found.metadata.annotations, 'flotilla.dev/release-drop': token }
  await home.hub.client.update(ApplicationSet, { ...found, metadata: { ...found.metadata, annotations } })
  await home.settle()
  await home.settle()
  assert.deepEqual(await home.delivered(), {})
})

test('a set that would make more than a thousand Applications asks first', async (t) => {
  const url = 'https://github.com/example/shops.git'
  const home = await startArgoHome(t, { [url]: { 'a/cm.yaml': cm('a') } }, { east: {} })
  await home.hub.create(open('default'), AppProject)
  const set = (count: number) =>
    build(ApplicationSet, 'argocd/shops', {
      spec: {
        generators: [{ list: { elements: Array.from({ length: count }, (_, n) => ({ n: `shop-${n}` })) } }],
        template: {
          metadata: { name: '{{n}}' },
          spec: {
            project: 'default',
            source: { repoURL: url, path: 'a' },
            destination: { name: 'east', namespace: 'default' },
          },
        },
      },
    })
  await home.hub.create(set(1001), ApplicationSet)
  await home.settle()
  assert.deepEqual(await names(home), [])
  assert.match(
    await condition(home, 'shops', 'Held'),
    /^True GrowthHeld: The change would add 1,001 bundles on clusters, and there is none yet; .*flotilla guard release applicationset shops -n argocd/,
  )
})

test('values of each site from a second repository; a site without a file keeps what it has and is named', async (t) => {
  const config = 'https://github.com/example/edge-fleet-config.git'
  const platform = 'https://github.com/example/store-platform.git'
  const stores = { 'store-1': { 'fleet-role': 'edge-store' }, 'store-2': { 'fleet-role': 'edge-store' } }
  const chart = {
    'charts/store-baseline/Chart.yaml': 'apiVersion: v2\nname: store-baseline\nversion: 1.0.0\n',
    'charts/store-baseline/values.yaml': 'v: chart\n',
    'charts/store-baseline/templates/cm.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: "{{ .Release.Name }}"}\ndata: {v: "{{ .Values.v }}"}\n',
  }
  const sites = { 'clusters/store-1/values.yaml': 'v: one\n', 'clusters/store-2/values.yaml': 'v: two\n' }
  const home = await startArgoHome(t, { [config]: sites, [platform]: chart }, stores)
  await home.hub.create(open('edge-stores'), AppProject)
  await home.hub.create(lab('003-appset-store-baseline'), ApplicationSet)
  await home.settle()
  for (const name of ['baseline-store-1', 'baseline-store-2']) await sync(home, name)
  const delivered = {
    'store-1': ['baseline-store-1: store-platform/baseline-store-1 one'],
    'store-2': ['baseline-store-2: store-platform/baseline-store-2 two'],
  }
  assert.deepEqual(await home.delivered(), delivered)
  await home.push('c2', config, { 'clusters/store-2/values.yaml': undefined })
  assert.deepEqual(await home.delivered(), delivered, 'the site keeps what it has')
  assert.match(
    await condition(home, 'store-baseline', 'ErrorOccurred'),
    /^True ApplicationParamsGenerationError: No Application is generated for store-2, which a generator chose; what runs there stays/,
  )
  assert.equal((await names(home)).length, 2)
})

test('a slip says what was meant, and a missing key is an error of that one', async (t) => {
  const home = await startArgoHome(t, {}, PRODUCTION)
  await home.hub.create(lab('001-appset-fleet-prometheus'), ApplicationSet)
  await home.settle()
  assert.match(
    await condition(home, 'fleet-prometheus', 'ErrorOccurred'),
    /unknown generator "cluster": did you mean "clusters"\?/,
  )
  assert.deepEqual(await names(home), [])
  const list = (elements: object[]) => ({
    goTemplate: true,
    goTemplateOptions: ['missingkey=error'],
    generators: [{ list: { elements } }],
    template: {
      metadata: { name: '{{.name}}' },
      spec: {
        project: 'default',
        source: { repoURL: 'https://x.example/{{.repo}}', path: '.' },
        destination: { name: 'east' },
      },
    },
  })
  await home.hub.create(
    build(ApplicationSet, 'argocd/some', { spec: list([{ name: 'a', repo: 'r' }, { name: 'b' }]) }),
    ApplicationSet,
  )
  await home.settle()
  assert.deepEqual(
    (await names(home)).map((one) => one.split(' ')[0]),
    ['a'],
  )
  assert.match(await condition(home, 'some', 'ErrorOccurred'), /map has no entry for key "repo"/)
  await home.hub.create(
    build(ApplicationSet, 'argocd/twice', {
      spec: list([
        { name: 'c', repo: 'r' },
        { name: 'c', repo: 's' },
      ]),
    }),
    ApplicationSet,
  )
  await home.settle()
  assert.match(await condition(home, 'twice', 'ErrorOccurred'), /contains applications with duplicate name: c/)
})

const REPOSITORY = 'https://git.example.com/apps.git'
const named = (set: string, names: readonly string[]) =>
  build(ApplicationSet, `argocd/${set}`, {
    spec: {
      generators: [{ list: { elements: names.map((name) => ({ name })) } }],
      template: {
        metadata: { name: '{{name}}' },
        spec: {
          project: 'default',
          source: { repoURL: REPOSITORY, path: '.' },
          destination: { name: 'east', namespace: set },
        },
      },
    },
  })

test('a set neither takes over nor deletes an Application of another set', async (t) => {
  const home = await startArgoHome(t, { [REPOSITORY]: { 'cm.yaml': cm('web') } }, PRODUCTION)
  await home.hub.create(named('first', ['web', 'api']), ApplicationSet)
  await home.settle()
  await home.hub.create(named('second', ['web', 'own']), ApplicationSet)
  await home.settle()
  const ownerOf = async (name: string) =>
    (await home.hub.find(Application, `argocd/${name}`))?.metadata.ownerReferences?.map((one) => one.name)
  assert.deepEqual([await ownerOf('web'), await ownerOf('own')], [['first'], ['second']])
  assert.match(
    await condition(home, 'second', 'ErrorOccurred'),
    /^True ApplicationParamsGenerationError: Application web is made by ApplicationSet first; change metadata.name/,
  )
  const found = (await home.hub.find(ApplicationSet, 'argocd/second'))!
  await home.hub.client.update(ApplicationSet, { ...found, spec: named('second', ['own']).spec })
  await home.settle()
  assert.deepEqual(await ownerOf('web'), ['first'])
  assert.match(await condition(home, 'second', 'ErrorOccurred'), /^False/)
})

test('an Application that the API refuses is told in the set, and the others are made', async (t) => {
  const home = await startArgoHome(t, { [REPOSITORY]: { 'cm.yaml': cm('web') } }, PRODUCTION)
  const spec = structuredClone(named('mixed', []).spec) as { template: { metadata: object } }
  spec.template.metadata = { name: '{{short}}', labels: { site: '{{name}}' } }
  const elements = ['a', 'b c', 'd'].map((name, at) => ({ name, short: `n${at}` }))
  Object.assign(spec, { generators: [{ list: { elements } }] })
  await home.hub.create(build(ApplicationSet, 'argocd/mixed', { spec }), ApplicationSet)
  await home.settle()
  assert.deepEqual(
    (await names(home)).map((one) => one.split(' ')[0]),
    ['n0', 'n2'],
  )
  assert.match(await condition(home, 'mixed', 'ErrorOccurred'), /^True .*Application n1 cannot be written: .*b c/)
})

test('a set with too many parameter sets is refused before it is generated', async (t) => {
  const home = await startArgoHome(t, {}, PRODUCTION)
  const list = (key: string) => ({
    list: { elements: Array.from({ length: 160 }, (_one, at) => ({ [key]: `n${at}` })) },
  })
  const spec = { ...named('many', []).spec, generators: [{ matrix: { generators: [list('name'), list('other')] } }] }
  await home.hub.create(build(ApplicationSet, 'argocd/many', { spec }), ApplicationSet)
  await home.settle()
  assert.match(
    await condition(home, 'many', 'ErrorOccurred'),
    /the generators give more than 25000 parameter sets; .*split it into several ApplicationSets/,
  )
  assert.deepEqual(await names(home), [])
})

test('a file that cannot be read is an error of the set, and not an empty file', async (t) => {
  const files = { 'sites/east.yaml': 'site: east\n', 'cm.yaml': cm('web') }
  const home = await startArgoHome(t, { [REPOSITORY]: files }, PRODUCTION)
  const { template } = named('sites', []).spec
  const git = { repoURL: REPOSITORY, revision: 'HEAD', files: [{ path: 'sites/*.yaml' }] }
  const spec = { generators: [{ git }], template: { ...(template as object), metadata: { name: 'web-{{site}}' } } }
  await home.hub.create(build(ApplicationSet, 'argocd/sites', { spec }), ApplicationSet)
  await home.settle()
  assert.equal(await condition(home, 'sites', 'Held'), '-')
  assert.equal((await names(home)).length, 1)
  await home.push('c2', REPOSITORY, { 'sites/east.yaml': `site: east\n#${'x'.repeat(4 * 1024 * 1024)}` })
  assert.match(
    await condition(home, 'sites', 'ErrorOccurred'),
    /cannot read sites\/east\.yaml of https:\/\/git\.example\.com\/apps\.git; a file of a generator must be UTF-8 text of at most 4 MiB/,
  )
  assert.equal((await names(home)).length, 1)
})

test('the clusters generator sees the Clusters that the Project of the namespace reaches, and a narrower one freezes', async (t) => {
  const home = await startArgoHome(t, { [REPOSITORY]: { 'cm.yaml': cm('web') } }, PRODUCTION)
  const selector = { matchLabels: { env: 'production' } }
  await home.hub.create(build(ClusterSet, 'prod', { spec: { access: 'Open', clusterSelector: selector } }), ClusterSet)
  const everywhere = (name: string) => {
    const spec = structuredClone(named(name, []).spec) as { template: { metadata: { name: string }; spec: object } }
    spec.template.metadata.name = `${name}-{{name}}`
    Object.assign(spec.template.spec, { destination: { name: '{{name}}', namespace: name } })
    return build(ApplicationSet, `argocd/${name}`, { spec: { ...spec, generators: [{ clusters: {} }] } })
  }
  await home.hub.create(everywhere('one'), ApplicationSet)
  await home.settle()
  const [project] = (await home.hub.client.list(Project)).items.filter(({ spec }) =>
    spec.namespaces?.includes('argocd'),
  )
  await home.hub.client.update(Project, { ...project!, spec: { ...project!.spec, clusterSets: ['prod'] } })
  await home.hub.create(everywhere('two'), ApplicationSet)
  await home.settle()
  assert.deepEqual(
    (await names(home)).map((one) => one.split(' ')[0]),
    ['one-east', 'one-lab', 'one-west', 'two-east', 'two-west'],
  )
  assert.match(
    await condition(home, 'one', 'ErrorOccurred'),
    /Application one-lab is no longer generated and stays, because the Project of the namespace does not let it select Cluster lab/,
  )
  await home.hub.client.update(Project, {
    ...(await home.hub.find(Project, project!.metadata.name))!,
    spec: { ...project!.spec, clusterSets: [] },
  })
  await home.settle()
  assert.match(await condition(home, 'two', 'ErrorOccurred'), /spec\.clusterSets lists no ClusterSet/)
  assert.equal((await names(home)).length, 5)
})

test('clusterDecisionResource follows a Placement of flotilla.dev', async (t) => {
  const repository = 'https://git.example.com/apps.git'
  const home = await startArgoHome(t, { [repository]: { 'cm.yaml': cm('web') } }, PRODUCTION)
  await home.hub.create(
    build(Placement, 'argocd/prod', { spec: { clusterSelector: { matchLabels: { env: 'production' } } } }),
    Placement,
  )
  const data = {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'placementdecisions',
    statusListKey: 'decisions',
    matchKey: 'clusterName',
  }
  await home.hub.create(build(ConfigMap, 'argocd/by-placement', { data }), ConfigMap)
  await home.settle()
  const spec = {
    generators: [
      { clusterDecisionResource: { configMapRef: 'by-placement', labelSelector: { matchExpressions: [] } } },
    ],
    template: {
      metadata: { name: 'web-{{name}}' },
      spec: {
        project: 'default',
        source: { repoURL: repository, path: '.' },
        destination: { server: '{{server}}', namespace: 'web' },
      },
    },
  }
  await home.hub.create(build(ApplicationSet, 'argocd/web', { spec }), ApplicationSet)
  await home.settle()
  assert.deepEqual(
    (await names(home)).map((one) => one.split(' ')[0]),
    ['web-east', 'web-west'],
  )
})

test('a repository that cannot be fetched is asked again, and its Source is not made and removed in turns', async (t) => {
  const home = await startArgoHome(t, {})
  const source = { repoURL: 'https://git.example/gone.git', path: 'web', targetRevision: 'main' }
  const template = {
    metadata: { name: 'web-{{name}}' },
    spec: { project: 'default', source, destination: { name: '{{name}}', namespace: 'web' } },
  }
  const spec = { generators: [{ clusters: {} }], template }
  await home.hub.create(build(ApplicationSet, 'argocd/web', { spec }), ApplicationSet)
  for (let second = 0; second < 60; second++) await home.hub.clock.advance(1000)
  assert.match((await home.status('web-c1'))?.conditions?.[0]?.message ?? '', /there is no repository/)
  assert.deepEqual(
    home.hub.writes.filter((write) => write.startsWith('DELETE')),
    [],
  )
  await home.hub.client.delete(ApplicationSet, { namespace: 'argocd', name: 'web' })
  await home.settle()
  assert.equal((await home.hub.client.list(Source)).items.length, 0)
})
