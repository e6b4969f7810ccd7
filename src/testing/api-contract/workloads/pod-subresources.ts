import assert from 'node:assert/strict'
import type { Api, ApiCase, Loose, Reply } from '../harness.ts'
import { fieldsOf } from '../harness.ts'

/** Subresources of pods, and the answer of paths that are not served. */

const STRATEGIC = 'application/strategic-merge-patch+json'
const MERGE = 'application/merge-patch+json'

const podsOf = ({ namespace }: Api): string => `/api/v1/namespaces/${namespace}/pods`

function makePod(api: Api, name: string, resources: object = {}, metadata: object = {}): Promise<Loose> {
  return api.ok('POST', podsOf(api), {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: { app: 'web' }, ...metadata },
    spec: { containers: [{ name: 'c', image: 'web:1', resources }] },
  })
}

const patch = (api: Api, path: string, body: object, contentType = STRATEGIC): Promise<Reply> =>
  api.send('PATCH', `${podsOf(api)}/${path}`, { body, contentType })

const bind = (api: Api, name: string, more: object = {}): Promise<Reply> =>
  api.send('POST', `${podsOf(api)}/${name}/binding`, {
    body: { apiVersion: 'v1', kind: 'Binding', metadata: { name, ...more }, target: { kind: 'Node', name: 'n1' } },
  })

const evict = (api: Api, pod: string, more: object = {}, name = pod): Promise<Reply> =>
  api.send('POST', `${podsOf(api)}/${pod}/eviction`, {
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: api.namespace }, ...more },
  })

const refusal = ({ status, body }: Reply): Loose => [status, body.reason, body.message]

