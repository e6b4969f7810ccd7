import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { publicKeyOf } from '../../core/bytes.ts'
import { parseCertificate, wasIssuedBy } from '../../core/crypto/x509.ts'
import { buildTrust, countingIds, WIRE_START } from '../../testing/fixtures/wire-builders.ts'
import { keyIdOf } from './envelope.ts'
import { amendTrust, issueAgentCertificate, loadTrust, TRUST_FILES } from './hub-keys.ts'
import { acceptTrust, signTrustBundle, verifyRoot, writePublicKey } from './trust-bundle.ts'

describe('trust', () => {
  it('starts at the pinned root and walks forward', () => {
    const { trust } = buildTrust()
    const root = verifyRoot(trust.root.keyId, writePublicKey(trust.root.publicKey))
    const first = acceptTrust(root, undefined, trust.envelopes[0]!)
    assert.equal(first.bundle.version, 1)
    assert.equal(first.signers[0]!.keyId, trust.signer.keyId)
  })

  it('names both fingerprints when the hub is another one', () => {
    const { trust } = buildTrust(1)
    const stranger = buildTrust(2).trust
    assert.throws(
      () => verifyRoot(trust.root.keyId, writePublicKey(stranger.root.publicKey)),
      (caught) =>
        caught instanceof Error &&
        caught.message.includes(trust.root.keyId) &&
        caught.message.includes(stranger.root.keyId),
    )
    assert.throws(() => acceptTrust(trust.root, undefined, stranger.envelopes[0]!), /not trusted/)
  })

  it('is amended by the root alone, keeps every version and chains them', () => {
    const { files, trust } = buildTrust()
    files[TRUST_FILES.bundles] = amendTrust(trust, { endpoints: ['https://new.example'] }, WIRE_START)
    const second = loadTrust((name) => files[name])
    assert.equal(second.newest.bundle.version, 2)
    assert.equal(second.newest.bundle.previous, trust.newest.digest)
    assert.deepEqual(second.newest.bundle.endpoints, ['https://new.example'])
    assert.equal(second.envelopes.length, 2)

    const withoutRoot = loadTrust((name) => (name === TRUST_FILES.root ? undefined : files[name]))
    assert.equal(withoutRoot.newest.bundle.version, 2)
    assert.throws(() => amendTrust(withoutRoot, {}, WIRE_START), /root key is not here/)
    assert.throws(
      () => loadTrust((name) => (name === TRUST_FILES.signer ? undefined : files[name])),
      /signer\.key is missing/,
    )
  })

  it('never goes back', () => {
    const { files, trust } = buildTrust()
    files[TRUST_FILES.bundles] = amendTrust(trust, { epoch: 2 }, WIRE_START)
    const held = loadTrust((name) => files[name]).newest
    assert.throws(() => acceptTrust(trust.root, held, trust.envelopes[0]!), /not newer/)
    const next = { ...held.bundle, version: 3, previous: held.digest }
    const sign = (bundle: typeof next) => signTrustBundle(trust.rootSigner!, bundle)
    assert.equal(acceptTrust(trust.root, held, sign(next)).bundle.version, 3)
    assert.throws(() => acceptTrust(trust.root, held, sign({ ...next, epoch: 1 })), /back to epoch 1/)
    assert.throws(
      () => acceptTrust(trust.root, held, sign({ ...next, previous: trust.newest.digest, version: 3 })),
      /does not follow/,
    )
    // A gap is allowed: the root signed each version, and the agent may have missed some.
    assert.equal(acceptTrust(trust.root, held, sign({ ...next, version: 9 })).bundle.version, 9)
  })

  it('issues agent certificates with the whole id as common name', () => {
    const { trust } = buildTrust()
    const ids = countingIds(3)
    const issued = issueAgentCertificate(trust.transportCa, {
      clusterId: 'c-1',
      publicKey: trust.root.publicKey,
      serial: ids.bytes(16),
      now: WIRE_START,
    })
    const read = parseCertificate(issued.certificate)
    assert.deepEqual(read.subject, { commonName: 'c-1', organizations: ['flotilla:agents'] })
    assert.ok(wasIssuedBy(issued.certificate, trust.transportCa.certificate))
    assert.equal(read.fingerprint, issued.fingerprint)
    assert.equal(keyIdOf(publicKeyOf(trust.signer.privateKey)), trust.signer.keyId)
  })
})
