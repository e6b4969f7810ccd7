import { PgpError, verifyCleartext } from './openpgp.ts'
import { SourceError } from './source-error.ts'

/** A chart and the file beside it that says who made it. */
export interface Provenance {
  readonly provenance: Uint8Array
  /** Armored public keys. */
  readonly keyring: string | undefined
  /** The archive's name. */
  readonly file: string
  readonly digest: string
}

/** Throws unless a key of the keyring signed exactly this archive. */
export function verifyProvenance({ provenance, keyring, file, digest }: Provenance): void {
  if (keyring === undefined) {
    throw new SourceError(
      'KeyringMissing',
      'spec.helm.verify needs "keyring" (armored public keys) in the Secret of spec.credentials.',
    )
  }
  try {
    const { text } = verifyCleartext(Buffer.from(provenance).toString('utf8'), keyring)
    const line = text.split('\n').find((one) => one.trim().startsWith(`${file}:`))
    const signed = line
      ?.trim()
      .slice(file.length + 1)
      .trim()
    if (signed !== digest) {
      throw new PgpError(`it speaks of ${signed ?? 'other files'}, and ${file} has the digest ${digest}`)
    }
  } catch (caught) {
    if (!(caught instanceof PgpError)) throw caught
    throw new SourceError('NotVerified', `The signature of ${file} does not hold: ${caught.message}.`, {
      retry: true,
      cause: caught,
    })
  }
}
