import assert from 'node:assert/strict'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ConfigMap, Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Release } from '../../../kinds/native/release.ts'
import { configMap, gadget, Gadget } from '../harness.ts'
import type { ApiCase } from '../harness.ts'

/** Creating, replacing, deleting. */
export const WRITE_CASES: readonly ApiCase[] = [
  {
    title: 'create gives uid, resourceVersion, creationTimestamp, and generation to custom kinds only',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), gadget('a'))
      assert.match(made.metadata.uid, /^[0-9a-f-]{36}$/)
      assert.match(made.metadata.creationTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      assert.equal(made.metadata.generation, 1)
      assert.equal(made.metadata.namespace, api.namespace)
      assert.ok(Number(made.metadata.resourceVersion) > 0)
      const plain = await api.ok('POST', api.path(ConfigMap), configMap('a'))
      assert.equal(plain.metadata.generation, undefined)
    },
  },
  {
    title: 'create of a taken name is AlreadyExists in the well-known words',
    async run(api) {
      await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const reply = await api.send('POST', api.path(ConfigMap), { body: configMap('a') })
      assert.equal(reply.status, 409)
      assert.equal(reply.body.reason, 'AlreadyExists')
      assert.equal(reply.body.message, 'configmaps "a" already exists')
      assert.deepEqual(reply.body.details, { name: 'a', kind: 'configmaps' })
      await api.ok('POST', api.path(Gadget), gadget('a'))
      const custom = await api.send('POST', api.path(Gadget), { body: gadget('a') })
      assert.equal(custom.body.message, 'gadgets.contract.flotilla.dev "a" already exists')
      assert.deepEqual(custom.body.details, { name: 'a', group: 'contract.flotilla.dev', kind: 'gadgets' })
    },
  },
  {
    title: 'generateName makes a name of the prefix and five characters',
    async run(api) {
      const body = { ...configMap(''), metadata: { generateName: 'made-' } }
      const names = new Set<string>()
      for (let n = 0; n < 3; n += 1) names.add((await api.ok('POST', api.path(ConfigMap), body)).metadata.name)
      assert.equal(names.size, 3)
      for (const name of names) assert.match(name, /^made-[bcdfghjklmnpqrstvwxz2456789]{5}$/)
    },
  },
  {
    title: 'create needs a name, a right one, and no resourceVersion',
    async run(api) {
      const nameless = await api.send('POST', api.path(ConfigMap), { body: { ...configMap(''), metadata: {} } })
      assert.equal(nameless.status, 422)
      assert.match(nameless.body.message, /metadata\.name: Required value: name or generateName is required/)
      const wrong = await api.send('POST', api.path(ConfigMap), { body: configMap('Big_Name') })
      assert.equal(wrong.status, 422)
      assert.match(wrong.body.message, /ConfigMap "Big_Name" is invalid: metadata\.name: Invalid value: "Big_Name"/)
      const versioned = { ...configMap('x'), metadata: { name: 'x', resourceVersion: '7' } }
      const refused = await api.send('POST', api.path(ConfigMap), { body: versioned })
      // A kube-apiserver says 500 here.
      assert.ok(refused.status === 400 || refused.status === 500, refused.text)
      assert.equal(refused.body.message, 'resourceVersion should not be set on objects to be created')
    },
  },
  {
    title: 'a missing namespace is NotFound, another one than the path is a bad request',
    async run(api) {
      const missing = await api.send('POST', '/api/v1/namespaces/no-such/configmaps', { body: configMap('a') })
      assert.equal(missing.status, 404)
      assert.equal(missing.body.message, 'namespaces "no-such" not found')
      const elsewhere = { ...configMap('a'), metadata: { name: 'a', namespace: 'default' } }
      const other = await api.send('POST', api.path(ConfigMap), { body: elsewhere })
      assert.equal(other.status, 400)
      assert.equal(
        other.body.message,
        'the namespace of the provided object does not match the namespace sent on the request',
      )
    },
  },
  {
    title: 'status is dropped on create and kept by the main endpoint',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), { ...gadget('a'), status: { seen: 4 } })
      assert.equal(made.status, undefined)
      const status = await api.ok('PUT', api.path(Gadget, 'a', 'status'), {
        ...made,
        status: { seen: 5 },
        spec: { size: 9 },
      })
      assert.deepEqual(status.status, { seen: 5 })
      assert.equal(status.spec.size, 1)
      assert.equal(status.metadata.generation, 1)
      const updated = await api.ok('PUT', api.path(Gadget, 'a'), { ...status, status: { seen: 6 }, spec: { size: 2 } })
      assert.deepEqual(updated.status, { seen: 5 })
      assert.equal(updated.spec.size, 2)
      assert.equal(updated.metadata.generation, 2)
    },
  },
  {
    title: 'generation counts changes of content, not of metadata',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), gadget('a'))
      made.metadata.labels = { x: 'y' }
      const labelled = await api.ok('PUT', api.path(Gadget, 'a'), made)
      assert.equal(labelled.metadata.generation, 1)
      labelled.spec.size = 5
      assert.equal((await api.ok('PUT', api.path(Gadget, 'a'), labelled)).metadata.generation, 2)
    },
  },
  {
    title: 'update with an old resourceVersion is a Conflict in the well-known words',
    async run(api) {
      const made = await api.ok('POST', api.path(ConfigMap), configMap('a'))
      await api.ok('PUT', api.path(ConfigMap, 'a'), { ...made, data: { a: '2' } })
      const stale = await api.send('PUT', api.path(ConfigMap, 'a'), { body: { ...made, data: { a: '3' } } })
      assert.equal(stale.status, 409)
      assert.equal(stale.body.reason, 'Conflict')
      assert.equal(
        stale.body.message,
        'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
      )
    },
  },
  {
    title: 'update without resourceVersion is for built-in kinds only',
    async run(api) {
      await api.ok('POST', api.path(ConfigMap), configMap('a'))
      assert.equal((await api.ok('PUT', api.path(ConfigMap, 'a'), configMap('a', { b: '2' }))).data.b, '2')
      await api.ok('POST', api.path(Gadget), gadget('a'))
      const refused = await api.send('PUT', api.path(Gadget, 'a'), { body: gadget('a', { size: 2 }) })
      assert.equal(refused.status, 422)
      assert.match(
        refused.body.message,
        /metadata\.resourceVersion: Invalid value: .*: must be specified for an update/,
      )
    },
  },
  {
    title: 'update of what is not there is NotFound',
    async run(api) {
      const reply = await api.send('PUT', api.path(ConfigMap, 'a'), { body: configMap('a') })
      assert.equal(reply.status, 404)
      assert.equal(reply.body.message, 'configmaps "a" not found')
      assert.deepEqual(reply.body.details, { name: 'a', kind: 'configmaps' })
    },
  },
  {
    title: 'the name in the body must be the name of the path',
    async run(api) {
      const made = await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const body = { ...made, metadata: { ...made.metadata, name: 'b' } }
      const reply = await api.send('PUT', api.path(ConfigMap, 'a'), { body })
      assert.equal(reply.status, 400)
      assert.equal(reply.body.message, 'the name of the object (b) does not match the name on the URL (a)')
    },
  },
  {
    title: 'another uid is a Conflict',
    async run(api) {
      const made = await api.ok('POST', api.path(Gadget), gadget('a'))
      const body = { ...made, metadata: { ...made.metadata, uid: '00000000-0000-0000-0000-000000000000' } }
      const reply = await api.send('PUT', api.path(Gadget, 'a'), { body })
      assert.equal(reply.status, 409)
      assert.match(reply.body.message, /Precondition failed: UID in precondition: 0{8}-.*, UID in object meta: /)
    },
  },
  {
    title: 'a write that changes nothing keeps its resourceVersion',
    async run(api) {
      for (const [kind, object] of [
        [ConfigMap, configMap('a')],
        [Gadget, gadget('a')],
      ] as const) {
        const made = await api.ok('POST', api.path(kind), object)
        const same = await api.ok('PUT', api.path(kind, 'a'), made)
        assert.equal(same.metadata.resourceVersion, made.metadata.resourceVersion)
        const patched = await api.send('PATCH', api.path(kind, 'a'), {
          body: { metadata: { labels: null } },
          contentType: 'application/merge-patch+json',
        })
        assert.equal(patched.body.metadata.resourceVersion, made.metadata.resourceVersion)
      }
    },
  },
  {
    title: 'dryRun changes nothing',
    async run(api) {
      const dry = await api.ok('POST', `${api.path(ConfigMap)}?dryRun=All`, configMap('a'))
      assert.match(dry.metadata.uid, /-/)
      assert.equal((await api.send('GET', api.path(ConfigMap, 'a'))).status, 404)
      const made = await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const updated = await api.ok('PUT', `${api.path(ConfigMap, 'a')}?dryRun=All`, configMap('a', { b: '2' }))
      assert.deepEqual(updated.data, { b: '2' })
      assert.equal(updated.metadata.resourceVersion, made.metadata.resourceVersion)
      await api.ok('DELETE', api.path(ConfigMap, 'a'), { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'] })
      await api.ok('DELETE', `${api.path(ConfigMap, 'a')}?dryRun=All`)
      assert.deepEqual(
        (await api.ok('GET', api.path(ConfigMap, 'a'))).metadata.resourceVersion,
        made.metadata.resourceVersion,
      )
      const wrong = await api.send('POST', `${api.path(ConfigMap)}?dryRun=Some`, { body: configMap('b') })
      assert.equal(wrong.status, 422)
      assert.match(wrong.body.message, /dryRun: Unsupported value: \["Some"\]|dryRun: Unsupported value: "Some"/)
    },
  },
  {
    title: 'fieldValidation refuses, warns of or ignores unknown and duplicate fields',
    async run(api) {
      const body = `{"apiVersion":"contract.flotilla.dev/v1","kind":"Gadget","metadata":{"name":"a","nope":1},"spec":{"size":1,"size":2,"odd":true,"ports":[{"port":1,"odd":2}]}}`
      const strict = await api.send('POST', `${api.path(Gadget)}?fieldValidation=Strict`, { body })
      assert.equal(strict.status, 400)
      assert.match(strict.body.message, /strict decoding error: /)
      for (const problem of [
        'unknown field "metadata.nope"',
        'duplicate field "spec.size"',
        'unknown field "spec.odd"',
        'unknown field "spec.ports[0].odd"',
      ]) {
        assert.ok(strict.body.message.includes(problem), `${problem} in ${strict.body.message}`)
      }
      const warned = await api.send('POST', api.path(Gadget), { body })
      assert.equal(warned.status, 201)
      assert.match(warned.headers['warning'] ?? '', /299 - "unknown field \\"spec\.odd\\""/)
      assert.match(warned.headers['warning'] ?? '', /299 - "duplicate field \\"spec\.size\\""/)
      assert.deepEqual(warned.body.spec, { size: 2, mode: 'plain', ports: [{ port: 1, protocol: 'TCP' }] })
      const ignored = await api.send('PUT', `${api.path(Gadget, 'a')}?fieldValidation=Ignore`, {
        body: { ...warned.body, spec: { size: 3, odd: 1 } },
      })
      assert.equal(ignored.headers['warning'], undefined)
      assert.deepEqual(ignored.body.spec, { size: 3, mode: 'plain' })
    },
  },
  {
    title: 'invalid objects are refused with one cause per field',
    async run(api) {
      const reply = await api.send('POST', api.path(Bundle), {
        body: { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Bundle', metadata: { name: 'b' }, spec: { manifests: 7 } },
      })
      assert.equal(reply.status, 422)
      assert.equal(reply.body.reason, 'Invalid')
      assert.match(reply.body.message, /^Bundle\.flotilla\.dev "b" is invalid: /)
      const fields = reply.body.details.causes.map((cause: { field: string }) => cause.field)
      assert.ok(fields.includes('spec.manifests') && fields.includes('spec.placement'), reply.text)
      assert.deepEqual(
        [reply.body.details.name, reply.body.details.group, reply.body.details.kind],
        ['b', 'flotilla.dev', 'Bundle'],
      )
    },
  },
  {
    title: 'immutable fields do not change',
    async run(api) {
      const release = {
        apiVersion: 'flotilla.dev/v1alpha1',
        kind: 'Release',
        metadata: { name: 'r' },
        spec: { bundles: [{ name: 'b', generation: 1, set: `sha256:${'a'.repeat(64)}`, placement: 'p' }] },
      }
      const made = await api.ok('POST', api.path(Release), release)
      made.spec.bundles[0].generation = 2
      const reply = await api.send('PUT', api.path(Release, 'r'), { body: made })
      assert.equal(reply.status, 422)
      assert.match(reply.body.message, /spec/)
    },
  },
  {
    title: 'apiVersion and kind must fit the path; custom kinds must say them',
    async run(api) {
      const other = await api.send('POST', api.path(Gadget), { body: { ...gadget('a'), apiVersion: 'other/v1' } })
      assert.equal(other.status, 400)
      const { kind: _kind, ...bare } = gadget('a')
      const missing = await api.send('POST', api.path(Gadget), { body: bare })
      assert.equal(missing.status, 400)
      assert.match(missing.body.message, /Object 'Kind' is missing in /)
      const { kind: _cmKind, apiVersion: _apiVersion, ...plain } = configMap('plain')
      assert.equal((await api.ok('POST', api.path(ConfigMap), plain)).kind, 'ConfigMap')
    },
  },
  {
    title: 'delete answers a Status with the uid, or the object while finalizers keep it',
    async run(api) {
      const made = await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const gone = await api.ok('DELETE', api.path(ConfigMap, 'a'))
      assert.equal(gone.kind, 'Status')
      assert.equal(gone.status, 'Success')
      assert.deepEqual(gone.details, { name: 'a', kind: 'configmaps', uid: made.metadata.uid })
      const held = { ...gadget('h'), metadata: { name: 'h', finalizers: ['example.com/hold'] } }
      await api.ok('POST', api.path(Gadget), held)
      const terminating = await api.ok('DELETE', api.path(Gadget, 'h'))
      assert.equal(terminating.kind, 'Gadget')
      assert.match(terminating.metadata.deletionTimestamp, /Z$/)
      assert.equal(terminating.metadata.deletionGracePeriodSeconds, 0)
      const added = { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } }
      const refused = await api.send('PATCH', api.path(Gadget, 'h'), {
        body: added,
        contentType: 'application/merge-patch+json',
      })
      assert.equal(refused.status, 422)
      assert.match(refused.body.message, /no new finalizers can be added if the object is being deleted/)
      await api.send('PATCH', api.path(Gadget, 'h'), {
        body: { metadata: { finalizers: null } },
        contentType: 'application/merge-patch+json',
      })
      assert.equal((await api.send('GET', api.path(Gadget, 'h'))).status, 404)
    },
  },
  {
    title: 'delete heeds its preconditions',
    async run(api) {
      const made = await api.ok('POST', api.path(ConfigMap), configMap('a'))
      const options = (preconditions: object) => ({ body: { kind: 'DeleteOptions', apiVersion: 'v1', preconditions } })
      const wrongUid = await api.send('DELETE', api.path(ConfigMap, 'a'), options({ uid: 'other' }))
      assert.equal(wrongUid.status, 409)
      const wrongVersion = await api.send('DELETE', api.path(ConfigMap, 'a'), options({ resourceVersion: '1' }))
      assert.equal(wrongVersion.status, 409)
      assert.equal(wrongVersion.body.reason, 'Conflict')
      const right = { uid: made.metadata.uid, resourceVersion: made.metadata.resourceVersion }
      assert.equal((await api.send('DELETE', api.path(ConfigMap, 'a'), options(right))).status, 200)
      assert.equal((await api.send('DELETE', api.path(ConfigMap, 'a'))).status, 404)
    },
  },
  {
    title: 'deletecollection deletes what its selectors select',
    async run(api) {
      for (const [name, colour] of [
        ['a', 'red'],
        ['b', 'red'],
        ['c', 'blue'],
      ] as const) {
        await api.ok('POST', api.path(Placement), {
          apiVersion: 'flotilla.dev/v1alpha1',
          kind: 'Placement',
          metadata: { name, labels: { colour } },
          spec: { clusterSelector: {} },
        })
      }
      await api.ok('DELETE', `${api.path(Placement)}?labelSelector=colour%3Dred`)
      const left = await api.ok('GET', api.path(Placement))
      assert.deepEqual(
        left.items.map((item: { metadata: { name: string } }) => item.metadata.name),
        ['c'],
      )
    },
  },
  {
    title: 'Secrets fold stringData into data and keep their type',
    async run(api) {
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 's' },
        data: { a: 'MQ==' },
        stringData: { b: '2' },
      }
      const made = await api.ok('POST', api.path(Secret), secret)
      assert.deepEqual(made.data, { a: 'MQ==', b: 'Mg==' })
      assert.equal(made.stringData, undefined)
      assert.equal(made.type, 'Opaque')
      const changed = await api.send('PUT', api.path(Secret, 's'), { body: { ...made, type: 'other' } })
      assert.equal(changed.status, 422)
      assert.match(changed.body.message, /type: Invalid value: "other": field is immutable/)
    },
  },
  {
    title: 'immutable ConfigMaps stay as they are',
    async run(api) {
      const made = await api.ok('POST', api.path(ConfigMap), { ...configMap('a'), immutable: true })
      const changed = await api.send('PUT', api.path(ConfigMap, 'a'), { body: { ...made, data: { a: '2' } } })
      assert.equal(changed.status, 422)
      assert.match(changed.body.message, /data: Forbidden: field is immutable when `immutable` is set/)
    },
  },
  {
    title: 'namespaces have a phase, a finalizer and the label of their name',
    async run(api) {
      const found = await api.ok('GET', `/api/v1/namespaces/${api.namespace}`)
      assert.equal(found.status.phase, 'Active')
      assert.deepEqual(found.spec, { finalizers: ['kubernetes'] })
      assert.equal(found.metadata.labels['kubernetes.io/metadata.name'], api.namespace)
      const system = await api.send('DELETE', api.path(Namespace, 'default'))
      assert.equal(system.status, 403)
      assert.equal(system.body.message, 'namespaces "default" is forbidden: this namespace may not be deleted')
    },
  },
]
