import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { LIMITS } from '../../wire/limits.ts'
import { boundClaims, factsOf, readClaims } from './claims.ts'
import type { Node } from './claims.ts'
import { platformOf } from './platform.ts'

const node = (name: string, more: Partial<Node> & { labels?: Record<string, string> } = {}): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, labels: more.labels ?? {} },
  spec: more.spec ?? {},
  status: more.status ?? {},
})

describe('claims of a cluster', () => {
  it('sum up its nodes in the form kubelets use', () => {
    const status = (cpu: string, memory: string, gpu?: string): NonNullable<Node['status']> => ({
      capacity: { cpu, memory, pods: '110', 'ephemeral-storage': '1Gi', ...(gpu ? { 'nvidia.com/gpu': gpu } : {}) },
      allocatable: { cpu: '3920m', memory: '15Gi', pods: '110', ...(gpu ? { 'nvidia.com/gpu': gpu } : {}) },
      conditions: [{ type: 'Ready', status: gpu ? 'True' : 'False' }],
    })
    const nodes = [
      node('a', { status: status('4', '16384000Ki', '2'), spec: { providerID: 'aws:///eu-north-1a/i-1' } }),
      node('b', { status: status('4', '16Gi') }),
      node('broken', { status: { capacity: { cpu: 'many' } } }),
    ]
    assert.deepEqual(Object.fromEntries(factsOf('v1.36.2-eks-1', nodes).map(({ name, value }) => [name, value])), {
      'flotilla.dev/platform': 'EKS',
      'flotilla.dev/kubernetes-version': 'v1.36.2-eks-1',
      'flotilla.dev/nodes': '3',
      'flotilla.dev/nodes-ready': '1',
      'flotilla.dev/capacity.cpu': '8',
      'flotilla.dev/capacity.memory': `${16_384_000 + 16 * 1024 * 1024}Ki`,
      'flotilla.dev/capacity.pods': '220',
      'flotilla.dev/capacity.gpu': '2',
      'flotilla.dev/allocatable.cpu': '7840m',
      'flotilla.dev/allocatable.memory': `${30 * 1024 * 1024}Ki`,
      'flotilla.dev/allocatable.pods': '220',
      'flotilla.dev/allocatable.gpu': '2',
    })
  })

  it('say nothing about nodes that may not be read', () => {
    assert.deepEqual(factsOf('v1.36.2+k3s1', undefined), [
      { name: 'flotilla.dev/platform', value: 'K3s' },
      { name: 'flotilla.dev/kubernetes-version', value: 'v1.36.2+k3s1' },
    ])
  })

  it('have what ClusterProperties and ClusterClaims declare, the newer standard first', async () => {
    const values: Record<string, Record<string, string>> = {
      ClusterProperty: { site: 'oslo', zone: 'a' },
      ClusterClaim: { site: 'bergen', id: '7' },
    }
    const list = async ({ kind }: { kind: string }) => ({
      items: Object.entries(values[kind] ?? {}).map(([name, value]) => ({ metadata: { name }, spec: { value } })),
      continue: '',
    })
    const ports = {
      client: { list } as unknown as Client,
      discovery: { typeOf: async (_version: string, kind: string) => ({ kind }) } as unknown as Discovery,
    }
    const claims = await readClaims(ports, undefined, new AbortController().signal)
    const declared = claims.filter(({ name }) => !name.startsWith('flotilla.dev/'))
    assert.deepEqual(declared, [
      { name: 'id', value: '7' },
      { name: 'site', value: 'oslo' },
      { name: 'zone', value: 'a' },
    ])
  })

  it('are bounded: facts stay, what does not fit is counted, never cut', () => {
    const facts = factsOf('v1.36.2', [])
    const declared = Array.from({ length: 100 }, (_, i) => ({ name: `c${String(i).padStart(3, '0')}`, value: 'v' }))
    const long = { name: 'a-long-one', value: 'x'.repeat(LIMITS.claimValueChars + 1) }
    const bound = boundClaims(facts, [long, ...declared, { name: 'c000', value: 'second' }])
    assert.equal(bound.length, LIMITS.claims)
    for (const fact of facts) assert.ok(bound.includes(fact), fact.name)
    const kept = bound.filter(({ name }) => name.startsWith('c')).length
    const note = bound.find(({ name }) => name === 'flotilla.dev/claims-left-out')
    assert.equal(note?.value, String(100 - kept + 1))
    assert.equal(bound.find(({ name }) => name === 'c000')?.value, 'v', 'the first of two counts')
    assert.ok(!bound.some(({ name }) => name === long.name))
    assert.deepEqual(boundClaims(facts, []).length, facts.length)
  })
})

describe('the platform', () => {
  it('is told by labels, then by the version, then by who provides the nodes', () => {
    const of = (version: string | undefined, providerId = '', labels: Record<string, string> = {}) =>
      platformOf(version, [{ providerId, labels }])
    assert.equal(of('v1.33.1', 'azure:///x', { 'kubernetes.azure.com/cluster': 'x' }), 'AKS')
    assert.equal(of('v1.33.1-gke.100', 'gce://p/z/n'), 'GKE')
    assert.equal(of('v1.33.1+rke2r1', 'vsphere://x'), 'RKE2')
    assert.equal(of('v1.33.1', 'vsphere://4221'), 'vSphere')
    assert.equal(of('v1.33.1', 'kind://docker/kind/kind-control-plane'), 'kind')
    assert.equal(of('v1.33.1', 'constructor://x'), 'Other')
    assert.equal(of(undefined), 'Other')
    assert.equal(platformOf('v1.33.1', []), 'Other')
  })
})
