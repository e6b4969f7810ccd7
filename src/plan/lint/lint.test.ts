import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { matchesSelector, requirementsOf } from '../../core/text/label-selector.ts'
import type { LabelRequirement } from '../../core/text/label-selector.ts'
import { TABLE_KINDS, BUILTIN_MINOR_VERSION } from '../../kinds/builtin/kind-table.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Source } from '../../kinds/native/source.ts'
import { lintPage } from './docs-page.ts'
import { API_LIVES, minorOf } from './kubernetes-apis.ts'
import { lintApi } from './lint-apis.ts'
import { lintChart, lintKustomization, lintSource } from './lint-charts.ts'
import { lintContentFields } from './lint-fields.ts'
import { lintImages, unpinned } from './lint-images.ts'
import { lintContents } from './lint-objects.ts'
import { lintOverlap } from './lint-overlap.ts'
import { contradiction, lintSelector } from './lint-selectors.ts'

const object = (apiVersion: string, kind: string, more: object = {}): UnknownObject => ({
  apiVersion,
  kind,
  metadata: { name: 'x', namespace: 'shop' },
  ...more,
})
const lines = (findings: readonly { check: string; severity: string; message: string; todo?: string }[]) =>
  findings.map(({ check, severity, message, todo }) => `${severity} ${check}: ${message}${todo ? `; ${todo}` : ''}`)

test('the page of checks is what the checks say', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/lint.md'), 'utf8')
  assert.equal(page, lintPage(), 'run `npm run docs`')
})

test('an API version is judged by the versions of the clusters that get it', () => {
  const ingress = object('networking.k8s.io/v1beta1', 'Ingress')
  const at = (...versions: string[]) => versions.map((kubeVersion, index) => ({ name: `s${index + 1}`, kubeVersion }))
  assert.deepEqual(lines(lintApi(ingress, at('v1.21.0', 'v1.33.2+k3s1', 'v1.22.0'))), [
    'error removed-api: Ingress shop/x: networking.k8s.io/v1beta1 is not served since Kubernetes 1.22, and 2 clusters run that or a newer one (s2, s3); write apiVersion: networking.k8s.io/v1',
  ])
  assert.deepEqual(lines(lintApi(ingress, at('v1.21.9'))), [
    'warning deprecated-api: Ingress shop/x: networking.k8s.io/v1beta1 is deprecated since Kubernetes 1.19 and not served from 1.22 on; write apiVersion: networking.k8s.io/v1',
  ])
  assert.deepEqual(lines(lintApi(ingress, [])), lines(lintApi(ingress, at('v1.21.9'))))
  assert.deepEqual(lines(lintApi(ingress, at('v1.18.0'))), [])
  assert.deepEqual(lines(lintApi(object('batch/v1', 'CronJob'), at('v1.20.1', 'v1.21.0'))), [
    'error future-api: CronJob shop/x: batch/v1 is served from Kubernetes 1.21 on, and one cluster runs an older one (s1)',
  ])
  assert.deepEqual(lines(lintApi(object('v1', 'Endpoints'), at('v1.33.0'))), [
    'warning deprecated-api: Endpoints shop/x: v1 is deprecated since Kubernetes 1.33; write apiVersion: discovery.k8s.io/v1 and kind: EndpointSlice',
  ])
  assert.deepEqual(lintApi(object('apps/v1', 'Deployment'), at('v1.36.0')), [])
})

test('the table of API versions agrees with the table of kinds and with itself', () => {
  assert.ok(API_LIVES.size > 90)
  const served = new Set(TABLE_KINDS.map(({ group, version, kind }) => `${group ? `${group}/` : ''}${version} ${kind}`))
  for (const [name, { since, deprecated = Infinity, removed = Infinity, instead }] of API_LIVES) {
    assert.ok(since <= deprecated && deprecated <= removed, name)
    if (served.has(name))
      assert.ok(since <= BUILTIN_MINOR_VERSION && removed > BUILTIN_MINOR_VERSION, `${name} is in the table of kinds`)
    if (instead) assert.notEqual(instead, name.split(' ')[0])
  }
  const table = readFileSync(join(import.meta.dirname, '../../kinds/builtin/table/kinds.generated.ts'), 'utf8')
  assert.equal(minorOf(/kube-apiserver (\S+)/.exec(table)?.[1]), BUILTIN_MINOR_VERSION)
  assert.equal(minorOf('v1.3'), 3)
  assert.equal(minorOf('v1.30-rc'), 30)
  assert.equal(minorOf('2.1'), undefined)
  assert.equal(minorOf('v1.1234567'), undefined)
})

