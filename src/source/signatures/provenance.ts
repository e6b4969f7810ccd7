/** Signed Helm charts: the `.prov` file beside an archive names its digest and carries an OpenPGP signature. */
import { PgpError, verifyCleartext } from './openpgp.ts'
import { SourceError } from '../source-error.ts'

/** A chart archive and the provenance file that must vouch for it. */
export interface Provenance {
  readonly provenance: Uint8Array
  /** Armored public keys. */
  readonly keyring: string | undefined
  /** Name of the archive, like `web-1.0.0.tgz`. */
  readonly file: string
  readonly digest: string
  /** The current time. A signature that is dated later is not valid. */
  readonly now: number
}

/** Rejects with SourceError unless a key of the keyring signed exactly this archive. */
export async function verifyProvenance({ provenance, keyring, file, digest, now }: Provenance): Promise<void> {
  if (keyring === undefined) {
    throw new SourceError(
      'KeyringMissing',
      'spec.helm.verify needs the key "keyring" (armored public keys) in the Secret of spec.credentials.',
    )
  }
  try {
    const text = await verifyCleartext(Buffer.from(provenance).toString('utf8'), keyring, now)
    const signed = signedDigest(text, file)
    if (signed === undefined) throw new PgpError('the signed text does not name this file')
    if (signed !== digest) throw new PgpError(`the signed digest is ${signed}, and the archive has ${digest}`)
  } catch (caught) {
    if (!(caught instanceof PgpError)) throw caught
    throw new SourceError('NotVerified', `The signature of ${file} is not valid: ${caught.message}.`, {
      retry: true,
      cause: caught,
    })
  }
}

function signedDigest(text: string, file: string): string | undefined {
  const line = text
    .split('\n')
    .map((untrimmed) => untrimmed.trim())
    .find((candidate) => candidate.startsWith(`${file}:`))
  return line?.slice(file.length + 1).trim()
}
