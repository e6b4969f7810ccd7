import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readLocalLimits } from './local-limits-file.ts'

describe('the ceiling file', () => {
  it('is YAML with known fields; anything else stops the agent', () => {
    assert.deepEqual(readLocalLimits('', 'c.yaml'), {})
    const text = 'namespaces: [shop-*]\nclusterScoped: false\ndenyKinds: [{kind: Secret}]\nmaxPrune: 5\n'
    const ceiling = { namespaces: ['shop-*'], clusterScoped: false, denyKinds: [{ kind: 'Secret' }], maxPrune: 5 }
    assert.deepEqual(readLocalLimits(text, 'c.yaml'), ceiling)
    assert.throws(
      () => readLocalLimits('namespace: [shop]', 'c.yaml'),
      /c\.yaml: unknown field "namespace"; valid fields: namespaces, /,
    )
    assert.throws(() => readLocalLimits('maxPrune: many', 'c.yaml'), /ceiling\.maxPrune/)
    assert.throws(() => readLocalLimits('a: [', 'c.yaml'), /c\.yaml: /)
  })
})
