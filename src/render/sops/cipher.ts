// Tested by src/dialects/flux/recorded.contract.test.ts.
/** Single values of SOPS: `ENC[AES256_GCM,data:…,iv:…,tag:…,type:…]`. */
import { aeadOpen, concatBytes, fromBase64, fromUtf8, utf8 } from '../../core/bytes.ts'
import { SopsError } from './sops-error.ts'
import { SopsComment } from './sops-tree.ts'
import type { SopsLeaf } from './sops-tree.ts'

const FORM = /^ENC\[AES256_GCM,data:(.+),iv:(.+),tag:(.+),type:(.+)\]/s
const KEY_BYTES = 32
const TAG_BYTES = 16
const MAX_NONCE_BYTES = 64
const INTEGER = /^[+-]?\d+$/
// Go's ParseFloat without hexadecimal numbers, which SOPS does not write.
const FLOAT = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i

/** Opens a value; throws SopsError. Empty texts are not encrypted. */
export function decryptValue(sealed: string, key: Uint8Array, associated: string): SopsLeaf {
  if (sealed === '') return ''
  const [, data, iv, tag, type] = FORM.exec(sealed) ?? []
  if (data === undefined || iv === undefined || tag === undefined) {
    throw new SopsError("Input string <redacted> does not match sops' data format")
  }
  const bytes = open({ key, nonce: fromBase64(iv), data: fromBase64(data), tag: fromBase64(tag) }, associated)
  return valueOf(bytes, type!)
}

interface Sealed {
  readonly key: Uint8Array
  readonly nonce: Uint8Array
  readonly data: Uint8Array
  readonly tag: Uint8Array
}

function open({ key, nonce, data, tag }: Sealed, associated: string): Uint8Array {
  if (key.byteLength !== KEY_BYTES) throw new SopsError('the data key has the wrong length')
  const isRight = tag.byteLength === TAG_BYTES && nonce.byteLength > 0 && nonce.byteLength <= MAX_NONCE_BYTES
  if (!isRight) throw new SopsError('Could not decrypt with AES_GCM: wrong length of iv or tag')
  try {
    return aeadOpen(key, nonce, concatBytes([data, tag]), utf8(associated))
  } catch {
    throw new SopsError('Could not decrypt with AES_GCM: cipher: message authentication failed')
  }
}

function valueOf(bytes: Uint8Array, type: string): SopsLeaf {
  if (type === 'bytes') return bytes
  const text = textOf(bytes)
  // A file that is no text is one value of a binary file.
  if (text === undefined) {
    if (type === 'str') return bytes
    throw new SopsError('a decrypted value is not UTF-8 text')
  }
  switch (type) {
    case 'str':
      return text
    case 'comment':
      return new SopsComment(text)
    case 'int':
      if (INTEGER.test(text)) return BigInt(text)
      break
    case 'float':
      // Its own digits were checked.
      if (FLOAT.test(text)) return Number(text)
      break
    case 'bool':
      if (/^(1|t|true)$/i.test(text)) return true
      if (/^(0|f|false)$/i.test(text)) return false
      break
    default:
      throw new SopsError(`Unknown datatype: ${type.slice(0, 32)}`)
  }
  throw new SopsError(`a decrypted value is not of its type ${type}`)
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return fromUtf8(bytes)
  } catch {
    return undefined
  }
}
