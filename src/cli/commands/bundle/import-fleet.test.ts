/** bundle import fleet: files of users in, objects that validate and the hub take out. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Source } from '../../../kinds/native/source.ts'
import { expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { FLEET_EXAMPLES } from '../../../testing/fixtures/rancher-fleet/examples.ts'
import { createImportWorkspace } from '../../../testing/hub/import-workspace.ts'
import { importFleet } from './import-fleet.ts'
import type { ImportFleetFlags } from './import-fleet.ts'

const GROUPS = ['dev', 'test', 'prod']
  .map(
    (name) => `---
apiVersion: fleet.cattle.io/v1alpha1
kind: ClusterGroup
metadata: {name: ${name}, namespace: fleet-default}
spec: {selector: {matchLabels: {env: ${name}}}}
`,
  )
  .join('')

const gitRepo = (spec: string, name = 'shop'): string => `apiVersion: fleet.cattle.io/v1alpha1
kind: GitRepo
metadata: {name: ${name}, namespace: fleet-default}
spec: {repo: 'https://git.example.com/${name}.git', branch: main, ${spec}}
`

const SHOP = {
  'web/fleet.yaml': `defaultNamespace: web
helm: {repo: https://charts.example.com, chart: web, version: 1.2.3, atomic: true}
dependsOn: [{selector: {matchLabels: {tier: data}}}]
targetCustomizations: [{name: prod, clusterGroup: prod, helm: {values: {replicas: 5}}}]
`,
  'db/fleet.yaml': 'labels: {tier: data}\nnamespace: db\n',
  'db/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: db}\n',
}

function scene(t: TestContext, files: Readonly<Record<string, string>>, beside: Readonly<Record<string, string>> = {}) {
  const made = createImportWorkspace(t, files, beside)
  const { root, run, stdinOf } = made
  const importing = (from: string, flags: ImportFleetFlags, stdin = '') =>
    importFleet(from, { ...run, stdin: stdinOf(stdin), flags: { ...(from === root ? {} : { root }), ...flags } })
  return { ...made, importing }
}

test('a repository with its GitRepo becomes objects that validate and the hub take', async (t) => {
  const { importing, file, taken, acceptedByHub, client } = scene(t, SHOP, {
    'gitrepo.yaml': `${gitRepo('clientSecretName: git, targets: [{clusterSelector: {matchLabels: {env: prod}}}]')}${GROUPS}`,
  })
  await importing(file('gitrepo.yaml'), { namespace: 'default' })
  const { out, err } = taken()
  assert.deepEqual(out.split('\n').slice(0, 3), [
    `# imported from ${file('gitrepo.yaml')}`,
    '# - web/fleet.yaml:2: helm.atomic has no effect: a failed bundle stops its rollout instead of going back by itself',
    '# - the Secret git for the repository must be in namespace default, with the annotation flotilla.dev/urls that says where it may be sent',
  ])
  assert.match(err, /see the 2 notes in the comments at the top\n.*--apply/)
  assert.doesNotMatch(out, /ownerReferences|fleet.cattle.io\/repo-name|flotilla.dev\/compiled/)
  const names = await acceptedByHub(out)
  assert.deepEqual(
    names.map((name) => name.replace(/-[0-9a-f]{12}$/, '')),
    [
      'source.flotilla.dev/shop',
      'source.flotilla.dev/shop-chart',
      'placement.flotilla.dev/shop',
      'rolloutplan.flotilla.dev/shop',
      'bundle.flotilla.dev/shop-db',
      'bundle.flotilla.dev/shop-web',
    ],
  )
  const web = await client.get(Bundle, { name: 'shop-web', namespace: 'default' })
  assert.deepEqual(web.spec.dependsOn, [{ bundle: 'shop-db' }])
  assert.equal(web.spec.variants?.[0]?.name, 'prod')
  assert.equal((await client.get(Source, { name: 'shop', namespace: 'default' })).spec.credentials, 'git')
})

test('every layout that Fleet’s users have is taken, and with --apply written at once', async (t) => {
  for (const [name, tree] of Object.entries(FLEET_EXAMPLES)) {
    const { importing, taken, acceptedByHub, client } = scene(t, tree)
    const given = `${gitRepo('targets: [{clusterSelector: {}}]')}${GROUPS}`
    await importing('-', {}, given)
    const { out } = taken()
    const names = await acceptedByHub(out)
    assert.ok(
      names.some((one) => one.startsWith('bundle.flotilla.dev/')),
      name,
    )
    await importing('-', { apply: true, namespace: 'kube-public' }, given)
    assert.match(taken().err, /► flotilla get bundle \S+ -n kube-public\n/)
    const written = (await client.list(Bundle, { namespace: 'kube-public' })).items
    assert.equal(written.length, names.filter((one) => one.startsWith('bundle.')).length, name)
  }
})

test('a directory without a GitRepo says on the command line what one would', async (t) => {
  const { importing, root, taken, acceptedByHub, client } = scene(t, { 'apps/db/cm.yaml': SHOP['db/cm.yaml'] })
  const where = { repo: 'https://git.example.com/Till.git', branch: 'main' }
  await importing(root, { ...where, path: ['apps/*'], selector: 'env=prod' })
  await acceptedByHub(taken().out)
  const { spec } = await client.get(Bundle, { name: 'till-apps-db', namespace: 'default' })
  assert.deepEqual(spec.source, { name: 'till', path: 'apps/db' })
  const { predicates } = (await client.get(Placement, { name: 'till', namespace: 'default' })).spec
  assert.deepEqual(predicates?.[0]?.labelSelector, {
    matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }],
  })
  for (const [flags, what] of [
    [{ ...where }, 'missing -l or --all-clusters'],
    [{ branch: 'main', allClusters: true }, 'missing --repo URL'],
    [{ repo: where.repo, allClusters: true }, 'missing --branch NAME'],
  ] as const) {
    const report = await expectErrorReport(importing(root, flags))
    assert.deepEqual([report.exitCode, report.what], [2, what])
  }
})

test('what cannot be taken over is named, keeps the rest readable, and nothing is written', async (t) => {
  const { importing, taken, client } = scene(t, {
    ...SHOP,
    'scan/fleet.yaml': 'imageScans: [{image: x}]\n',
    'scan/cm.yaml': SHOP['db/cm.yaml'],
  })
  const given = gitRepo('targets: [{clusterGroup: stores}]')
  const report = await expectErrorReport(importing('-', {}, given))
  assert.deepEqual(report, {
    exitCode: 1,
    what: '3 parts cannot be imported',
    where: 'stdin',
    why: 'scan/fleet.yaml:1: imageScans would write new image tags into git, which is not done; and 2 more, listed above',
    todo: 'change the imported file and repeat the command; --apply writes nothing while a part cannot be imported',
  })
  const { out } = taken()
  assert.match(out, /^# - not imported: targets name ClusterGroup stores, which is not in the files; /m)
  assert.match(out, /name: shop-db\n/)
  assert.equal((await expectErrorReport(importing('-', { apply: true }, given))).exitCode, 1)
  assert.match(taken().err, /imageScans would write/)
  assert.equal((await client.list(Source)).items.length, 0)
})

test('-l says who gets it instead of the targets, also of the cluster that Fleet runs in', async (t) => {
  const { importing, taken, acceptedByHub, client } = scene(t, { 'db/cm.yaml': SHOP['db/cm.yaml'] })
  const local = gitRepo('paths: [db]').replace('fleet-default', 'fleet-local')
  const unsaid = await expectErrorReport(importing('-', {}, local))
  assert.equal(
    unsaid.why,
    'GitRepo shop is for the cluster that Fleet runs in (fleet-local); which Clusters are that here? say -l LABELS or --all-clusters',
  )
  taken()
  await importing('-', { selector: 'tier=store' }, local)
  await acceptedByHub(taken().out)
  const { predicates } = (await client.get(Placement, { name: 'shop', namespace: 'default' })).spec
  assert.deepEqual(predicates?.[0]?.labelSelector, {
    matchExpressions: [{ key: 'tier', operator: 'In', values: ['store'] }],
  })
})

test('what stands beside GitRepos is named, and two repositories are not read as one', async (t) => {
  const { importing, taken } = scene(t, { 'db/cm.yaml': SHOP['db/cm.yaml'] })
  const beside = (kind: string, name: string) =>
    `---\napiVersion: fleet.cattle.io/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}}\n`
  const repo = gitRepo('paths: [db], targets: [{clusterSelector: {}}]')
  await importing('-', {}, `${repo}${beside('BundleNamespaceMapping', 'm')}`)
  assert.match(taken().out, /^# - BundleNamespaceMapping m is not taken over\n/m)
  const chart = await expectErrorReport(importing('-', {}, `${repo}${beside('HelmOp', 'h')}`))
  assert.equal(
    chart.why,
    'HelmOp h is not taken over: only what GitRepos bring is; import its chart with flotilla bundle import helm',
  )
  const two = await expectErrorReport(importing('-', {}, `${repo}---\n${repo.replaceAll('shop', 'other')}`))
  assert.match(two.why ?? '', /--root is one repository, and the GitRepos name \S+shop and \S+other; /)
})

test('what is no GitRepo, or says nothing, is a sentence', async (t) => {
  const { importing, file } = scene(t, { 'cm.yaml': SHOP['db/cm.yaml'] }, { 'cm.yaml': SHOP['db/cm.yaml'] })
  const noRepo = gitRepo('targets: [{clusterSelector: {}}]').replace(/repo: '[^']*'/, "repo: ''")
  const twice = `${gitRepo('targets: [{clusterSelector: {}}]')}---\n${gitRepo('targets: [{clusterSelector: {}}]')}`
  const cases: readonly (readonly [string, ImportFleetFlags, string, RegExp])[] = [
    [file('cm.yaml'), {}, 'no GitRepo of Rancher Fleet found', /the kinds are ConfigMap/],
    [file('none.yaml'), {}, 'cannot read the file', /ENOENT/],
    [file('cm.yaml'), { name: 'x' }, '--name cannot be combined with a GitRepo; its spec.name is used', /^$/],
    ['-', {}, '1 part cannot be imported', /spec.repo must name a git repository/],
  ]
  for (const [from, flags, what, why] of cases) {
    const report = await expectErrorReport(importing(from, flags, noRepo))
    assert.equal(report.what, what)
    assert.match(report.why ?? '', why)
  }
  const both = await expectErrorReport(importing('-', {}, twice))
  assert.equal(both.what, 'two different objects would become Source shop')
})
