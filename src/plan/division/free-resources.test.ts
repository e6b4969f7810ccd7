/** Free resources of a cluster: nodes, pods and quotas as the report has them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addPods, freeResources } from './free-resources.ts'
import type { CapacityFacts, CapacityNode, CapacityPod, PodRequests } from './free-resources.ts'

const READY = [{ type: 'Ready', status: 'True' }]
const node = (name: string, allocatable: Record<string, string>, spec: CapacityNode['spec'] = {}): CapacityNode => ({
  metadata: { name },
  spec,
  status: { allocatable, conditions: READY },
})
const pod = (nodeName: string, requests: Record<string, string>, more: CapacityPod['spec'] = {}): CapacityPod => ({
  spec: { nodeName, containers: [{ resources: { requests } }], ...more },
  status: { phase: 'Running' },
})
const LARGE = { cpu: '10', memory: '10Mi', pods: '110' }
type Facts = Partial<Omit<CapacityFacts, 'requests'>> & { readonly pods?: readonly CapacityPod[] }
const estimate = ({ pods = [], ...facts }: Facts) => {
  const requests: PodRequests = { byNode: new Map(), waiting: [] }
  for (const one of pods) addPods(requests, [one])
  return freeResources({ nodes: [], quotas: [], ...facts, requests })
}
const asMap = (amounts: readonly { readonly name: string; readonly amount: string }[]) =>
  Object.fromEntries(amounts.map(({ name, amount }) => [name, amount]))

describe('free resources', () => {
  test('are what pods have not requested, in steps of a tenth of each node', () => {
    const { free, allocatable, nodes } = estimate({
      nodes: [node('a', LARGE), node('b', LARGE)],
      pods: [pod('a', { cpu: '2500m', memory: '1Mi' }), pod('elsewhere', { cpu: '9' })],
    })
    assert.deepEqual(asMap(allocatable), { cpu: '20', memory: '20480Ki', pods: '220' })
    assert.deepEqual(asMap(free), { cpu: '17', memory: '19456Ki', pods: '209' })
    assert.deepEqual(
      nodes.map(({ count, free: own }) => [count, asMap(own)['cpu']]),
      [
        [1, '7'],
        [1, '10'],
      ],
    )
  })

  test('stay the same for a change of less than a tenth', () => {
    const with_ = (cpu: string) => estimate({ nodes: [node('a', LARGE)], pods: [pod('a', { cpu })] })
    assert.deepEqual(with_('2500m'), with_('2900m'))
    assert.notDeepEqual(with_('2500m'), with_('3100m'))
  })

  test('count init containers, sidecars, overhead and pods without a node, and no finished pods', () => {
    const init = (cpu: string, restartPolicy?: string) => ({
      resources: { requests: { cpu } },
      ...(restartPolicy ? { restartPolicy } : {}),
    })
    const cpuLeft = (...pods: CapacityPod[]) => asMap(estimate({ nodes: [node('a', LARGE)], pods }).free)['cpu']
    assert.equal(cpuLeft(pod('a', { cpu: '1' }, { initContainers: [init('4')] })), '6')
    assert.equal(cpuLeft(pod('a', { cpu: '1' }, { initContainers: [init('4', 'Always')] })), '5')
    assert.equal(cpuLeft(pod('a', { cpu: '1' }, { overhead: { cpu: '1' } })), '8')
    assert.equal(cpuLeft(pod('', { cpu: '3' })), '7')
    assert.equal(cpuLeft({ ...pod('a', { cpu: '3' }), status: { phase: 'Succeeded' } }), '10')
    assert.equal(cpuLeft(pod('a', { cpu: '30' })), '0', 'never less than nothing')
  })

  test('leave out nodes that take no pods', () => {
    const nodes = [
      node('cordoned', LARGE, { unschedulable: true }),
      node('tainted', LARGE, { taints: [{ effect: 'NoSchedule' }] }),
      { ...node('broken', LARGE), status: { allocatable: LARGE, conditions: [{ type: 'Ready', status: 'False' }] } },
      node('soft', { cpu: '1' }, { taints: [{ effect: 'PreferNoSchedule' }] }),
    ]
    assert.deepEqual(estimate({ nodes }).nodes, [{ count: 1, free: [{ name: 'cpu', amount: '1' }] }])
  })

  test('join nodes into at most 32 groups, each with the least of its nodes', () => {
    const nodes = Array.from({ length: 100 }, (_none, nth) => node(`n${nth}`, { cpu: `${nth + 1}` }))
    const groups = estimate({ nodes }).nodes
    assert.equal(groups.length, 25)
    assert.equal(
      groups.reduce((sum, { count }) => sum + count, 0),
      100,
    )
    assert.deepEqual(asMap(groups[1]!.free), { cpu: '5' })
  })

  test('have the room of quotas by namespace, the smallest of several, without those with scopes', () => {
    const quota = (namespace: string, hard: Record<string, string>, used: Record<string, string>, spec = {}) => ({
      metadata: { namespace },
      spec,
      status: { hard, used },
    })
    const { quotas } = estimate({
      quotas: [
        quota('shop', { 'requests.cpu': '10', 'count/pods': '20' }, { 'requests.cpu': '4500m', 'count/pods': '3' }),
        quota('shop', { cpu: '2' }, { cpu: '1' }),
        quota('shop', { cpu: '1' }, {}, { scopes: ['BestEffort'] }),
        quota('other', { services: '4' }, {}),
      ],
    })
    assert.deepEqual(
      quotas?.map(({ namespace, free }) => [namespace, asMap(free)]),
      [['shop', { cpu: '1', pods: '16' }]],
    )
  })

  test('are bounded for hostile objects', () => {
    const names = Object.fromEntries(Array.from({ length: 40 }, (_none, nth) => [`x.example/r${nth}`, '1']))
    const { free, nodes } = estimate({ nodes: [node('a', { ...names, cpu: 'many', memory: '-5' })] })
    assert.ok(free.length <= 16)
    assert.ok(nodes[0]!.free.length <= 16)
  })
  test('leave out amounts whose names a report does not take', () => {
    const long = (length: number) => `${'a'.repeat(length - 2)}/b`
    const named = (name: string) => ({ cpu: '1', [name]: '1' })
    const quota = (name: string) => ({ metadata: { namespace: 'shop' }, status: { hard: named(`requests.${name}`) } })
    const names = (length: number) => {
      const { allocatable, free, nodes, quotas } = estimate({
        nodes: [node('a', named(long(length)))],
        quotas: [quota(long(length))],
      })
      const all = [allocatable, free, nodes[0]!.free, quotas![0]!.free]
      return all.map((amounts) => amounts.map(({ name }) => name.length).join())
    }
    assert.deepEqual(names(253), ['253,3', '253,3', '253,3', '253,3'])
    assert.deepEqual(names(254), ['3', '3', '3', '3'])
  })
})
