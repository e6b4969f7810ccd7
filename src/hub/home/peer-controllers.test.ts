import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client, ListOptions } from '../../client/client.ts'
import { ApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { formatHubHealth, parseHubHealth, peerProblem } from '../../plan/fleet/hub-health.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { DIALECT_NAMES } from './dialect-names.ts'
import { createPeerWatch, findPeers, isRunning } from './peer-controllers.ts'

const signal = new AbortController().signal

interface Present {
  readonly kind: string
  readonly name: string
  readonly namespace: string
  readonly selector: string
  replicas?: number
}

/** An API with these workloads: a list answers those whose selector is a part of what was asked for. */
function apiWith(workloads: readonly Present[]): Client {
  return {
    list: async ({ kind }: { kind: string }, { labelSelector, fieldSelector }: ListOptions) => ({
      items: workloads
        .filter((one) => one.kind === kind && (labelSelector ?? fieldSelector ?? '').includes(one.selector))
        .map(({ name, namespace, replicas }) => ({ metadata: { name, namespace }, spec: { replicas } })),
      resourceVersion: '1',
    }),
  } as unknown as Client
}

test('a controller runs until it is scaled to zero and its last Pod is gone', () => {
  const metadata = { name: 'a' }
  const workload = { apiVersion: 'apps/v1', kind: 'Deployment', metadata }
  assert.equal(isRunning(workload), true, 'replicas default to 1')
  assert.equal(isRunning({ ...workload, spec: { replicas: 2 } }), true)
  assert.equal(isRunning({ ...workload, spec: { replicas: 0 }, status: { replicas: 1 } }), true)
  assert.equal(isRunning({ ...workload, spec: { replicas: 0 }, status: { replicas: 0 } }), false)
  assert.equal(isRunning({ ...workload, spec: { replicas: 0 } }), false)
})

test('the controllers of each system are found, and only its dialect waits', async () => {
  const cases: [dialect: string, Present][] = [
    [
      'fleet',
      { kind: 'Deployment', name: 'fleet-controller', namespace: 'cattle-fleet-system', selector: 'fleet-controller' },
    ],
    [
      'ocm',
      { kind: 'Deployment', name: 'cluster-manager-placement-controller', namespace: 'hub', selector: 'placement' },
    ],
    [
      'argo',
      {
        kind: 'StatefulSet',
        name: 'argocd-application-controller',
        namespace: 'argocd',
        selector: 'argocd-application-controller',
      },
    ],
    [
      'flux',
      { kind: 'Deployment', name: 'kustomize-controller', namespace: 'flux-system', selector: 'kustomize-contr' },
    ],
  ]
  for (const [dialect, workload] of cases) {
    const peers = await findPeers(DIALECT_NAMES, apiWith([workload]), signal)
    const { kind, name, namespace } = workload
    assert.deepEqual(peers, [{ dialect, state: 'Waiting', workloads: [`${kind} ${name} in namespace ${namespace}`] }])
  }
  assert.deepEqual(await findPeers(DIALECT_NAMES, apiWith([]), signal), [])
})

test('a list that is not allowed is unknown: the dialect runs, and what is unknown is said', async () => {
  const client = {
    list: async () => {
      throw new ApiError('Forbidden', 'deployments.apps is forbidden')
    },
  } as unknown as Client
  const watch = createPeerWatch(['flux'], { client, clock: createVirtualClock(), log: silentLogger })
  assert.deepEqual(await watch.look(signal), ['flux'])
  const [peer] = watch.peers()
  assert.match(
    peerProblem(peer!),
    /^dialect flux runs, but .* cannot be looked for: deployments.apps is forbidden; give/,
  )
})

test('a dialect that waits goes on waiting while the API does not answer', async () => {
  const flux: Present = {
    kind: 'Deployment',
    name: 'helm-controller',
    namespace: 'flux-system',
    selector: 'helm-controller',
    replicas: 1,
  }
  const api = apiWith([flux])
  let failure: Error | undefined
  const list = async (...input: Parameters<Client['list']>) => {
    if (failure) throw failure
    return await api.list(...input)
  }
  const clock = createVirtualClock()
  const watch = createPeerWatch(['flux'], { client: { ...api, list } as Client, clock, log: silentLogger })
  assert.deepEqual(await watch.look(signal), [])
  let hasEnded = false
  const term = watch.untilChanged(signal).then(() => (hasEnded = true))
  for (const no of [new Error('connect ECONNREFUSED'), new ApiError('InternalError', 'etcdserver: no leader')]) {
    failure = no
    await clock.advance(60_000)
    assert.equal(hasEnded, false, no.message)
    assert.equal(watch.peers()[0]?.state, 'Waiting', no.message)
    await assert.rejects(watch.look(signal), no, 'a term that begins now does not begin with the dialect')
  }
  failure = undefined
  await clock.advance(60_000)
  assert.equal(hasEnded, false)
  flux.replicas = 0
  await clock.advance(16_000)
  await term
  assert.deepEqual(await watch.look(signal), ['flux'])
})

test('a term ends when a peer is started or scaled to zero, and not otherwise', async () => {
  const flux: Present = {
    kind: 'Deployment',
    name: 'helm-controller',
    namespace: 'flux-system',
    selector: 'helm-controller',
    replicas: 0,
  }
  const clock = createVirtualClock()
  const watch = createPeerWatch(['argo', 'flux'], { client: apiWith([flux]), clock, log: silentLogger })
  let told = 0
  watch.onChange(() => told++)
  assert.deepEqual(await watch.look(signal), ['argo', 'flux'])
  let ended = false
  const term = watch.untilChanged(signal).then(() => (ended = true))
  await clock.advance(120_000)
  assert.equal(ended, false)
  flux.replicas = 1
  await clock.advance(16_000)
  await term
  assert.deepEqual(await watch.look(signal), ['argo'])
  assert.match(
    peerProblem(watch.peers()[0]!),
    /^dialect flux waits while .*: Deployment helm-controller in namespace flux/,
  )
  flux.replicas = 0
  const next = watch.untilChanged(signal)
  await clock.advance(16_000)
  await next
  assert.deepEqual(await watch.look(signal), ['argo', 'flux'])
  assert.equal(told, 2)
  flux.replicas = 1
  await watch.look(signal)
  watch.stop()
  assert.deepEqual(watch.peers(), [], 'a hub that does not lead says nothing about peers')
})

test('peers travel in the published health', () => {
  const peers = [{ dialect: 'flux', state: 'Waiting', workloads: ['Deployment a in namespace b'] }] as const
  const health = { startedAt: '2026-01-01T00:00:00Z', parts: [], peers }
  assert.deepEqual(parseHubHealth(formatHubHealth(health)), health)
  assert.equal(parseHubHealth(JSON.stringify({ ...health, peers: [{ dialect: 1 }] })), undefined)
})
