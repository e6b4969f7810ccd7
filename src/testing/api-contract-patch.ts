import assert from 'node:assert/strict'
import { Deployment } from '../kinds/builtin/apps.ts'
import { ConfigMap } from '../kinds/builtin/core.ts'
import { configMap, fieldsOf, gadget, Gadget, ownersOf } from './api-contract-harness.ts'
import type { Api, ApiCase, Loose, Reply } from './api-contract-harness.ts'
import type { Kind } from '../kinds/define-kind.ts'

const send = (api: Api, kind: Kind, form: 'json' | 'merge' | 'strategic-merge', body: unknown): Promise<Reply> =>
  api.send('PATCH', api.path(kind, 'a'), { body, contentType: `application/${form}-patch+json` })

const deployment = {
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

/** Patches of every form, and server-side apply. */
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
  {
    title: 'an apply with equal items in a set is refused with their place',
    async run(api) {
      const refused = await api.apply(api.path(Gadget, 'a'), gadget('a', { words: ['x', 'x'] }), 'one')
      assert.equal(refused.status, 500)
      assert.equal(
        refused.body.message,
        'failed to create typed patch object (/a; contract.flotilla.dev/v1, Kind=Gadget): .spec.words: duplicate entries for key [="x"]',
      )
    },
  },
  {
    title: 'an applier keeps the version it wrote in, and removes what it no longer names in another',
    async run(api) {
      const path = (version: string) =>
        `/apis/autoscaling/${version}/namespaces/${api.namespace}/horizontalpodautoscalers/a`
      const config = (version: string, spec: object) => ({
        apiVersion: `autoscaling/${version}`,
        kind: 'HorizontalPodAutoscaler',
        metadata: { name: 'a' },
        spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'a' }, ...spec },
      })
      await api.apply(path('v1'), config('v1', { minReplicas: 2, targetCPUUtilizationPercentage: 50 }), 'one')
      const two = await api.apply(path('v2'), config('v2', {}), 'two')
      assert.equal(two.status, 200, two.text)
      assert.deepEqual(
        ownersOf(two.body)
          .map(({ manager, apiVersion }) => `${manager} ${apiVersion}`)
          .sort(),
        ['one autoscaling/v1', 'two autoscaling/v2'],
      )
      const moved = await api.apply(path('v2'), config('v2', {}), 'one')
      assert.equal(moved.body.spec.minReplicas, 1)
    },
  },
  {
    title: 'apply creates with 201, repeats with the same version, owns what it named',
    async run(api) {
      const config = gadget('a', { size: 1, words: ['x'], ports: [{ port: 80, name: 'web' }] }, { labels: { l: '1' } })
      const made = await api.apply(api.path(Gadget, 'a'), config, 'one')
      assert.equal(made.status, 201, made.text)
      assert.equal(made.body.spec.mode, 'plain')
      assert.deepEqual(ownersOf(made.body), [
        {
          manager: 'one',
          operation: 'Apply',
          apiVersion: 'contract.flotilla.dev/v1',
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': { 'f:labels': { 'f:l': {} } },
            'f:spec': {
              'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:name': {}, 'f:port': {} } },
              'f:size': {},
              'f:words': { 'v:"x"': {} },
            },
          },
        },
      ])
      const again = await api.apply(api.path(Gadget, 'a'), config, 'one')
      assert.equal(again.status, 200)
      assert.equal(again.body.metadata.resourceVersion, made.body.metadata.resourceVersion)
    },
  },
  {
    title: 'apply removes what its manager no longer names',
    async run(api) {
      const path = api.path(Gadget, 'a')
      await api.apply(
        path,
        gadget('a', { size: 1, settings: { x: '1', y: '2' }, ports: [{ port: 80 }, { port: 81 }] }),
        'one',
      )
      const less = await api.apply(path, gadget('a', { settings: { x: '1' }, ports: [{ port: 81 }] }), 'one')
      assert.equal(less.status, 200)
      assert.deepEqual(less.body.spec, {
        mode: 'plain',
        settings: { x: '1' },
        ports: [{ port: 81, protocol: 'TCP' }],
      })
    },
  },
  {
    title: 'two managers share lists and maps; what one still names stays when the other drops it',
    async run(api) {
      const path = api.path(Gadget, 'a')
      await api.apply(
        path,
        gadget('a', { words: ['x', 'y'], ports: [{ port: 80, name: 'web' }], settings: { s: '1' } }),
        'one',
      )
      const both = await api.apply(
        path,
        gadget('a', { words: ['y', 'z'], ports: [{ port: 81 }], settings: { t: '2' } }),
        'two',
      )
      assert.equal(both.status, 200, both.text)
      assert.deepEqual(both.body.spec.words, ['x', 'y', 'z'])
      assert.deepEqual(both.body.spec.settings, { s: '1', t: '2' })
      assert.deepEqual(
        both.body.spec.ports.map((item: Loose) => item.port),
        [80, 81],
      )
      const without = await api.apply(path, gadget('a', {}), 'one')
      assert.deepEqual(without.body.spec.words, ['y', 'z'])
      assert.deepEqual(without.body.spec.settings, { t: '2' })
      assert.deepEqual(
        without.body.spec.ports.map((item: Loose) => item.port),
        [81],
      )
      assert.deepEqual(fieldsOf(without.body, 'one'), { 'f:spec': {} })
    },
  },
  {
    title: 'a field of another manager with another value is a conflict with one cause per field; force takes it',
    async run(api) {
      const path = api.path(Gadget, 'a')
      await api.apply(path, gadget('a', { size: 1, ports: [{ port: 80, name: 'web' }], whole: { a: '1' } }), 'one')
      const config = gadget('a', { size: 2, ports: [{ port: 80, name: 'http' }], whole: { b: '2' } })
      const conflict = await api.apply(path, config, 'two')
      assert.equal(conflict.status, 409)
      assert.equal(conflict.body.reason, 'Conflict')
      assert.match(conflict.body.message, /^Apply failed with 3 conflicts: conflicts with "one":\n- /)
      const causes = conflict.body.details.causes.map(
        ({ reason, message, field }: Loose) => `${reason} ${message} ${field}`,
      )
      assert.deepEqual(causes.sort(), [
        'FieldManagerConflict conflict with "one" .spec.ports[port=80,protocol="TCP"].name',
        'FieldManagerConflict conflict with "one" .spec.size',
        'FieldManagerConflict conflict with "one" .spec.whole',
      ])
      const forced = await api.apply(path, config, 'two', true)
      assert.equal(forced.status, 200)
      assert.equal(forced.body.spec.size, 2)
      assert.deepEqual(forced.body.spec.whole, { b: '2' })
      assert.deepEqual(fieldsOf(forced.body, 'one'), {
        'f:spec': { 'f:ports': { 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {} } } },
      })
      const same = await api.apply(path, gadget('a', { size: 2 }), 'three')
      assert.equal(same.status, 200)
      assert.deepEqual(same.body.spec.size, 2)
    },
  },
  {
    title: 'an update takes fields from appliers, and the next apply meets it',
    async run(api) {
      const path = api.path(Gadget, 'a')
      const made = await api.apply(path, gadget('a', { size: 1, mode: 'fancy' }), 'one')
      const updated = await api.send('PUT', `${path}?fieldManager=editor`, {
        body: { ...made.body, spec: { size: 5, mode: 'fancy' } },
      })
      assert.deepEqual(fieldsOf(updated.body, 'one'), { 'f:spec': { 'f:mode': {} } })
      assert.deepEqual(fieldsOf(updated.body, 'editor'), { 'f:spec': { 'f:size': {} } })
      const conflict = await api.apply(path, gadget('a', { size: 6 }), 'one')
      assert.equal(conflict.status, 409)
      assert.equal(
        conflict.body.message,
        'Apply failed with 1 conflict: conflict with "editor" using contract.flotilla.dev/v1: .spec.size',
      )
    },
  },
  {
    title: 'creates and updates record who owns what',
    async run(api) {
      const body = gadget(
        'a',
        { size: 1, words: ['x'], ports: [{ port: 80 }], raw: { k: { deep: [1] } } },
        { labels: { a: 'b' } },
      )
      const made = await api.ok('POST', `${api.path(Gadget)}?fieldManager=maker`, body)
      assert.deepEqual(fieldsOf(made, 'maker'), {
        'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } },
        'f:spec': {
          '.': {},
          'f:mode': {},
          'f:ports': { '.': {}, 'k:{"port":80,"protocol":"TCP"}': { '.': {}, 'f:port': {}, 'f:protocol': {} } },
          'f:raw': { '.': {}, 'f:k': { '.': {}, 'f:deep': {} } },
          'f:size': {},
          'f:words': { '.': {}, 'v:"x"': {} },
        },
      })
      const status = await api.send('PUT', api.path(Gadget, 'a', 'status'), { body: { ...made, status: { seen: 1 } } })
      const entry = ownersOf(status.body).find(({ subresource }) => subresource === 'status')
      assert.deepEqual(entry, {
        manager: 'contract',
        operation: 'Update',
        apiVersion: 'contract.flotilla.dev/v1',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:status': { '.': {}, 'f:seen': {} } },
        subresource: 'status',
      })
    },
  },
  {
    title: 'built-in kinds record owners as the real structs do',
    async run(api) {
      const made = await api.ok('POST', `${api.path(ConfigMap)}?fieldManager=maker`, configMap('a', { k: 'v' }))
      assert.deepEqual(fieldsOf(made, 'maker'), { 'f:data': { '.': {}, 'f:k': {} } })
      const deployed = await api.ok('POST', `${api.path(Deployment)}?fieldManager=maker`, deployment)
      const fields = fieldsOf(deployed, 'maker') as Loose
      assert.deepEqual(Object.keys(fields), ['f:spec'])
      assert.equal(fields['f:spec']['.'], undefined)
      assert.deepEqual(fields['f:spec']['f:selector'], {})
      assert.deepEqual(fields['f:spec']['f:strategy'], {
        'f:rollingUpdate': { '.': {}, 'f:maxSurge': {}, 'f:maxUnavailable': {} },
        'f:type': {},
      })
      assert.deepEqual(fields['f:spec']['f:template']['f:metadata'], { 'f:labels': { '.': {}, 'f:app': {} } })
    },
  },
  {
    title: 'apply on status owns status',
    async run(api) {
      await api.apply(api.path(Gadget, 'a'), gadget('a'), 'one')
      const config = { ...gadget('a', { size: 99 }), status: { conditions: [{ type: 'Ready', status: 'True' }] } }
      const applied = await api.apply(api.path(Gadget, 'a', 'status'), config, 'watcher')
      assert.equal(applied.status, 200, applied.text)
      assert.equal(applied.body.spec.size, 1)
      const entry = ownersOf(applied.body).find(({ manager }) => manager === 'watcher')
      assert.equal(entry?.subresource, 'status')
      assert.deepEqual(entry.fieldsV1, {
        'f:status': { 'f:conditions': { 'k:{"type":"Ready"}': { '.': {}, 'f:status': {}, 'f:type': {} } } },
      })
    },
  },
  {
    title: 'apply needs a manager, no managedFields, no duplicate keys, and may be a dry run',
    async run(api) {
      const path = api.path(Gadget, 'a')
      const anonymous = await api.send('PATCH', path, {
        body: gadget('a'),
        contentType: 'application/apply-patch+yaml',
      })
      assert.equal(anonymous.status, 422)
      assert.match(anonymous.body.message, /fieldManager: Required value: is required for apply patch/)
      const managed = gadget('a', {}, { managedFields: [{ manager: 'x', operation: 'Apply' }] })
      const refused = await api.apply(path, managed, 'one')
      assert.equal(refused.status, 400)
      assert.match(refused.body.message, /metadata\.managedFields must be nil/)
      const dry = await api.send('PATCH', `${path}?fieldManager=one&dryRun=All`, {
        body: 'apiVersion: contract.flotilla.dev/v1\nkind: Gadget\nmetadata:\n  name: a\nspec:\n  size: 1\n',
        contentType: 'application/apply-patch+yaml',
      })
      assert.equal(dry.status, 201, dry.text)
      assert.equal((await api.send('GET', path)).status, 404)
      const twice = await api.apply(path, gadget('a', { words: ['x', 'x'] }), 'one')
      assert.ok(twice.status >= 400, `duplicates must be refused: ${twice.text}`)
    },
  },
  {
    title: 'managedFields may be reset by a client',
    async run(api) {
      await api.apply(api.path(Gadget, 'a'), gadget('a'), 'one')
      const reset = await send(api, Gadget, 'merge', { metadata: { managedFields: [{}] } })
      assert.equal(reset.status, 200)
      assert.deepEqual(ownersOf(reset.body), [])
      const applied = await api.apply(api.path(Gadget, 'a'), gadget('a', { size: 1 }), 'two')
      assert.deepEqual(
        ownersOf(applied.body).map(({ manager }) => manager),
        ['two', 'before-first-apply'],
      )
    },
  },
]
