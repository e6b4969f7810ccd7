import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTerminal } from './terminal.ts'
import type { TerminalOptions } from './terminal.ts'

function terminalWith(options: {
  tty: boolean
  utf8: boolean
  env?: boolean
  program?: string
  color?: TerminalOptions['color']
}) {
  const out: string[] = []
  const err: string[] = []
  const terminal = createTerminal({
    stdout: { write: (text) => out.push(text), isTTY: options.tty },
    stderr: { write: (text) => err.push(text), isTTY: options.tty },
    stdinIsTTY: options.tty,
    environment: { isUtf8: options.utf8, color: options.env, program: options.program ?? 'flotilla' },
    ...(options.color && { color: options.color }),
  })
  return { terminal, out, err }
}

test('data goes to stdout, everything else to stderr', () => {
  const { terminal, out, err } = terminalWith({ tty: false, utf8: true })
  terminal.data('x')
  terminal.say('y')
  terminal.step('ok', 'z')
  assert.deepEqual(out, ['x'])
  assert.deepEqual(err, ['y\n', '✔ z\n'])
})

test('signs are ASCII where the locale is not UTF-8', () => {
  const { terminal, err } = terminalWith({ tty: false, utf8: false })
  terminal.step('ok', 'z')
  terminal.step('fail', 'z')
  assert.deepEqual(err, ['ok z\n', 'x z\n'])
})

test('colours only on a terminal, unless --color or the environment says otherwise', () => {
  const painted = (options: Parameters<typeof terminalWith>[0]) =>
    terminalWith(options).terminal.paint('red', 'x') !== 'x'
  assert.equal(painted({ tty: true, utf8: true }), true)
  assert.equal(painted({ tty: false, utf8: true }), false)
  assert.equal(painted({ tty: true, utf8: true, env: false }), false)
  assert.equal(painted({ tty: false, utf8: true, env: true }), true)
  assert.equal(painted({ tty: true, utf8: true, env: true, color: 'never' }), false)
  assert.equal(painted({ tty: false, utf8: true, color: 'always' }), true)
})

test('commands are shown as the person would type them, and nothing else is touched', () => {
  const { terminal, out, err } = terminalWith({ tty: false, utf8: true, program: 'bin/flotilla' })
  terminal.step('next', 'flotilla get clusters')
  terminal.say('see: flotilla --help, or `flotilla demo` and flotilla.dev, /usr/bin/flotilla get, kubectl-flotilla get')
  terminal.data('flotilla get clusters\n')
  assert.deepEqual(err, [
    '► bin/flotilla get clusters\n',
    'see: bin/flotilla --help, or `bin/flotilla demo` and flotilla.dev, /usr/bin/flotilla get, kubectl-flotilla get\n',
  ])
  assert.deepEqual(out, ['flotilla get clusters\n'], 'data is what it is')
})
