import assert from 'node:assert/strict'
import type { Api, ApiCase } from '../harness.ts'
import { eventually } from '../policies/validating-policies.ts'
import { CRDS, define, install, object, thing } from './thing-crd.ts'
import type { Crd, Schema, Thing } from './thing-crd.ts'

/** Kinds defined at run time: what a CustomResourceDefinition makes the API serve, and which are refused. */

async function refused(api: Api, crd: Crd): Promise<string> {
  const reply = await api.send('POST', `${CRDS}?dryRun=All`, { body: crd })
  assert.equal(reply.status, 422, reply.text)
  const { message } = JSON.parse(reply.text) as { message: string }
  return message.replace(/^.*? is invalid: /, '')
}

/** The cases. */
export const CRD_CASES: readonly ApiCase[] = [
  {
    title: 'a definition is accepted, established, served and listed in discovery',
    async run(api) {
      const crd = define(api, object({ a: { type: 'string' } }))
      const path = await install(api, crd)
      const stored: Crd = await api.ok('GET', `${CRDS}/${crd.metadata.name}`)
      assert.deepEqual(stored.spec.names, {
        plural: 'things',
        singular: 'thing',
        kind: 'Thing',
        listKind: 'ThingList',
        shortNames: ['th'],
      })
      assert.deepEqual(stored.status?.storedVersions, ['v1'])
      assert.equal(stored.status?.acceptedNames?.plural, 'things')
      const reasons = stored.status?.conditions
        ?.map(({ type, reason, message }) => `${type} ${reason}: ${message}`)
        .sort()
      assert.deepEqual(reasons, [
        'Established InitialNamesAccepted: the initial names have been accepted',
        'NamesAccepted NoConflicts: no conflicts found',
      ])
      const group = `${api.namespace}.example.com`
      const resources: { resources: { name: string; shortNames?: string[] }[] } = await api.ok(
        'GET',
        `/apis/${group}/v1`,
      )
      assert.deepEqual(
        resources.resources.map(({ name, shortNames }) => [name, shortNames]),
        [['things', ['th']]],
      )
      await eventually(async () => {
        const index: { paths: Record<string, { serverRelativeURL: string }> } = await api.ok('GET', '/openapi/v3')
        const at = index.paths[`apis/${group}/v1`]
        assert.ok(at)
        const reply = await api.send('GET', at.serverRelativeURL)
        assert.ok(reply.text.includes('"Thing"'))
      })
      const made: Thing = await api.ok('POST', path, thing(api, { a: 'x' }))
      assert.equal(made.metadata.generation, 1)
    },
  },
  {
    title: 'a definition that is not structural is refused by name',
    async run(api) {
      const at = 'spec.validation.openAPIV3Schema.properties[spec]'
      const spec = (schema: Schema) => refused(api, define(api, schema))
      assert.equal(
        await spec({ properties: { a: { type: 'string' } } }),
        `${at}.type: Required value: must not be empty for specified object fields`,
      )
      assert.equal(
        await spec(object({ a: {} })),
        `${at}.properties[a].type: Required value: must not be empty for specified object fields`,
      )
      assert.equal(await spec({ type: 'array' }), `${at}.items: Required value: must be specified`)
      assert.equal(
        await spec({ type: 'object', properties: { x: { type: 'string' } }, additionalProperties: { type: 'string' } }),
        `${at}.additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive`,
      )
      assert.equal(
        await spec({ type: 'foo' }),
        `${at}.type: Unsupported value: "foo": supported values: "array", "boolean", "integer", "number", "object", "string"`,
      )
      assert.equal(
        await spec({ type: 'string', anyOf: [{ type: 'string' }] }),
        `${at}.anyOf[0].type: Forbidden: must be empty to be structural`,
      )
      const item = object({ n: { type: 'string' } })
      assert.equal(
        await spec({ type: 'array', items: item, 'x-kubernetes-list-type': 'map' }),
        `${at}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`,
      )
      assert.equal(
        await spec({
          type: 'array',
          items: item,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['n'],
        }),
        `${at}.items.properties[n].default: Required value: this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
      )
      assert.equal(
        await spec({ type: 'array', items: { type: 'string' }, uniqueItems: true }),
        `${at}.uniqueItems: Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic`,
      )
      assert.equal(
        await spec({ type: 'object', default: { zz: 1 } }),
        `${at}.default: Invalid value: {"zz":1}: must not have unknown fields`,
      )
    },
  },
  {
    title: 'a rule that cannot be compiled or costs too much is refused by name',
    async run(api) {
      const rules = `spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0]`
      const ruled = (rule: Schema, schema: Schema = object({ a: { type: 'string' } })) =>
        refused(api, define(api, { ...schema, 'x-kubernetes-validations': [rule] }))
      const shown = (rule: string, message = '') =>
        JSON.stringify({
          Rule: rule,
          Message: '',
          MessageExpression: message,
          Reason: null,
          FieldPath: '',
          OptionalOldSelf: null,
        })
      assert.equal(
        await ruled({ rule: 'self.b == 1' }),
        `${rules}.rule: Invalid value: ${shown('self.b == 1')}: compilation failed: ERROR: <input>:1:5: undefined field 'b'\n | self.b == 1\n | ....^`,
      )
      assert.equal(
        await ruled({ rule: 'self.a' }),
        `${rules}.rule: Invalid value: ${shown('self.a')}: cel expression must evaluate to a bool`,
      )
      assert.equal(await ruled({ rule: '' }), `${rules}.rule: Required value: rule is not specified`)
      assert.equal(
        await ruled({ rule: 'true', messageExpression: '1 + 1' }),
        `${rules}.messageExpression: Invalid value: ${shown('true', '1 + 1')}: messageExpression must evaluate to a string`,
      )
      assert.equal(
        await ruled({ rule: 'true', fieldPath: '.zz' }),
        `${rules}.fieldPath: Invalid value: ".zz": must be a valid path`,
      )
      assert.equal(
        await ruled({ rule: 'true', optionalOldSelf: true }),
        `${rules}.optionalOldSelf: Invalid value: true: may not be set if oldSelf is not used in rule`,
      )
      const list = object({ a: { type: 'array', items: { type: 'string' } } })
      const tooMuch = await ruled({ rule: 'self.a.all(x, self.a.all(y, x != y || x == y))' }, list)
      assert.ok(
        tooMuch.startsWith(
          `[${rules}.rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x (try simplifying the rule, or adding maxItems`,
        ),
        tooMuch,
      )
      const bounded = object({ a: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } } })
      const reply = await api.send('POST', `${CRDS}?dryRun=All`, {
        body: define(api, {
          ...bounded,
          'x-kubernetes-validations': [{ rule: 'self.a.all(x, self.a.all(y, x != y || x == y))' }],
        }),
      })
      assert.equal(reply.status, 201, reply.text)
    },
  },
  {
    title: 'columns, short names, selectable fields, status and scale of a defined kind',
    async run(api) {
      const crd = define(api, object({ color: { type: 'string' }, replicas: { type: 'integer' } }), {
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        additionalPrinterColumns: [{ name: 'Color', type: 'string', jsonPath: '.spec.color' }],
        selectableFields: [{ jsonPath: '.spec.color' }],
        schema: {
          openAPIV3Schema: object({
            spec: object({ color: { type: 'string' }, replicas: { type: 'integer' } }),
            status: object({ replicas: { type: 'integer' } }),
          }),
        },
      })
      const path = await install(api, crd)
      await api.ok('POST', path, thing(api, { color: 'red', replicas: 2 }, { status: { replicas: 9 } }))
      await api.ok('POST', path, thing(api, { color: 'blue' }, { metadata: { name: 'b' } }))
      const table = await api.send('GET', path, { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' })
      const { columnDefinitions, rows } = JSON.parse(table.text) as {
        columnDefinitions: { name: string }[]
        rows: { cells: unknown[] }[]
      }
      assert.deepEqual(
        columnDefinitions.map(({ name }) => name),
        ['Name', 'Color'],
      )
      assert.deepEqual(
        rows.map(({ cells }) => cells),
        [
          ['a', 'red'],
          ['b', 'blue'],
        ],
      )
      const red: { items: Thing[] } = await api.ok('GET', `${path}?fieldSelector=spec.color%3Dred`)
      assert.deepEqual(
        red.items.map(({ metadata }) => metadata.name),
        ['a'],
      )
      const other = await api.send('GET', `${path}?fieldSelector=spec.replicas%3D2`)
      assert.equal(other.status, 400)
      const made: Thing = await api.ok('GET', `${path}/a`)
      assert.equal(made.status, undefined)
      const scale = await api.ok('GET', `${path}/a/scale`)
      assert.equal(scale.spec.replicas, 2)
    },
  },
  {
    title: 'one object is seen in every served version, and stored in one',
    async run(api) {
      const crd = define(api, object({ a: { type: 'string' }, b: { type: 'string', default: 'new' } }))
      const schema = {
        openAPIV3Schema: object({ spec: object({ a: { type: 'string' }, b: { type: 'string' } }) }),
      }
      crd.spec.versions.push({ name: 'v2', served: true, storage: false, schema })
      const path = await install(api, crd)
      const newer = path.replace('/v1/', '/v2/')
      await api.ok('POST', path, thing(api, { a: 'x' }))
      const seen: Thing = await api.ok('GET', `${newer}/a`)
      assert.equal(seen.apiVersion, `${api.namespace}.example.com/v2`)
      assert.deepEqual(seen.spec, { a: 'x', b: 'new' })
      const groups = await api.ok('GET', `/apis/${api.namespace}.example.com`)
      assert.equal(groups.preferredVersion.version, 'v2')
      const back: Thing = await api.ok('PUT', `${newer}/a`, { ...seen, spec: { a: 'y', b: 'kept' } })
      assert.equal(back.apiVersion, `${api.namespace}.example.com/v2`)
      const old: Thing = await api.ok('GET', `${path}/a`)
      assert.equal(old.apiVersion, `${api.namespace}.example.com/v1`)
      assert.deepEqual(old.spec, { a: 'y', b: 'kept' })
    },
  },
  {
    title: 'deleting a definition deletes its objects, ends its watches and its address',
    async run(api) {
      const crd = define(api, object({ a: { type: 'string' } }))
      const path = await install(api, crd)
      await api.ok('POST', path, thing(api, { a: 'x' }))
      const watching = api.watch(`${path}?watch=true`, () => false)
      await api.ok('DELETE', `${CRDS}/${crd.metadata.name}`)
      assert.equal((await watching).at(-1)?.type, 'DELETED')
      await eventually(async () => {
        assert.equal((await api.send('GET', `${CRDS}/${crd.metadata.name}`)).status, 404)
        assert.equal((await api.send('GET', path)).status, 404)
        assert.equal((await api.send('GET', `/apis/${api.namespace}.example.com/v1`)).status, 404)
      })
      // Coming back, it has forgotten everything.
      const again = await install(api, define(api, object({ a: { type: 'string' } })))
      const list = await api.ok('GET', again)
      assert.deepEqual(list.items, [])
    },
  },
  {
    title: 'names that are taken are not accepted',
    async run(api) {
      await install(api, define(api, object({})))
      const second = define(api, object({}))
      const group = `${api.namespace}.example.com`
      second.metadata.name = `others.${group}`
      second.spec.names = { plural: 'others', kind: 'Other', shortNames: ['th'] }
      await api.ok('POST', CRDS, second)
      await eventually(async () => {
        const { status }: Crd = await api.ok('GET', `${CRDS}/${second.metadata.name}`)
        const named = status?.conditions?.find(({ type }) => type === 'NamesAccepted')
        assert.deepEqual(
          [named?.status, named?.reason, named?.message],
          ['False', 'ShortNamesConflict', '"th" is already in use'],
        )
        const served = status?.conditions?.find(({ type }) => type === 'Established')
        assert.deepEqual([served?.status, served?.reason], ['False', 'NotAccepted'])
      })
    },
  },
  {
    title: 'what a definition itself gets wrong is said',
    async run(api) {
      const plain = () => define(api, object({}))
      const named = plain()
      named.metadata.name = `others.${named.spec.group}`
      assert.equal(
        await refused(api, named),
        `metadata.name: Invalid value: "${named.metadata.name}": must be spec.names.plural+"."+spec.group`,
      )
      const scoped = plain()
      scoped.spec.scope = 'Foo'
      assert.equal(
        await refused(api, scoped),
        'spec.scope: Unsupported value: "Foo": supported values: "Cluster", "Namespaced"',
      )
      const columns = define(api, object({}), {
        additionalPrinterColumns: [{ name: 'A', type: 'foo', jsonPath: 'bad' }],
      })
      assert.equal(
        await refused(api, columns),
        '[spec.additionalPrinterColumns[0].type: Invalid value: "foo": must be one of boolean,date,integer,number,string, spec.additionalPrinterColumns[0].JSONPath: Invalid value: "bad": must be a simple json path starting with .]',
      )
      const stored = plain()
      stored.spec.versions[0]!['storage'] = false
      assert.match(await refused(api, stored), /must have exactly one version marked as storage version/)
    },
  },
]
