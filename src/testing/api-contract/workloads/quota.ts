import assert from 'node:assert/strict'
import { gadget } from '../harness.ts'
import type { Api, ApiCase, Loose, Reply } from '../harness.ts'
import { eventually } from '../policies/validating-policies.ts'

/** ResourceQuotas and LimitRanges at work. A real home needs its controller manager for these. */

const inside = ({ namespace }: Api, plural: string, name?: string): string =>
  `/api/v1/namespaces/${namespace}/${plural}${name === undefined ? '' : `/${name}`}`

const post = (api: Api, plural: string, body: object, query = ''): Promise<Reply> =>
  api.send('POST', `${inside(api, plural)}${query}`, { body })

const secret = (name: string): object => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name } })

const pod = (name: string, resources: object = {}, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { ...spec, containers: [{ name: 'c', image: 'web:1', resources }] },
})

const claim = (name: string, storage: string, spec: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } }, ...spec },
})

const service = (name: string, type: string): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { type, ports: [{ port: 80 }], selector: { app: name } },
})

/** Makes a quota and waits until it is counted. */
async function quota(api: Api, hard: Record<string, string>, spec: object = {}, name = 'q'): Promise<void> {
  const metadata = { name }
  await api.ok('POST', inside(api, 'resourcequotas'), {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata,
    spec: { hard, ...spec },
  })
  await eventually(async () => {
    const { status } = await api.ok('GET', inside(api, 'resourcequotas', name))
    assert.deepEqual(Object.keys(status.used ?? {}).sort(), Object.keys(hard).sort())
  })
}

/** Waits until a quota says that this much is used. */
async function uses(api: Api, used: Record<string, string>, name = 'q'): Promise<void> {
  await eventually(async () => {
    const { status } = await api.ok('GET', inside(api, 'resourcequotas', name))
    const said = Object.fromEntries(Object.keys(used).map((key) => [key, status.used[key]]))
    assert.deepEqual(said, used)
  })
}

function refused({ status, body }: Reply, message: string): void {
  assert.deepEqual([status, body.reason, body.message], [403, 'Forbidden', message])
}

async function made(reply: Promise<Reply>): Promise<Loose> {
  const { status, body } = await reply
  assert.equal(status, 201, body.message)
  return body
}

