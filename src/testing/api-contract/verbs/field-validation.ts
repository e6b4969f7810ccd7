import assert from 'node:assert/strict'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { Gadget } from '../harness.ts'
import type { Api, ApiCase, Reply } from '../harness.ts'

/** Duplicate and unknown fields: the messages of errors and warnings, in each format and for each verb. */

const YAML = 'application/yaml'
const APPLY = 'application/apply-patch+yaml'
const MAP = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: m\ndata:\n  a: "1"\n  a: "2"\n`
const GADGET = `apiVersion: contract.flotilla.dev/v1\nkind: Gadget\nmetadata:\n  name: g\nspec:\n  size: 1\n  size: 2\n`

interface Sent {
  readonly body: string
  readonly contentType?: string
  readonly validation: 'Strict' | 'Warn' | 'Ignore'
}

async function send(api: Api, kind: typeof ConfigMap, { body, contentType, validation }: Sent): Promise<Reply> {
  const query = `?fieldManager=m&dryRun=All&fieldValidation=${validation}`
  const isApply = contentType === APPLY
  const path = isApply ? api.path(kind, kind === ConfigMap ? 'm' : 'g') : api.path(kind)
  return api.send(isApply ? 'PATCH' : 'POST', `${path}${query}`, { body, ...(contentType && { contentType }) })
}

/** Strict refuses with `message`, Warn warns with `warnings`, Ignore says nothing; the last value counts. */
async function inAllModes(
  api: Api,
  kind: typeof ConfigMap,
  sent: Omit<Sent, 'validation'>,
  said: { readonly message: string; readonly warnings: readonly string[] },
): Promise<void> {
  const strict = await send(api, kind, { ...sent, validation: 'Strict' })
  assert.equal(strict.status, 400, strict.text)
  assert.equal(strict.body.message, said.message)
  const warned = await send(api, kind, { ...sent, validation: 'Warn' })
  assert.equal(warned.status, 201, warned.text)
  const warnings = said.warnings.map((text) => `299 - ${JSON.stringify(text)}`).join(', ')
  assert.equal(warned.headers['warning'], warnings)
  const ignored = await send(api, kind, { ...sent, validation: 'Ignore' })
  assert.equal(ignored.status, 201, ignored.text)
  assert.equal(ignored.headers['warning'], undefined)
  for (const { body } of [warned, ignored]) assert.equal(body.data?.a ?? body.spec.size, kind === ConfigMap ? '2' : 2)
}

/** The cases. */
export const STRICT_CASES: readonly ApiCase[] = [
  {
    title: 'strict fields: a built-in kind in JSON, in the order of the text',
    async run(api) {
      const body = `{"zoo":1,"foo":1,"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x","bar":1},"data":{"a":"1","a":"2"},"aoo":1}`
      const warnings = [
        'unknown field "zoo"',
        'unknown field "foo"',
        'unknown field "metadata.bar"',
        'duplicate field "data.a"',
        'unknown field "aoo"',
      ]
      const message = `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${warnings.join(', ')}`
      await inAllModes(api, ConfigMap, { body }, { message, warnings })
    },
  },
  {
    title: 'strict fields: a custom kind in JSON, duplicates first',
    async run(api) {
      const body = `{"apiVersion":"contract.flotilla.dev/v1","kind":"Gadget","metadata":{"name":"x"},"spec":{"zoo":1,"foo":1,"size":1,"size":2}}`
      const warnings = ['duplicate field "spec.size"', 'unknown field "spec.foo"', 'unknown field "spec.zoo"']
      const message = `Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: ${warnings.join(', ')}`
      await inAllModes(api, Gadget, { body }, { message, warnings })
    },
  },
  {
    title: 'strict fields: repeated keys in YAML are told by their line',
    async run(api) {
      const line = 'line 7: key "a" already set in map'
      const map = { body: `${MAP}foo: 1\n`, contentType: YAML }
      await inAllModes(api, ConfigMap, map, {
        message: `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  ${line}, unknown field "foo"`,
        warnings: [line, 'unknown field "foo"'],
      })
      const size = 'line 7: key "size" already set in map'
      const gadget = { body: `${GADGET}  foo: 1\n`, contentType: YAML }
      await inAllModes(api, Gadget, gadget, {
        message: `Gadget in version "v1" cannot be handled as a Gadget: strict decoding error: yaml: unmarshal errors:\n  ${size}, unknown field "spec.foo"`,
        warnings: [size, 'unknown field "spec.foo"'],
      })
    },
  },
  {
    title: 'strict fields: apply, whose bodies are YAML even when they look like JSON',
    async run(api) {
      const preface = 'error strict decoding YAML: error converting YAML to JSON: yaml: unmarshal errors:\n  '
      const line = 'line 7: key "a" already set in map'
      const said = { message: `${preface}${line}`, warnings: [line] }
      await inAllModes(api, ConfigMap, { body: MAP, contentType: APPLY }, said)
      const size = 'line 7: key "size" already set in map'
      const gadget = { body: GADGET, contentType: APPLY }
      await inAllModes(api, Gadget, gadget, { message: `${preface}${size}`, warnings: [size] })
      const json = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"m"},"data":{"a":"1","a":"2"}}`
      const first = 'line 1: key "a" already set in map'
      const flow = { body: json, contentType: APPLY }
      await inAllModes(api, ConfigMap, flow, { message: `${preface}${first}`, warnings: [first] })
    },
  },
  {
    title: 'strict fields: apply refuses a field that the schema does not have, however it is validated',
    async run(api) {
      for (const validation of ['Strict', 'Warn', 'Ignore'] as const) {
        const map = await send(api, ConfigMap, { body: `${MAP}foo: 1\n`, contentType: APPLY, validation })
        assert.equal(map.status, 500, map.text)
        const start = 'failed to create typed patch object'
        assert.equal(map.body.message, `${start} (/m; /v1, Kind=ConfigMap): .foo: field not declared in schema`)
        const gadget = await send(api, Gadget, { body: `${GADGET}  foo: 1\n`, contentType: APPLY, validation })
        const type = 'contract.flotilla.dev/v1, Kind=Gadget'
        assert.equal(gadget.body.message, `${start} (/g; ${type}): .spec.foo: field not declared in schema`)
      }
    },
  },
]
