import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { objectKey } from '../../plan/objects/object-id.ts'
import { fieldManager } from './field-manager.ts'

describe('names', () => {
  it('tell objects apart by group, not by version, and fit into a field manager', () => {
    const web = { kind: 'Deployment', namespace: 'a', name: 'web' }
    assert.equal(objectKey({ apiVersion: 'apps/v1', ...web }), objectKey({ apiVersion: 'apps/v1beta1', ...web }))
    assert.notEqual(objectKey({ apiVersion: 'apps/v1', ...web }), objectKey({ apiVersion: 'extensions/v1', ...web }))
    assert.equal(fieldManager('default/hello'), 'flotilla:default/hello')
    assert.ok(fieldManager(`default/${'x'.repeat(253)}`).length <= 128)
  })
})
