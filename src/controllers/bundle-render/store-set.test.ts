import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { base64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Secret } from '../../core/secret.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import { decryptValues } from '../secrets/secret-values.ts'
import { storeFiles, storeSet } from './store-set.ts'

const KEY = new Secret(new Uint8Array(32).fill(3))

/** Blobs in the order in which they were stored. */
function blobs() {
  const stored = new Map<Digest, Uint8Array>()
  const ports = {
    putBlob: async (bytes: Uint8Array) => {
      const digest = digestOf(bytes)
      stored.set(digest, bytes)
      return digest
    },
    valuesKeyOf: async () => KEY,
  }
  return { stored, ports, text: () => [...stored.values()].map((bytes) => fromUtf8(bytes)).join('\n') }
}

const map = (name: string, value = 'v'): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'shop' },
  data: { value },
})
const secret = (name: string, password: string): UnknownObject => ({
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name, namespace: 'shop' },
  data: { password: base64(utf8(password)) },
})

async function stored(objects: readonly UnknownObject[], at = blobs()) {
  const outcome = await storeSet({ bundle: 'shop/web' }, objects, at.ports)
  assert.ok(!('problem' in outcome), JSON.stringify(outcome))
  return { ...outcome, ...at, parsed: parseObjectSet(at.stored.get(outcome.set)!) }
}

describe('a stored set', () => {
  test('names each object, and each blob was stored before the blob that names it', async () => {
    const { parsed, stored: all, set, size, bytes } = await stored([map('a'), map('b')])
    assert.deepEqual(
      parsed.objects.map(({ name }) => name),
      ['a', 'b'],
    )
    assert.equal(size, 2)
    assert.equal(
      bytes,
      [...all.values()].reduce((sum, one) => sum + one.byteLength, 0),
    )
    const order = [...all.keys()]
    assert.equal(order.at(-1), set)
    for (const { digest } of parsed.objects) assert.ok(order.indexOf(digest) < order.indexOf(set))
  })

  test('is equal for equal objects, and each object is stored once', async () => {
    const [one, two] = [await stored([map('a')]), await stored([map('a')])]
    assert.equal(one.set, two.set)
    const both = blobs()
    await stored([map('a'), map('b')], both)
    const before = both.stored.size
    await stored([map('a'), map('c')], both)
    assert.equal(both.stored.size, before + 2, 'the other object and its set')
  })

  test('has no value of a Secret in any form, and the hub can read the values again', async () => {
    await fc.assert(
      fc.asyncProperty(fc.stringMatching(/^[a-zA-Z0-9]{12,40}$/), async (password) => {
        const at = await stored([secret('db', password), map('a')])
        for (const form of [password, base64(utf8(password))]) assert.ok(!at.text().includes(form))
        const [sealed] = at.parsed.objects.filter(({ name }) => name === 'db')
        assert.deepEqual(sealed?.sealed, ['password'])
        const values = decryptValues('shop/web', at.stored.get(at.parsed.values!)!, KEY)
        assert.deepEqual(
          [...values!.values()].map((one) => one.reveal()),
          [{ password: base64(utf8(password)) }],
        )
      }),
      { numRuns: 30 },
    )
  })

  test('changes with a value of a Secret alone, and stays when nothing changes', async () => {
    const [one, same, other] = [
      await stored([secret('db', 'hunter2hunter2')]),
      await stored([secret('db', 'hunter2hunter2')]),
      await stored([secret('db', 'hunter3hunter3')]),
    ]
    assert.equal(one.set, same.set)
    assert.notEqual(one.set, other.set)
  })

  test('of a Secret that is no map is a problem, and nothing is stored', async () => {
    const at = blobs()
    const broken = { ...secret('db', 'x'), data: 'hunter2hunter2' } as unknown as UnknownObject
    const outcome = await storeSet({ bundle: 'shop/web' }, [broken], at.ports)
    assert.ok('problem' in outcome)
    assert.doesNotMatch(outcome.problem, /hunter2/)
    assert.equal(at.stored.size, 0)
  })

  test('has the options that hold for all objects, and marks hooks', async () => {
    const hook: UnknownObject = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name: 'migrate', namespace: 'shop', annotations: { 'helm.sh/hook': 'pre-upgrade' } },
    }
    const at = blobs()
    const executor = { namespace: 'shop', name: 'deployer' }
    const outcome = await storeSet({ bundle: 'shop/web', options: { executor } }, [map('a'), hook], at.ports)
    assert.ok(!('problem' in outcome))
    const parsed = parseObjectSet(at.stored.get(outcome.set)!)
    assert.deepEqual(parsed.options?.executor, executor)
    assert.deepEqual(
      parsed.objects.filter(({ hook: isHook }) => isHook !== undefined).map(({ kind }) => kind),
      ['Job'],
    )
  })
})

test('content that agents render is stored by file, in the order of the paths', async () => {
  const at = blobs()
  const files = new Map([
    ['templates/b.yaml', utf8('b')],
    ['Chart.yaml', utf8('c')],
  ])
  const recipe = { bundle: 'shop/web', style: undefined } as unknown as Parameters<typeof storeFiles>[1]['recipe']
  const { set, size } = await storeFiles(undefined, { recipe, files }, at.ports)
  const parsed = parseObjectSet(at.stored.get(set)!)
  assert.equal(size, 2)
  assert.deepEqual(
    parsed.objects.map(({ digest }) => digest),
    [digestOf(utf8('c')), digestOf(utf8('b'))],
  )
  assert.deepEqual(parsed.render?.recipe, { bundle: 'shop/web' })
})
