import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { isApiError } from '../../core/errors.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { BUILTIN_KINDS } from '../../kinds/builtin/builtin-kinds.ts'
import { Namespace, Secret } from '../../kinds/builtin/core.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { createApiServer } from '../server/api-server.ts'
import { storeKey, serializeObject } from '../storage/stored-object.ts'
import { amountsText, readAmounts, writeAmounts } from './amounts.ts'
import { evaluateQuotas, computeUsed } from './evaluate-quotas.ts'
import { createQuotaCharger } from './charge-quota.ts'
import { createPending } from './pending-charges.ts'
import { measureUsage, resourceNamesForType } from './usage.ts'

const PODS = { group: '', plural: 'pods' }
const object = (spec: object, more: object = {}): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Any',
  metadata: { name: 'x', namespace: 'n' },
  spec,
  ...more,
})
const quota = (name: string, hard: object, used: object, spec: object = {}): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name, namespace: 'n' },
  spec: { hard, ...spec },
  status: { hard, used },
})
const usage = (plural: string, of: UnknownObject): object =>
  writeAmounts(measureUsage({ group: '', plural }, of, 0).usage)

test('which names of a quota are about a type', () => {
  const names = [
    'pods',
    'count/pods',
    'requests.cpu',
    'limits.memory',
    'requests.storage',
    'requests.example.com/dongle',
    'requests.hugepages-2Mi',
    'services.nodeports',
    'gold.storageclass.storage.k8s.io/requests.storage',
    'count/widgets.example.com',
    'secrets',
  ]
  const table: [string, string, string[]][] = [
    ['', 'pods', [names[1]!, names[3]!, names[0]!, names[2]!, names[5]!, names[6]!]],
    ['', 'services', ['services.nodeports']],
    ['', 'persistentvolumeclaims', ['gold.storageclass.storage.k8s.io/requests.storage', 'requests.storage']],
    ['', 'secrets', ['secrets']],
    ['example.com', 'widgets', ['count/widgets.example.com']],
    ['example.com', 'secrets', []],
  ]
  for (const [group, plural, about] of table)
    assert.deepEqual(resourceNamesForType({ group, plural }, names), about, plural)
})

test('what objects use', () => {
  const container = (requests: object, limits: object = {}) => ({ name: 'c', resources: { requests, limits } })
  const pod = object({ containers: [container({ cpu: '100m' }, { memory: '1Gi' }), container({ cpu: '1' })] })
  const used = { 'count/pods': '1', pods: '1', cpu: '1100m', 'requests.cpu': '1100m', 'limits.memory': '1Gi' }
  assert.deepEqual(usage('pods', pod), used)
  assert.deepEqual(usage('pods', object({}, { status: { phase: 'Failed' } })), { 'count/pods': '1' })
  assert.deepEqual(
    usage('pods', object({ resources: { requests: { cpu: '3' } }, containers: [container({ cpu: '1' })] })),
    {
      'count/pods': '1',
      pods: '1',
      cpu: '3',
      'requests.cpu': '3',
    },
  )
  const balancer = { type: 'LoadBalancer', ports: [{ port: 1 }, { port: 2, nodePort: 30_000 }] }
  const services = { 'count/services': '1', services: '1', 'services.loadbalancers': '1' }
  assert.deepEqual(usage('services', object(balancer)), { ...services, 'services.nodeports': '2' })
  const withoutPorts = { ...balancer, allocateLoadBalancerNodePorts: false }
  assert.deepEqual(usage('services', object(withoutPorts)), { ...services, 'services.nodeports': '1' })
})

test('amounts are added in the form of the first that is something', () => {
  const of = (cpu: string) => readAmounts({ cpu })
  assert.equal(amountsText(of('1500m')), 'cpu=1500m')
  const two = object({
    containers: [{ resources: { requests: { memory: '1Gi' } } }, { resources: { requests: { memory: '1M' } } }],
  })
  assert.equal((usage('pods', two) as { memory: string }).memory, '1074741824')
})

