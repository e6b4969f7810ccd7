import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { Secret } from '../../core/secret.ts'
import { createKeyRing, dataKeyOf, pgpKeysOf, pgpMessagesIn } from './key-ring.ts'
import type { MasterKey, SopsMetadata } from './metadata.ts'

const MESSAGE = '-----BEGIN PGP MESSAGE-----\n\nabc=\n-----END PGP MESSAGE-----'

const metadata = (...groups: MasterKey[][]): SopsMetadata => ({
  groups,
  threshold: groups.length > 1 ? groups.length : 0,
  mac: '',
  lastModified: '',
  macOnlyEncrypted: false,
  isEncrypted: () => true,
})
const pgp: MasterKey = { type: 'pgp', name: 'ABCD', enc: `${MESSAGE}\n` }

test('messages are found in every form in which files have them', () => {
  const indented = MESSAGE.replaceAll('\n', '\n      ')
  for (const text of [MESSAGE, `enc: |\n      ${indented}\n`, `sops_pgp=${MESSAGE.replaceAll('\n', '\\n')}`]) {
    assert.deepEqual(pgpMessagesIn(utf8(text)), [MESSAGE])
  }
  assert.deepEqual(pgpMessagesIn(Uint8Array.of(0xff)), [])
})

test('a message that was not opened is wanted; an opened one gives the data key or its problem', () => {
  const ring = createKeyRing(new Map())
  assert.throws(() => dataKeyOf(metadata([pgp]), ring), /ABCD: FAILED/)
  assert.deepEqual([...ring.wanted], [MESSAGE])
  const opened = createKeyRing(new Map(), new Map([[MESSAGE, { dataKey: new Secret(Uint8Array.of(1)) }]]))
  assert.deepEqual([...dataKeyOf(metadata([pgp]), opened)], [1])
  const locked = createKeyRing(new Map(), new Map([[MESSAGE, { problem: 'no secret key' }]]))
  assert.throws(() => dataKeyOf(metadata([pgp]), locked), /no secret key/)
})

test('the failure of a key file is told where a key is missing, and each group has its line', () => {
  const ring = createKeyRing(new Map([['a.agekey', 'nonsense']]))
  const age: MasterKey = { type: 'age', name: 'age1x', enc: 'x' }
  assert.throws(
    () => dataKeyOf(metadata([age]), ring),
    /key 'a\.agekey' of the\n {6}\| decryption Secret: error at line 1/,
  )
  assert.throws(
    () => dataKeyOf(metadata([age], [age]), ring),
    /Group 1: FAILED[\s\S]*Shamir threshold of\n2, but only 0 part/,
  )
})

test('keys of OpenPGP are those with the name *.asc', () => {
  assert.deepEqual(
    pgpKeysOf(
      new Map([
        ['a.asc', 'x'],
        ['b.txt', 'y'],
      ]),
    ),
    ['x'],
  )
})
