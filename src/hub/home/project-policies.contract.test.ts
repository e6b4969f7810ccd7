/** The policies of Projects on the embedded API refuse what plan/projects refuses, in the same words. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { isApiError } from '../../core/errors.ts'
import { Namespace } from '../../kinds/builtin/core.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Project } from '../../kinds/native/project.ts'
import { Source } from '../../kinds/native/source.ts'
import { bundleRefusals, placementRefusals, sourceRefusals } from '../../plan/projects/decide.ts'
import { build, buildBundle } from '../../testing/fixtures/builders.ts'
import { buildProject } from '../../testing/fixtures/projects.ts'
import { startTestHub } from '../../testing/hub/test-hub.ts'
import type { TestHub } from '../../testing/hub/test-hub.ts'

let hub: TestHub

before(async () => {
  hub = await startTestHub('project-policies')
  for (const name of ['team-a', 'team-b', 'free', 'both']) {
    await hub.client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  await hub.client.create(Project, buildProject('other', ['team-b', 'both']))
  await hub.client.create(Project, buildProject('both', ['both'], { clusterSets: ['*'] }))
  await hub.client.create(Project, buildProject('team-a', ['team-a']))
})
after(() => hub.close())

let count = 0

/** The refusals of the API, as lines of the Project; `undefined` when the object is created. */
async function refused<T extends KubeObject>(type: ResourceType<T>, object: T): Promise<string | undefined> {
  const named = { ...object, metadata: { ...object.metadata, name: `x-${++count}` } }
  try {
    await hub.client.create(type, named, { dryRun: true })
    return undefined
  } catch (caught) {
    if (!isApiError(caught, 'Forbidden')) throw caught
    return /denied request: (.*)$/s.exec(caught.message)![1]!
  }
}

async function limit(spec: Project['spec']): Promise<Project> {
  const present = await hub.client.get(Project, { name: 'team-a' })
  return await hub.client.update(Project, { ...present, spec: buildProject('team-a', ['team-a'], spec).spec })
}

const source = (url: string) => build(Source, 'team-a/x', { spec: { git: { url }, interval: '1m' } })

test('sources', async () => {
  const patterns = ['https://git.example.com/team-a/*', 'git@host:a/*', 'https://*.corp.example/x/*', 'https://y/a%20b']
  const project = await limit({ sources: patterns })
  const addresses = [
    'https://git.example.com/team-a/shop',
    'https://git.example.com/team-a/deep/er',
    'https://git.example.com/team-a',
    'https://git.example.com/team-ab/x',
    'https://gitXexample.com/team-a/x',
    'https://git.example.com/team-a/../team-b/x',
    'https://git.example.com/team-a/%2e%2e/team-b',
    'https://git.example.com/team-a/x?y#z',
    'https://git.example.com/team-a/x\\y',
    'git@host:a/b',
    'git@host:../a/b',
    'https://a.corp.example/x/y',
    'https://evil/.corp.example/x/y',
    'https://y/a%20b',
    'https://y/aXb',
  ]
  for (const address of addresses) {
    assert.equal(await refused(Source, source(address)), sourceRefusals(project, source(address).spec)[0], address)
  }
  const all = await limit({ sources: ['*'] })
  assert.deepEqual(sourceRefusals(all, source('https://anywhere/x').spec), [])
  assert.equal(await refused(Source, source('https://anywhere/x')), undefined)
  await limit({ sources: [] })
  assert.match((await refused(Source, source('https://anywhere/x'))) ?? '', /spec\.sources does not list https:\/\/any/)
  const chart = build(Source, 'team-a/x', { spec: { helm: { url: 'https://charts/x' }, interval: '1m' } })
  assert.equal(await refused(Source, chart), 'Project team-a: spec.sources does not list https://charts/x')
})

