/**
 * An archive that never ends: a mark in its bytes, and a module that keeps a thread busy for ever when that thread
 * opens it.
 */
import { gzipSync } from 'node:zlib'
import { utf8 } from '../../core/bytes.ts'
import { createTar } from '../../core/tar.ts'

const MARK = 'this archive never ends'

/** What a thread says on stderr before it begins to read without end. */
export const ENDLESS_NOTE = 'an archive without an end is read'

/**
 * The address of the module, for `--import` of a process or a thread. Every real reader is meant to end, so that the
 * thread of a test needs one that does not.
 */
export const ENDLESS_MODULE = `data:text/javascript,${encodeURIComponent(`
  const zlib = process.getBuiltinModule('node:zlib')
  const real = zlib.gunzipSync
  zlib.gunzipSync = (data, options) => {
    if (!Buffer.from(data).includes(${JSON.stringify(MARK)})) return real(data, options)
    process.getBuiltinModule('node:fs').writeSync(2, ${JSON.stringify(`${ENDLESS_NOTE}\n`)})
    for (;;) {}
  }
`)}`

/** The archive of a chart; an endless one has the mark behind its end, where gzip allows no more than padding. */
export function chartArchive(name: string, isEndless = false): Uint8Array {
  const chart = utf8(`apiVersion: v2\nname: ${name}\nversion: 1.0.0\n`)
  const archive = gzipSync(createTar([{ name: `${name}/Chart.yaml`, data: chart }]))
  return isEndless ? Buffer.concat([archive, Buffer.from(MARK)]) : archive
}
