/** A file of SOPS that cannot be read or decrypted, in SOPS' words. A message never contains a value. */
export class SopsError extends Error {
  override readonly name = 'SopsError'
}
