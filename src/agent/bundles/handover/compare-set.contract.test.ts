/** A cluster that moves over from another system, against an embedded cluster. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import type { ResourceType, UnknownObject } from '../../../kinds/meta.ts'
import { readComparison } from '../../../plan/handover/comparison.ts'
import type { HandoverRule } from '../../../plan/handover/handover-rule.ts'
import type { AgentUnderTest } from '../../../testing/agents/agent-under-test.ts'
import { ownersAt } from '../../../plan/objects/managed-fields.ts'
import { joinedAgents } from '../../../testing/agents/joined-agents.ts'
import { configMap, deployment } from '../../../testing/hub/test-hub.ts'
import type { TestHub } from '../../../testing/hub/test-hub.ts'

const BUNDLE = 'default/hello'
const PEER = { fieldManager: 'work-agent' }
const X = { namespace: 'default', name: 'x' }
const WEB = { namespace: 'default', name: 'web' }
const DEPLOYMENTS: ResourceType = {
  group: 'apps',
  version: 'v1',
  kind: 'Deployment',
  plural: 'deployments',
  scope: 'Namespaced',
}
const { joined, close } = joinedAgents()
afterEach(close)

const hook: UnknownObject = {
  ...configMap('migration'),
  metadata: { name: 'migration', namespace: 'default', annotations: { 'helm.sh/hook': 'pre-install' } },
}
const OBJECTS = [configMap('x', { a: '1' }), deployment('web'), hook]

/** The other system runs `x` and `web` with the content of the bundle. */
async function inherited(): Promise<{ hub: TestHub; site: AgentUnderTest }> {
  const both = await joined()
  const { client } = both.site.cluster
  await client.create(ConfigMap, configMap('x', { a: '1' }), PEER)
  await client.create(DEPLOYMENTS, deployment('web'), PEER)
  return both
}

async function assign(hub: TestHub, step: HandoverRule['step'] | undefined, more: Partial<HandoverRule> = {}) {
  // Open Cluster Management runs elsewhere here; handover.contract.test.ts has its controllers.
  const handover = step && { from: 'ocm', step, acceptDifferences: false, peerStopped: true, ...more }
  await hub.assign(
    'store-1',
    { [BUNDLE]: { generation: 1, objects: OBJECTS } },
    { rules: { trustVersion: 1, ...(handover ? { handover } : {}) } },
  )
}

const rowOf = (site: AgentUnderTest) => site.agent().report().bundles[0]
async function untilCompared(hub: TestHub, site: AgentUnderTest, differing: number): Promise<string> {
  const holds = () => readComparison(rowOf(site)?.message)?.differing === differing
  await hub.clock.runUntil(holds, { withinMs: 120_000, what: 'compared' }).catch((caught: unknown) => {
    throw new Error(`last: ${JSON.stringify(rowOf(site))}`, { cause: caught })
  })
  return rowOf(site)?.message ?? ''
}
const webOf = ({ cluster }: AgentUnderTest) => cluster.client.get(Deployment, WEB)
const managersOf = ({ metadata }: { metadata: { managedFields?: readonly { manager: string }[] } }) =>
  (metadata.managedFields ?? []).map(({ manager }) => manager).toSorted()

describe('a handover', () => {
  it('compares and writes nothing, then takes over without a change of a pod template, and can go back', async () => {
    const { hub, site } = await inherited()
    const before = await webOf(site)
    await assign(hub, 'Compare')
    assert.equal(await untilCompared(hub, site, 0), 'handover from ocm: 2 objects compared, no differences')
    assert.equal(rowOf(site)?.state, 'Pending')
    assert.ok(!managersOf(await webOf(site)).includes('flotilla:default/hello'))

    await assign(hub, 'Take')
    await site.until(BUNDLE, 'Ready')
    const taken = await webOf(site)
    assert.deepEqual(
      [taken.metadata.uid, taken.metadata.generation, taken.spec],
      [before.metadata.uid, before.metadata.generation, before.spec],
    )
    const owners = ownersAt(taken, ['spec', 'replicas']).map(({ manager }) => manager)
    assert.deepEqual(owners.toSorted(), ['flotilla:default/hello', 'work-agent'], 'shared until the last step')
    assert.equal(await site.configMap('migration'), undefined, 'install hooks ran with the other system')

    // Back: the other system changes an object again, and the agent leaves it alone.
    await assign(hub, 'Compare')
    await untilCompared(hub, site, 0)
    await site.cluster.client.patch(ConfigMap, X, { type: 'merge', body: { data: { a: '2' } } }, PEER)
    const message = await untilCompared(hub, site, 1)
    assert.match(message, /: ConfigMap default\/x: \.data\.a \(changed by work-agent\)$/)
    assert.deepEqual((await site.configMap('x'))?.['data'], { a: '2' })
  })

  it('refuses to take over what differs, unless that is accepted', async () => {
    const { hub, site } = await inherited()
    await site.cluster.client.patch(ConfigMap, X, { type: 'merge', body: { data: { a: '7' } } }, PEER)
    await assign(hub, 'Compare')
    await untilCompared(hub, site, 1)
    await assign(hub, 'Take')
    const row = await site.until(BUNDLE, 'Failed')
    assert.match(
      row.message ?? '',
      /ConfigMap default\/x: the object existed before the bundle and differs in \.data\.a/,
    )
    assert.deepEqual((await site.configMap('x'))?.['data'], { a: '7' })
    assert.ok(managersOf(await webOf(site)).includes('work-agent'))
    assert.ok(!managersOf(await webOf(site)).includes('flotilla:default/hello'), 'nothing of the bundle was taken over')

    await assign(hub, 'Take', { acceptDifferences: true })
    await site.until(BUNDLE, 'Ready')
    assert.deepEqual((await site.configMap('x'))?.['data'], { a: '1' })
  })

  it('names what does not exist and what the cluster refuses', async () => {
    const { hub, site } = await inherited()
    await site.remove('ConfigMap', 'x')
    await site.cluster.client.delete(Deployment, WEB)
    const other = deployment('other')
    await site.cluster.client.create(DEPLOYMENTS, { ...other, metadata: { ...other.metadata, name: 'web' } })
    await assign(hub, 'Compare')
    const message = await untilCompared(hub, site, 2)
    assert.match(message, /ConfigMap default\/x: does not exist/)
    assert.match(message, /Deployment default\/web: .*immutable/)
  })
})
