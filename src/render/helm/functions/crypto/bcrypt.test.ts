import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { utf8 } from '../../../../core/bytes.ts'
import { saltOfHash } from '../../../../testing/helm/bcrypt-salt.ts'
import { bcryptHash } from './bcrypt.ts'

describe('bcryptHash', () => {
  test('gives the hashes that every implementation gives', () => {
    const known: readonly (readonly [string, string])[] = [
      ['U*U', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW'],
      ['U*U*', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK'],
      ['U*U*U', '$2a$05$XXXXXXXXXXXXXXXXXXXXXOAcXxm9kjPGEMsLznoKqmqw7tc8WCx4a'],
      ['', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy'],
    ]
    for (const [password, hash] of known) assert.equal(bcryptHash(utf8(password), saltOfHash(hash), 5), hash)
  })

  test('what is remembered is told apart by password, salt and cost', () => {
    const salt = new Uint8Array(16)
    const one = bcryptHash(utf8('a'), salt, 4)
    assert.equal(bcryptHash(utf8('a'), salt, 4), one)
    const others = [
      bcryptHash(utf8('b'), salt, 4),
      bcryptHash(utf8('a'), salt, 5),
      bcryptHash(utf8('a'), new Uint8Array(16).fill(1), 4),
    ]
    assert.equal(new Set([one, ...others]).size, 4)
  })
})
