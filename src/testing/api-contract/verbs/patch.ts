import assert from 'node:assert/strict'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import { configMap, gadget, Gadget } from '../harness.ts'
import type { Api, ApiCase, Loose, Reply } from '../harness.ts'

/** Sends a patch of the object `a`. */
export const send = (api: Api, kind: Kind, form: 'json' | 'merge' | 'strategic-merge', body: unknown): Promise<Reply> =>
  api.send('PATCH', api.path(kind, 'a'), { body, contentType: `application/${form}-patch+json` })

/** A Deployment to patch and to apply. */
export const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'a' },
  spec: {
    selector: { matchLabels: { app: 'a' } },
    template: {
      metadata: { labels: { app: 'a' } },
      spec: { containers: [{ name: 'web', image: 'web:1', ports: [{ containerPort: 80 }] }] },
    },
  },
}

/** Patches of every form. */
export const PATCH_CASES: readonly ApiCase[] = [
  {
    title: 'JSON patch: add, replace, remove, move, copy, test',
    async run(api) {
      await api.ok('POST', api.path(ConfigMap), configMap('a', { one: '1', two: '2' }))
      const patched = await send(api, ConfigMap, 'json', [
        { op: 'test', path: '/data/one', value: '1' },
        { op: 'add', path: '/data/three', value: '3' },
        { op: 'replace', path: '/data/two', value: 'two' },
        { op: 'copy', from: '/data/three', path: '/data/four' },
        { op: 'move', from: '/data/four', path: '/data/with~1slash'.replace('~1slash', '') },
        { op: 'remove', path: '/data/one' },
      ])
      assert.equal(patched.status, 200, patched.text)
      assert.deepEqual(patched.body.data, { two: 'two', three: '3', with: '3' })
      const failed = await send(api, ConfigMap, 'json', [
        { op: 'add', path: '/data/never', value: 'x' },
        { op: 'test', path: '/data/two', value: 'other' },
      ])
      assert.equal(failed.status, 422)
      assert.equal((await api.ok('GET', api.path(ConfigMap, 'a'))).data.never, undefined)
      assert.equal((await send(api, ConfigMap, 'json', { not: 'a list' })).status, 400)
      assert.equal((await send(api, ConfigMap, 'json', [{ op: 'remove', path: '/data/none' }])).status, 422)
      const replaced = await send(api, ConfigMap, 'json', [{ op: 'replace', path: '/data/new', value: 'n' }])
      assert.equal(replaced.body.data.new, 'n', 'a field that is not there is set')
      assert.equal((await send(api, ConfigMap, 'json', [{ op: 'replace', path: '/none/new', value: 'n' }])).status, 422)
    },
  },
  {
    title: 'CVE-2019-1002100: a JSON patch whose copies double is refused, and the object stays as it is',
    async run(api) {
      await api.ok('POST', api.path(ConfigMap), configMap('a', { one: '1' }))
      const bomb = Array.from({ length: 60 }, (_, n) => ({ op: 'copy', from: '/data', path: `/data/k${n}` }))
      const refused = await send(api, ConfigMap, 'json', bomb)
      // A kube-apiserver answers 422 without the cause, as for every patch that cannot be applied.
      const message = {
        413: /the accumulated size increase of copy is \d+, exceeding the limit 3145728/,
        422: /the server rejected our request due to an error in our request/,
      }[refused.status]
      assert.match(refused.text, message ?? /never/)
      assert.deepEqual((await api.ok('GET', api.path(ConfigMap, 'a'))).data, { one: '1' })
    },
  },
  {
    title: 'a patch that leaves labels which are no texts is refused in words of Go',
    async run(api) {
      await api.ok('POST', api.path(ConfigMap), configMap('a', {}))
      await api.ok('POST', api.path(Gadget), gadget('a'))
      const why = async (kind: Kind, form: 'json' | 'merge' | 'strategic-merge', labels: unknown) => {
        const body =
          form === 'json' ? [{ op: 'add', path: '/metadata/labels', value: labels }] : { metadata: { labels } }
        const { status, body: answer } = await send(api, kind, form, body)
        assert.equal(status, 422, answer.message)
        return answer.message.replace(/^ "" is invalid: patch: Invalid value: ".*": /, '')
      }
      const unread = (found: string, place: string, wanted = 'string') =>
        `json: cannot unmarshal ${found} into Go struct field ObjectMeta.${place} of type ${wanted}`
      for (const form of ['json', 'merge'] as const) {
        assert.equal(await why(ConfigMap, form, { a: 0 }), unread('number', 'metadata.labels'))
        assert.equal(await why(ConfigMap, form, { a: ['x'] }), unread('array', 'metadata.labels'))
        assert.equal(await why(ConfigMap, form, ['x']), unread('array', 'metadata.labels', 'map[string]string'))
        assert.equal(await why(Gadget, form, { a: true }), unread('bool', 'labels'))
        assert.equal(await why(Gadget, form, 'x'), unread('string', 'labels', 'map[string]string'))
      }
      assert.equal(await why(ConfigMap, 'strategic-merge', { a: 0 }), 'cannot convert int64 to string')
      assert.equal(await why(ConfigMap, 'strategic-merge', { a: true }), 'unrecognized type: string')
      assert.equal(await why(ConfigMap, 'strategic-merge', { a: { b: 'c' } }), 'unrecognized type: string')
    },
  },
  {
    title: 'merge patch: null removes, objects merge, lists are replaced',
    async run(api) {
      await api.ok('POST', api.path(Gadget), gadget('a', { size: 1, settings: { x: '1', y: '2' }, steps: ['a', 'b'] }))
      const patched = await send(api, Gadget, 'merge', { spec: { settings: { x: null, z: '3' }, steps: ['c'] } })
      assert.equal(patched.status, 200)
      assert.deepEqual(patched.body.spec, { size: 1, mode: 'plain', settings: { y: '2', z: '3' }, steps: ['c'] })
      assert.equal(patched.body.metadata.generation, 2)
    },
  },
  {
    title: 'a resourceVersion in a patch is a compare-and-swap',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), gadget('a'))
      await send(api, Gadget, 'merge', { spec: { size: 2 } })
      const body = { metadata: { resourceVersion: made.metadata.resourceVersion }, spec: { size: 3 } }
      const stale = await send(api, Gadget, 'merge', body)
      assert.equal(stale.status, 409)
      assert.match(stale.body.message, /the object has been modified/)
    },
  },
  {
    title: 'patch of what is not there is NotFound, of an unknown form 415',
    async run(api) {
      assert.equal((await send(api, Gadget, 'merge', {})).status, 404)
      await api.ok('POST', api.path(Gadget), gadget('a'))
      const custom = await send(api, Gadget, 'strategic-merge', {})
      assert.equal(custom.status, 415)
      assert.match(custom.body.message, /accepted media types include: application\/json-patch\+json/)
    },
  },
  {
    title: 'patches of status change status only',
    async run(api) {
      await api.ok('POST', api.path(Gadget), gadget('a'))
      const patched = await api.send('PATCH', api.path(Gadget, 'a', 'status'), {
        body: { spec: { size: 9 }, status: { seen: 1 } },
        contentType: 'application/merge-patch+json',
      })
      assert.equal(patched.body.spec.size, 1)
      assert.equal(patched.body.status.seen, 1)
      const main = await send(api, Gadget, 'merge', { status: { seen: 2 } })
      assert.equal(main.body.status.seen, 1)
    },
  },
  {
    title: 'strict patches refuse unknown fields',
    async run(api) {
      await api.ok('POST', api.path(Gadget), gadget('a'))
      const reply = await api.send('PATCH', `${api.path(Gadget, 'a')}?fieldValidation=Strict`, {
        body: { spec: { odd: 1 } },
        contentType: 'application/merge-patch+json',
      })
      assert.equal(reply.status, 422)
      assert.match(reply.body.message, /strict decoding error: unknown field "spec\.odd"/)
    },
  },
  {
    title: 'strategic merge merges keyed lists item by item',
    async run(api) {
      await api.ok('POST', api.path(Deployment), deployment)
      const patch = {
        spec: {
          template: {
            spec: {
              containers: [
                { name: 'side', image: 'side:1' },
                { name: 'web', image: 'web:2' },
              ],
            },
          },
        },
      }
      const patched = await send(api, Deployment, 'strategic-merge', patch)
      assert.equal(patched.status, 200, patched.text)
      const containers = patched.body.spec.template.spec.containers as Loose[]
      assert.deepEqual(
        new Set(containers.map(({ name, image }) => `${name}=${image}`)),
        new Set(['side=side:1', 'web=web:2']),
      )
      assert.deepEqual(containers.find(({ name }) => name === 'web').ports, [{ containerPort: 80, protocol: 'TCP' }])
      const removed = await send(api, Deployment, 'strategic-merge', {
        spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } },
      })
      assert.deepEqual(
        removed.body.spec.template.spec.containers.map((item: Loose) => item.name),
        ['web'],
      )
    },
  },
  {
    title: 'strategic merge merges nothing where there was nothing',
    async run(api) {
      const containers = [{ name: 'web', image: 'web:1' }]
      const { template } = deployment.spec
      const bare = { ...template, spec: { containers } }
      await api.ok('POST', api.path(Deployment), { ...deployment, spec: { ...deployment.spec, template: bare } })
      const change = async (spec: object) => {
        const patch = { spec: { template: { spec } } }
        return (await send(api, Deployment, 'strategic-merge', patch)).body.spec.template.spec
      }
      const both = [{ containerPort: 81 }, { containerPort: 81, protocol: 'UDP' }]
      const first = await change({ containers: [{ name: 'web', ports: both }] })
      assert.deepEqual(
        first.containers[0].ports.map(({ protocol }: Loose) => protocol),
        ['TCP', 'UDP'],
      )
      const nodeSelector = { $patch: 'replace', zone: 'a' }
      assert.equal((await change({ nodeSelector })).nodeSelector, undefined)
      assert.deepEqual((await change({ nodeSelector: { zone: 'a', rack: null } })).nodeSelector, { zone: 'a' })
      assert.deepEqual((await change({ nodeSelector: { ...nodeSelector, zone: 'b' } })).nodeSelector, { zone: 'b' })
    },
  },
  {
    title: 'strategic merge puts what the patch lists in its order, and what it does not list where it was',
    async run(api) {
      const held = { ...deployment, metadata: { name: 'a', finalizers: ['x.io/a', 'x.io/b'] } }
      await api.ok('POST', api.path(Deployment), held)
      const patched = await send(api, Deployment, 'strategic-merge', { metadata: { finalizers: ['x.io/c', 'x.io/b'] } })
      assert.deepEqual(patched.body.metadata.finalizers, ['x.io/c', 'x.io/a', 'x.io/b'])
      const first = await send(api, Deployment, 'strategic-merge', { metadata: { finalizers: ['x.io/b', 'x.io/a'] } })
      assert.deepEqual(first.body.metadata.finalizers, ['x.io/c', 'x.io/b', 'x.io/a'])
    },
  },
  {
    title: 'annotations of a Deployment count as a new generation, and its status is written with them',
    async run(api) {
      await api.ok('POST', api.path(Deployment), deployment)
      const patched = await send(api, Deployment, 'merge', { metadata: { annotations: { a: '1' } } })
      assert.equal(patched.body.metadata.generation, 2)
      const status = await api.send('PATCH', api.path(Deployment, 'a', 'status'), {
        body: { metadata: { labels: { l: '1' }, annotations: { a: '2' } }, status: { replicas: 1 } },
        contentType: 'application/merge-patch+json',
      })
      const { labels, annotations, generation } = status.body.metadata
      assert.deepEqual(
        { labels, annotations, generation },
        { labels: undefined, annotations: { a: '2' }, generation: 2 },
      )
    },
  },
  {
    title: 'empty labels, annotations and finalizers are none',
    async run(api) {
      const config = gadget('a', { size: 1 }, { labels: {}, annotations: {}, finalizers: [] })
      const made = await api.apply(api.path(Gadget, 'a'), config, 'one')
      assert.equal(made.status, 201, made.text)
      const { labels, annotations, finalizers } = made.body.metadata
      assert.deepEqual([labels, annotations, finalizers], [undefined, undefined, undefined])
    },
  },
]
