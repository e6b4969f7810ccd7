import assert from 'node:assert/strict'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { configMap, Gadget } from '../harness.ts'
import type { ApiCase, Loose } from '../harness.ts'

const AGGREGATED =
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json'

/** Discovery, OpenAPI, health, and bodies that must not hurt. */
export const ABOUT_CASES: readonly ApiCase[] = [
  {
    title: 'plain discovery: versions, groups, resources',
    async run(api) {
      assert.deepEqual((await api.ok('GET', '/api')).versions, ['v1'])
      const groups = await api.ok('GET', '/apis')
      assert.equal(groups.kind, 'APIGroupList')
      const ours = groups.groups.find((group: Loose) => group.name === 'flotilla.dev')
      assert.deepEqual(ours.preferredVersion, { groupVersion: 'flotilla.dev/v1alpha1', version: 'v1alpha1' })
      assert.equal((await api.ok('GET', '/apis/flotilla.dev')).kind, 'APIGroup')
      const core = await api.ok('GET', '/api/v1')
      const maps = core.resources.find((resource: Loose) => resource.name === 'configmaps')
      assert.deepEqual(
        [maps.singularName, maps.namespaced, maps.kind, maps.shortNames],
        ['configmap', true, 'ConfigMap', ['cm']],
      )
      assert.deepEqual(maps.verbs, ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'])
      const resources = await api.ok('GET', '/apis/flotilla.dev/v1alpha1')
      const names = resources.resources.map((resource: Loose) => resource.name)
      for (const name of ['clusters', 'clusters/status', 'bundles', 'assignments'])
        assert.ok(names.includes(name), name)
      const clusters = resources.resources.find((resource: Loose) => resource.name === 'clusters')
      assert.deepEqual(clusters.categories, ['flotilla'])
    },
  },
  {
    title: 'aggregated discovery with an ETag',
    async run(api) {
      const reply = await api.send('GET', '/apis', { accept: AGGREGATED })
      assert.match(reply.headers['content-type'] ?? '', /g=apidiscovery\.k8s\.io;v=v2;as=APIGroupDiscoveryList/)
      assert.equal(reply.body.kind, 'APIGroupDiscoveryList')
      const ours = reply.body.items.find((item: Loose) => item.metadata.name === 'flotilla.dev')
      const clusters = ours.versions[0].resources.find((resource: Loose) => resource.resource === 'clusters')
      assert.deepEqual(clusters.responseKind, { group: 'flotilla.dev', version: 'v1alpha1', kind: 'Cluster' })
      assert.deepEqual(
        [clusters.scope, clusters.singularResource, clusters.shortNames],
        ['Cluster', 'cluster', ['fcl']],
      )
      assert.equal(clusters.subresources[0].subresource, 'status')
      const core = await api.send('GET', '/api', { accept: AGGREGATED })
      assert.ok(core.body.items[0].versions[0].resources.some((resource: Loose) => resource.resource === 'configmaps'))
      const again = await api.send('GET', '/apis', {
        accept: AGGREGATED,
        headers: { 'if-none-match': reply.headers['etag']! },
      })
      assert.equal(again.status, 304)
    },
  },
  {
    title: 'OpenAPI v3: an index of hashed documents',
    async run(api) {
      const index = await api.ok('GET', '/openapi/v3')
      const entry = index.paths['apis/flotilla.dev/v1alpha1']
      assert.match(entry.serverRelativeURL, /^\/openapi\/v3\/apis\/flotilla\.dev\/v1alpha1\?hash=[0-9A-F]+$/)
      const document = await api.ok('GET', entry.serverRelativeURL)
      assert.match(document.openapi, /^3\.0/)
      const schema = document.components.schemas['dev.flotilla.v1alpha1.Bundle']
      assert.deepEqual(schema['x-kubernetes-group-version-kind'], [
        { group: 'flotilla.dev', kind: 'Bundle', version: 'v1alpha1' },
      ])
      assert.ok(schema.properties.spec.properties.manifests)
      // Go's types leave out what is empty, and a document that comes back otherwise than it went is taken for broken.
      for (const path of ['apis/flotilla.dev/v1alpha1', 'apis/apiextensions.k8s.io/v1']) {
        const { text } = await api.send('GET', `/openapi/v3/${path}`)
        assert.doesNotMatch(text, /"(parameters":\[\]|properties":\{\})/)
      }
    },
  },
  {
    title: 'what every object has is explained by Kubernetes names of its fields',
    async run(api) {
      const { components } = await api.ok('GET', '/openapi/v3/api/v1')
      const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta'
      const about = (field: string) => components.schemas[meta].properties[field].description as string
      assert.match(
        components.schemas[meta].description,
        /^ObjectMeta is metadata that all persisted resources must have/,
      )
      assert.match(
        about('creationTimestamp'),
        /^CreationTimestamp is a timestamp representing the server time when this/,
      )
      assert.match(about('annotations'), /^Annotations is an unstructured /)
      const { description } = components.schemas['io.k8s.api.core.v1.ConfigMap'].properties.metadata
      assert.match(description, /^Standard object's metadata\./)
    },
  },
  {
    title: 'OpenAPI v2 has the definitions, and the paths with what they take',
    async run(api) {
      const swagger = await api.ok('GET', '/openapi/v2')
      assert.equal(swagger.swagger, '2.0')
      assert.ok(swagger.definitions['dev.flotilla.v1alpha1.Bundle'])
      const { get, post } = swagger.paths['/api/v1/namespaces/{namespace}/configmaps']
      assert.deepEqual(get.responses['200'].schema, { $ref: '#/definitions/io.k8s.api.core.v1.ConfigMapList' })
      const body = post.parameters.find((parameter: Loose) => parameter.in === 'body')
      assert.deepEqual(body.schema, { $ref: '#/definitions/io.k8s.api.core.v1.ConfigMap' })
      const text = JSON.stringify(swagger)
      for (const words of ['the list of returned objects', 'Watch for changes to the described resources']) {
        assert.ok(text.includes(words), words)
      }
    },
  },
  {
    title: 'version and health',
    async run(api) {
      const version = await api.ok('GET', '/version')
      assert.equal(version.major, '1')
      assert.match(version.minor, /^\d+/)
      assert.match(version.gitVersion, /^v1\./)
      for (const path of ['/healthz', '/livez', '/readyz']) {
        const reply = await api.send('GET', path)
        assert.deepEqual([reply.status, reply.text], [200, 'ok'])
      }
      assert.match((await api.send('GET', '/readyz?verbose')).text, /\[\+\]ping ok/)
      const slis = await api.send('GET', '/metrics/slis', { accept: 'text/plain' })
      assert.equal(slis.headers['content-type']?.split(';')[0], 'text/plain')
      assert.match(slis.text, /^kubernetes_healthcheck\{name="ping",type="readyz"\} 1$/m)
      assert.equal((await api.send('GET', '/metrics/nope')).status, 404)
    },
  },
  {
    title: 'unknown paths, resources, subresources and methods',
    async run(api) {
      for (const path of ['/nope', '/apis/nope.dev/v1/things', '/api/v1/things', api.path(Gadget, 'a', 'nope')]) {
        assert.equal((await api.send('GET', path)).status, 404, path)
      }
      for (const [method, path] of [
        ['PUT', api.path(ConfigMap)],
        ['PATCH', api.path(ConfigMap)],
        ['POST', api.path(ConfigMap, 'a')],
      ] as const) {
        const reply = await api.send(method, path, { body: {} })
        assert.equal(reply.status, 405, `${method} ${path}: ${reply.text}`)
      }
      assert.equal((await api.send('DELETE', '/version')).status >= 400, true)
    },
  },
  {
    title: 'a timeout that is none is refused, any other taken',
    async run(api) {
      const ask = (timeout: string) => api.send('GET', `/api/v1/namespaces/${api.namespace}?timeout=${timeout}`)
      for (const [timeout, why] of [
        ['invalid', 'time: invalid duration "invalid"'],
        ['10', 'time: missing unit in duration "10"'],
      ] as const) {
        const { status, body } = await ask(timeout)
        const message = `invalid timeout specified in the request URL - ${why}`
        assert.deepEqual([status, body.message], [400, message])
      }
      for (const timeout of ['0s', '3m', '1m30s']) assert.equal((await ask(timeout)).status, 200, timeout)
    },
  },
  {
    title: 'bad bodies are refused with a Status and change nothing',
    async run(api) {
      const post = (body: unknown, contentType?: string) =>
        api.send('POST', api.path(ConfigMap), { body, ...(contentType ? { contentType } : {}) })
      const bodies: [string, unknown, number, string?][] = [
        ['cut off', '{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"x"', 400],
        ['empty', '', 400],
        ['a list', '[]', 400],
        ['a number', '7', 400],
        ['not UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d]), 400],
        ['deep', `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`, 400],
        ['deep lists', '['.repeat(50_000), 400],
        ['of the wrong types', { ...configMap('x'), metadata: { name: 7 } }, 400],
        ['with a list for labels', { ...configMap('x'), metadata: { name: 'x', labels: [1] } }, 400],
        ['unknown media type', 'x', 415, 'text/plain'],
        ['huge', { ...configMap('x'), data: { a: 'x'.repeat(4 * 1024 * 1024) } }, 413],
      ]
      for (const [what, body, status, contentType] of bodies) {
        const reply = await post(body, contentType)
        assert.equal(reply.status, status, `${what}: ${reply.text.slice(0, 300)}`)
        assert.equal(reply.body.kind, 'Status', `${what}: ${reply.text.slice(0, 300)}`)
      }
      assert.deepEqual((await api.ok('GET', `${api.path(ConfigMap)}?fieldSelector=metadata.name%3Dx`)).items, [])
    },
  },
  {
    title: 'YAML bodies work',
    async run(api) {
      const body = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yy\ndata:\n  k: "1"\n'
      const reply = await api.send('POST', api.path(ConfigMap), { body, contentType: 'application/yaml' })
      assert.equal(reply.status, 201)
      assert.deepEqual(reply.body.data, { k: '1' })
    },
  },
  {
    title: 'keys of the prototype are keys like others, or refused, and never an accident',
    async run(api) {
      const body =
        '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"p","labels":{"constructor":"x"}},"data":{"toString":"y","hasOwnProperty":"z"}}'
      const made = await api.send('POST', api.path(ConfigMap), { body })
      assert.equal(made.status, 201, made.text)
      assert.deepEqual(made.body.data, { toString: 'y', hasOwnProperty: 'z' })
      assert.equal(made.body.metadata.labels.constructor, 'x')
      const evil = '{"metadata":{"annotations":{"a":"b"},"__proto__":{"labels":{"polluted":"yes"}}}}'
      await api.send('PATCH', api.path(ConfigMap, 'p'), { body: evil, contentType: 'application/merge-patch+json' })
      const read = await api.ok('GET', api.path(ConfigMap, 'p'))
      assert.equal(read.metadata.labels.polluted, undefined)
      assert.equal(({} as Loose).labels, undefined)
    },
  },
]