test('unknown fields are told with the nearest that exists, at any depth; kinds that are not known by name', () => {
  const pod = { containers: [{ name: 'a', image: 'a:1', imagePullPolcy: 'Always', resources: { limit: {} } }] }
  const deployment = object('apps/v1', 'Deployment', {
    spec: { replica: 1, template: { metadata: { lables: {} }, spec: pod } },
  })
  const on = (kubeVersion: string) => [{ name: 's1', kubeVersion }]
  assert.deepEqual(lines(lintContentFields(deployment, on('v1.36.2'))), [
    'error unknown-field: Deployment shop/x: there is no field replica in .spec; did you mean replicas?',
    'error unknown-field: Deployment shop/x: there is no field lables in .spec.template.metadata; did you mean labels?',
    'error unknown-field: Deployment shop/x: there is no field imagePullPolcy in .spec.template.spec.containers[name=a]; did you mean imagePullPolicy?',
    'error unknown-field: Deployment shop/x: there is no field limit in .spec.template.spec.containers[name=a].resources; did you mean limits?',
  ])
  for (const clusters of [on('v1.37.0'), [], [{ name: 's1' }]]) {
    assert.ok(lintContentFields(deployment, clusters).every(({ severity }) => severity === 'warning'))
  }
  const cm = {
    ...object('v1', 'ConfigMap', { data: { any: 'thing' } }),
    metadata: { name: 'x', labels: { a: 'b' }, annotation: {} },
  }
  assert.deepEqual(lines(lintContentFields(cm, on('v1.30.0'))), [
    'error unknown-field: ConfigMap x: there is no field annotation in .metadata; did you mean annotations?',
  ])
  assert.deepEqual(lines(lintContentFields(object('cert-manager.io/v1', 'Certificate'), [])), [
    'note unknown-kind: Certificate shop/x: the kind Certificate of cert-manager.io/v1 is not one of Kubernetes’ own; its fields were not checked',
  ])
  assert.deepEqual(lines(lintContentFields(object('v1', 'Deployment'), [])), [
    'warning unknown-kind: Deployment shop/x: Kubernetes has no kind Deployment in v1; its fields were not checked',
  ])
  assert.deepEqual(lines(lintContentFields(object('apps/v1', 'Deploymnt'), [])), [
    'warning unknown-kind: Deploymnt shop/x: Kubernetes has no kind Deploymnt in apps/v1; its fields were not checked; did you mean Deployment of apps/v1?',
  ])
  assert.deepEqual(lintContentFields(object('batch/v1beta1', 'CronJob'), []), [])
})

test('images are pinned by a tag that does not move, or a digest', () => {
  const cases: Record<string, boolean> = {
    nginx: false,
    'nginx:latest': false,
    'nginx:stable': false,
    'registry.example.com:5000/nginx': false,
    'registry.example.com:5000/nginx:1.27': true,
    'nginx@sha256:abc': true,
    'nginx:latest@sha256:abc': true,
    'nginx:1': true,
  }
  for (const [image, isPinned] of Object.entries(cases)) assert.equal(unpinned(image) === undefined, isPinned, image)
  const job = { jobTemplate: { spec: { template: { spec: { initContainers: [{ name: 'i', image: 'busybox' }] } } } } }
  const found = lintImages(object('batch/v1', 'CronJob', { spec: job }))
  assert.deepEqual(lines(found), [
    'warning unpinned-image: CronJob shop/x: the image busybox of container i has no tag, which means latest; name a version, or a digest',
  ])
  assert.deepEqual(found[0]!.place?.slice(-3), ['initContainers', 0, 'image'])
})

