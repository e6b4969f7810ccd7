/** OpenPGP signatures, verified by the package `openpgp` (ADR 0021). */
import { toError } from '../../core/errors.ts'
import { toDate } from '../../core/time/time.ts'

/** A signed message or a keyring that cannot be read, or a signature that is not valid. */
export class PgpError extends Error {
  override readonly name = 'PgpError'
}

const PUBLIC_KEY_BLOCK = /-----BEGIN PGP PUBLIC KEY BLOCK-----[\s\S]*?-----END PGP PUBLIC KEY BLOCK-----/g

/**
 * Verifies a cleartext message with the armored public keys of a keyring and returns the signed text. Rejects with
 * PgpError unless a key of the keyring made a signature that is not later than `now`, and was valid at the time of the
 * signature.
 */
export async function verifyCleartext(message: string, keyring: string, now: number): Promise<string> {
  const { readCleartextMessage, verify } = await loaded()
  const cleartext = await explained(
    'the file is not an OpenPGP signed message',
    readCleartextMessage({ cleartextMessage: message }),
  )
  const verificationKeys = await keysIn(keyring)
  const { data, signatures } = await explained(
    'the signature cannot be read',
    verify({ message: cleartext, verificationKeys, date: toDate(now) }),
  )
  const results = await Promise.allSettled(signatures.map(({ verified }) => verified))
  if (results.some(({ status }) => status === 'fulfilled')) return data
  const [reason] = results.flatMap((result) => (result.status === 'rejected' ? [toError(result.reason).message] : []))
  throw new PgpError(`no key of the keyring signed the file${reason === undefined ? '' : ` (${reason})`}`)
}

/**
 * Verifies a detached signature of bytes and returns the id of the key. Rejects with PgpError unless a key of the
 * keyring made a signature that is not later than `now`, and was valid at the time of the signature.
 */
export async function verifyDetached(
  { signed, signature: armoredSignature }: { readonly signed: Uint8Array; readonly signature: string },
  keyring: string,
  now: number,
): Promise<string> {
  const { createMessage, readSignature, verify } = await loaded()
  const signature = await explained('the signature cannot be read', readSignature({ armoredSignature }))
  const verificationKeys = await keysIn(keyring)
  const message = await createMessage({ binary: signed })
  const { signatures } = await explained(
    'the signature cannot be read',
    verify({ message, signature, verificationKeys, date: toDate(now) }),
  )
  const results = await Promise.allSettled(
    signatures.map(async ({ verified, keyID }) => {
      await verified
      return keyID.toHex().toUpperCase()
    }),
  )
  for (const result of results) if (result.status === 'fulfilled') return result.value
  const [reason] = results.flatMap((result) => (result.status === 'rejected' ? [toError(result.reason).message] : []))
  throw new PgpError(`no key of the keyring signed it${reason === undefined ? '' : ` (${reason})`}`)
}

/** Loaded with the first signature: most hubs have none, and the package costs memory in the source thread. */
const loaded = () => import('openpgp')

async function keysIn(keyring: string) {
  const { readKeys } = await loaded()
  // A keyring may be several armored exports in one text, and the package reads the first one only.
  const blocks = (keyring.match(PUBLIC_KEY_BLOCK) ?? []).map((armoredKeys) => readKeys({ armoredKeys }))
  const keys = (await explained('the keyring cannot be read', Promise.all(blocks))).flat()
  if (keys.length === 0) throw new PgpError('the keyring has no armored public key')
  return keys
}

async function explained<T>(problem: string, result: Promise<T>): Promise<T> {
  try {
    return await result
  } catch (caught) {
    throw new PgpError(`${problem}: ${toError(caught).message}`, { cause: caught })
  }
}
