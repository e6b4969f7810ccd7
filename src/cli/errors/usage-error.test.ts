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

test('a command line that cannot be parsed is an error with the help of its own command', async () => {
  assert.equal(
    await run('drift', 'accept', 'store-05'),
    'error: required option \'--reason <text>\' not specified\nhint: see "bin/flotilla drift accept --help"\n',
  )
  assert.equal(await run('get'), 'error: missing required argument \'kind\'\nhint: see "bin/flotilla get --help"\n')
  assert.equal(
    await run('get', 'clusters', '--wach'),
    'error: unknown option \'--wach\'\nhint: did you mean "--watch"?\n',
  )
  assert.match(await run('get', 'clusters', '-o'), /\nhint: see "bin\/flotilla get --help"\n$/)
})

test('an unknown command is answered with the nearest one, or with the command that lists', async () => {
  const cases = [
    ['stauts', 'unknown command "stauts" for "flotilla"', 'did you mean "flotilla status"?'],
    ['demo brek', 'unknown command "brek" for "flotilla demo"', 'did you mean "flotilla demo break"?'],
    ['cluster list', 'unknown command "list" for "flotilla cluster"', 'list clusters with "flotilla get clusters"'],
    ['bundle ls', 'unknown command "ls" for "flotilla bundle"', 'list bundles with "flotilla get bundles"'],
    [
      '--kubeconfig x describe cluster y',
      'unknown command "describe" for "flotilla"',
      'use "flotilla get cluster y -o yaml" or "kubectl describe cluster y"',
    ],
    ['nothing-near', 'unknown command "nothing-near" for "flotilla"', 'see "flotilla --help"'],
  ] as const
  for (const [line, what, hint] of cases) {
    const printed = (await run(...line.split(' '))).replaceAll('bin/flotilla', 'flotilla')
    assert.equal(printed, `error: ${what}\nhint: ${hint}\n`)
  }
})

test('a missing subcommand prints the help', async () => {
  assert.match(await run('simulate'), /^Usage: bin\/flotilla simulate [^]*Documentation: https:\/\/\S+\n$/)
})
