import assert from 'node:assert/strict'
import type { ApiCase, Loose } from '../harness.ts'
import { eventually } from '../policies/validating-policies.ts'
import { CRDS, define, install, object, thing } from './thing-crd.ts'
import type { Crd, Thing } from './thing-crd.ts'

/** Objects of kinds defined at run time: what is pruned, defaulted and refused. */

const MERGE = 'application/merge-patch+json'

/** The cases. */
export const CRD_OBJECT_CASES: readonly ApiCase[] = [
  {
    title: 'objects of a defined kind are pruned, defaulted and validated',
    async run(api) {
      const path = await install(
        api,
        define(
          api,
          object(
            {
              a: { type: 'string', maxLength: 3 },
              n: { type: 'integer', default: 5 },
              port: { 'x-kubernetes-int-or-string': true },
              open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
              inner: {
                type: 'object',
                'x-kubernetes-embedded-resource': true,
                'x-kubernetes-preserve-unknown-fields': true,
              },
              maybe: { type: 'string', nullable: true },
              list: {
                type: 'array',
                items: object({ k: { type: 'string' }, v: { type: 'integer', default: 1 } }, { required: ['k'] }),
                'x-kubernetes-list-type': 'map',
                'x-kubernetes-list-map-keys': ['k'],
              },
            },
            { required: ['a'] },
          ),
        ),
      )
      const made: Thing = await api.ok(
        'POST',
        path,
        thing(api, {
          a: 'x',
          zz: 1,
          port: '80',
          open: { any: { thing: 1 } },
          inner: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, x: 1 },
          maybe: null,
          list: [{ k: 'one' }],
        }),
      )
      assert.deepEqual(made.spec, {
        a: 'x',
        n: 5,
        port: '80',
        open: { any: { thing: 1 } },
        inner: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, x: 1 },
        maybe: null,
        list: [{ k: 'one', v: 1 }],
      })
      const bad = await api.send('POST', path, {
        body: thing(api, { a: 'long', list: [{ k: 'x' }, { k: 'x' }] }, { metadata: { name: 'b' } }),
      })
      assert.equal(bad.status, 422)
      const { message } = JSON.parse(bad.text) as { message: string }
      assert.equal(
        message,
        `Thing.${api.namespace}.example.com "b" is invalid: [spec.a: Too long: may not be more than 3 bytes, spec.list[1]: Duplicate value: {"k":"x"}]`,
      )
    },
  },
  {
    title: 'rules of a defined kind hold, and transitions compare',
    async run(api) {
      const path = await install(
        api,
        define(
          api,
          object(
            {
              min: { type: 'integer' },
              max: { type: 'integer' },
              name: {
                type: 'string',
                maxLength: 10,
                'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'may not change' }],
              },
            },
            {
              'x-kubernetes-validations': [
                {
                  rule: 'self.min <= self.max',
                  messageExpression: `self.min > 1 ? 'min is above max' : 'min is wrong'`,
                  fieldPath: '.min',
                },
              ],
            },
          ),
        ),
      )
      const bad = await api.send('POST', path, { body: thing(api, { min: 2, max: 1 }) })
      assert.equal(
        (JSON.parse(bad.text) as { message: string }).message,
        `Thing.${api.namespace}.example.com "a" is invalid: spec.min: Invalid value: min is above max`,
      )
      await api.ok('POST', path, thing(api, { min: 1, max: 2, name: 'x' }))
      const change = await api.send('PATCH', `${path}/a`, { body: { spec: { name: 'y' } }, contentType: MERGE })
      assert.equal(change.status, 422)
      assert.equal(
        (JSON.parse(change.text) as { message: string }).message,
        `Thing.${api.namespace}.example.com "a" is invalid: spec.name: Invalid value: "y": may not change`,
      )
    },
  },
  {
    title: 'what was invalid before a rule came may stay while it does not change',
    async run(api) {
      const plain = define(api, object({ a: { type: 'string' }, b: { type: 'string' } }))
      const path = await install(api, plain)
      await api.ok('POST', path, thing(api, { a: 'bad' }))
      const stored: Crd = await api.ok('GET', `${CRDS}/${plain.metadata.name}`)
      const strict = object({
        a: { type: 'string', 'x-kubernetes-validations': [{ rule: `self != 'bad'` }] },
        b: { type: 'string' },
      })
      stored.spec.versions[0]!['schema'] = { openAPIV3Schema: object({ spec: strict }) }
      await api.ok('PUT', `${CRDS}/${plain.metadata.name}`, stored)
      await eventually(async () => {
        const reply = await api.send('POST', `${path}?dryRun=All`, {
          body: thing(api, { a: 'bad' }, { metadata: { name: 'b' } }),
        })
        assert.equal(reply.status, 422)
      })
      assert.equal(
        (await api.send('PATCH', `${path}/a`, { body: { spec: { b: 'x' } }, contentType: MERGE })).status,
        200,
      )
      assert.equal(
        (await api.send('PATCH', `${path}/a`, { body: { spec: { a: 'other' } }, contentType: MERGE })).status,
        200,
      )
      assert.equal(
        (await api.send('PATCH', `${path}/a`, { body: { spec: { a: 'bad' } }, contentType: MERGE })).status,
        422,
      )
    },
  },
  {
    title: 'objects inside objects have types and metadata as every object has',
    async run(api) {
      const inside = (more: object) => ({ type: 'object', 'x-kubernetes-embedded-resource': true, ...more })
      const open = inside({ 'x-kubernetes-preserve-unknown-fields': true })
      const named = object({ metadata: object({ name: { type: 'string' } }), spec: { type: 'object' } })
      const path = await install(
        api,
        define(api, object({ inner: open, named: inside(named), list: { type: 'array', items: open } })),
      )
      const pod = (metadata: unknown, more: object = {}) => ({ apiVersion: 'v1', kind: 'Pod', metadata, ...more })
      const send = (spec: object, more = '', metadata: object = {}) =>
        api.send('POST', `${path}?dryRun=All${more}`, {
          body: thing(api, spec, { metadata: { name: 'a', ...metadata } }),
        })

      const empty = { creationTimestamp: null, labels: {}, ownerReferences: [], finalizers: null }
      const shaped = await send({
        inner: pod({ name: 'p', annotations: { a: null }, ...empty }, { x: 1 }),
        list: [pod(null)],
      })
      assert.deepEqual(shaped.body.spec, {
        inner: pod({ name: 'p', annotations: { a: '' } }, { x: 1 }),
        list: [pod({})],
      })

      const unknown = {
        inner: pod({ name: 'p', foo: 1 }),
        named: pod({ name: 'x', namespace: 'n', bar: {} }, { y: 1 }),
        list: [pod({ name: 'q', zz: [] })],
      }
      const warned = await send(unknown, '&fieldValidation=Warn', { own: 1 })
      const fields = [...warned.headers['warning']!.matchAll(/unknown field \\"(.*?)\\"/g)].map(([, field]) => field)
      assert.deepEqual(fields, [
        'metadata.own',
        'spec.named.y',
        'spec.inner.metadata.foo',
        'spec.list[0].metadata.zz',
        'spec.named.metadata.bar',
      ])
      assert.deepEqual(warned.body.spec.named, pod({ name: 'x', namespace: 'n' }))
      const strict = await send({ inner: pod({ foo: 1 }) }, '&fieldValidation=Strict')
      assert.deepEqual(
        [strict.status, strict.body.message],
        [
          400,
          'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec.inner.metadata.foo"',
        ],
      )

      const unread: [object, string][] = [
        [
          pod({ name: 5 }),
          'metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name of type string',
        ],
        [
          pod({ labels: { a: 1 } }),
          'metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string',
        ],
        [
          pod({ finalizers: 'x' }),
          'metadata: Invalid value: {"finalizers":"x"}: json: cannot unmarshal string into Go struct field ObjectMeta.finalizers of type []string',
        ],
        [pod('x'), 'metadata: Invalid value: "x": json: cannot unmarshal string into Go value of type v1.ObjectMeta'],
        [
          pod({ creationTimestamp: 'now' }),
          'metadata: Invalid value: {"creationTimestamp":"now"}: parsing time "now" as "2006-01-02T15:04:05Z07:00": cannot parse "now" as "2006"',
        ],
        [{ ...pod({}), kind: 5 }, 'kind: Invalid value: 5: must be a string'],
      ]
      for (const [inner, why] of unread) {
        const { status, body } = await send({ inner })
        assert.deepEqual(
          [status, body.message],
          [400, `Thing in version "v1" cannot be handled as a Thing: spec.inner.${why}`],
        )
      }

      const wrong: [object, string[]][] = [
        [{}, ['spec.inner.apiVersion', 'spec.inner.kind']],
        [{ apiVersion: '', kind: 'Pod' }, ['spec.inner.apiVersion']],
        [{ apiVersion: 'a/b/c', kind: 'Pod' }, ['spec.inner.apiVersion']],
        [{ apiVersion: 'v1', kind: 'Bad Kind' }, ['spec.inner.kind']],
        [pod({ name: 'a/b' }), ['spec.inner.metadata.name']],
        [pod({ labels: { '-bad': 'x' } }), ['spec.inner.metadata.labels']],
        [pod({ name: 'UPPER' }), []],
      ]
      for (const [inner, causes] of wrong) {
        const { status, body } = await send({ inner })
        assert.equal(status, causes.length > 0 ? 422 : 201, body.message)
        assert.deepEqual(
          (body.details?.causes ?? []).map(({ field }: { field: string }) => field),
          causes,
        )
      }
    },
  },
  {
    title: 'objects inside objects are published with what every object has',
    async run(api) {
      const embedded = { type: 'object', 'x-kubernetes-embedded-resource': true }
      const named = {
        ...embedded,
        properties: { metadata: object({ name: { type: 'string' } }), spec: { type: 'object' } },
      }
      const open = { ...embedded, 'x-kubernetes-preserve-unknown-fields': true }
      await install(api, define(api, object({ named, open, list: { type: 'array', items: open } })))
      const name = `com.example.${api.namespace}.v1.Thing`
      const fields = ({ properties = {} }: Loose) => Object.keys(properties).sort()
      await eventually(async () => {
        const { components } = await api.ok('GET', `/openapi/v3/apis/${api.namespace}.example.com/v1`)
        const { spec } = components.schemas[name].properties
        assert.deepEqual(fields(spec.properties.named), ['apiVersion', 'kind', 'metadata', 'spec'])
        assert.deepEqual(fields(spec.properties.list.items), ['apiVersion', 'kind', 'metadata'])
        assert.deepEqual(spec.properties.open.required, ['kind', 'apiVersion'])
        const meta = { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }
        assert.deepEqual(spec.properties.named.properties.metadata.allOf, [meta])
      })
      await eventually(async () => {
        const { definitions } = await api.ok('GET', '/openapi/v2')
        const { spec } = definitions[name].properties
        assert.deepEqual(fields(spec.properties.named), ['apiVersion', 'kind', 'metadata', 'spec'])
        assert.deepEqual(fields(spec.properties.open), [])
        const meta = { $ref: '#/definitions/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta' }
        const { description: _description, ...shown } = spec.properties.named.properties.metadata
        assert.deepEqual(shown, meta)
      })
    },
  },
]
