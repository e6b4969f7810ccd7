// Tested by src/wire/document/sealed-values.test.ts and src/plan/drift/drift-values.test.ts
/**
 * Boxes between an ephemeral X25519 key and the key of a recipient.
 *
 *   X25519(ephemeral, recipient) ─▶ HKDF(keys, about) ─▶ AES-256-GCM, one key for each box
 *
 * `about` says where a box belongs: a box that is moved to another place does not open.
 */
import { aeadOpen, aeadSeal, hkdf, utf8 } from '../bytes.ts'

/** Both public keys of a box, SPKI in base64. */
export interface BoxKeys {
  readonly ephemeral: string
  readonly recipient: string
}

// Every box has a key of its own, so that its nonce has nothing to tell apart.
const NONCE = new Uint8Array(12)
const KEY_BYTES = 32

function keyOf(secret: Uint8Array, { ephemeral, recipient }: BoxKeys, about: string): Uint8Array {
  return hkdf(secret, utf8(`${ephemeral} ${recipient}`), about, KEY_BYTES)
}

export function sealBox(secret: Uint8Array, keys: BoxKeys, about: string, plain: Uint8Array): Uint8Array {
  return aeadSeal(keyOf(secret, keys, about), NONCE, plain, utf8(about))
}

/** Opens a box; throws when it belongs to another place or was changed. */
export function openBox(secret: Uint8Array, keys: BoxKeys, about: string, box: Uint8Array): Uint8Array {
  return aeadOpen(keyOf(secret, keys, about), NONCE, box, utf8(about))
}