test('charts are pinned by one version', () => {
  const source = (spec: Source['spec']) => lines(lintSource({ metadata: { name: 'redis', namespace: 'shop' }, spec }))
  const helm = { url: 'https://charts.example.com', chart: 'redis' }
  assert.deepEqual(source({ helm }), [
    'warning unpinned-chart: Source shop/redis: chart redis has no version: the newest is taken; name one version',
  ])
  assert.match(source({ helm: { ...helm, version: '^1.2' } })[0]!, /the version \^1\.2 of chart redis is a range/)
  assert.deepEqual(source({ helm: { ...helm, version: '1.2.3' } }), [])
  const url = 'oci://registry.example.com/redis'
  assert.match(source({ oci: { url, semver: '>=1' } })[0]!, />=1 is a range of tags/)
  assert.match(source({ oci: { url } })[0]!, /neither tag nor digest/)
  assert.match(source({ oci: { url, tag: 'latest' } })[0]!, /the tag latest moves/)
  assert.deepEqual(source({ oci: { url, tag: '1.0.0' } }), [])
  const dependencies = [
    { name: 'common', version: '1.x', repository: 'https://charts.example.com' },
    { name: 'own', version: '>0', repository: 'file://../own' },
    { name: 'exact', version: 'v1.2.3-rc.1' },
  ]
  assert.deepEqual(lines(lintChart('apps/pos', { dependencies })), [
    'warning unpinned-chart: chart apps/pos: its dependency common has the range 1.x, and there is no Chart.lock; run helm dependency update and keep Chart.lock, or name one version',
  ])
  assert.deepEqual(
    lines(lintKustomization('', { helmCharts: [{ name: 'redis', repo: 'https://x' }, { name: 'own' }] })),
    ['warning unpinned-chart: kustomization .: chart redis has no version; name one version'],
  )
})

test('selectors that no cluster meets name the requirement and the nearest value', () => {
  const clusters = [
    { tier: 'store', region: 'eu' },
    { tier: 'dc', region: 'us' },
  ]
  const told = (selector: object) => lines(lintSelector({ who: 'Placement p', place: [], selector }, clusters))
  assert.deepEqual(told({ matchLabels: { tier: 'stroe' } }), [
    'warning unmatched-selector: Placement p: the selector tier=stroe matches none of 2 clusters: none meets tier in (stroe); did you mean tier=store?',
  ])
  assert.deepEqual(told({ matchLabels: { teir: 'store' } }), [
    'warning unmatched-selector: Placement p: the selector teir=store matches none of 2 clusters: none meets teir in (store); did you mean tier?',
  ])
  assert.deepEqual(told({ matchLabels: { tier: 'store', region: 'us' } }), [
    'warning unmatched-selector: Placement p: the selector region=us,tier=store matches none of 2 clusters: each requirement is met by some, all of them by none',
  ])
  assert.deepEqual(told({ matchLabels: { tier: 'store' } }), [])
  const never = { matchLabels: { a: 'b' }, matchExpressions: [{ key: 'a', operator: 'DoesNotExist' }] }
  assert.deepEqual(told(never), [
    'error contradictory-selector: Placement p: the selector a=b,!a can never match: a must be there and must not',
  ])
})

test('a contradiction is told exactly when no labels at all meet the requirements', () => {
  const value = fc.constantFrom('x', 'y', 'z')
  const requirement: fc.Arbitrary<LabelRequirement> = fc.record({
    key: fc.constantFrom('a', 'b'),
    operator: fc.constantFrom('In', 'NotIn', 'Exists', 'DoesNotExist'),
    values: fc.uniqueArray(value, { minLength: 1, maxLength: 3 }),
  })
  // A value that no selector names stands for all others.
  const choices = [undefined, 'x', 'y', 'z', 'other']
  const worlds = choices.flatMap((a) =>
    choices.map((b) => ({ ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) })),
  )
  fc.assert(
    fc.property(fc.array(requirement, { maxLength: 5 }), (matchExpressions) => {
      const canMatch = worlds.some((labels) => matchesSelector(labels, { matchExpressions }))
      assert.equal(contradiction(requirementsOf({ matchExpressions })) === undefined, canMatch)
    }),
    { numRuns: 300 },
  )
})

