/** bundle import, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Source } from '../../../kinds/native/source.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { nameFromUrl } from '../../../core/text/name-from-url.ts'
import { bundleImport } from './import-bundle.ts'
import type { BundleImportFlags, ImportedFrom } from './import-bundle.ts'

function started(t: { after(fn: () => Promise<void>): void }) {
  const { client, connection, terminal, taken } = createCliHub(t)
  const run = (from: ImportedFrom, words: readonly string[], flags: BundleImportFlags) =>
    bundleImport(from, words, { connect: async () => connection, terminal, flags })
  return { client, run, taken }
}

test('an address becomes a name', () => {
  const names: readonly (readonly [string, string])[] = [
    ['https://github.com/acme/Web_Shop.git', 'web-shop'],
    ['git@github.com:acme/shop.git', 'shop'],
    ['https://charts.example/web-1.4.0.tgz', 'web'],
    ['oci://ghcr.io/acme/charts/web', 'web'],
    ['apps/shop/', 'shop'],
    ['https://', 'https'],
    ['///', ''],
  ]
  for (const [address, name] of names) assert.equal(nameFromUrl(address), name, address)
})

test('what is printed is what would be written', async (t) => {
  const { client, run, taken } = started(t)
  const flags = { path: 'apps/shop', branch: 'main', selector: 'tier=store,!test' }
  await run('git', ['https://git.example.com/x.git'], flags)
  const { out } = taken()
  assert.equal(
    out,
    `---
apiVersion: flotilla.dev/v1alpha1
kind: Source
metadata:
  name: shop
  namespace: default
spec:
  git:
    ref:
      branch: main
    url: https://git.example.com/x.git
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata:
  name: shop
  namespace: default
spec:
  clusterSelector:
    matchExpressions:
    - key: tier
      operator: In
      values:
      - store
    - key: test
      operator: DoesNotExist
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata:
  name: shop
  namespace: default
spec:
  placement: shop
  source:
    name: shop
    path: apps/shop
`,
  )
  await run('git', ['https://git.example.com/x.git'], { ...flags, apply: true })
  assert.match(taken().err, /flotilla get bundle shop -n default/)
  const key = { name: 'shop', namespace: 'default' }
  assert.deepEqual((await client.get(Source, key)).spec.git?.ref, { branch: 'main' })
  assert.equal((await client.get(Placement, key)).spec.clusterSelector.matchExpressions?.length, 2)
  assert.equal((await client.get(Bundle, key)).spec.source?.path, 'apps/shop')
})

test('charts with their values, and artifacts of registries', async (t) => {
  const { client, run } = started(t)
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-import-'))
  t.after(() => rm(folder, { recursive: true }))
  const values = join(folder, 'values.yaml')
  await writeFile(values, 'replicas: 3\n')
  const flags = { allClusters: true, apply: true, namespace: 'default' }
  await run('helm', ['https://charts.example', 'web'], { ...flags, version: '^1.2', values, releaseName: 'front' })
  await run('oci', ['oci://ghcr.io/acme/api'], { ...flags, tag: '1.0.0', name: 'backend', credentials: 'ghcr' })
  const [web, backend] = ['web', 'backend'].map((name) => ({ name, namespace: 'default' }))
  assert.deepEqual((await client.get(Source, web!)).spec.helm, {
    url: 'https://charts.example',
    chart: 'web',
    version: '^1.2',
    verify: false,
  })
  assert.deepEqual((await client.get(Bundle, web!)).spec.helm, { values: { replicas: 3 }, releaseName: 'front' })
  assert.deepEqual((await client.get(Placement, web!)).spec.clusterSelector, {})
  const { oci, credentials } = (await client.get(Source, backend!)).spec
  assert.deepEqual([oci, credentials], [{ url: 'oci://ghcr.io/acme/api', tag: '1.0.0' }, 'ghcr'])
  await writeFile(values, '- 3\n')
  const wrong = await expectErrorReport(run('helm', ['https://charts.example', 'web'], { ...flags, values }))
  assert.deepEqual([wrong.exitCode, wrong.what], [2, 'values must be a mapping'])
})

test('what cannot be meant is refused, and nothing is written', async (t) => {
  const { client, run } = started(t)
  const cases: readonly (readonly [ImportedFrom, string, BundleImportFlags, string])[] = [
    ['git', 'https://git.example.com/x.git', {}, 'missing -l or --all-clusters'],
    ['git', 'https://x/x.git', { allClusters: true, selector: 'a' }, '-l and --all-clusters exclude each other'],
    ['git', 'https://x/x.git', { allClusters: true, branch: 'a', tag: 'b' }, '--branch and --tag exclude each other'],
    ['git', '--upload-pack=x', { allClusters: true, name: 'x' }, 'Source "x" would be invalid'],
    ['git', '///', { allClusters: true }, 'Source "" would be invalid'],
    ['oci', 'oci://x/y', { allClusters: true, tag: '-x' }, 'Source "y" would be invalid'],
    ['git', 'https://x/x.git', { selector: 'a b c' }, 'invalid selector "a b c"'],
  ]
  for (const [from, address, flags, what] of cases) {
    const report = await expectErrorReport(run(from, [address], { ...flags, apply: true }))
    assert.deepEqual([report.exitCode, report.what], [2, what])
  }
  assert.equal((await client.list(Source)).items.length, 0)
})
