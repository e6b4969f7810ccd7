/** flotilla top in a pseudo terminal: it takes the whole terminal, obeys keys, and gives it back as it was. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { FREE, startFlotilla, temporaryFolder } from './flotilla-process.ts'

const MAIN = join(import.meta.dirname, '../../src/cli/main.ts')
// The `script` of util-linux; the one of BSD has other flags.
const isHere = spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false
const skip = isHere ? false : 'script of util-linux is not here: apt-get install bsdutils'

test('top takes the terminal, shows the fleet, and leaves no trace of itself', { skip }, async (t) => {
  const folder = temporaryFolder(t)
  const hub = startFlotilla(t, ['hub', 'run', '--data', join(folder, 'hub'), ...FREE])
  await hub.says(/ console http/)
  const kubeconfig = join(folder, 'hub/admin.kubeconfig')
  const inner = `stty rows 24 cols 80; ${process.execPath} ${MAIN} top --kubeconfig ${kubeconfig}; echo "code $?"; stty -a`
  const child = spawn('script', ['-qec', inner, '/dev/null'], {
    env: { ...process.env, LANG: 'C.UTF-8', TERM: 'xterm', NODE_TEST_CONTEXT: undefined },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  t.after(() => void child.kill('SIGKILL'))
  let said = ''
  let wake = Promise.withResolvers<void>()
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text
    wake.resolve()
    wake = Promise.withResolvers<void>()
  })
  const ended = new Promise<void>((done) => child.on('close', () => (wake.resolve(), done())))
  const shows = async (pattern: RegExp): Promise<void> => {
    while (!pattern.test(said)) {
      assert.equal(child.exitCode, null, said)
      await wake.promise
    }
  }
  await shows(/No cluster has joined yet/)
  assert.ok(said.includes('\u001b[?1049h'), 'the second screen of the terminal')
  child.stdin.write('?')
  await shows(/pause or resume the rollout/)
  child.stdin.write('\u001b')
  child.stdin.write('\u0003')
  await shows(/code 0/)
  await ended
  const after = said.slice(said.lastIndexOf('\u001b[?1049l'))
  assert.match(said, /\u001b\[\?25h\u001b\[\?1049l/, 'cursor and first screen are back')
  assert.match(after, /code 0/)
  assert.match(after, / echo /, 'echo is on again')
  assert.match(after, / icanon /)
})
