import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { buildDocument, buildTrust } from '../../testing/fixtures/wire-builders.ts'
import type { ObjectSet } from './cluster-document.ts'
import {
  checkDigest,
  objectSetBytes,
  openDocument,
  parseObjectSet,
  setFile,
  setFormat,
  signDocument,
} from './signed-document.ts'

const { trust } = buildTrust()
const set = digestOf('set')
const entry = { bundle: 'default/hello', generation: 1, set, rollout: 'default/hello-g1' }

function open(overrides: object) {
  return openDocument(signDocument(trust.signer, { ...buildDocument(), ...overrides }), trust.newest.signers)
}

describe('signed documents', () => {
  it('come back whole, with the digest an Assignment names', () => {
    const document = buildDocument({ content: { entries: [entry], tombstones: [] } })
    const envelope = signDocument(trust.signer, document)
    assert.deepEqual(openDocument(envelope, trust.newest.signers), { document, digest: digestOf(envelope) })
  })

  it('of another hub or re-signed by the root are refused', () => {
    const other = buildTrust(2).trust
    assert.throws(() => openDocument(signDocument(other.signer, buildDocument()), trust.newest.signers), /not trusted/)
    assert.throws(
      () => openDocument(signDocument(trust.rootSigner!, buildDocument()), trust.newest.signers),
      /not trusted/,
    )
  })

  it('hold sets whose options are all known', () => {
    const bytes = (options: object) => utf8(JSON.stringify({ format: 'flotilla.dev/set/v1', objects: [], options }))
    assert.deepEqual(parseObjectSet(bytes({ prune: { mode: 'Last' } })).options, { prune: { mode: 'Last' } })
    assert.throws(() => parseObjectSet(bytes({ prune: { mode: 'Perhaps' } })), /set\.options\.prune\.mode/)
    assert.throws(
      () => parseObjectSet(bytes({ teleport: true })),
      /set's options\.teleport is not known .* upgrade the agent/,
    )
    assert.throws(() => parseObjectSet(bytes({ ignore: [{ planets: [] }] })), /set's options\.ignore\[0\]\.planets/)
    assert.deepEqual(parseObjectSet(bytes({ namespaces: { labels: { a: 'b' } } })).options?.namespaces?.labels, {
      a: 'b',
    })
  })

  const content = (entries: object[]) => ({ content: { entries, tombstones: [] } })
  const malformed: [string, object, RegExp][] = [
    ['another format', { format: 'flotilla.dev/document/v2' }, /document\.format/],
    ['revision zero', { revision: 0 }, /document\.revision/],
    ['no rules', { rules: undefined }, /document/],
    ['a bundle without namespace', content([{ ...entry, bundle: 'hello' }]), /document\.content\.entries\.0\.bundle/],
    ['a set that is no digest', content([{ ...entry, set: 'sha256:zz' }]), /entries\.0\.set/],
    ['a bundle twice', content([entry, entry]), /twice: default\/hello/],
    ['a start-by that is no time', content([{ ...entry, startBy: 'soon' }]), /start-by of default\/hello/],
    [
      'more bundles than the limit',
      content(Array.from({ length: 501 }, (_, i) => ({ ...entry, bundle: `a/b${i}` }))),
      /entries/,
    ],
  ]
  for (const [what, overrides, problem] of malformed) {
    it(`with ${what} are refused`, () => assert.throws(() => open(overrides), problem))
  }
})

describe('sets', () => {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b', digest: digestOf('x') }
  const setOf = (...objects: object[]) => utf8(JSON.stringify({ format: 'flotilla.dev/set/v1', objects }))

  it('have one digest whatever the order of their keys', () => {
    const one: ObjectSet = { format: 'flotilla.dev/set/v1', objects: [object] }
    const same = { objects: [{ ...object }], format: 'flotilla.dev/set/v1' } as const
    assert.equal(digestOf(objectSetBytes(one)), digestOf(objectSetBytes(same)))
    assert.deepEqual(parseObjectSet(objectSetBytes(one)), one)
  })

  it('say which objects are hooks, in a format that older agents refuse; those without stay as they were', () => {
    const hook = { on: ['pre-install' as const], weight: -5, delete: ['before-creation' as const] }
    const objects = [object, { ...object, name: 'c', hook }]
    const set = { format: setFormat(objects), objects }
    assert.equal(set.format, 'flotilla.dev/set/v2')
    assert.deepEqual(parseObjectSet(objectSetBytes(set)), set)
    assert.equal(setFormat([object]), 'flotilla.dev/set/v1')
    assert.throws(() => parseObjectSet(setOf({ ...object, hook: { ...hook, on: ['now'] } })), /objects\.0\.hook/)
  })

  it('of files say what to make of them, in a format of their own', () => {
    const file = setFile('chart/Chart.yaml', digestOf('x'))
    const set = { format: 'flotilla.dev/set/v3' as const, render: { recipe: { bundle: 'a/b' } }, objects: [file] }
    assert.deepEqual(parseObjectSet(objectSetBytes(set)), set)
    const neither = /neither an inventory nor files/
    for (const wrong of [
      { ...set, objects: [file, object] },
      { format: set.format, objects: [file] },
      { ...set, format: 'flotilla.dev/set/v2' },
      { format: 'flotilla.dev/set/v1', objects: [file] },
    ]) {
      assert.throws(() => parseObjectSet(utf8(JSON.stringify(wrong))), neither)
    }
  })

  it('are refused when an object is there twice or nameless', () => {
    assert.throws(() => parseObjectSet(setOf(object, { ...object, digest: digestOf('y') })), /twice: v1 ConfigMap a\/b/)
    assert.throws(() => parseObjectSet(setOf({ ...object, name: '' })), /objects\.0\.name/)
  })

  it('must have the promised digest', () => {
    checkDigest(setOf(object), digestOf(setOf(object)), 'set')
    assert.throws(() => checkDigest(setOf(), digestOf(setOf(object)), 'set'), /set has digest/)
  })
})
