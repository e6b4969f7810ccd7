import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../read-fields.ts'
import type { HelmOp } from './kinds.ts'
import { compileHelmOp } from './compile-helm-op.ts'

const WORKSPACE = {
  groups: [],
  aliases: () => [],
  clusters: [
    { name: 'c1', labels: { env: 'prod' } },
    { name: 'c2', labels: { env: 'dev' } },
  ],
  bundles: [],
}
const REPO = { repo: 'https://charts.example.com', chart: 'web', version: '~1.2' }

function compiled(spec: HelmOp['spec'], labels?: Record<string, string>) {
  const findings: Finding[] = []
  const metadata = { name: 'web', namespace: 'fleet-default', ...(labels && { labels }) }
  const bundle = compileHelmOp({ metadata, spec }, WORKSPACE, findings)
  return { bundle, said: findings.map(({ level, message }) => `${level} ${message}`) }
}

test('a chart of a repository is a Bundle of its name, from a Source with its version', () => {
  const { bundle, said } = compiled({
    helm: { ...REPO, values: { replicas: 1 }, releaseName: 'shop' },
    defaultNamespace: 'web',
    labels: { app: 'web' },
    targets: [{ clusterSelector: { matchLabels: { env: 'prod' } } }],
  })
  assert.deepEqual(said, [])
  assert.ok(bundle)
  const [chart] = bundle.charts
  assert.deepEqual(chart?.spec, { helm: { url: 'https://charts.example.com', chart: 'web', version: '~1.2' } })
  assert.deepEqual(bundle.spec.source, {
    name: chart.source,
    include: [{ source: chart.source, at: chart.at }],
  })
  assert.deepEqual([bundle.name, bundle.reach, bundle.spec.defaultNamespace], ['web', 1, 'web'])
  assert.deepEqual(bundle.spec.helm, { chart: chart.at, values: { replicas: 1 }, releaseName: 'shop' })
  assert.deepEqual(bundle.labels, { app: 'web' })
})

test('the first target that matches also customizes; no targets are the group default', () => {
  const { bundle } = compiled({
    helm: REPO,
    targets: [
      {
        name: 'prod',
        clusterSelector: { matchLabels: { env: 'prod' } },
        helm: { values: { replicas: 3 }, version: '1.2.0' },
      },
      { clusterSelector: {} },
    ],
  })
  assert.deepEqual(
    bundle?.spec.variants?.map(({ name, helm }) => [name, helm?.values]),
    [
      ['prod', { replicas: 3 }],
      ['target001', undefined],
    ],
  )
  assert.equal(bundle?.charts.length, 2, 'a version of its own')
  assert.equal(bundle?.spec.variantMode, 'First')
  assert.equal(bundle?.reach, 2)
  assert.equal(compiled({ helm: REPO }).bundle?.reach, 0)
})

test('what a HelmOp cannot have is said, and no Bundle is made of it', () => {
  const cases: readonly (readonly [HelmOp['spec'], RegExp])[] = [
    [{}, /^error spec\.helm\.chart must be a chart of helm\.repo/],
    [{ helm: { chart: './local' } }, /^error spec\.helm\.chart must be a chart of helm\.repo/],
    [{ helm: { repo: 'https://charts.example.com' } }, /^error spec: helm\.repo needs helm\.chart/],
    [{ helm: { ...REPO, valuesFiles: ['a.yaml'] } }, /^error spec\.helm\.valuesFiles/],
    [{ helm: REPO, insecureSkipTLSVerify: true }, /^error spec\.insecureSkipTLSVerify would accept content/],
  ]
  for (const [spec, expected] of cases) {
    const { bundle, said } = compiled(spec)
    assert.equal(bundle, undefined, JSON.stringify(spec))
    assert.match(said.join('\n'), expected)
  }
  assert.match(compiled({ helm: { ...REPO, atomic: true } }).said.join(), /^warning spec\.helm\.atomic has no effect/)
})
