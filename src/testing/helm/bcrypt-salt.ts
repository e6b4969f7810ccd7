const ALPHABET = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** The 16 bytes of salt inside a bcrypt hash such as `$2a$10$…`. */
export function saltOfHash(hash: string): Uint8Array {
  const text = Array.from(hash.slice(7, 29), (char) => BASE64[ALPHABET.indexOf(char)]).join('')
  return Buffer.from(text, 'base64')
}