test('bundles', async () => {
  const executor = { namespace: 'team-a', name: 'deployer' }
  const cases: [Project['spec'], Partial<Bundle['spec']>, Partial<Bundle['metadata']>][] = [
    [{}, {}, {}],
    [{ sources: ['inline'] }, {}, {}],
    [{ sources: ['https://x/*'] }, {}, {}],
    [{ executors: {} }, {}, {}],
    [{ executors: { allowed: ['*'] } }, {}, {}],
    [{ executors: { ownRights: true } }, {}, {}],
    [{ executors: { ownRights: true } }, { executor }, {}],
    [{ executors: { default: 'team-a/deployer' } }, { executor }, {}],
    [{ executors: { default: 'team-a/deployer' } }, {}, {}],
    [{ executors: { allowed: ['team-a/*'] } }, { executor }, {}],
    [{ executors: { allowed: ['*'] } }, { executor }, {}],
    [{ executors: { allowed: ['team-b/*', 'team-a/deploy'] } }, { executor }, {}],
    [{ plans: ['slow'] }, { rollout: { plan: 'fast' } }, {}],
    [{ plans: ['slow'] }, { rollout: { plan: 'slow' } }, {}],
    [{ plans: ['slow', 'slower'] }, {}, {}],
    [{ plans: [] }, {}, {}],
    [{ plans: [] }, { rollout: { plan: 'fast' } }, {}],
    [{ ticket: { pattern: 'CHG-[0-9]+' } }, {}, { annotations: { 'flotilla.dev/ticket': 'CHG-12' } }],
  ]
  for (const [spec, fields, metadata] of cases) {
    const project = await limit(spec)
    const bundle = buildBundle('team-a/x', fields)
    const object = { ...bundle, metadata: { ...bundle.metadata, ...metadata } }
    assert.equal(
      await refused(Bundle, object),
      bundleRefusals(project, object)[0],
      JSON.stringify([spec, fields, metadata]),
    )
  }
  await limit({ requiredLabels: ['team', 'cost'] })
  assert.equal(
    await refused(Bundle, buildBundle('team-a/x')),
    'Project team-a: spec.requiredLabels lists team, cost, and the Bundle does not have all of these labels',
  )
  await limit({ ticket: { pattern: 'CHG-[0-9]+' } })
  for (const ticket of [undefined, 'CHG-12 or so', 'x']) {
    const bundle = buildBundle('team-a/x')
    const annotations: Record<string, string> = ticket === undefined ? {} : { 'flotilla.dev/ticket': ticket }
    assert.match(
      (await refused(Bundle, { ...bundle, metadata: { ...bundle.metadata, annotations } })) ?? '',
      /spec\.ticket\.pattern CHG-\[0-9\]\+ does not match/,
    )
  }
  await limit({ executors: { allowed: ['team-a/*'], ownRights: true } })
  const variants = [{ name: 'v', options: { executor: { namespace: 'kube-system', name: 'root' } } }]
  assert.equal(
    await refused(Bundle, buildBundle('team-a/x', { variants })),
    'Project team-a: spec.executors.allowed does not list the executor of a variant',
  )
})

test('placements and bindings of sets', async () => {
  const placement = (clusterSets?: string[]) =>
    build(Placement, 'team-a/x', { spec: { clusterSelector: {}, ...(clusterSets ? { clusterSets } : {}) } })
  for (const [listed, asked] of [
    [['stores'], ['stores']],
    [['stores'], ['stores', 'edge']],
    [['stores'], undefined],
    [['*'], ['edge']],
    [[], undefined],
  ] as const) {
    const project = await limit({ clusterSets: [...listed] })
    const wanted = placement(asked && [...asked])
    assert.equal(
      await refused(Placement, wanted),
      placementRefusals(project, asked)[0],
      JSON.stringify([listed, asked]),
    )
  }
  await limit({ clusterSets: ['stores'] })
  const binding = (clusterSet: string) => build(ClusterSetBinding, 'team-a/x', { spec: { clusterSet } })
  assert.equal(await refused(ClusterSetBinding, binding('stores')), undefined)
  assert.equal(await refused(ClusterSetBinding, binding('edge')), 'Project team-a: spec.clusterSets does not list edge')
})

test('a namespace without a Project, or with two, is left to the condition; other namespaces are not concerned', async () => {
  await limit({ sources: [], executors: {}, clusterSets: [] })
  assert.equal(await refused(Bundle, buildBundle('free/x')), undefined)
  assert.equal(await refused(Bundle, buildBundle('both/x')), undefined)
  assert.equal(await refused(Bundle, buildBundle('team-b/x')), undefined)
  assert.notEqual(await refused(Bundle, buildBundle('team-a/x')), undefined)
})

test('a Bundle that the Project no longer allows can lose its finalizer, and its spec cannot change', async () => {
  await limit({})
  const made = await hub.client.create(Bundle, {
    ...buildBundle('team-a/old'),
    metadata: { name: 'old', namespace: 'team-a', finalizers: ['flotilla.dev/removal'] },
  })
  await limit({ sources: [] })
  const { finalizers: _, ...metadata } = made.metadata
  const next = await hub.client.update(Bundle, { ...made, metadata })
  await assert.rejects(
    hub.client.update(Bundle, { ...next, spec: { ...next.spec, placement: 'elsewhere' } }),
    /spec\.sources does not list inline/,
  )
})
