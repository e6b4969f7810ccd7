/** Chart archives: tar in gzip, with Helm's checks against paths that leave the chart and archives that never end. */
import { gunzip } from '../../../core/bytes.ts'
import { tarEntries, TarError } from '../../../core/tar.ts'
import { fromGoBytes } from '../../gotemplate/go-string.ts'
import type { ChartFile } from './chart.ts'
import { cleanPath } from '../functions/paths.ts'
import { HelmError } from '../helm-error.ts'

const MAX_CHART = 100 * 1024 * 1024
const MAX_FILE = 5 * 1024 * 1024

/** The files of a chart archive, without the directory they are in. */
export function readChartArchive(archive: Uint8Array): ChartFile[] {
  const tar = unzipped(archive)
  const files: ChartFile[] = []
  let remaining = MAX_CHART
  for (const entry of chartEntries(tar)) {
    const name = chartPath(entry.name)
    remaining -= entry.data.length
    if (remaining <= 0) throw new HelmError(`decompressed chart is larger than the maximum size ${MAX_CHART}`)
    if (entry.data.length > MAX_FILE) {
      throw new HelmError(
        `decompressed chart file ${JSON.stringify(entry.name)} is larger than the maximum file size ${MAX_FILE}`,
      )
    }
    files.push({ name, data: withoutBom(entry.data) })
  }
  if (files.length === 0) throw new HelmError('no files in chart archive')
  return files
}

const GZIP_HEADER = 10

function unzipped(archive: Uint8Array): Uint8Array {
  if (archive.length < GZIP_HEADER) throw new HelmError(archive.length === 0 ? 'EOF' : 'unexpected EOF')
  try {
    return gunzip(archive, MAX_CHART + 16 * 1024 * 1024)
  } catch (error) {
    const isCut = archive[0] === 0x1f && /unexpected end/.test((error as Error).message)
    throw new HelmError(isCut ? 'unexpected EOF' : 'gzip: invalid header', { cause: error })
  }
}

/** Bytes without the mark that some editors put first. */
export function withoutBom(data: Uint8Array): Uint8Array {
  return data[0] === 0xef && data[1] === 0xbb && data[2] === 0xbf ? data.subarray(3) : data
}

function chartPath(entryName: string): string {
  const delimiter = entryName.includes('\\') ? '\\' : '/'
  const [first, ...rest] = entryName.split(delimiter)
  const inside = rest.join('/')
  if (inside.startsWith('/')) throw new HelmError('chart illegally contains absolute paths')
  const clean = cleanPath(inside)
  if (clean === '.') {
    throw new HelmError(`chart illegally contains content outside the base directory: ${JSON.stringify(entryName)}`)
  }
  if (clean.startsWith('..')) throw new HelmError('chart illegally references parent directory')
  if (/^[a-zA-Z]:\//.test(clean)) throw new HelmError('chart contains illegally named files')
  if (first === 'Chart.yaml') throw new HelmError('chart yaml not in base directory')
  return clean
}

interface ChartEntry {
  readonly name: string
  readonly data: Uint8Array
}

// Whatever is no directory is a file to Helm, as its type says nothing to it.
function* chartEntries(tar: Uint8Array): Generator<ChartEntry> {
  try {
    for (const { name, type, data } of tarEntries(tar)) {
      const text = fromGoBytes(name)
      if (type !== '5' && !text.endsWith('/')) yield { name: text, data }
    }
  } catch (error) {
    throw error instanceof TarError ? new HelmError(error.message) : error
  }
}
