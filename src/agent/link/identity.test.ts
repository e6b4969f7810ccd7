import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { countingIds } from '../../testing/fixtures/wire-builders.ts'
import { formatJoinCode, tokenSecret } from '../../wire/trust/join-code.ts'
import { AGENT_FILES, createMemoryStorage } from '../storage/storage.ts'
import { loadIdentity, saveIdentity, withoutJoinToken } from './identity.ts'

describe('identity', () => {
  const codeFor = (root: string, fill = 1) =>
    formatJoinCode({
      endpoints: ['https://hub:7444'],
      root: digestOf(root),
      token: { name: 'x', secret: tokenSecret(new Uint8Array(32).fill(fill)) },
    })
  const newKeyPair = seededKeys(countingIds())

  it('is made once, takes a newer code of its hub, and refuses another hub', async () => {
    const storage = createMemoryStorage()
    await assert.rejects(loadIdentity(storage, { newKeyPair }), /--join/)
    const made = await loadIdentity(storage, { joinCode: codeFor('hub'), newKeyPair })
    assert.deepEqual(await loadIdentity(storage, { newKeyPair }), made)
    const renewed = await loadIdentity(storage, { joinCode: codeFor('hub', 2), newKeyPair })
    assert.equal(renewed.identityKey, made.identityKey)
    assert.notEqual(renewed.token.secret, made.token.secret)
    await assert.rejects(loadIdentity(storage, { joinCode: codeFor('other'), newKeyPair }), /another --data directory/)
  })

  it('takes another name until the hub has enrolled the cluster', async () => {
    const storage = createMemoryStorage()
    const joinCode = codeFor('hub')
    const nameOf = async (clusterName?: string) =>
      (await loadIdentity(storage, { joinCode, newKeyPair, ...(clusterName === undefined ? {} : { clusterName }) }))
        .clusterName
    assert.deepEqual([await nameOf(), await nameOf('shop-1'), await nameOf()], [undefined, 'shop-1', 'shop-1'])
    const known = await loadIdentity(storage, { joinCode, newKeyPair })
    assert.equal(await nameOf('shop-2'), 'shop-2')
    await saveIdentity(storage, { ...known, clusterId: 'c-1', clusterName: 'shop-1' })
    assert.equal(await nameOf('shop-2'), 'shop-1')
  })

  it('F22: keeps no token beside a certificate, and takes the token back only without one', async () => {
    const storage = createMemoryStorage()
    const joinCode = codeFor('hub')
    const made = await loadIdentity(storage, { joinCode, newKeyPair })
    await saveIdentity(storage, withoutJoinToken(made))
    assert.equal((await loadIdentity(storage, { joinCode, newKeyPair })).token.secret, made.token.secret)
    const transport = { certificate: 'PEM', privateKey: 'PEM', renewAt: 0 }
    await storage.write(AGENT_FILES.transport, utf8(JSON.stringify(transport)))
    await saveIdentity(storage, withoutJoinToken(made))
    assert.equal((await loadIdentity(storage, { joinCode, newKeyPair })).token.secret, '')
  })
})
