import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Client } from '../../client/client.ts'
import { base64 } from '../../core/bytes.ts'
import { ApiError } from '../../core/errors.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { KubeObject, ObjectKey, ResourceType } from '../../kinds/meta.ts'
import { createSeededIds } from '../../sim/kernel/seeded-ids.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { VALUES_KEY_BYTES } from './secret-values.ts'
import { createValuesKeys, valuesKeySecret } from './values-keys.ts'

/** The Secrets of an API, with the requests that it got. */
function api() {
  const stored = new Map<string, KubeObject>()
  const requests: string[] = []
  const client = {
    async get(_type: ResourceType<KubeObject>, { namespace = '', name }: ObjectKey) {
      requests.push(`get ${namespace}/${name}`)
      const found = stored.get(`${namespace}/${name}`)
      if (!found) throw new ApiError('NotFound', `secrets "${name}" not found`)
      return found
    },
    async create(_type: ResourceType<KubeObject>, object: KubeObject) {
      requests.push(`create ${keyOf(object)}`)
      if (stored.has(keyOf(object))) throw new ApiError('AlreadyExists', 'it exists')
      stored.set(keyOf(object), object)
      return object
    },
  } as unknown as Pick<Client, 'get' | 'create'>
  return { client, stored, requests }
}

const BUNDLE = 'shop/web'
const AT = valuesKeySecret(BUNDLE)
const textOf = (key: { reveal(): Uint8Array } | undefined) => key && base64(key.reveal())
const secretWith = (bytes: number) =>
  build(Secret, `${AT.namespace}/${AT.name}`, { data: { key: base64(new Uint8Array(bytes).fill(7)) } })

test('a key is created once, in an immutable Secret of the namespace, and every hub reads the same', async () => {
  const { client, stored, requests } = api()
  const keys = createValuesKeys(client, createSeededIds('one'))
  assert.equal(await keys.of(BUNDLE), undefined)
  const [made, again] = [await keys.make(BUNDLE), await keys.make(BUNDLE)]
  assert.equal(made.reveal().byteLength, VALUES_KEY_BYTES)
  assert.equal(textOf(made), textOf(again))
  assert.equal(requests.filter((one) => one.startsWith('create')).length, 1)
  const secret = stored.get(`${AT.namespace}/${AT.name}`) as Secret
  assert.equal(secret.immutable, true)
  assert.equal(AT.namespace, 'shop')
  assert.equal(textOf(await createValuesKeys(client, createSeededIds('two')).make(BUNDLE)), textOf(made))
  assert.doesNotMatch(`${JSON.stringify(made)} ${String(made)}`, new RegExp(textOf(made)!.slice(0, 12)))
})

test('of two hubs that create a key at the same time, both use the key that was stored', async () => {
  const { client, stored } = api()
  const keys = createValuesKeys(
    {
      ...client,
      create: async (type, object, options) => {
        stored.set(`${AT.namespace}/${AT.name}`, secretWith(VALUES_KEY_BYTES))
        return await client.create(type, object, options)
      },
    },
    createSeededIds('late'),
  )
  assert.equal(textOf(await keys.make(BUNDLE)), base64(new Uint8Array(VALUES_KEY_BYTES).fill(7)))
})

for (const bytes of [0, 1, VALUES_KEY_BYTES - 1, VALUES_KEY_BYTES + 1]) {
  test(`a key of ${bytes} bytes is refused, and is not replaced by a new key`, async () => {
    const { client, stored, requests } = api()
    stored.set(`${AT.namespace}/${AT.name}`, secretWith(bytes))
    const keys = createValuesKeys(client, createSeededIds('short'))
    const says = { reason: 'ValuesKeyChanged', message: /restore it from a backup, or delete it and edit the Bundle/ }
    await assert.rejects(keys.of(BUNDLE), says)
    await assert.rejects(keys.make(BUNDLE), says)
    assert.ok(!requests.some((one) => one.startsWith('create')))
  })
}

test('an API that is away is no missing key', async () => {
  const { client } = api()
  const away = async () => {
    throw new ApiError('ServiceUnavailable', 'away')
  }
  const keys = createValuesKeys({ ...client, get: away }, createSeededIds('away'))
  await assert.rejects(keys.make(BUNDLE), { reason: 'ServiceUnavailable' })
})

test('a key that decrypts nothing is read again, and the cache has an end', async () => {
  const { client, stored, requests } = api()
  const keys = createValuesKeys(client, createSeededIds('cache'))
  await keys.make(BUNDLE)
  stored.set(`${AT.namespace}/${AT.name}`, secretWith(VALUES_KEY_BYTES))
  assert.notEqual(textOf(await keys.of(BUNDLE)), base64(new Uint8Array(VALUES_KEY_BYTES).fill(7)))
  keys.forget(BUNDLE)
  assert.equal(textOf(await keys.of(BUNDLE)), base64(new Uint8Array(VALUES_KEY_BYTES).fill(7)))
  for (let at = 0; at < 1000; at++) await keys.make(`shop/other-${at}`)
  const before = requests.length
  await keys.of(BUNDLE)
  await keys.of('shop/other-999')
  assert.deepEqual(requests.slice(before), [`get ${AT.namespace}/${AT.name}`])
})
