import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { aeadOpen, aeadSeal, agree, generateKeyPair, sign, unzstd, utf8, verify, zstd } from './bytes.ts'

describe('bytes', () => {
  for (const type of ['ed25519', 'p256'] as const) {
    test(`${type} signatures hold for the signed bytes only`, () => {
      const key = generateKeyPair(type)
      const signature = sign(key.privateKey, utf8('document'))
      assert.ok(verify(key.publicKey, utf8('document'), signature))
      assert.ok(!verify(key.publicKey, utf8('documenT'), signature))
      assert.ok(!verify(generateKeyPair(type).publicKey, utf8('document'), signature))
      assert.ok(!verify('not a key', utf8('document'), signature))
    })
  }

  test('two X25519 halves agree', () => {
    const [a, b] = [generateKeyPair('x25519'), generateKeyPair('x25519')]
    assert.deepEqual(agree(a.privateKey, b.publicKey), agree(b.privateKey, a.publicKey))
  })

  test('sealed bytes open only unchanged, with the same associated data', () => {
    const [key, nonce] = [new Uint8Array(32).fill(1), new Uint8Array(12)]
    const sealed = aeadSeal(key, nonce, utf8('secret'), utf8('slot-a'))
    assert.deepEqual(aeadOpen(key, nonce, sealed, utf8('slot-a')), utf8('secret'))
    assert.throws(() => aeadOpen(key, nonce, sealed, utf8('slot-b')))
    sealed[0]! ^= 1
    assert.throws(() => aeadOpen(key, nonce, sealed, utf8('slot-a')))
  })

  test('zstd against a base costs only the difference, also in megabytes', () => {
    const lines = Array.from({ length: 120_000 }, (_, line) => `line ${line} ${(line * 2_654_435_761) >>> 0}`)
    const base = utf8(lines.join('\n'))
    lines[7] = 'the one line that changed'
    const target = utf8(lines.join('\n'))
    const difference = zstd(target, base)
    assert.ok(difference.byteLength < 2_000, `${difference.byteLength} bytes for one line in ${target.byteLength}`)
    assert.deepEqual(unzstd(difference, target.byteLength, base), target)
  })

  test('decompression stops at its limit', () => {
    const bomb = zstd(new Uint8Array(10_000_000))
    assert.throws(() => unzstd(bomb, 1_000_000))
  })
})
