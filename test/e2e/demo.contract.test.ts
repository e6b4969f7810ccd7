/** The two things a newcomer does: prove the demo, and run it. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

test('demo --check proves each step, exits 0 and leaves nothing behind', async (t) => {
  const folder = temporaryFolder(t)
  const { code, stdout, stderr } = await runFlotilla(t, ['demo', '--check'], { env: { TMPDIR: folder } })
  assert.equal(code, 0, stdout + stderr)
  const steps = stdout.split('\n').filter((line) => line.startsWith('✔ '))
  assert.deepEqual(
    steps.map((line) => line.slice(2, line.indexOf(':'))),
    ['start', 'join', 'apply', 'report', 'get', 'page'],
  )
  assert.equal(stderr, '◎ starting a hub and 3 simulated clusters\n')
  assert.deepEqual(readdirSync(folder), [])
})

test('demo --check says what is missing and exits non-zero when the time is over', async (t) => {
  const folder = temporaryFolder(t)
  const env = { TMPDIR: folder, LANG: 'C' }
  const { code, stdout } = await runFlotilla(t, ['demo', '--check', '--timeout', '0.001', '--clusters', '1'], { env })
  assert.equal(code, 8, stdout)
  assert.match(stdout, /^ok start: /)
  assert.match(stdout, /^x (join|apply|report|rollout|get|page)\b.*: ./m)
  assert.deepEqual(readdirSync(folder), [])
})

test('the printed commands work verbatim, and Ctrl-C leaves nothing behind', async (t) => {
  const folder = temporaryFolder(t)
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const demo = startFlotilla(t, ['demo', '--clusters', '1'], { env: { ...state, TMPDIR: folder } })
  const [stdout] = await demo.says(/^[^]*Try in another terminal:\n(.*\n){3}/)
  const commands = stdout.split('\n').filter((line) => /^ {2}\S*flotilla /.test(line))
  assert.equal(commands.length, 2, stdout)
  for (const command of commands) {
    const ended = await runFlotilla(t, command.trim().split(' ').slice(1), { env: state })
    assert.equal(ended.code, 0, `${command}\n${ended.stderr}`)
    assert.match(ended.stdout, /^NAME/)
    assert.match(ended.stderr, new RegExp(`^using the demo of process ${demo.pid} `))
  }
  const ended = await demo.stop('SIGINT')
  assert.equal(ended.code, 0, ended.stderr)
  assert.deepEqual(readdirSync(folder), [])
  assert.deepEqual(readdirSync(state.FLOTILLA_STATE_DIR), [])
})

test('where another kubeconfig would win, the printed commands name theirs', async (t) => {
  const demo = startFlotilla(t, ['demo', '--clusters', '1'], { env: { KUBECONFIG: '/nowhere' } })
  const [stdout] = await demo.says(/^[^]*Try in another terminal:\n(.*\n){3}/)
  assert.equal(stdout.match(/ --kubeconfig \S+admin\.kubeconfig/g)?.length, 3)
  assert.equal((await demo.stop('SIGTERM')).code, 0)
})
