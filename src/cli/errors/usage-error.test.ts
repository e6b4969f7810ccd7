import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readEnvironment } from '../config.ts'
import { runCli } from '../run.ts'
import { createTerminal } from '../print/terminal.ts'

async function run(...args: readonly string[]): Promise<string> {
  let said = ''
  const stream = { write: (text: string) => void (said += text), isTTY: false }
  const code = await runCli(args, {
    environment: { ...readEnvironment({}), program: 'bin/flotilla', path: [] },
    signal: new AbortController().signal,
    stdin: (async function* () {})(),
    terminalFor: () =>
      createTerminal({
        stdout: stream,
        stderr: stream,
        stdinIsTTY: false,
        environment: { isUtf8: true, color: false, program: 'bin/flotilla' },
      }),
  })
  assert.equal(code, 2)
  return said
}

test('a command line that cannot be read is told as every other error, with the help of its own command', async () => {
  assert.equal(
    await run('drift', 'accept', 'store-05'),
    "error: required option '--reason <text>' not specified\n  do:    see: bin/flotilla drift accept --help\n",
  )
  assert.equal(await run('get'), "error: missing required argument 'kind'\n  do:    see: bin/flotilla get --help\n")
  assert.equal(
    await run('stauts'),
    "error: unknown command 'stauts'\n  do:    did you mean status? Else see: bin/flotilla --help\n",
  )
  assert.match(await run('get', 'clusters', '-o'), /do: +see: bin\/flotilla get --help\n$/)
})

test('a missing subcommand shows the help, and nothing else', async () => {
  assert.match(await run('simulate'), /^Usage: bin\/flotilla simulate [^]*display help for command\n$/)
})