export const QUOTA_CASES: readonly ApiCase[] = [
  {
    title: 'a quota counts objects, under their old names and under any, and refuses one too many',
    async run(api) {
      await quota(api, { secrets: '2', 'count/secrets': '5', 'count/gadgets.contract.flotilla.dev': '1' })
      await uses(api, { secrets: '0', 'count/gadgets.contract.flotilla.dev': '0' })
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io'
      const { rows } = (await api.send('GET', inside(api, 'resourcequotas'), { accept })).body
      assert.equal(rows[0].cells[1], 'count/gadgets.contract.flotilla.dev: 0/1, count/secrets: 0/5, secrets: 0/2')
      await made(post(api, 'secrets', secret('a')))
      await uses(api, { secrets: '1', 'count/secrets': '1' })
      assert.equal((await post(api, 'secrets', secret('dry'), '?dryRun=All')).status, 201)
      await made(post(api, 'secrets', secret('b')))
      await uses(api, { secrets: '2', 'count/secrets': '2' })
      const why = 'exceeded quota: q, requested: secrets=1, used: secrets=2, limited: secrets=2'
      refused(await post(api, 'secrets', secret('c')), `secrets "c" is forbidden: ${why}`)
      refused(await post(api, 'secrets', secret('c'), '?dryRun=All'), `secrets "c" is forbidden: ${why}`)
      await api.ok('DELETE', inside(api, 'secrets', 'a'))
      await uses(api, { secrets: '1', 'count/secrets': '1' })
      // A kube-apiserver admits by a watch of its quotas, which may be behind the status that it answers with.
      await eventually(async () => void (await made(post(api, 'secrets', secret('c')))))
      const gadgets = `/apis/contract.flotilla.dev/v1/namespaces/${api.namespace}/gadgets`
      await api.ok('POST', gadgets, gadget('g', {}))
      const name = 'count/gadgets.contract.flotilla.dev'
      await uses(api, { [name]: '1' })
      refused(
        await api.send('POST', gadgets, { body: gadget('h', {}) }),
        `gadgets.contract.flotilla.dev "h" is forbidden: exceeded quota: q, requested: ${name}=1, used: ${name}=1, limited: ${name}=1`,
      )
      await api.ok('DELETE', `${gadgets}/g`)
      await uses(api, { [name]: '0' })
    },
  },
  {
    title: 'of many who come at once, as many get in as a quota has room for',
    async run(api) {
      await quota(api, { secrets: '5' })
      const replies = await Promise.all(
        Array.from({ length: 12 }, (_, index) => post(api, 'secrets', secret(`s${index}`))),
      )
      const counts = Map.groupBy(replies, ({ status }) => status)
      assert.deepEqual([counts.get(201)?.length, counts.get(403)?.length], [5, 7])
      await uses(api, { secrets: '5' })
    },
  },
  {
    title: 'devices are counted by their class, those of several ways by the most that each would give',
    async run(api) {
      const gold = 'gold.deviceclass.resource.k8s.io/devices'
      const iron = 'iron.deviceclass.resource.k8s.io/devices'
      await quota(api, { [gold]: '5', [iron]: '40', 'count/resourceclaims.resource.k8s.io': '3' })
      const claim = (name: string, ...requests: readonly object[]) =>
        api.send('POST', `/apis/resource.k8s.io/v1/namespaces/${api.namespace}/resourceclaims`, {
          body: {
            apiVersion: 'resource.k8s.io/v1',
            kind: 'ResourceClaim',
            metadata: { name },
            spec: { devices: { requests } },
          },
        })
      const of = (deviceClassName: string, more: object = {}) => ({ deviceClassName, ...more })
      await made(claim('a', { name: 'r', exactly: of('gold', { count: 2 }) }, { name: 's', exactly: of('gold') }))
      const ways = [
        { name: 'x', ...of('gold', { count: 2 }) },
        { name: 'y', ...of('gold') },
        { name: 'z', ...of('iron', { allocationMode: 'All' }) },
      ]
      await made(claim('b', { name: 'r', firstAvailable: ways }))
      await uses(api, { [gold]: '5', [iron]: '32', 'count/resourceclaims.resource.k8s.io': '2' })
      const { status, body } = await claim('c', { name: 'r', exactly: of('gold') })
      assert.equal(status, 403)
      const why = `exceeded quota: q, requested: ${gold}=1, used: ${gold}=5, limited: ${gold}=5`
      assert.equal(body.message, `resourceclaims.resource.k8s.io "c" is forbidden: ${why}`)
    },
  },
  {
    title: 'what a quota allows can be changed, and its status follows',
    async run(api) {
      await quota(api, { secrets: '1', pods: '3' })
      await api.send('PATCH', inside(api, 'resourcequotas', 'q'), {
        body: { spec: { hard: { secrets: '2', pods: null } } },
        contentType: 'application/merge-patch+json',
      })
      await eventually(async () => {
        const { status } = await api.ok('GET', inside(api, 'resourcequotas', 'q'))
        assert.deepEqual(status, { hard: { secrets: '2' }, used: { secrets: '0' } })
      })
      await made(post(api, 'secrets', secret('a')))
      await made(post(api, 'secrets', secret('b')))
      assert.equal((await post(api, 'secrets', secret('c'))).status, 403)
    },
  },
  {
    title: 'a quota of what pods compute with wants every container to say it, and counts until a pod has ended',
    async run(api) {
      await quota(api, {
        pods: '5',
        'count/pods': '5',
        cpu: '1',
        'limits.memory': '1Gi',
        'requests.example.com/dongle': '2',
      })
      refused(
        await post(api, 'pods', pod('silent')),
        'pods "silent" is forbidden: failed quota: q: must specify cpu for: c; limits.memory for: c',
      )
      const resources = {
        requests: { cpu: '600m', memory: '100Mi', 'example.com/dongle': '1' },
        limits: { memory: '512Mi', 'example.com/dongle': '1' },
      }
      await made(post(api, 'pods', pod('a', resources)))
      const used = {
        pods: '1',
        'count/pods': '1',
        cpu: '600m',
        'limits.memory': '512Mi',
        'requests.example.com/dongle': '1',
      }
      await uses(api, used)
      refused(
        await post(api, 'pods', pod('b', resources)),
        'pods "b" is forbidden: exceeded quota: q, requested: cpu=600m, used: cpu=600m, limited: cpu=1',
      )
      await api.send('PATCH', `${inside(api, 'pods', 'a')}/status`, {
        body: { status: { phase: 'Succeeded' } },
        contentType: 'application/merge-patch+json',
      })
      await uses(api, { pods: '0', 'count/pods': '1', cpu: '0', 'limits.memory': '0' })
      await made(post(api, 'pods', pod('b', resources)))
      await uses(api, { pods: '1', 'count/pods': '2', cpu: '600m' })
      await api.ok('DELETE', inside(api, 'pods', 'b'))
      await uses(api, { pods: '0', 'count/pods': '1', cpu: '0' })
    },
  },
  {
    title: 'init containers count as far as they need more than what runs later, those that stay with it',
    async run(api) {
      await quota(api, { cpu: '10' })
      const container = (name: string, cpu: string, more: object = {}) => ({
        name,
        image: 'web:1',
        resources: { requests: { cpu } },
        ...more,
      })
      const initContainers = [
        container('first', '3'),
        container('side', '1', { restartPolicy: 'Always' }),
        container('second', '500m'),
      ]
      await made(post(api, 'pods', pod('a', { requests: { cpu: '500m' } }, { initContainers })))
      await uses(api, { cpu: '3' })
      await made(post(api, 'pods', pod('b', { requests: { cpu: '2500m' } }, { initContainers })))
      await uses(api, { cpu: '6500m' })
    },
  },
  {
    title: 'quotas with scopes count the pods of their scopes only',
    async run(api) {
      await quota(api, { pods: '5' }, { scopes: ['Terminating'] }, 'ending')
      await quota(api, { pods: '5' }, { scopes: ['NotTerminating'] }, 'lasting')
      await quota(api, { pods: '1' }, { scopes: ['BestEffort', 'NotTerminating'] }, 'best')
      await quota(api, { pods: '5' }, { scopes: ['NotBestEffort'] }, 'said')
      await made(post(api, 'pods', pod('a')))
      await made(post(api, 'pods', pod('b', { requests: { cpu: '1m' } }, { activeDeadlineSeconds: 60 })))
      await uses(api, { pods: '1' }, 'ending')
      await uses(api, { pods: '1' }, 'lasting')
      await uses(api, { pods: '1' }, 'best')
      await uses(api, { pods: '1' }, 'said')
      refused(
        await post(api, 'pods', pod('c')),
        'pods "c" is forbidden: exceeded quota: best, requested: pods=1, used: pods=1, limited: pods=1',
      )
      await made(post(api, 'pods', pod('d', { requests: { cpu: '1m' } })))
      await uses(api, { pods: '2' }, 'lasting')
      await api.ok('DELETE', inside(api, 'pods', 'a'))
      await uses(api, { pods: '0' }, 'best')
      await uses(api, { pods: '1' }, 'lasting')
    },
  },
  {
    title: 'a quota can be for the pods of some priority classes',
    async run(api) {
      const classes = ['high', 'low'].map((name) => `${api.namespace}-${name}`)
      for (const name of classes) {
        await api.ok('POST', '/apis/scheduling.k8s.io/v1/priorityclasses', {
          apiVersion: 'scheduling.k8s.io/v1',
          kind: 'PriorityClass',
          metadata: { name },
          value: 1000,
        })
      }
      const select = (operator: string, values: string[] = []) => ({
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator, values }] },
      })
      await quota(api, { pods: '1' }, select('In', [classes[0]!]), 'high')
      await quota(api, { pods: '5' }, select('NotIn', [classes[0]!]), 'others')
      await quota(api, { pods: '5' }, select('Exists'), 'any')
      await quota(api, { pods: '5' }, select('DoesNotExist'), 'none')
      await eventually(async () => {
        const a = await made(post(api, 'pods', pod('a', {}, { priorityClassName: classes[0] })))
        assert.equal(a.spec.priority, 1000)
      })
      await made(post(api, 'pods', pod('b', {}, { priorityClassName: classes[1] })))
      await made(post(api, 'pods', pod('c')))
      for (const [name, pods] of [
        ['high', '1'],
        ['others', '2'],
        ['any', '2'],
        ['none', '1'],
      ] as const) {
        await uses(api, { pods }, name)
      }
      const again = await post(api, 'pods', pod('d', {}, { priorityClassName: classes[0] }))
      refused(again, 'pods "d" is forbidden: exceeded quota: high, requested: pods=1, used: pods=1, limited: pods=1')
      refused(
        await post(api, 'pods', pod('e', {}, { priorityClassName: 'missing-class' })),
        'pods "e" is forbidden: no PriorityClass with name missing-class was found',
      )
    },
  },
  {
    title: 'services count by what they need of a node, also when they change',
    async run(api) {
      await quota(api, { services: '3', 'services.nodeports': '1', 'services.loadbalancers': '1' })
      await made(post(api, 'services', service('a', 'NodePort')))
      await made(post(api, 'services', service('b', 'ClusterIP')))
      await uses(api, { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '0' })
      const why = 'requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1'
      refused(
        await post(api, 'services', service('c', 'LoadBalancer')),
        `services "c" is forbidden: exceeded quota: q, ${why}`,
      )
      const change = (name: string, type: string) =>
        api.send('PATCH', inside(api, 'services', name), {
          body: { spec: { type } },
          contentType: 'application/merge-patch+json',
        })
      refused(await change('b', 'NodePort'), `services "b" is forbidden: exceeded quota: q, ${why}`)
      const internal = await change('a', 'ClusterIP')
      assert.deepEqual([internal.status, internal.body.spec.ports[0].nodePort], [200, undefined])
      await uses(api, { services: '2', 'services.nodeports': '0' })
      assert.equal((await change('b', 'LoadBalancer')).status, 200)
      await uses(api, { services: '2', 'services.nodeports': '1', 'services.loadbalancers': '1' })
      await api.ok('DELETE', inside(api, 'services', 'b'))
      await uses(api, { services: '1', 'services.nodeports': '0', 'services.loadbalancers': '0' })
    },
  },
  {
    title: 'claims count with what they want to store, by their class, too',
    async run(api) {
      const gold = 'gold.storageclass.storage.k8s.io'
      const hard = {
        persistentvolumeclaims: '5',
        'requests.storage': '10Gi',
        [`${gold}/requests.storage`]: '2Gi',
        [`${gold}/persistentvolumeclaims`]: '5',
      }
      await quota(api, hard)
      await made(post(api, 'persistentvolumeclaims', claim('a', '1Gi', { storageClassName: 'gold' })))
      await made(post(api, 'persistentvolumeclaims', claim('b', '4Gi', { storageClassName: '' })))
      await uses(api, {
        persistentvolumeclaims: '2',
        'requests.storage': '5Gi',
        [`${gold}/requests.storage`]: '1Gi',
        [`${gold}/persistentvolumeclaims`]: '1',
      })
      const name = `${gold}/requests.storage`
      refused(
        await post(api, 'persistentvolumeclaims', claim('c', '2Gi', { storageClassName: 'gold' })),
        `persistentvolumeclaims "c" is forbidden: exceeded quota: q, requested: ${name}=2Gi, used: ${name}=1Gi, limited: ${name}=2Gi`,
      )
    },
  },
  {
    title: 'a LimitRange gives containers what they do not say, and a note says so',
    async run(api) {
      const limits = [
        {
          type: 'Container',
          min: { cpu: '50m', memory: '100Mi' },
          max: { cpu: '500m', memory: '500Mi' },
          default: { cpu: '500m', memory: '500Mi' },
          defaultRequest: { cpu: '100m', memory: '200Mi' },
          maxLimitRequestRatio: { cpu: '10' },
        },
        { type: 'PersistentVolumeClaim', min: { storage: '1Gi' }, max: { storage: '5Gi' } },
        { type: 'Pod', max: { cpu: '800m' } },
      ]
      await api.ok('POST', inside(api, 'limitranges'), {
        apiVersion: 'v1',
        kind: 'LimitRange',
        metadata: { name: 'l' },
        spec: { limits },
      })
      await eventually(async () => {
        const name = `a${Math.trunc(performance.now())}`
        const { spec, metadata } = await made(post(api, 'pods', pod(name, { limits: { cpu: '300m' } })))
        assert.deepEqual(spec.containers[0].resources, {
          limits: { cpu: '300m', memory: '500Mi' },
          requests: { cpu: '300m', memory: '200Mi' },
        })
        assert.equal(
          metadata.annotations['kubernetes.io/limit-ranger'],
          'LimitRanger plugin set: memory request for container c; memory limit for container c',
        )
      })
      const { status } = await made(post(api, 'pods', pod('silent')))
      assert.equal(status.qosClass, 'Burstable')
      const small = { requests: { cpu: '20m' }, limits: { cpu: '300m' } }
      refused(
        await post(api, 'pods', pod('small', small)),
        'pods "small" is forbidden: [minimum cpu usage per Container is 50m, but request is 20m, cpu max limit to request ratio per Container is 10, but provided ratio is 15.000000]',
      )
      refused(
        await post(api, 'pods', pod('large', { limits: { memory: '600Mi', cpu: '300m' } })),
        'pods "large" is forbidden: maximum memory usage per Container is 500Mi, but limit is 600Mi',
      )
      const two = ['x', 'y'].map((name) => ({ name, image: 'web:1', resources: { limits: { cpu: '450m' } } }))
      refused(
        await post(api, 'pods', {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'two' },
          spec: { containers: two },
        }),
        'pods "two" is forbidden: maximum cpu usage per Pod is 800m, but limit is 900m',
      )
      await made(post(api, 'persistentvolumeclaims', claim('fits', '2Gi')))
      refused(
        await post(api, 'persistentvolumeclaims', claim('large', '6Gi')),
        'persistentvolumeclaims "large" is forbidden: maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 6Gi',
      )
      refused(
        await post(api, 'persistentvolumeclaims', claim('small', '1Mi')),
        'persistentvolumeclaims "small" is forbidden: minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 1Mi',
      )
    },
  },
]
