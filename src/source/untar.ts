/** Extracts archives: only regular files and directories, with clean paths, within the limits of an artifact. */
import { gunzip } from '../core/bytes.ts'
import { tarEntries, TarError } from '../core/tar.ts'
import type { TarEntry } from '../core/tar.ts'
import { ARTIFACT_LIMITS } from './artifact.ts'
import { SourceError } from './source-error.ts'
import { checkPath, shownPath } from './tree-entries.ts'

const KINDS: Readonly<Record<string, string>> = {
  '1': 'a hard link',
  '2': 'a link',
  '3': 'a device',
  '4': 'a device',
  '6': 'a pipe',
}

/** Extracts the files of a `.tar.gz` or `.tar` by path. `stripFirst` removes the top directory of a chart. */
export function extractFiles(
  archive: Uint8Array,
  options: { readonly name: string; readonly stripFirst: boolean },
): Map<string, Uint8Array> {
  const files = new Map<string, Uint8Array>()
  let bytes = 0
  for (const entry of entriesOf(archive, options.name)) {
    const path = pathOf(entry, options)
    if (path === undefined) continue
    bytes += entry.data.byteLength
    if (entry.data.byteLength > ARTIFACT_LIMITS.fileBytes || bytes > ARTIFACT_LIMITS.bytes) {
      throw new SourceError('TooLarge', `${options.name}: ${shownPath(path)} makes it larger than allowed.`)
    }
    if (files.size >= ARTIFACT_LIMITS.files) {
      throw new SourceError('TooManyFiles', `${options.name} has more than the ${ARTIFACT_LIMITS.files} files allowed.`)
    }
    files.set(path, new Uint8Array(entry.data))
  }
  if (files.size === 0) throw new SourceError('BadArchive', `${options.name} holds no files.`)
  return files
}

/** Text compresses to about a tenth. An archive that unpacks to far more was made to use up memory. */
const MAX_RATIO = 100
/** Small archives may unpack to this size in any case: a tar has at least 10 KiB, most of it zeros. */
const FREE_BYTES = 4 * 1024 * 1024

function unpackedLimit(packed: number): number {
  return Math.min(ARTIFACT_LIMITS.bytes + 64 * 1024 * 1024, Math.max(FREE_BYTES, packed * MAX_RATIO))
}

function* entriesOf(archive: Uint8Array, name: string): Generator<TarEntry> {
  let tar = archive
  if (archive[0] === 0x1f && archive[1] === 0x8b) {
    try {
      tar = gunzip(archive, unpackedLimit(archive.byteLength))
    } catch (error) {
      throw new SourceError(
        'BadArchive',
        `${name} cannot be unpacked: it is damaged, too large, or unpacks to more than ${MAX_RATIO} times its size.`,
        { cause: error },
      )
    }
  }
  try {
    yield* tarEntries(tar)
  } catch (error) {
    throw error instanceof TarError ? new SourceError('BadArchive', `${name} is no archive: ${error.message}.`) : error
  }
}

function pathOf(
  entry: TarEntry,
  { name, stripFirst }: { readonly name: string; readonly stripFirst: boolean },
): string | undefined {
  let raw: string
  try {
    raw = new TextDecoder('utf-8', { fatal: true }).decode(entry.name)
  } catch {
    throw new SourceError('BadPath', `${name} has a file whose name is not UTF-8.`)
  }
  if (entry.type === '5' || raw.endsWith('/')) return undefined
  const what = KINDS[entry.type]
  if (what !== undefined) {
    throw new SourceError('BadArchive', `${name}: ${shownPath(raw)} is ${what}; only files are allowed.`)
  }
  const clean = raw.replace(/^(\.\/)+/, '')
  checkPath(clean)
  if (!stripFirst) return clean
  const slash = clean.indexOf('/')
  if (slash < 0) throw new SourceError('BadArchive', `${name}: ${shownPath(raw)} is not in the chart's directory.`)
  return clean.slice(slash + 1)
}
