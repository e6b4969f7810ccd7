import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overrideField } from './field-overrider.ts'
import type { FieldOverrider } from './field-overrider.ts'

const JSON_TEXT = '{"b":1.0,"a":{"big":12345678901234567890},"tag":"<a&b>"}'
const CONFIG = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'config' },
  data: { json: JSON_TEXT, yaml: '# comment\nb: 1\na: x\n', bad: '{', text: '5' },
}
const overridden = (overrider: FieldOverrider) => (overrideField(CONFIG, overrider) as typeof CONFIG).data

test('JSON keeps the order of keys and the texts of numbers', () => {
  const data = overridden({ fieldPath: '/data/json', json: [{ subPath: '/z', operator: 'add', value: true }] })
  assert.equal(data.json, '{"b":1.0,"a":{"big":12345678901234567890},"tag":"\\u003ca\\u0026b\\u003e","z":true}')
})

test('YAML is written anew, with sorted keys', () => {
  const data = overridden({ fieldPath: '/data/yaml', yaml: [{ subPath: '/b', operator: 'replace', value: 2 }] })
  assert.equal(data.yaml, 'a: x\nb: 2\n')
})

test('a text without operations becomes empty, as in Karmada', () => {
  assert.equal(overridden({ fieldPath: '/data/text' }).text, '')
})

test('what cannot be overridden is said', () => {
  const json = [{ subPath: '/a', operator: 'add', value: 1 }]
  assert.throws(() => overrideField(CONFIG, { fieldPath: 'data', json }), /must begin with "\/"/)
  assert.throws(() => overrideField(CONFIG, { fieldPath: '/data/none', json }), /there is no "none"/)
  assert.throws(() => overrideField(CONFIG, { fieldPath: '/data', json }), /the value is not a text/)
  assert.throws(() => overrideField(CONFIG, { fieldPath: '/data/bad', json }), /the text is not JSON/)
  assert.throws(() => overrideField(CONFIG, { fieldPath: '/data/text', json }), /neither an object nor a list/)
  assert.throws(() => overrideField(CONFIG, { fieldPath: '/data/bad', yaml: json }), /the text is not YAML/)
})
