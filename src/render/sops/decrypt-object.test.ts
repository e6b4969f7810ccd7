import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, concatBytes, utf8 } from '../../core/bytes.ts'
import { isObject } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { AGE_KEY, encryptSops } from '../../testing/sops/encrypt-sops.ts'
import { readFirstYaml } from '../../yaml/read/read-yaml.ts'
import { readIdentities } from './age.ts'
import { decryptObject, macOf } from './decrypt-object.ts'
import { createKeyRing } from './key-ring.ts'

const SECRET = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db', namespace: 'apps' }, data: { word: 'x' } }
const ORIGINAL = encryptSops(SECRET, readIdentities(AGE_KEY)[0]!.recipient)
const MAC = macOf(JSON.parse(ORIGINAL) as JsonObject)!
const ALTERED = ORIGINAL.replace('"apps"', '"other"')

/** Decrypts the object of a copy, beside the file that SOPS wrote. */
function decrypt(copy: string | Uint8Array, object = objectIn(copy)): JsonObject {
  const files = [
    { path: 'original.yaml', bytes: utf8(ORIGINAL) },
    { path: 'copy.yaml', bytes: typeof copy === 'string' ? utf8(copy) : copy },
  ]
  const ring = createKeyRing(new Map([['a.agekey', AGE_KEY]]), new Map(), '')
  return decryptObject(object, { ring, checkMac: true, secretsOnly: true, files: () => files })
}

function objectIn(copy: string | Uint8Array): JsonObject {
  const { value } = readFirstYaml(typeof copy === 'string' ? copy : new TextDecoder().decode(copy), { resolver: '1.2' })
  assert.ok(isObject(value))
  return value
}

const escaped = MAC.replace('ENC[', '\\x45NC[')
const altered: [what: string, copy: string | Uint8Array][] = [
  ['as it is', ALTERED],
  ['with an escape', ALTERED.replace(MAC, escaped)],
  ['with its key escaped, too', ALTERED.replace(`"mac": "${MAC}"`, `"m\\x61c": "${escaped}"`)],
  ['in base64', ALTERED.replace(`"${MAC}"`, `!!binary "${base64(utf8(MAC))}"`)],
  ['in base64 with a whole tag', ALTERED.replace(`"${MAC}"`, `!<tag:yaml.org,2002:binary> "${base64(utf8(MAC))}"`)],
  [
    'with a handle of its own',
    `%TAG !e! tag:yaml.org,2002:\r---\r${ALTERED.replace(`"${MAC}"`, `!e!binary "${base64(utf8(MAC))}"`)}`,
  ],
  ['by an alias', ALTERED.replace(`"${MAC}"`, '*mac').replace('"data"', `"x": &mac "${escaped}", "data"`)],
  ['before a text that is not read', `${ALTERED.replace(MAC, escaped)}...\n[`],
  ['beside bytes that are no UTF-8', concatBytes([utf8(ALTERED), new Uint8Array([0x23, 0xff, 0x0a])])],
]

describe('the MAC of an object', () => {
  it('is the one of its file', () => {
    assert.deepEqual(decrypt(ORIGINAL)['metadata'], SECRET.metadata)
    assert.deepEqual(decrypt('no: secret\n', objectIn(ORIGINAL))['metadata'], SECRET.metadata)
    assert.throws(
      () =>
        decrypt(ORIGINAL, { ...objectIn(ORIGINAL), sops: { ...(objectIn(ORIGINAL)['sops'] as object), mac: 'ENC[' } }),
      /MAC mismatch: no file of the source has the MAC of the object/,
    )
  })

  for (const [what, copy] of altered) {
    it(`does not let an altered copy pass that has it ${what}`, () => {
      assert.equal(macOf(objectIn(copy)), MAC)
      assert.throws(() => decrypt(copy), /copy\.yaml/)
    })
  }

  it('is not a part of another one', () => {
    const copy = ALTERED.replace(MAC, '\\x45NC[')
    assert.throws(() => decrypt(copy), /copy\.yaml/)
  })

  it('does not let an altered copy in a list pass', () => {
    const list = `kind: List\nitems:\n- ${ALTERED.replace(MAC, escaped).replaceAll('\n', '\n  ')}`
    assert.throws(() => decrypt(list, objectIn(ALTERED)), /copy\.yaml/)
  })
})