test('what quotas say to a write', () => {
  const cpu = (request: string) => object({ containers: [{ name: 'c', resources: { requests: { cpu: request } } }] })
  const ask = (quotas: readonly UnknownObject[], now: UnknownObject, before?: UnknownObject) => {
    const verdict = evaluateQuotas(quotas, {
      object: now,
      now: measureUsage(PODS, now, 0),
      before: before && measureUsage(PODS, before, 0),
      isStatus: false,
    })
    if (verdict.refused) return verdict.why
    return [...verdict.charges].map(([name, amounts]) => `${name}: ${amountsText(amounts)}`).join('; ')
  }
  const of = (used: string) => quota('q', { cpu: '2' }, { cpu: used })
  const best = quota('b', { pods: '1' }, { pods: '1' }, { scopes: ['BestEffort'] })
  assert.equal(ask([of('1')], cpu('1')), 'q: cpu=1')
  assert.equal(ask([of('1500m')], cpu('1')), 'exceeded quota: q, requested: cpu=1, used: cpu=1500m, limited: cpu=2')
  assert.equal(ask([of('2')], cpu('1'), cpu('1')), '', 'an update that takes no more is no question')
  assert.equal(ask([of('2')], cpu('500m'), cpu('1')), '', 'nor is one that takes less')
  assert.equal(ask([of('1')], cpu('2'), cpu('1')), 'q: cpu=1')
  assert.equal(ask([best], cpu('1')), '', 'out of its scope')
  assert.match(ask([best], object({ containers: [{ name: 'c' }] })), /^exceeded quota: b/)
  assert.equal(ask([quota('q', { cpu: '2' }, {})], cpu('1')), 'status unknown for quota: q, resources: cpu')
  assert.equal(ask([quota('q', { secrets: '0' }, {})], cpu('1')), '', 'about something else')
})

test('usage is the stored objects and the pending charges; resources that cannot be counted keep their usage', () => {
  const pod = measureUsage(PODS, object({}), 0)
  const charged = [readAmounts({ pods: '1' })]
  const said = quota(
    'q',
    { pods: '9', 'count/nothing.example.com': '1' },
    { pods: '7', 'count/nothing.example.com': '1' },
  )
  const used = computeUsed(said, [PODS], { objects: [pod, pod], charged })
  assert.deepEqual(writeAmounts(used), { 'count/nothing.example.com': '1', pods: '3' })
})

test('a write that does not happen is not charged for long, and one that does is counted once', async (t) => {
  const store = createMemoryStore()
  const clock = systemClock
  const api = createApiServer({ store, clock, ids: systemIds, log: silentLogger, kinds: BUILTIN_KINDS })
  t.after(async () => {
    await api.close()
    await store.close()
  })
  const caller = { user: 'admin', groups: ['system:masters'] }
  const client = createClient({ clock, transport: (request, signal) => api.handle(request, caller, signal) })
  const secret = (name: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name, namespace: 'n' } })
  const ResourceQuota = BUILTIN_KINDS.find(({ kind }) => kind === 'ResourceQuota')!
  await client.create(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'n' } })
  await client.create(ResourceQuota, {
    metadata: { name: 'q', namespace: 'n' },
    spec: { hard: { secrets: '3' } },
  } as never)
  // A quota is counted before the next write is refused for not being counted.
  await client.create(Secret, secret('a'))
  for (let attempt = 0; attempt < 5; attempt += 1) {
    await assert.rejects(client.create(Secret, secret('a')), (error) => isApiError(error, 'AlreadyExists'))
  }
  await client.create(Secret, secret('b'))
  const deadline = performance.now() + 5000
  for (;;) {
    const { status } = (await client.get(ResourceQuota, { name: 'q', namespace: 'n' })) as { status?: object }
    if (JSON.stringify(status) === '{"hard":{"secrets":"3"},"used":{"secrets":"2"}}') break
    assert.ok(performance.now() < deadline, JSON.stringify(status))
    await new Promise((resolve) => setImmediate(resolve))
  }
})

test('a charge that cannot be written is forgotten: it is not taken for one that is under way', async (t) => {
  const store = createMemoryStore()
  t.after(() => store.close())
  const ResourceQuota = BUILTIN_KINDS.find(({ kind }) => kind === 'ResourceQuota')!
  const q = quota('q', { secrets: '3' }, { secrets: '0' })
  await store.commit({ key: storeKey(ResourceQuota, q.metadata), expect: 0, value: serializeObject(q) })
  const pending = createPending(() => {})
  const full = { ...store, commit: () => Promise.reject(new Error('no space left on device')) }
  const keeper = { pending, caughtUp: async () => {} }
  const gate = createQuotaCharger({ store: full, clock: systemClock }, ResourceQuota, keeper)
  const request = {
    caller: { user: 'admin', groups: [] },
    operation: 'CREATE',
    kind: Secret,
    object: object({}),
    oldObject: undefined,
    dryRun: false,
  } as const
  await assert.rejects(gate.charge(request), /no space left/)
  assert.deepEqual(pending.beyond('n', 'q', 0), [])
})
