/** Applications and sets in, objects and remarks out. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../core/json.ts'
import { application, GIT, HERE, imported, set } from '../../testing/fixtures/argo-applications.ts'
import type { ImportOptions } from '../../testing/fixtures/argo-applications.ts'
import { isListOf } from '../field-table.ts'
import type { Fields } from '../field-table.ts'
import { withArgoTables } from './docs-page.ts'
import { APPLICATION, APPLICATION_SET } from './fields.ts'
import { locationOf } from './compile/source-location.ts'

test('an Application: where from, to whom, and how', () => {
  const { objects, notes, problems } = imported(
    application(
      `source: {${GIT}, targetRevision: main}, ${HERE},
       syncPolicy: {automated: {prune: true, selfHeal: true}, retry: {limit: -1}, syncOptions: [CreateNamespace=true, PruneLast=true, Force=true],
         managedNamespaceMetadata: {labels: {team: tills}}},
       ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas], jqPathExpressions: ['.spec.x[].y']}],
       revisionHistoryLimit: 3`,
      ', labels: {tier: front}, finalizers: [resources-finalizer.argocd.argoproj.io/background]',
    ),
  )
  const metadata = { name: 'web', namespace: 'default' }
  const apiVersion = 'flotilla.dev/v1alpha1'
  assert.deepEqual({ notes, problems }, { notes: [], problems: [] })
  assert.deepEqual(objects, [
    {
      apiVersion,
      kind: 'Placement',
      metadata: { ...metadata, name: 'store-1' },
      spec: { clusterSelector: {}, predicates: [{ cel: ['cluster.metadata.name == "store-1"'] }] },
    },
    {
      apiVersion,
      kind: 'Source',
      metadata: { ...metadata, name: 'apps' },
      spec: { git: { url: 'https://git.example.com/apps.git', ref: { branch: 'main' } } },
    },
    {
      apiVersion,
      kind: 'Bundle',
      metadata: { ...metadata, labels: { tier: 'front' } },
      spec: {
        placement: 'store-1',
        source: { name: 'apps', path: 'web' },
        style: 'Raw',
        defaultNamespace: 'shop',
        rollout: { history: 3 },
        apply: { force: true, immutable: 'Recreate' },
        drift: { mode: 'Correct' },
        prune: { mode: 'Last' },
        delete: { propagation: 'Background' },
        namespaces: { create: true, labels: { team: 'tills' } },
        remediation: { retries: 10 },
        ignore: [{ group: 'apps', kind: 'Deployment', pointers: ['/spec/replicas'], paths: ['.spec.x[*].y'] }],
        dialect: 'Argo',
      },
    },
  ])
})

test('without automation a user starts it; without the finalizer everything stays', () => {
  const { bundles, plans } = imported(application(`source: {${GIT}}, ${HERE}`))
  assert.deepEqual(plans, { web: { start: 'Manual' } })
  const { rollout, prune, drift, delete: removal } = bundles['web']!
  assert.deepEqual(
    [rollout, prune, drift, removal],
    [
      { plan: 'web' },
      { mode: 'Confirm' },
      { mode: 'Report' },
      { unplaced: 'Orphan', bundleDeleted: 'Orphan', propagation: 'Background' },
    ],
  )
  const off = imported(
    application(`source: {${GIT}}, ${HERE}, syncPolicy: {automated: {enabled: false, selfHeal: true}}`),
  )
  assert.deepEqual([off.plans, off.bundles['web']?.drift], [{ web: { start: 'Manual' } }, { mode: 'Report' }])
  const unpruned = imported(application(`source: {${GIT}}, ${HERE}, syncPolicy: {automated: {}}`))
  assert.deepEqual([unpruned.plans, unpruned.bundles['web']?.prune], [{}, { mode: 'Never' }])
})

test('revisions and addresses', () => {
  const git = (revision: string) => {
    const found = locationOf({ repoURL: 'git@x:y.git', targetRevision: revision })
    return 'problem' in found ? found.problem : found.spec.git?.ref
  }
  const commit = '0123456789abcdef0123456789abcdef01234567'
  const cases: readonly (readonly [string, unknown])[] = [
    ['', undefined],
    ['HEAD', undefined],
    ['main', { branch: 'main' }],
    ['release/1.x', { branch: 'release/1.x' }],
    ['refs/heads/v2', { branch: 'v2' }],
    ['refs/tags/stable', { tag: 'stable' }],
    ['v1.2.3', { tag: 'v1.2.3' }],
    ['^1.2', { semver: '^1.2' }],
    ['1.2.x', { semver: '1.2.x' }],
    ['>=1 <2', { semver: '>=1 <2' }],
    [commit, { commit }],
    ['0123abc', 'source.targetRevision 0123abc looks like a part of a commit; write all 40 characters'],
  ]
  for (const [revision, ref] of cases) assert.deepEqual(git(revision), ref, revision)
  const spec = (repoURL: string, chart: string, targetRevision: string) => {
    const found = locationOf({ repoURL, chart, targetRevision })
    return 'problem' in found ? found.problem : found.spec
  }
  const url = 'https://charts.example.com'
  assert.deepEqual(spec(url, 'web', '^1'), { helm: { url, chart: 'web', version: '^1' } })
  assert.deepEqual(spec('ghcr.io/acme/charts', 'web', '1.2.3+b'), {
    oci: { url: 'oci://ghcr.io/acme/charts/web', tag: '1.2.3_b' },
  })
  assert.deepEqual(spec('oci://ghcr.io/acme/', '', '>1'), { oci: { url: 'oci://ghcr.io/acme', semver: '>1' } })
  assert.equal(spec('', '', ''), 'source.repoURL must say where the content is')
})

test('charts: values, files of other sources, parameters over all', () => {
  const { bundles, sources, problems } = imported(
    application(`sources: [
      {repoURL: 'https://charts.example.com', chart: web, targetRevision: 1.2.3, helm: {
        valueFiles: [$values/web/prod.yaml], values: "a: {b: 1, c: [x, y]}\\n", parameters: [
          {name: a.b, value: '2'}, {name: a.d, value: '2', forceString: true}, {name: 'a.c[1]', value: 'p,q'}]}},
      {repoURL: 'https://git.example.com/values.git', targetRevision: main, ref: values}], ${HERE}`),
  )
  assert.deepEqual(problems, [])
  assert.deepEqual(Object.keys(sources), ['web', 'values'])
  assert.deepEqual(bundles['web']?.source, { name: 'web', include: [{ source: 'values', at: '.refs/values' }] })
  assert.deepEqual(bundles['web']?.helm, {
    values: { a: { b: 2, c: ['x', 'p,q'], d: '2' } },
    valuesFiles: ['.refs/values/web/prod.yaml'],
  })
  const inGit = "repoURL: 'https://git.example.com/apps.git', path: charts/web"
  const file = (name: string) => imported(application(`source: {${inGit}, helm: {valueFiles: ['${name}']}}, ${HERE}`))
  assert.deepEqual(file('/common/eu.yaml').bundles['web']?.helm?.valuesFiles, ['../../common/eu.yaml'])
  assert.deepEqual(file('$none/x.yaml').problems, [
    'Application web: helm.valueFiles: $none/x.yaml names ref none, and no source has it',
  ])
  assert.match(file('env/*.yaml').problems[0]!, /is a pattern; which files it means is known with --root DIR/)
  assert.match(file('https://x/y.yaml').problems[0]!, /is an address/)
})

test('a directory without more is what its files say; of manifests only its own count', () => {
  const plain = application(`source: {repoURL: 'https://git.example.com/apps.git', path: web}, ${HERE}`)
  const style = (...paths: string[]) => {
    const { style: found, source } = imported(plain, { paths }).bundles['web']!
    return [found, source?.ignore]
  }
  assert.deepEqual(style('web/Chart.yaml', 'web/kustomization.yaml'), ['Helm', undefined])
  assert.deepEqual(style('web/kustomization.yml'), ['Kustomize', undefined])
  assert.deepEqual(style('web/cm.yaml', 'web/below/Chart.yaml'), ['Raw', ['below']])
  const unknown = imported(plain)
  assert.equal(unknown.bundles['web']?.style, undefined)
  assert.match(unknown.notes[0]!, /is not known here; of manifests Argo CD takes only those of the directory itself/)
  const patterns = application(
    `source: {${GIT.replace('true', "true, include: '*.yaml', exclude: '{a,b}*'")}}, ${HERE}`,
  )
  const directory = { recurse: true, include: '*.yaml', exclude: '{a,b}*' }
  assert.deepEqual(imported(patterns).bundles['web']?.builder, { name: 'argo', options: { directory } })
  assert.equal(imported(patterns).bundles['web']?.style, undefined)
  const flat = application(`source: {${GIT.replace('true', 'false')}}, ${HERE}`)
  assert.deepEqual(imported(flat).bundles['web']?.builder?.options, { directory: { recurse: false } })
  const many = Array.from({ length: 300 }, (_, at) => `web/d${at}/x.yaml`)
  assert.deepEqual(imported(flat, { paths: many }).bundles['web']?.builder?.options, { directory: { recurse: false } })
})

test('destinations: by name, by what --cluster says, or by labels for all', () => {
  const to = (destination: string, options: ImportOptions = {}) => {
    const { placements, problems } = imported(application(`source: {${GIT}}, destination: {${destination}}`), options)
    return Object.values(placements)[0] ?? problems
  }
  const cel = (name: string) => ({ clusterSelector: {}, predicates: [{ cel: [`cluster.metadata.name == "${name}"`] }] })
  const clusters = new Map([['https://10.0.0.1:6443', 'store-2']])
  assert.deepEqual(to('name: store-1'), cel('store-1'))
  assert.deepEqual(to("server: 'https://10.0.0.1:6443'", { clusters }), cel('store-2'))
  assert.deepEqual(to('name: in-cluster'), [
    'Application web: destination in-cluster: which Cluster is that here? say --cluster in-cluster=NAME, or -l LABELS for all of it',
  ])
  assert.deepEqual(to('namespace: x'), ['Application web: destination must name a cluster'])
  assert.deepEqual(to('name: in-cluster', { allClusters: [] }), { clusterSelector: {} })
})

const TEMPLATE = `{metadata: {name: '{{name}}-web', labels: {ring: '{{metadata.labels.ring}}'}}, spec: {
    source: {repoURL: 'https://charts.example.com', chart: web, helm: {values: "host: {{name}}.{{metadata.labels.a/b}}\\nprice: $\{5}\\nmine: {{values.own}}\\n"}},
    destination: {server: '{{server}}'}, syncPolicy: {automated: {}}}}`
const CLUSTERS = `[{clusters: {selector: {matchLabels: {argocd.argoproj.io/secret-type: cluster, env: prod}}, values: {own: '{{metadata.annotations.tier}}'}}}]`

test('a set for clusters is one Bundle; what depends on them stands in its values', () => {
  const { bundles, placements, problems, notes } = imported(set(CLUSTERS, TEMPLATE))
  assert.deepEqual(problems, [])
  assert.deepEqual(placements, {
    shop: { clusterSelector: { matchExpressions: [{ key: 'env', operator: 'In', values: ['prod'] }] } },
  })
  assert.deepEqual(bundles['web']?.helm, {
    values: {
      host: '${ .ClusterName }.${ index .ClusterLabels "a/b" }',
      price: '$${5}',
      mine: '${ .ClusterAnnotations.tier }',
    },
    valuesTemplating: 'Templates',
  })
  assert.deepEqual(bundles['web']?.delete, { propagation: 'Foreground' })
  assert.deepEqual(
    notes.map((note) => note.slice(0, 70)),
    [
      'ApplicationSet shop: label ring depends on the cluster ({{metadata.lab',
      'ApplicationSet shop: in Argo CD the release is called {{name}}-web, he',
    ],
  )
  const kept = imported(set(CLUSTERS, TEMPLATE, 'syncPolicy: {preserveResourcesOnDeletion: true}'))
  assert.equal(kept.bundles['web']?.delete?.bundleDeleted, 'Orphan')
})

test('what cannot depend on the cluster, or is worked on, is named', () => {
  const at = (from: string, to: string, more = '') => imported(set(CLUSTERS, TEMPLATE.replace(from, to), more)).problems
  assert.deepEqual(at('chart: web', "chart: web, targetRevision: '{{metadata.labels.v}}'"), [
    'ApplicationSet shop: source.targetRevision depends on the cluster ({{metadata.labels.v}}), which only values can; write a variant of the Bundle for each value of the label',
  ])
  assert.match(at('{{server}}', 'https://x')[0]!, /destination "https:\/\/x" must be \{\{name\}\} or \{\{server\}\}/)
  assert.match(
    at('{{name}}.', '{{nmae}}.')[0]!,
    /\{\{nmae\}\} is no parameter of its generators; they have name, server/,
  )
  const go = TEMPLATE.replaceAll('{{', '{{.').replace('{{.metadata.labels.a/b}}', '{{index .metadata.labels "a/b" }}')
  const made = imported(set(CLUSTERS.replace('{{', '{{.'), go.replaceAll('"a/b"', '\\"a/b\\"'), 'goTemplate: true'))
  assert.deepEqual(made.problems, [])
  assert.equal(
    (made.bundles['web']!.helm!.values as JsonObject)['host'],
    '${ .ClusterName }.${ index .ClusterLabels "a/b" }',
  )
  const worked = go.replaceAll('"a/b"', '\\"a/b\\"').replace('{{.name}}.', '{{ .name | upper }}.')
  assert.match(
    imported(set(CLUSTERS.replace('{{', '{{.'), worked, 'goTemplate: true')).problems[0]!,
    /no entry for key "name"; what depends on the cluster may be named \(\{\{\.name\}\}\), not worked on/,
  )
})

test('steps become rings by labels of the cluster', () => {
  const strategy = (key: string) => `strategy: {type: RollingSync, rollingSync: {steps: [
    {matchExpressions: [{key: ${key}, operator: In, values: [canary]}], maxUpdate: 0}, {matchExpressions: [{key: ring, operator: In, values: [wide]}]}]}}`
  const { plans, notes } = imported(set(CLUSTERS, TEMPLATE, strategy('ring')))
  assert.deepEqual(
    (plans['shop']!['rings'] as JsonObject[]).map(({ name, selector, concurrency, approvals }) => [
      name,
      (selector as { matchExpressions: JsonObject[] } | undefined)?.matchExpressions[0]?.['values'],
      concurrency,
      approvals,
    ]),
    [
      ['step-1', ['canary'], 1, { count: 1 }],
      ['step-2', ['wide'], '100%', undefined],
      ['rest', undefined, undefined, undefined],
    ],
  )
  assert.ok(notes.some((note) => note.includes('maxUpdate 0 requires one approval')))
  assert.match(imported(set(CLUSTERS, TEMPLATE, strategy('odd'))).problems[0]!, /steps\[0\]: odd is no label/)
  // Steps sync by themselves, and never prune without being configured to.
  const manual = imported(set(CLUSTERS, TEMPLATE.replace(', syncPolicy: {automated: {}}', ''), strategy('ring')))
  assert.deepEqual([plans['shop']!['start'], manual.plans['shop']!['start']], [undefined, undefined])
  assert.equal(manual.bundles['web']?.prune?.mode, 'Never')
  const list = '[{list: {elements: [{name: s1, server: x}]}}]'
  const single = TEMPLATE.replace(
    /metadata: \{name: '\{\{name\}\}-web', labels[^}]*\}\}'\}\}/,
    "metadata: {name: '{{name}}-web'}",
  ).replace(/helm: .*\}\}/, 'helm: {}}')
  assert.match(
    imported(set(list, single, strategy('ring'))).problems.join(),
    /strategy.rollingSync: rings take clusters by their labels/,
  )
})

test('Applications that a set made are left to it; others of the file are not', () => {
  const owned = application(`source: {${GIT}}, ${HERE}`, ', ownerReferences: [{kind: ApplicationSet, name: shop}]')
  assert.deepEqual(Object.keys(imported(`${set(CLUSTERS, TEMPLATE)}---\n${owned}`).bundles), ['web'])
  assert.deepEqual(Object.keys(imported(owned).bundles), ['web'])
})

test('--root is one repository, or says of which address it is', () => {
  const two = application(`sources: [{${GIT}}, {${GIT.replace('apps', 'other').replace('.git', '')}}], ${HERE}`)
  assert.match(
    imported(two, { paths: [] }).problems[0]!,
    /--root is one repository, and the files name .* --root URL=DIR/,
  )
  const same = application(`sources: [{${GIT}}, {${GIT.replace('.git', '/')}}], ${HERE}`)
  assert.deepEqual(imported(same, { paths: [] }).problems, [])
  const plain = two.replaceAll(', directory: {recurse: true}', '')
  const clone = (name: string, path: string) => ({
    url: `https://git.example.com/${name}`,
    files: new Map([[path, new Uint8Array()]]),
  })
  const clones = [clone('other', 'web/Chart.yaml'), clone('apps', 'web/kustomization.yaml')]
  const { bundles, problems } = imported(plain, { clones })
  assert.deepEqual(problems, [])
  assert.deepEqual(
    Object.entries(bundles).map(([name, { style, helm }]) => [name, style, helm?.releaseName]),
    [
      ['web', 'Kustomize', undefined],
      // Templates see the name of the Application, whatever the Bundle is called.
      ['web-2', 'Helm', 'web'],
    ],
  )
})

test('what stands beside, in annotations, or is for Argo CD itself is told', () => {
  const beside = 'apiVersion: argoproj.io/v1alpha1\nkind: AppProject\nmetadata: {name: shop}\n---\n'
  const annotations =
    ', annotations: {argocd.argoproj.io/sync-wave: "1", notifications.argoproj.io/subscribe.x: y, argocd.argoproj.io/refresh: hard}'
  const { notes, problems } = imported(beside + application(`source: {${GIT}}, ${HERE}`, annotations), {
    files: { 'web/apps.yaml': 'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: x}\n' },
  })
  assert.deepEqual(problems, [])
  assert.deepEqual(notes, [
    'AppProject shop is not taken over: who may bring what where is decided by namespaces and roles',
    'Application web: annotation argocd.argoproj.io/sync-wave of an Application has no effect: write dependsOn of the Bundle',
    'Application web: annotation notifications.argoproj.io/subscribe.x of an Application has no effect',
    'Application web: web/apps.yaml is for Argo CD itself, and the Bundle would bring it into the cluster: import what stands there, too, and leave this Bundle out unless the cluster has Argo CD',
  ])
})

test('jsonnet is refused where it is found, and charts that a chart lacks are fetched', () => {
  const plain = application(`source: {repoURL: 'https://git.example.com/apps.git', path: web}, ${HERE}`)
  assert.deepEqual(imported(plain, { paths: ['web/a.yaml', 'web/b.jsonnet'] }).problems, [
    'Application web: web/b.jsonnet: jsonnet is not evaluated; keep its output in git',
  ])
  assert.deepEqual(imported(plain, { paths: ['web/a.yaml', 'web/below/b.jsonnet'] }).problems, [])
  const chart = `name: web\ndependencies:\n- {name: redis, version: ^1, repository: 'https://charts.example.com'}\n- {name: mysql, version: 1.2.3, repository: 'oci://ghcr.io/acme'}\n- {name: own, repository: 'https://charts.example.com'}\n- {name: local, repository: 'file://../local'}\n`
  const files = { 'web/Chart.yaml': chart, 'web/charts/own-1.0.0.tgz': '', 'web/charts/local/Chart.yaml': '' }
  const { bundles, sources, problems } = imported(plain, { files })
  assert.deepEqual(problems, [])
  assert.deepEqual(bundles['web']?.source?.include, [
    { source: 'redis', at: 'charts/redis' },
    { source: 'mysql', at: 'charts/mysql' },
  ])
  assert.deepEqual(sources['redis'], { helm: { url: 'https://charts.example.com', chart: 'redis', version: '^1' } })
  assert.deepEqual(sources['mysql'], { oci: { url: 'oci://ghcr.io/acme/mysql', tag: '1.2.3' } })
  const odd = { 'web/Chart.yaml': "name: web\ndependencies: [{name: redis, repository: '@stable'}]\n" }
  assert.match(imported(plain, { files: odd }).problems[0]!, /@stable of redis is no address that is known here/)
})

test('values files that may be missing are left out when they are', () => {
  const chart = application(
    `source: {repoURL: 'https://git.example.com/apps.git', path: web, helm: {ignoreMissingValueFiles: true, valueFiles: [values.yaml, ../eu.yaml, /none.yaml]}}, ${HERE}`,
  )
  const { bundles, notes } = imported(chart, { paths: ['web/values.yaml', 'eu.yaml'] })
  assert.deepEqual(bundles['web']?.helm?.valuesFiles, ['values.yaml', '../eu.yaml'])
  assert.deepEqual(notes, [
    'Application web: helm.valueFiles: /none.yaml is not there now and left out; add it to helm.valuesFiles when it is',
  ])
  assert.match(imported(chart).notes.join('\n'), /none\.yaml must be there, or it is an error here; --root DIR/)
})

test('every field that is refused or without effect says so', () => {
  const valueFor = (shape: unknown): string =>
    shape === 'flag'
      ? 'true'
      : shape === 'text'
        ? 'x'
        : shape === 'int'
          ? '3'
          : shape === 'texts'
            ? '[x]'
            : shape === 'maps'
              ? '[{a: b}]'
              : '{a: b}'
  const walk = (fields: Fields, wrap: (text: string) => string): void => {
    for (const [name, { shape, verdict, how }] of Object.entries(fields)) {
      const own = (value: string) => wrap(`${name}: ${value}`)
      if (verdict === 'refused' || verdict === 'warned') {
        const { notes, problems } = imported(own(valueFor(shape)))
        const heard = verdict === 'refused' ? problems : notes
        assert.ok(
          heard.some((one) => one.endsWith(how)),
          `${name}: ${how}\n${heard.join('\n')}`,
        )
      } else if (isListOf(shape)) walk(shape.items, (text) => own(`[{${text}}]`))
      else if (typeof shape === 'object') walk(shape, (text) => own(`{${text}}`))
    }
  }
  walk(
    APPLICATION,
    (text) => `apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: web}\nspec: {${text}}\n`,
  )
  walk(
    APPLICATION_SET,
    (text) => `apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {name: web}\nspec: {${text}}\n`,
  )
  const typo = imported(application(`soruce: {}, ${HERE}`))
  assert.ok(
    typo.notes.includes(
      'Application web: spec.soruce is no field of Argo CD and has no effect; did you mean "source"?',
    ),
  )
})

test('the page has every field', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/dialects/argo.md'), 'utf8')
  assert.equal(withArgoTables(page), page, 'run `npm run docs`')
  assert.match(page, /\| `source\.helm\.valuesObject` \| exact \|/)
})

test('plaintext Secrets are allowed by the annotation of the Application', () => {
  const secretsOf = (annotations: string) =>
    imported(application(`source: {${GIT}}, ${HERE}`, annotations)).objects.flatMap(({ kind, spec }) =>
      kind === 'Bundle' ? [(spec as { secrets?: string }).secrets] : [],
    )
  assert.deepEqual(secretsOf(''), [undefined])
  assert.deepEqual(secretsOf(', annotations: {flotilla.dev/secrets: Allow}'), ['Allow'])
  const { notes } = imported(application(`source: {${GIT}}, ${HERE}`, ', annotations: {flotilla.dev/secrets: Allow}'))
  assert.deepEqual(
    notes.filter((note) => note.includes('secrets')),
    [],
  )
})
