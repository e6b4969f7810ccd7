/** Key pairs from given random bytes: equal bytes give equal keys. */
import { publicKeyOf } from '../bytes.ts'
import type { KeyPair } from '../bytes.ts'
import { element, objectIdentifier, octetString, sequence, smallInteger, contextTag } from './der.ts'
import type { Ids } from '../ids.ts'
import { toPem } from './pem.ts'

/** Ed25519 signs documents, P-256 speaks TLS, X25519 seals. */
export type KeyType = 'ed25519' | 'p256' | 'x25519'

/** Makes a new key pair; composition roots pass `generateKeyPair` of core/bytes.ts, simulations `seededKeys`. */
export type NewKeyPair = (type: KeyType) => KeyPair

const OID = {
  ed25519: '1.3.101.112',
  x25519: '1.3.101.110',
  ecPublicKey: '1.2.840.10045.2.1',
  p256: '1.2.840.10045.3.1.7',
}
const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

/** The key pair that belongs to 48 random bytes. */
export function keyPairFromSeed(type: KeyType, seed: Uint8Array): KeyPair {
  if (seed.byteLength < 48) throw new RangeError(`a key needs 48 bytes of seed, got ${seed.byteLength}`)
  const privateKey = toPem('PRIVATE KEY', type === 'p256' ? p256Pkcs8(seed) : edwardsPkcs8(type, seed))
  return { privateKey, publicKey: publicKeyOf(privateKey) }
}

function edwardsPkcs8(type: 'ed25519' | 'x25519', seed: Uint8Array): Uint8Array {
  const algorithm = sequence(objectIdentifier(OID[type]))
  return sequence(smallInteger(0), algorithm, octetString(octetString(seed.subarray(0, 32))))
}

// 48 bytes reduced modulo the order leave a bias far below 2^-100 (FIPS 186-5, A.2.1 "extra random bits").
function p256Pkcs8(seed: Uint8Array): Uint8Array {
  const wide = seed.subarray(0, 48).reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  const digits = ((wide % (P256_ORDER - 1n)) + 1n).toString(16).padStart(64, '0')
  const scalar = Uint8Array.from(digits.match(/../g)!, (pair) => Number.parseInt(pair, 16))
  const ecKey = sequence(
    smallInteger(1),
    octetString(scalar),
    element(contextTag(0, 'constructed'), objectIdentifier(OID.p256)),
  )
  const algorithm = sequence(objectIdentifier(OID.ecPublicKey), objectIdentifier(OID.p256))
  return sequence(smallInteger(0), algorithm, octetString(ecKey))
}

/**
 * Keys for a simulation: the same ids give the same keys. Ed25519 stands in for P-256, because ECDSA draws a random
 * number for each signature and its certificates would differ from run to run.
 */
export function seededKeys(ids: Ids): NewKeyPair {
  return (type) => keyPairFromSeed(type === 'p256' ? 'ed25519' : type, ids.bytes(48))
}
