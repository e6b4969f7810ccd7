import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { seededKeys } from '../../core/crypto/key-pair.ts'
import { buildDocument, buildTrust, countingIds, WIRE_START } from '../../testing/fixtures/wire-builders.ts'
import { loadTrust, TRUST_FILES } from './hub-keys.ts'
import { newEpoch, setMinAgentVersion, rotateCa, rotateSigner } from './rotate-keys.ts'
import type { FileChange } from './rotate-keys.ts'
import { openDocument, signDocument } from '../document/signed-document.ts'
import { acceptTrust, allSignerKeys, trustVersionOf } from './trust-bundle.ts'

function folder() {
  const ids = countingIds(5)
  const { files } = buildTrust()
  const rootKey = files[TRUST_FILES.root]!
  // The root is kept elsewhere.
  delete files[TRUST_FILES.root]
  const load = () => loadTrust((name) => files[name])
  const change = { rootKey, newKeyPair: seededKeys(ids), now: WIRE_START, serial: ids.bytes(16), dropOld: false }
  /** Writes the files one by one; after each of them a hub must start, or say why not. */
  const write = (changes: readonly FileChange[], mayStop = false) => {
    for (const { name, text } of changes) {
      files[name] = text
      if (!mayStop) load()
    }
    return load()
  }
  return { files, load, change, write }
}

describe('a rotation', () => {
  it('of the signer keeps what was signed, unless the old one is dropped', () => {
    const { load, change, write } = folder()
    const before = load()
    const old = signDocument(before.signer, buildDocument())
    const after = write(rotateSigner(before, change))
    assert.notEqual(after.signer.keyId, before.signer.keyId)
    assert.ok(openDocument(old, after.newest.signers))
    assert.ok(openDocument(signDocument(after.signer, buildDocument()), after.newest.signers))
    const dropped = write(rotateSigner(after, { ...change, dropOld: true }), true)
    assert.equal(dropped.newest.signers.length, 1)
    assert.throws(() => openDocument(old, dropped.newest.signers), /not trusted/)
    assert.equal(allSignerKeys(dropped).length, 3, 'what was ever signed can still be recognised')
  })

  it('of the CA names both, and an agent that was away walks through all of them', () => {
    const { load, change, write } = folder()
    const first = load()
    let trust = first
    for (let round = 0; round < 5; round++) {
      trust = write(rotateCa(trust, { ...change, serial: new Uint8Array(16).fill(round) }), true)
      trust = write(rotateSigner(trust, change))
    }
    trust = write(newEpoch(trust, change))
    trust = write(setMinAgentVersion(trust, '0.3.0', change))
    assert.ok(trust.newest.bundle.transportCas.length <= 4 && trust.newest.bundle.signers.length <= 4)
    let held = acceptTrust(trust.root, undefined, trust.envelopes[0]!)
    for (const envelope of trust.envelopes.filter((one) => trustVersionOf(one) > held.bundle.version)) {
      held = acceptTrust(trust.root, held, envelope)
    }
    assert.equal(held.digest, trust.newest.digest)
    assert.deepEqual([held.bundle.epoch, held.bundle.minAgentVersion], [2, '0.3.0'])
  })

  it('needs the very root that agents believe', () => {
    const { load, change } = folder()
    const other = buildTrust(9).files[TRUST_FILES.root]!
    assert.throws(() => rotateSigner(load(), { ...change, rootKey: other }), /the agents of this hub believe sha256:/)
    assert.throws(() => rotateSigner(load(), { ...change, rootKey: 'x' }), /not a private key/)
  })

  it('of the CA that was interrupted is found out, with the way back', () => {
    const { files, load, change } = folder()
    const changes = rotateCa(load(), change)
    for (const { name, text } of changes.slice(0, -1)) files[name] = text
    assert.throws(load, /does not belong to transport-ca\.crt; put both files that end in \.old back/)
    for (const name of [TRUST_FILES.caKey, TRUST_FILES.caCertificate]) files[name] = files[`${name}.old`]!
    load()
  })
})
