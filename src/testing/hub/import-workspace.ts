/**
 * A repository on disk and a hub in memory, for tests of imports: what is printed must be taken by validate and apply.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { apply } from '../../cli/commands/objects/apply.ts'
import { validate } from '../../cli/commands/preview/validate.ts'
import { utf8 } from '../../core/bytes.ts'
import { createCliHub } from './cli-hub.ts'

/** Starts it with these files in the repository and those beside it; it ends with the test. */
export function createImportWorkspace(
  t: { after(fn: () => Promise<void>): void },
  files: Readonly<Record<string, string>>,
  beside: Readonly<Record<string, string>> = {},
) {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-import-'))
  const root = join(folder, 'repository')
  t.after(async () => rmSync(folder, { recursive: true }))
  const all = {
    ...beside,
    ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`repository/${path}`, text])),
  }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  const { client, connection, terminal, taken } = createCliHub(t)
  const stdinOf = async function* (text: string): AsyncGenerator<Uint8Array> {
    yield utf8(text)
  }
  const file = (name: string): string => join(folder, name)
  return {
    root,
    file,
    client,
    taken,
    stdinOf,
    /** What commands are given. */
    run: { connect: async () => connection, terminal },
    /** Validates what was printed and applies it; the kinds and names that the hub then has of it. */
    async acceptedByHub(printed: string): Promise<string[]> {
      writeFileSync(file('printed.yaml'), printed)
      const flags = { filename: [file('printed.yaml')], root }
      const code = await validate([], { terminal, stdin: stdinOf(''), connect: async () => connection, flags })
      assert.equal(code, 0, taken().out)
      taken()
      await apply({
        connection,
        terminal,
        stdin: stdinOf(printed),
        flags: { filename: ['-'], fieldManager: 'test' },
      })
      return taken()
        .out.split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split(' ')[0]!)
    },
  }
}
