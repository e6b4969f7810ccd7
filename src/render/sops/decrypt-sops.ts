/** Decrypts a file of SOPS with a key ring. Pure: messages of OpenPGP were opened before. */
import { concatBytes, equalBytes, hex, sha256, sha512, utf8 } from '../../core/bytes.ts'
import { formatTimestamp } from '../../yaml/timestamp.ts'
import { decryptValue } from './cipher.ts'
import { dataKeyOf } from './key-ring.ts'
import type { KeyRing } from './key-ring.ts'
import { readMetadata } from './metadata.ts'
import type { SopsMetadata } from './metadata.ts'
import { SopsError } from './sops-error.ts'
import { FORMAT_NAMES, SopsBranch, SopsComment, SopsTime } from './sops-tree.ts'
import type { SopsFile, SopsFormat, SopsLeaf, SopsValue } from './sops-tree.ts'
import { readSopsFile, writeSopsFile } from './stores/stores.ts'

/** What a decryption needs. */
export interface SopsOptions {
  readonly ring: KeyRing
  /** Refuses a file whose authentication code does not fit: one of its readable values or keys was changed. */
  readonly checkMac: boolean
  /** Writes this text instead of each decrypted value, for rules about what a repository has in readable form. */
  readonly mask?: string | undefined
}

/** Larger files are refused, as Flux does. */
const MAX_BYTES = 5 * 1024 * 1024

/** Decrypts a text of one format and returns the content in another; throws SopsError. */
export function decryptSops(
  data: string,
  formats: { readonly input: SopsFormat; readonly output: SopsFormat },
  options: SopsOptions,
): Uint8Array {
  const { input, output } = formats
  if (data.length > MAX_BYTES) {
    throw new SopsError(`cannot decrypt file with size (${data.length} bytes) exceeding limit (${MAX_BYTES})`)
  }
  const { file, metadata } = explained(`failed to load encrypted ${FORMAT_NAMES[input]} data`, () => {
    const read = readSopsFile(data, input)
    return { file: read, metadata: readMetadata(read.metadata) }
  })
  const key = explained('cannot get sops data key', () => dataKeyOf(metadata, options.ring))
  const computed = explained('error decrypting sops tree', () => decryptTree({ file, metadata, key }, options))
  if (options.checkMac) checkMac(metadata, key, computed)
  return explained(`failed to emit encrypted ${FORMAT_NAMES[input]} file as decrypted ${FORMAT_NAMES[output]}`, () =>
    writeSopsFile(file.branches, output),
  )
}

function explained<T>(problem: string, step: () => T): T {
  try {
    return step()
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
    throw new SopsError(`${problem}: ${caught.message}`)
  }
}

function checkMac({ mac, lastModified }: SopsMetadata, key: Uint8Array, computed: string): void {
  let written: SopsLeaf = null
  try {
    written = decryptValue(mac, key, lastModified)
  } catch (caught) {
    if (!(caught instanceof SopsError)) throw caught
  }
  if (typeof written === 'string' && equalBytes(utf8(written), utf8(computed))) return
  throw new SopsError('MAC mismatch: a value, a key or the metadata of the file was changed after it was encrypted')
}

interface OpenFile {
  readonly file: SopsFile
  readonly metadata: SopsMetadata
  readonly key: Uint8Array
}

/** Decrypts the branches in place and returns the authentication code of their values. */
function decryptTree({ file, metadata, key }: OpenFile, { ring, mask }: SopsOptions): string {
  const hashed: Uint8Array[] = metadata.macOnlyEncrypted ? [sha256('sops')] : []
  const comments: string[][] = []

  function leaf(value: SopsLeaf, path: readonly string[]): SopsLeaf {
    if (value === null) return null
    const isEncrypted = metadata.isEncrypted(path, comments)
    const opened = isEncrypted ? openLeaf(value, `${path.join(':')}:`) : value
    const isHashed = !metadata.macOnlyEncrypted || isEncrypted
    if (opened instanceof SopsComment) return opened
    if (isHashed) hashed.push(bytesOf(opened))
    if (!isEncrypted) return opened
    if (typeof opened === 'string') ring.revealed.push(opened)
    return mask ?? opened
  }

  function openLeaf(value: SopsLeaf, path: string): SopsLeaf {
    if (value instanceof SopsComment) return openComment(value, path)
    try {
      // A value that is not text was never encrypted.
      return decryptValue(typeof value === 'string' ? value : '<not text>', key, path)
    } catch (caught) {
      if (!(caught instanceof SopsError)) throw caught
      throw new SopsError(`Error walking tree: Could not decrypt value: ${caught.message}`)
    }
  }

  // A comment that does not open was never encrypted.
  function openComment(comment: SopsComment, path: string): SopsLeaf {
    try {
      const opened = decryptValue(comment.text, key, path)
      return typeof opened === 'string' ? new SopsComment(opened) : opened
    } catch (caught) {
      if (!(caught instanceof SopsError)) throw caught
      return comment
    }
  }

  function walk(value: SopsValue, path: readonly string[]): SopsValue {
    if (value instanceof SopsBranch) {
      walkBranch(value, path)
      return value
    }
    return Array.isArray(value) ? value.map((item) => walk(item, path)) : leaf(value, path)
  }

  function walkBranch(branch: SopsBranch, path: readonly string[]): void {
    const above: string[] = []
    comments.push(above)
    branch.items = branch.items.map((item) => {
      if (item.key === undefined) {
        above.push(item.comment.text)
        const opened = leaf(item.comment, path)
        return { comment: opened instanceof SopsComment ? opened : item.comment }
      }
      const value = walk(item.value, [...path, item.key])
      above.length = 0
      return { key: item.key, value }
    })
    comments.pop()
  }

  for (const branch of file.branches) walkBranch(branch, [])
  return hex(sha512(concatBytes(hashed))).toUpperCase()
}

/** The bytes of a value as SOPS authenticates them. */
function bytesOf(value: SopsLeaf): Uint8Array {
  if (value instanceof Uint8Array) return value
  if (value instanceof SopsTime) return utf8(formatTimestamp({ ...value.time, nanosecond: 0 }) ?? value.text)
  if (typeof value === 'boolean') return utf8(value ? 'True' : 'False')
  if (typeof value === 'number') return utf8(decimal(value))
  return utf8(value instanceof SopsComment ? value.text : String(value))
}

/** A float without an exponent, with the fewest digits that name it. */
function decimal(value: number): string {
  const text = String(value)
  const [, sign = '', whole = '', fraction = '', exponent] = /^(-?)(\d+)(?:\.(\d+))?e([+-]\d+)$/.exec(text) ?? []
  if (exponent === undefined) return text
  const shift = Number(exponent)
  const digits = whole + fraction
  const point = whole.length + shift
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return point >= digits.length
    ? sign + digits.padEnd(point, '0')
    : `${sign}${digits.slice(0, point)}.${digits.slice(point)}`
}