export const POD_CASES: readonly ApiCase[] = [
  {
    title: 'paths that are not served are refused with empty details',
    async run(api) {
      for (const [method, path, code] of [
        ['GET', `${podsOf(api)}/x/nothing`, 404],
        ['GET', '/api/v1/nothings', 404],
        ['POST', `${podsOf(api)}/x`, 405],
        ['POST', '/api/v1/pods', 405],
        ['DELETE', '/api/v1/namespaces', 405],
      ] as const) {
        const { status, body } = await api.send(method, path, method === 'POST' ? { body: {} } : {})
        assert.equal(status, code, `${method} ${path}`)
        assert.deepEqual(body.details, {}, `${method} ${path}`)
      }
      const { resources } = await api.ok('GET', '/api/v1')
      const verbs = resources.find(({ name }: Loose) => name === 'namespaces').verbs
      assert.ok(!verbs.includes('deletecollection'))
    },
  },
  {
    title: 'containers for debugging are added to a pod at their own address, and stay as they are',
    async run(api) {
      await makePod(api, 'web')
      const add = (...containers: readonly object[]) =>
        patch(api, 'web/ephemeralcontainers?fieldManager=debug', {
          metadata: { labels: { app: 'other' } },
          spec: { containers: [{ name: 'c', image: 'web:2' }], ephemeralContainers: containers },
        })
      const { status, body } = await add({ name: 'd', image: 'busybox' })
      assert.equal(status, 200)
      assert.equal(body.metadata.generation, 2)
      assert.deepEqual(body.metadata.labels, { app: 'web' })
      assert.equal(body.spec.containers[0].image, 'web:1')
      assert.deepEqual(body.spec.ephemeralContainers, [
        {
          name: 'd',
          image: 'busybox',
          resources: {},
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'Always',
        },
      ])
      const owned = fieldsOf(body, 'debug') as Loose
      assert.ok(owned['f:spec']['f:ephemeralContainers']['k:{"name":"d"}'])
      const entry = body.metadata.managedFields.find(({ manager }: Loose) => manager === 'debug')
      assert.equal(entry.subresource, 'ephemeralcontainers')

      const kept =
        'Pod "web" is invalid: spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be'
      const [code, , changed] = refusal(await add({ name: 'd', image: 'other' }))
      assert.equal(code, 422)
      assert.ok(changed.startsWith(`${kept} changed`), changed)
      const none = { ...body, spec: { ...body.spec, ephemeralContainers: [] } }
      const removed = await api.send('PUT', `${podsOf(api)}/web/ephemeralcontainers`, { body: none })
      assert.deepEqual(refusal(removed), [422, 'Invalid', `${kept} removed\n`])
      const more = await add({ name: 'd', image: 'busybox' }, { name: 'e', image: 'busybox' })
      assert.deepEqual(
        more.body.spec.ephemeralContainers.map(({ name }: Loose) => name).sort(),
        ['d', 'e'],
        'more may come',
      )
      const shown = await api.ok('GET', `${podsOf(api)}/web/ephemeralcontainers`)
      assert.equal(shown.kind, 'Pod')
    },
  },
  {
    title: 'a resize changes the resources of containers and nothing else, and no class of service',
    async run(api) {
      await makePod(api, 'web', { requests: { cpu: '100m' } })
      const resize = (resources: object) =>
        patch(api, 'web/resize', { spec: { containers: [{ name: 'c', image: 'web:2', resources }] } })
      const { status, body } = await resize({ requests: { cpu: '200m' } })
      assert.equal(status, 200)
      assert.equal(body.metadata.generation, 2)
      const [container] = body.spec.containers
      assert.deepEqual([container.image, container.resources], ['web:1', { requests: { cpu: '200m' } }])
      const both = { cpu: '1', memory: '1Gi' }
      const [code, , message] = refusal(await resize({ requests: both, limits: both }))
      assert.equal(code, 422)
      assert.match(message, /spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing/)
    },
  },
  {
    title: 'a pod is bound to a node once',
    async run(api) {
      await makePod(api, 'web')
      const made = await bind(api, 'web', { annotations: { from: 'scheduler' } })
      assert.deepEqual([made.status, made.body.status], [201, 'Success'])
      const pod = await api.ok('GET', `${podsOf(api)}/web`)
      assert.equal(pod.spec.nodeName, 'n1')
      assert.deepEqual(pod.metadata.annotations, { from: 'scheduler' })
      assert.deepEqual(
        pod.status.conditions.map(({ type, status }: Loose) => [type, status]),
        [['PodScheduled', 'True']],
      )
      assert.equal(pod.metadata.generation, 1)
      assert.deepEqual(refusal(await bind(api, 'web')), [
        409,
        'Conflict',
        'Operation cannot be fulfilled on pods/binding "web": pod web is already assigned to node "n1"',
      ])
      assert.deepEqual(refusal(await bind(api, 'none')), [404, 'NotFound', 'pods "none" not found'])
    },
  },
  {
    title: 'an eviction deletes a pod unless its budget says no',
    async run(api) {
      const budgets = `/apis/policy/v1/namespaces/${api.namespace}/poddisruptionbudgets`
      const spec = { minAvailable: 1, selector: { matchLabels: { app: 'web' } } }
      await api.ok('POST', budgets, {
        apiVersion: 'policy/v1',
        kind: 'PodDisruptionBudget',
        metadata: { name: 'b' },
        spec,
      })
      const allow = (status: object) =>
        api.send('PATCH', `${budgets}/b/status`, { body: { status }, contentType: MERGE })
      const ready = (pod: string) =>
        patch(api, `${pod}/status`, { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } })
      await makePod(api, 'pending')
      assert.equal((await evict(api, 'pending')).status, 201, 'what does not run yet breaks no budget')
      assert.equal((await api.send('GET', `${podsOf(api)}/pending`)).status, 404)
      await makePod(api, 'web', {}, { finalizers: ['example.com/keep'] })
      await ready('web')

      assert.deepEqual(refusal(await evict(api, 'none')), [404, 'NotFound', 'pods "none" not found'])
      const other = 'name in URL does not match name in Eviction object'
      assert.deepEqual(refusal(await evict(api, 'web', {}, 'other')), [400, 'BadRequest', other])
      const violates = "Cannot evict pod as it would violate the pod's disruption budget."
      const causeOf = ({ body }: Reply) => body.details.causes[0]
      const early = await evict(api, 'web')
      assert.deepEqual(refusal(early), [429, 'TooManyRequests', violates])
      assert.deepEqual(causeOf(early), {
        reason: 'DisruptionBudget',
        message: 'The disruption budget b is still being processed by the server.',
      })
      const counts = { currentHealthy: 1, desiredHealthy: 1, expectedPods: 1, disruptionsAllowed: 0 }
      await allow({ ...counts, observedGeneration: 1 })
      const refused = await evict(api, 'web')
      assert.deepEqual(refusal(refused), [429, 'TooManyRequests', violates])
      assert.equal(causeOf(refused).message, 'The disruption budget b needs 1 healthy pods and has 1 currently')

      await allow({ disruptionsAllowed: 1 })
      const dry = { deleteOptions: { dryRun: ['All'] } }
      assert.equal((await evict(api, 'web', dry)).status, 201)
      assert.equal((await api.ok('GET', `${budgets}/b`)).status.disruptionsAllowed, 1)
      const gone = await evict(api, 'web', { deleteOptions: { gracePeriodSeconds: 0 } })
      assert.deepEqual([gone.status, gone.body.status], [201, 'Success'])
      const pod = await api.ok('GET', `${podsOf(api)}/web`)
      assert.ok(pod.metadata.deletionTimestamp)
      const condition = pod.status.conditions.find(({ type }: Loose) => type === 'DisruptionTarget')
      assert.deepEqual([condition.reason, condition.message], ['EvictionByEvictionAPI', 'Eviction API: evicting'])
      const { status } = await api.ok('GET', `${budgets}/b`)
      assert.equal(status.disruptionsAllowed, 0)
      assert.deepEqual(Object.keys(status.disruptedPods), ['web'])
      assert.equal(status.conditions[0].reason, 'InsufficientPods')
    },
  },
]
