/** Chart archives: tar in gzip, with Helm's checks against paths that leave the chart and archives that never end. */
import { gunzip } from '../../core/bytes.ts'
import { fromGoBytes } from '../gotemplate/go-string.ts'
import type { ChartFile } from './chart.ts'
import { cleanPath } from './functions/paths.ts'
import { HelmError } from './helm-error.ts'

const MAX_CHART = 100 * 1024 * 1024
const MAX_FILE = 5 * 1024 * 1024
const BLOCK = 512

/** The files of a chart archive, without the directory they are in. */
export function readChartArchive(archive: Uint8Array): ChartFile[] {
  let tar: Uint8Array
  try {
    tar = gunzip(archive, MAX_CHART + 16 * 1024 * 1024)
  } catch (error) {
    throw new HelmError('gzip: invalid header', { cause: error })
  }
  const files: ChartFile[] = []
  let remaining = MAX_CHART
  for (const entry of tarEntries(tar)) {
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

interface TarEntry {
  readonly name: string
  readonly data: Uint8Array
}

function* tarEntries(tar: Uint8Array): Generator<TarEntry> {
  let longName: string | undefined
  for (let at = 0; at + BLOCK <= tar.length;) {
    const header = tar.subarray(at, at + BLOCK)
    if (header.every((byte) => byte === 0)) return
    const size = numberField(header.subarray(124, 136))
    const data = tar.subarray(at + BLOCK, at + BLOCK + size)
    if (data.length < size) throw new HelmError('unexpected EOF')
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK
    const type = String.fromCharCode(header[156]!)
    if (type === 'x') longName = paxPath(data) ?? longName
    else if (type === 'L') longName = textField(data)
    else if (type === 'g' || type === 'K') continue
    else {
      const name = longName ?? headerName(header)
      longName = undefined
      if (type === '5' || name.endsWith('/')) continue
      yield { name, data }
    }
  }
}

function headerName(header: Uint8Array): string {
  const name = textField(header.subarray(0, 100))
  const isUstar = textField(header.subarray(257, 262)) === 'ustar'
  const prefix = isUstar ? textField(header.subarray(345, 500)) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

function textField(bytes: Uint8Array): string {
  const end = bytes.indexOf(0)
  return fromGoBytes(end < 0 ? bytes : bytes.subarray(0, end))
}

function numberField(bytes: Uint8Array): number {
  // The highest bit says that a large size is written in binary.
  if (bytes[0]! & 0x80) return bytes.subarray(1).reduce((sum, byte) => sum * 256 + byte, bytes[0]! & 0x7f)
  return Number.parseInt(textField(bytes).trim() || '0', 8)
}

function paxPath(data: Uint8Array): string | undefined {
  for (let at = 0; at < data.length;) {
    const space = data.indexOf(0x20, at)
    const length = space < 0 ? Number.NaN : Number(fromGoBytes(data.subarray(at, space)))
    if (!(length > 0)) return undefined
    const record = fromGoBytes(data.subarray(space + 1, at + length - 1))
    if (record.startsWith('path=')) return record.slice('path='.length)
    at += length
  }
  return undefined
}
