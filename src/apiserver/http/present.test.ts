import assert from 'node:assert/strict'
import { it } from 'node:test'
import { ConfigMap } from '../../kinds/builtin/core.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { serializeObject } from '../storage/stored-object.ts'
import { itemTexts } from './present.ts'

const BODY = '"metadata":{"name":"a"},"data":{"kind":"x","apiVersion":"y"}'
const ITEM = `{${BODY}}`

const TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['as it is written', `{"apiVersion":"v1","kind":"ConfigMap",${BODY}}`],
  ['the other way round', `{"kind":"ConfigMap","apiVersion":"v1",${BODY}}`],
  ['at the end', `{${BODY},"apiVersion":"v1","kind":"ConfigMap"}`],
  ['of another version', `{"apiVersion":"v2","kind":"ConfigMap",${BODY}}`],
  ['not at all', ITEM],
]

for (const [name, text] of TEXTS) {
  it(`an item of a built-in kind does not say what it is: ${name}`, () => {
    assert.equal(itemTexts(ConfigMap)(text), ITEM)
  })
}

it('an item of a custom kind is its stored text', () => {
  const text = '{"apiVersion":"flotilla.dev/v1alpha1","kind":"Cluster","metadata":{"name":"a"},"spec":{}}'
  assert.equal(itemTexts(Cluster)(text), text)
})

it('a stored text begins with what the object is, in whatever order that was said', () => {
  const object = { metadata: { name: 'a' }, data: {}, kind: 'ConfigMap', apiVersion: 'v1' } as UnknownObject
  assert.equal(
    serializeObject(object)(7),
    '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","resourceVersion":"7"},"data":{}}',
  )
})
