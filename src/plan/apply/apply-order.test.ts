import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { applyOrder, wavesOf } from './apply-order.ts'
import type { Planned } from './apply-order.ts'
import { isKeptKind } from '../objects/object-options.ts'

const planned = (text: string, wave = 0, more: Partial<Planned> = {}): Planned => {
  const [kind, name = 'x', namespace] = text.split(' ')
  return { apiVersion: 'v1', kind: kind!, name, wave, ...(namespace ? { namespace } : {}), ...more }
}
const crd = (group: string, kind: string, wave = 0) =>
  planned(`CustomResourceDefinition ${kind.toLowerCase()}s.${group}`, wave, {
    apiVersion: 'apiextensions.k8s.io/v1',
    brings: { group, kind },
  })
const shown = (objects: readonly Planned[]) =>
  wavesOf(objects).map(({ wave, foundations, others }) => [
    wave,
    foundations.map(({ kind }) => kind).join(' '),
    others.map(({ kind }) => kind).join(' '),
  ])

describe('apply order', () => {
  it('puts namespaces first, workloads late, what intercepts requests last, and keeps the order otherwise', () => {
    const kinds = ['MutatingWebhookConfiguration', 'Deployment', 'Widget', 'ConfigMap', 'Namespace']
    const objects = kinds.map((kind) => planned(kind))
    assert.deepEqual(
      applyOrder(objects).map(({ kind }) => kind),
      ['Namespace', 'ConfigMap', 'Deployment', 'Widget', 'MutatingWebhookConfiguration'],
    )
  })

  it('takes waves by number', () => {
    const objects = [planned('Deployment a ns', 5), planned('ConfigMap b ns', -1), planned('Secret c ns', -1)]
    assert.deepEqual(shown(objects), [
      [-1, '', 'Secret ConfigMap'],
      [5, '', 'Deployment'],
    ])
  })

  it('brings namespaces and CRDs forward to the first that needs them', () => {
    const widget = planned('Widget w shop', -2, { apiVersion: 'example.com/v1' })
    const objects = [
      planned('Namespace shop', 3),
      crd('example.com', 'Widget', 1),
      crd('other.com', 'Widget', 1),
      widget,
    ]
    assert.deepEqual(shown(objects), [
      [-2, 'Namespace CustomResourceDefinition', 'Widget'],
      [1, 'CustomResourceDefinition', ''],
    ])
  })

  it('loses and repeats nothing', () => {
    const one = fc.record({
      kind: fc.constantFrom('Namespace', 'ConfigMap', 'Deployment', 'CustomResourceDefinition'),
      name: fc.string({ minLength: 1, maxLength: 2 }),
      wave: fc.integer({ min: -2, max: 2 }),
    })
    fc.assert(
      fc.property(fc.array(one), (items) => {
        const objects = items.map((item) => ({ apiVersion: 'v1', ...item }))
        const waves = wavesOf(objects)
        const all = waves.flatMap(({ foundations, others }) => [...foundations, ...others])
        assert.deepEqual(new Set(all), new Set(objects))
        assert.equal(all.length, objects.length)
        assert.deepEqual(
          waves.map(({ wave }) => wave),
          waves.map(({ wave }) => wave).toSorted((a, b) => a - b),
        )
      }),
    )
  })

  it('knows which kinds take others along', () => {
    assert.ok(isKeptKind(crd('example.com', 'Widget')))
    assert.ok(isKeptKind(planned('Namespace')))
    assert.ok(isKeptKind(planned('PersistentVolumeClaim')))
    assert.ok(!isKeptKind(planned('ConfigMap')))
    assert.ok(!isKeptKind({ apiVersion: 'example.com/v1', kind: 'Namespace', name: 'x' }))
  })
})
