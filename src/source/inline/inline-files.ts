/** The files of a Source that are written into the Source itself. */
import { fromBase64, gunzip, utf8 } from '../../core/bytes.ts'
import { digestOfJson } from '../../core/crypto/digest.ts'
import type { Source } from '../../kinds/native/source.ts'
import { ARTIFACT_LIMITS } from '../artifact.ts'
import { reusablePrevious } from '../fetch-request.ts'
import type { FetchContext, FetchOutcome } from '../fetch-request.ts'
import { SourceError } from '../source-error.ts'
import { storeFiles } from '../store-files.ts'
import { checkPath, shownPath } from '../tree-entries.ts'

type InlineSpec = NonNullable<Source['spec']['inline']>
type InlineFile = InlineSpec['files'][number]

/** The bytes that all compressed files of one Source may unpack to: far more than an object of the API can describe. */
const UNPACKED_BYTES = 32 * 1024 * 1024

/** Stores the files of `spec.inline` as an artifact. */
export async function fetchInline(spec: InlineSpec, context: FetchContext): Promise<FetchOutcome> {
  const digest = digestOfJson(spec.files)
  if (reusablePrevious(context).same?.commit === digest) return { kind: 'Same' }
  const files = new Map<string, Uint8Array>()
  let left = UNPACKED_BYTES
  for (const file of spec.files) {
    checkPath(file.path)
    if (files.has(file.path)) {
      throw new SourceError('BadFiles', `spec.inline.files has ${shownPath(file.path)} twice.`)
    }
    const bytes = bytesOf(file, left)
    left -= bytes.byteLength
    files.set(file.path, bytes)
  }
  const stored = await storeFiles(files, context.spec, context.blobs)
  const artifact = { ...stored, revision: digest, commit: digest, fetchedBytes: 0, from: 'spec.inline' }
  return { kind: 'New', artifact }
}

function bytesOf({ path, content, encoding }: InlineFile, left: number): Uint8Array {
  const most = Math.min(left, ARTIFACT_LIMITS.fileBytes)
  if (encoding !== 'Gzip') return utf8(content)
  try {
    return gunzip(fromBase64(content), most)
  } catch (cause) {
    const message = `${shownPath(path)} of spec.inline.files is not base64 of gzip, or unpacks to more than ${most} bytes.`
    throw new SourceError('BadFiles', message, { cause })
  }
}
