/**
 * Projects in agents under faults: a chart that renders in the cluster aims at another team's namespace while the
 * Project forbids it. Wherever a process is killed, no object gets there, and what the team has stays.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { ConfigMap, Namespace } from '../../kinds/builtin/core.ts'
import { Bundle } from '../../kinds/native/bundle.ts'
import { ClusterReport } from '../../kinds/native/cluster-report.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Project } from '../../kinds/native/project.ts'
import { Source } from '../../kinds/native/source.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { chartFilesFor } from '../../testing/fixtures/chart-content.ts'
import { simulateCrashes } from '../../testing/simulation/crash-points.ts'
import { listStored } from '../../testing/simulation/fleet-invariants.ts'
import { runScenario } from '../../testing/simulation/run-seeds.ts'
import { SHOP_PLACEMENT } from '../../testing/simulation/shop-bundle.ts'
import { retryUntilAccepted } from '../../testing/simulation/until-accepted.ts'
import type { World } from '../kernel/world.ts'
import { startFleet } from './fleet.ts'
import type { Fleet } from './fleet.ts'

const WITHIN = { withinMs: 7_200_000 }
const PERSON = { fieldManager: 'person', force: true }
const TEMPLATE = `apiVersion: v1
kind: ConfigMap
metadata: { name: app, namespace: {{ .Values.into }} }
data: { v: '{{ .Values.version }}' }
`
const BUNDLE = build(Bundle, 'default/app', {
  spec: {
    placement: 'stores',
    source: { name: 'apps' },
    render: { at: 'Agent' },
    helm: { valuesFrom: [{ kind: 'ConfigMap', name: 'site' }] },
  },
})
const values = (into: string, version: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'site', namespace: 'default' },
  data: { 'values.yaml': `into: ${into}\nversion: '${version}'\n` },
})

/** Where the chart's ConfigMap is, with its version. */
async function foundIn(fleet: Fleet): Promise<string[]> {
  const maps = await listStored(fleet.members[0]!.store, ConfigMap)
  return maps
    .filter(({ metadata }) => metadata.name === 'app')
    .map(({ metadata, data }) => `${metadata.namespace} ${data?.['v']}`)
}

async function messageOf(fleet: Fleet): Promise<string> {
  const [report] = await listStored(fleet.hubStore, ClusterReport)
  return report?.spec.bundles.find(({ bundle }) => bundle === 'default/app')?.message ?? ''
}

/** I-31: no object outside the target namespaces. */
async function check(fleet: Fleet): Promise<void> {
  const found = await foundIn(fleet)
  const outside = found.filter((place) => !place.startsWith('default '))
  assert.deepEqual(outside, [], 'I-31: an object that the Project refuses')
}

/** The team's content runs; then its values aim elsewhere, come back, and the Project ends. */
async function aimElsewhere(world: World, targetNamespaces: readonly string[]): Promise<void> {
  const fleet = await startFleet(world, { clusters: 1, files: chartFilesFor({ 'cm.yaml': TEMPLATE }) })
  const { client } = fleet.members[0]!
  const accept = <T>(what: string, act: () => Promise<T>) => retryUntilAccepted(world, what, act)
  const becomes = (what: string, holds: () => Promise<boolean>) =>
    world.runUntil(
      async () => {
        await check(fleet)
        return holds()
      },
      { ...WITHIN, what },
    )
  const runs = (version: string) =>
    becomes(`${version} runs`, async () => (await foundIn(fleet)).join() === `default ${version}`)
  const says = (text: string) => becomes(text, async () => (await messageOf(fleet)).includes(text))

  // An apply would merge the lists with those of the first start.
  const setProject = (spec: Project['spec']) =>
    accept('project', async () => {
      const present = await fleet.client.get(Project, { name: 'default' })
      return fleet.client.update(Project, { ...present, spec: { ...present.spec, ...spec } })
    })
  await accept('namespace', () => client.apply(Namespace, build(Namespace, 'other', {}), PERSON))
  await accept('values', () => client.apply(ConfigMap, values('default', '1'), PERSON))
  await setProject({ targetNamespaces: [...targetNamespaces] })
  await accept('placement', () => fleet.client.apply(Placement, SHOP_PLACEMENT, PERSON))
  const source = build(Source, 'default/apps', { spec: { git: { url: 'https://x/y' }, interval: '10m' } })
  await accept('source', () => fleet.client.apply(Source, source, PERSON))
  world.focus()
  await accept('bundle', () => fleet.client.apply(Bundle, BUNDLE, PERSON))
  await runs('1')
  await accept('values', () => client.apply(ConfigMap, values('other', '2'), PERSON))
  await says('spec.targetNamespaces does not list other')
  await accept('values', () => client.apply(ConfigMap, values('default', '3'), PERSON))
  await runs('3')
  // Without its Project the bundle stays as it is, wherever its values aim.
  await setProject({ namespaces: [] })
  await accept('values', () => client.apply(ConfigMap, values('other', '4'), PERSON))
  await says('Namespace default has no Project')
  assert.deepEqual(await foundIn(fleet), ['default 3'])
}

describe('Projects in agents, in simulation', () => {
  test('no object that the Project refuses is written, through a kill around durable steps (I-31)', async () => {
    const deep = process.env['FLOTILLA_DEEP'] !== undefined
    const scenario = (world: World) => aimElsewhere(world, ['default'])
    const tried = await simulateCrashes(scenario, { seed: 'projects', every: deep ? 1 : 31 })
    assert.ok(tried > 5, `only ${tried} crashes tried`)
  })

  test('a Project that does not limit what it should is found by the same check', async () => {
    const { error } = await runScenario((world) => aimElsewhere(world, ['*']), { seed: 'planted' })
    assert.match(error?.message ?? '', /I-31: an object that the Project refuses/)
  })
})
