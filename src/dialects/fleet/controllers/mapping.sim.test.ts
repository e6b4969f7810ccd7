/** BundleNamespaceMappings: bundles of one workspace reach clusters of another, on the real controllers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Namespace } from '../../../kinds/builtin/core.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Project } from '../../../kinds/native/project.ts'
import { everythingAllowed } from '../../../plan/projects/project-of.ts'
import { fetchInline } from '../../../source/inline/inline-files.ts'
import type { FetchContext } from '../../../source/fetch-request.ts'
import { build, buildCluster, configMapManifest } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { FleetBundle } from '../kinds.ts'
import { BundleNamespaceMapping } from '../registration-kinds.ts'

test('a mapping adds clusters of other workspaces to bundles with its labels (M15)', async (t) => {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  hub.serveSources((request) =>
    fetchInline(request.spec.inline!, { ...request, blobs: hub.blobs } as unknown as FetchContext),
  )
  for (const [name, labels] of [
    ['apps', {}],
    ['stores', { kind: 'stores' }],
    ['offices', {}],
  ] as const)
    await hub.create(build(Namespace, name, {}, { labels }), Namespace)
  await hub.create(build(Project, 'apps', { spec: everythingAllowed(['apps']) }), Project)
  for (const space of ['apps', 'stores', 'offices']) {
    const labels = { 'fleet.cattle.io/workspace': space }
    await hub.create(buildCluster(`c-${space}`, { labels }), Cluster)
    await hub.report(`c-${space}`, 'Ready')
  }
  const settle = async () => {
    for (let round = 0; round < 5; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
  }
  for (const [name, labels] of [
    ['shared', { share: 'yes' }],
    ['own', {}],
  ] as const) {
    const resources = [{ name: 'cm.yaml', content: configMapManifest(name, {}) }]
    const spec = { resources, targets: [{ clusterSelector: {} }] }
    await hub.create(build(FleetBundle, `apps/${name}`, { spec }, { labels }), FleetBundle)
  }
  const reach = async () => {
    const found: Record<string, string[]> = {}
    for (const space of ['apps', 'stores', 'offices']) {
      const { entries = [] } = (await hub.find(Assignment, `c-${space}`))?.spec ?? {}
      found[space] = entries.map(({ bundle }) => bundle).sort()
    }
    return found
  }
  await settle()
  const alone = { apps: ['apps/own', 'apps/shared'], stores: [], offices: [] }
  assert.deepEqual(await reach(), alone)
  const shared = { matchLabels: { share: 'yes' } }
  const stores = { matchLabels: { kind: 'stores' } }
  await hub.create(build(BundleNamespaceMapping, 'apps/half', { bundleSelector: shared }), BundleNamespaceMapping)
  await settle()
  assert.deepEqual(await reach(), alone, 'without one of its selectors, a mapping maps nothing')
  await hub.create(
    build(BundleNamespaceMapping, 'apps/m', { bundleSelector: shared, namespaceSelector: stores }),
    BundleNamespaceMapping,
  )
  await settle()
  assert.deepEqual(await reach(), { ...alone, stores: ['apps/shared'] })
  const body = { metadata: { labels: { kind: 'stores' } } }
  await hub.client.patch(Namespace, { name: 'offices' }, { type: 'merge', body })
  await settle()
  assert.deepEqual(await reach(), { ...alone, stores: ['apps/shared'], offices: ['apps/shared'] })
})
