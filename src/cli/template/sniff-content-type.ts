/** What Go's net/http takes a file for, by how it begins: helm names it when a chart is no archive. */

const HTML = [
  '!DOCTYPE HTML',
  'HTML',
  'HEAD',
  'SCRIPT',
  'IFRAME',
  'H1',
  'DIV',
  'FONT',
  'TABLE',
  'A',
  'STYLE',
  'TITLE',
  'B',
  'BODY',
  'BR',
  'P',
]

/** Files that begin with these bytes, as latin1. */
const BEGINNINGS: readonly (readonly [start: string, type: string])[] = [
  ['%PDF-', 'application/pdf'],
  ['%!PS-Adobe-', 'application/postscript'],
  ['\xfe\xff\0\0', 'text/plain; charset=utf-16be'],
  ['\xff\xfe\0\0', 'text/plain; charset=utf-16le'],
  ['\xfe\xff', 'text/plain; charset=utf-16be'],
  ['\xff\xfe', 'text/plain; charset=utf-16le'],
  ['\xef\xbb\xbf', 'text/plain; charset=utf-8'],
  ['BM', 'image/bmp'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['PK\x03\x04', 'application/zip'],
  ['Rar!\x1a\x07\0', 'application/x-rar-compressed'],
  ['Rar!\x1a\x07\x01\0', 'application/x-rar-compressed'],
  ['\0asm', 'application/wasm'],
]

const SNIFFED = 512

/** The media type of what begins like this. */
export function sniffContent(data: Uint8Array): string {
  // Helm reads into a buffer of this length, and looks at all of it, also when the file is shorter.
  const start = Buffer.alloc(SNIFFED)
  start.set(data.subarray(0, SNIFFED))
  const text = start.toString('latin1')
  const trimmed = text.replace(/^[\t\n\f\r ]+/, '')
  if (HTML.some((tag) => trimmed.toUpperCase().startsWith(`<${tag}`) && /^[ >]/.test(trimmed.slice(tag.length + 1))))
    return 'text/html; charset=utf-8'
  if (/^<!--[ >]/.test(trimmed)) return 'text/html; charset=utf-8'
  if (trimmed.startsWith('<?xml')) return 'text/xml; charset=utf-8'
  const known = BEGINNINGS.find(([beginning]) => text.startsWith(beginning))
  if (known) return known[1]
  return /[\0-\x08\x0b\x0e-\x1a\x1c-\x1f]/.test(trimmed) ? 'application/octet-stream' : 'text/plain; charset=utf-8'
}
