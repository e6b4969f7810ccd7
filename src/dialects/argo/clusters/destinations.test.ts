import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { buildCluster } from '../../../testing/fixtures/builders.ts'
import { createDestinations } from './destinations.ts'

function clusterOf(name: string, ...aliases: readonly string[]): Cluster {
  const cluster = buildCluster(name)
  return { ...cluster, spec: { ...cluster.spec, aliases: aliases.map((alias) => ({ dialect: 'argo', name: alias })) } }
}

test('each word of a destination finds its Cluster', () => {
  const resolve = createDestinations([
    clusterOf('a', 'store', 'https://10.0.0.1:6443'),
    clusterOf('b', 'local'),
    clusterOf('c'),
  ])
  const found = (word: string) => {
    const one = resolve(word.includes('://') ? { server: word } : { name: word })
    return 'cluster' in one ? one.cluster.metadata.name : one.problem
  }
  for (const word of ['a', 'store', 'https://10.0.0.1:6443/', 'https://a.clusters.flotilla.invalid'])
    assert.equal(found(word), 'a')
  for (const word of ['b', 'in-cluster', 'https://kubernetes.default.svc']) assert.equal(found(word), 'b')
  assert.equal(found('c'), 'c')
  assert.match(found('d'), /^there is no accepted Cluster for destination d; /)
})

test('a word that means several Clusters is a problem, whichever of them is older', () => {
  const both = [clusterOf('prod'), clusterOf('x', 'prod'), clusterOf('y', 'same'), clusterOf('z', 'same', 'local')]
  const resolve = createDestinations([...both, clusterOf('w', 'local')])
  const problem = (destination: { readonly name?: string; readonly server?: string }) => {
    const one = resolve(destination)
    return 'problem' in one ? one.problem : one.cluster.metadata.name
  }
  assert.match(problem({ name: 'prod' }), /^destination prod means several Clusters, .*: prod, x; write the server/)
  assert.match(problem({ name: 'same' }), /: y, z;/)
  assert.match(problem({ name: 'in-cluster' }), /: w, z;/)
  assert.equal(problem({ server: 'https://prod.clusters.flotilla.invalid' }), 'prod')
})
