/**
 * Secret values of a Bundle as the hub stores them: one blob per distinct content, encrypted with a key of that Bundle
 * alone. The key is in the hub's Secret `BUNDLE-values-key`, which the embedded home seals at rest; blobs, their
 * backups and their mirrors contain ciphertext only. All results depend on the values and the key alone, without random
 * numbers: equal values give an equal blob, and a cluster gets equal sealed values, so that a repeated rendering or
 * sealing causes no new Release, document or transfer.
 */
import { aeadOpen, aeadSeal, base64, fromBase64, fromUtf8, hkdf, hmacSha256, utf8 } from '../../core/bytes.ts'
import { canonicalJson } from '../../core/json.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { Secret } from '../../core/secret.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { SecretData } from '../../render/secret-values.ts'
import { LIMITS } from '../../wire/limits.ts'
import { sealValues } from '../../wire/document/sealed-values.ts'
import type { SealedContext } from '../../wire/document/sealed-values.ts'
import { parseJson } from '../../wire/validate.ts'

/** Values by slot. */
export type SlotValues = ReadonlyMap<string, Secret<SecretData>>

/** The key of a Bundle: 32 bytes. */
export type ValuesKey = Secret<Uint8Array>

/** The length of a Bundle's key in bytes. */
export const VALUES_KEY_BYTES = 32

const NONCE = new Uint8Array(12)
const SALT = new Uint8Array()

const KeptValues = Type.Object({
  format: Type.Literal('flotilla.dev/values/v1'),
  mark: Type.String(),
  box: Type.String(),
})

/** Encrypts the values of a Bundle; returns the blob. */
export function encryptValues(bundle: string, values: SlotValues, key: ValuesKey): Uint8Array {
  const sorted = [...values].map(([slot, data]) => [slot, data.reveal()] as const)
  const plain = utf8(canonicalJson(Object.fromEntries(sorted)))
  // A code of the values that only the key can make. Each distinct content has its own key derived from it, so no nonce
  // is repeated.
  const mark = hmacSha256(derived(key, ['mark', bundle]), plain)
  const box = aeadSeal(contentKey(key, bundle, mark), NONCE, plain, utf8(bundle))
  return utf8(canonicalJson({ format: 'flotilla.dev/values/v1', mark: base64(mark), box: base64(box) }))
}

/** Decrypts a blob; undefined when the blob was encrypted with another key or for another Bundle, or was changed. */
export function decryptValues(bundle: string, blob: Uint8Array, key: ValuesKey): SlotValues | undefined {
  try {
    const kept = parseJson(KeptValues, blob, { what: 'values', maxBytes: LIMITS.blobBytes })
    const mark = fromBase64(kept.mark)
    const plain = aeadOpen(contentKey(key, bundle, mark), NONCE, fromBase64(kept.box), utf8(bundle))
    const values = JSON.parse(fromUtf8(plain)) as Record<string, SecretData>
    return new Map(Object.entries(values).map(([slot, data]) => [slot, new Secret(data)]))
  } catch {
    // The cause is not reported: a blob that cannot be decrypted counts as missing.
    return undefined
  }
}

/** Seals values to a cluster's key. */
export function sealFor(context: SealedContext, sealingKey: string, values: SlotValues, key: ValuesKey): Uint8Array {
  const seed = derived(key, ['ephemeral', context.clusterId, context.bundle, context.values, sealingKey], 48)
  const slots = new Map([...values].map(([slot, data]) => [slot, new Secret(utf8(canonicalJson(data.reveal())))]))
  return sealValues(context, sealingKey, slots, keyPairFromSeed('x25519', seed))
}

function contentKey(key: ValuesKey, bundle: string, mark: Uint8Array): Uint8Array {
  return hkdf(key.reveal(), mark, canonicalJson(['flotilla.dev/values/v1', 'content', bundle]), 32)
}

function derived(key: ValuesKey, about: readonly string[], length = 32): Uint8Array {
  return hkdf(key.reveal(), SALT, canonicalJson(['flotilla.dev/values/v1', ...about]), length)
}
