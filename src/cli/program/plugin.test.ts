import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readEnvironment } from '../config.ts'
import { findPlugin } from './plugin.ts'
import { runCli } from '../run.ts'
import { createTerminal } from '../print/terminal.ts'

test('a program in PATH is a command, unless its name is odd or flotilla has the command itself', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'plugin-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const program = (name: string, mode = 0o755) => {
    writeFileSync(join(folder, `flotilla-${name}`), `#!/bin/sh\nexit $(($1 + 40))\n`)
    chmodSync(join(folder, `flotilla-${name}`), mode)
  }
  program('greet')
  program('status')
  program('plain', 0o644)
  mkdirSync(join(folder, 'flotilla-folder'))
  const path = ['relative', folder]
  assert.equal(findPlugin('greet', path), join(folder, 'flotilla-greet'))
  for (const name of ['plain', 'folder', 'missing', '../greet', '-greet', 'Greet', ''])
    assert.equal(findPlugin(name, path), undefined, name)
  assert.equal(findPlugin('greet', [folder.slice(1), '']), undefined)

  const quiet = { write: () => {}, isTTY: false }
  const run = (args: readonly string[]) =>
    runCli(args, {
      environment: { ...readEnvironment({}), path },
      signal: new AbortController().signal,
      stdin: (async function* () {})(),
      terminalFor: () =>
        createTerminal({
          stdout: quiet,
          stderr: quiet,
          stdinIsTTY: false,
          environment: { isUtf8: true, color: false, program: 'flotilla' },
        }),
    })
  assert.equal(await run(['greet', '2']), 42)
  assert.equal(await run(['status', '--no-such-flag']), 2)
  assert.equal(await run(['missing']), 2)
})