test('what several contents share is told once, for all their clusters', () => {
  const pdb = (min: number) => object('policy/v1beta1', 'PodDisruptionBudget', { spec: { min } })
  const pod = (n: number) =>
    object('v1', 'Pod', { spec: { hostname: `h${n}`, containers: [{ name: 'c', image: 'nginx' }], x: 1 } })
  const contents = [1, 2, 3].map((n) => ({
    objects: [pdb(n), pod(n)],
    clusters: [{ name: `s${n}`, kubeVersion: n === 3 ? 'v1.99.0' : 'v1.30.0' }],
  }))
  assert.deepEqual(lines(lintContents(contents).map(({ found }) => found)), [
    'error removed-api: PodDisruptionBudget shop/x: policy/v1beta1 is not served since Kubernetes 1.25, and 3 clusters run that or a newer one (s1, s2, s3); write apiVersion: policy/v1',
    'error unknown-field: Pod shop/x: there is no field x in .spec',
    'warning unpinned-image: Pod shop/x: the image nginx of container c has no tag, which means latest; name a version, or a digest',
  ])
})

test('whatever an object looks like, lint answers', () => {
  const names = fc.constantFrom(
    'spec',
    'template',
    'containers',
    'image',
    'name',
    'metadata',
    'data',
    '__proto__',
    'kind',
  )
  const tree = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom(null, '', 'nginx', 1, true),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(names, tie('any'), { maxKeys: 4 }),
    ),
  })).any
  const which = fc.constantFrom(['v1', 'Pod'], ['apps/v1', 'Deployment'], ['v1', 'Secret'], ['x/v1', 'X'], ['', ''])
  fc.assert(
    fc.property(which, tree, tree, ([apiVersion = '', kind = ''], spec, metadata) => {
      const extra = typeof metadata === 'object' && !Array.isArray(metadata) ? metadata : {}
      const made = { apiVersion, kind, metadata: { ...extra, name: 'x' }, spec } as UnknownObject
      assert.ok(Array.isArray(lintContents([{ objects: [made], clusters: [{ name: 's1', kubeVersion: 'v1.30.0' }] }])))
      assert.ok(Array.isArray(lintOverlap([{ bundle: 'a', clusters: [], objects: [made] }])))
    }),
    { numRuns: 300 },
  )
})

test('bundles that have the same object on a cluster: an error where they disagree', () => {
  const cm = (data: object) => object('v1', 'ConfigMap', { data })
  const content = (bundle: string, clusters: string[], ...objects: UnknownObject[]) => ({ bundle, clusters, objects })
  const told = (...contents: ReturnType<typeof content>[]) => lines(lintOverlap(contents, () => true))
  assert.deepEqual(
    told(content('a/one', ['s1', 's2'], cm({ k: '1' })), content('a/two', ['s2', 's3'], cm({ k: '2' }))),
    [
      'error overlapping-objects: ConfigMap shop/x is in bundle a/one and in bundle a/two on s2, with different fields; leave it in one of them',
    ],
  )
  assert.deepEqual(told(content('a/two', ['s1'], cm({ k: '1' })), content('a/one', ['s1'], cm({ j: '2' }))), [
    'warning overlapping-objects: ConfigMap shop/x is in bundle a/one and in bundle a/two on s1, both have it; leave it in one of them',
  ])
  assert.deepEqual(told(content('a/one', ['s1'], cm({})), content('a/two', ['s2'], cm({}))), [])
  assert.match(told(content('a/one', [], cm({})), content('a/two', ['s2'], cm({})))[0]!, /on clusters that are in both/)
  assert.deepEqual(told(content('a/one', ['s1'], cm({ k: '1' })), content('a/one', ['s1'], cm({ k: '2' }))), [])
  // One that many have is told once for each of them, not for each pair.
  const many = Array.from({ length: 20 }, (_, n) => content(`a/${String(n).padStart(2, '0')}`, ['s1'], cm({})))
  assert.equal(told(...many).length, 19)
  // Another version of the same API is the same object.
  const a = content('a/one', ['s1'], object('apps/v1', 'Deployment'))
  assert.equal(told(a, content('a/two', ['s1'], object('apps/v1beta1', 'Deployment'))).length, 1)
})
