import assert from 'node:assert/strict'
import { Deployment } from '../../../kinds/builtin/apps.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { configMap, fieldsOf, gadget, Gadget, ownersOf } from '../harness.ts'
import type { ApiCase, Loose } from '../harness.ts'
import { deployment, send } from './patch.ts'

/** Server-side apply, and who owns what. */
export const APPLY_CASES: readonly ApiCase[] = [
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
