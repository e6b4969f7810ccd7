/**
 * A reader of tutorials on this machine: `flotilla` is the one of this clone, every port is free, and nothing is left.
 */
import { writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { temporaryFolder } from './flotilla-process.ts'
import type { Cleanup } from './flotilla-process.ts'
import type { Reader } from './tutorial.ts'

const MAIN = resolve(import.meta.dirname, '../../src/cli/main.ts')
const WITHIN_MS = 240_000

/** Makes a reader who works in a folder; `programs` are folders of more programs. */
export function readerOf(t: Cleanup, folder: string, programs: readonly string[] = []): Reader {
  const bin = temporaryFolder(t)
  const script = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`
  writeFileSync(join(bin, 'flotilla'), script, { mode: 0o755 })
  const listeners = ['LISTEN', 'GATEWAY_LISTEN', 'CONSOLE_LISTEN'].map((name) => [
    `FLOTILLA_HUB_${name}`,
    '127.0.0.1:0',
  ])
  return {
    folder,
    withinMs: WITHIN_MS,
    env: {
      PATH: [bin, ...programs, process.env['PATH'] ?? ''].join(delimiter),
      HOME: folder,
      LANG: 'C.UTF-8',
      FLOTILLA_STATE_DIR: join(folder, '.flotilla'),
      ...Object.fromEntries(listeners),
    },
    onBackground: (stop) => t.after(stop),
  }
}
