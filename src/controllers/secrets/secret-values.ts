/**
 * Secret values of a bundle as the hub keeps them: one blob per distinct content, encrypted with a key of that bundle alone. The key is in the hub
 * Secret `BUNDLE-values-key`, which the embedded home seals at rest; blobs, their backups and their mirrors hold ciphertext only.
 *
 * Everything here is made from the values and that key, without a draw: the same values are the same blob, and the same cluster gets the same sealed
 * values, so that nothing is released, signed or sent again because somebody rendered or sealed again.
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

/** A bundle's key: 32 bytes. */
export type ValuesKey = Secret<Uint8Array>

/** How long a bundle's key is. */
export const VALUES_KEY_BYTES = 32

const NONCE = new Uint8Array(12)
const SALT = new Uint8Array()

const KeptValues = Type.Object({
  format: Type.Literal('flotilla.dev/values/v1'),
  mark: Type.String(),
  box: Type.String(),
})

/** The blob of a bundle's values. */
export function encryptValues(bundle: string, values: SlotValues, key: ValuesKey): Uint8Array {
  const sorted = [...values].map(([slot, data]) => [slot, data.reveal()] as const)
  const plain = utf8(canonicalJson(Object.fromEntries(sorted)))
  // A mark of the values that only the key can make; each distinct content has a key of its own by it, and no nonce to repeat.
  const mark = hmacSha256(derived(key, ['mark', bundle]), plain)
  const box = aeadSeal(contentKey(key, bundle, mark), NONCE, plain, utf8(bundle))
  return utf8(canonicalJson({ format: 'flotilla.dev/values/v1', mark: base64(mark), box: base64(box) }))
}

/** The values of such a blob; undefined when it was encrypted with another key, for another bundle, or changed. */
export function decryptValues(bundle: string, blob: Uint8Array, key: ValuesKey): SlotValues | undefined {
  try {
    const kept = parseJson(KeptValues, blob, { what: 'values', maxBytes: LIMITS.blobBytes })
    const mark = fromBase64(kept.mark)
    const plain = aeadOpen(contentKey(key, bundle, mark), NONCE, fromBase64(kept.box), utf8(bundle))
    const values = JSON.parse(fromUtf8(plain)) as Record<string, SecretData>
    return new Map(Object.entries(values).map(([slot, data]) => [slot, new Secret(data)]))
  } catch {
    // Why is nobody's business: what does not open is not there.
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
