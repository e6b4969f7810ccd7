/** The two things a newcomer does: prove the demo, and run it. */
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { NO_FOLDER, runFlotilla, startFlotilla, temporaryFolder } from './flotilla-process.ts'

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
  assert.equal(commands.length, 3, stdout)
  for (const command of commands) {
    const ended = await runFlotilla(t, command.trim().split(' ').slice(1), { env: state })
    assert.equal(ended.code, 0, `${command}\n${ended.stderr}`)
  }
  const ended = await demo.stop('SIGINT')
  assert.equal(ended.code, 0, ended.stderr)
  assert.deepEqual(readdirSync(folder), [])
  assert.deepEqual(readdirSync(state.FLOTILLA_STATE_DIR), [])
})

test('every situation shows in the fleet, ends with --undo, and its next commands work', async (t) => {
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const demo = startFlotilla(t, ['demo', '--clusters', '2'], { env: state })
  await demo.says(/Try in another terminal:\n(.*\n){3}/)
  const flotilla = async (...args: string[]) => await runFlotilla(t, args, { env: state })
  const play = async (...args: string[]) => {
    const ended = await flotilla('demo', ...args)
    assert.equal(ended.code, 0, ended.stderr)
    const nexts = [...ended.stderr.matchAll(/^► \S+ (.*)$/gm)].map(([, words = '']) => words)
    // A watch ends with its rollout, which waits for the approval that is printed after it.
    for (const words of nexts.toSorted((a, b) => Number(/ watch /.test(a)) - Number(/ watch /.test(b)))) {
      if (words.endsWith('--undo')) continue
      const next = await flotilla(...words.split(' '))
      assert.equal(next.code, 0, `flotilla ${words}\n${next.stderr}`)
    }
  }
  const until = async (args: readonly string[], pattern: RegExp) => {
    let seen = ''
    for (let tries = 0; tries < 200; tries++) {
      seen = (await flotilla(...args)).stdout
      if (pattern.test(seen)) return
      await sleep(250)
    }
    assert.fail(`flotilla ${args.join(' ')} never said ${String(pattern)}:\n${seen}`)
  }
  const clusters = ['get', 'clusters', '-o', 'wide']
  await until(['get', 'rollouts'], /shop-g1 .*Completed/)
  await play('break', 'store-02')
  await until(clusters, /store-02 +Failed .*ImagePullBackOff/)
  await play('break', 'store-02', '--undo')
  await until(clusters, /store-02 +Ready/)
  await play('drift', 'store-01')
  await until(clusters, /store-01 +Drifted/)
  await play('drift', 'store-01', '--undo')
  await play('bad-overlay', 'south')
  await until(['get', 'bundle', 'shop', '-o', 'yaml'], /Not for store-02: /)
  await play('bad-overlay', 'south', '--undo')
  await play('release')
  await until(['get', 'rollouts'], /shop-g[2-9] .*Completed/)
  await play('offline', 'store-02')
  await until(clusters, /store-02 +Offline/)
  await play('offline', 'store-02', '--undo')
  await until(clusters, /store-02 +Ready/)
  await play('slow-pull', 'south')

  const wrong = await flotilla('demo', 'break', 'store-99')
  assert.equal(wrong.code, 2)
  assert.match(wrong.stderr, /store "store-99" not found; the demo has store-01 to store-02/)
  await demo.stop('SIGINT')
  const late = await flotilla('demo', 'release')
  assert.equal(late.code, 3)
  assert.match(late.stderr, /no demo is running[^]*start a demo in another terminal/)
})

test('D11: the first rollout ends while stores are offline from the start', async (t) => {
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const demo = startFlotilla(t, ['demo', '--clusters', '20'], { env: state })
  await demo.says(/Try in another terminal:\n(.*\n){3}/)
  let seen = ''
  for (let tries = 0; tries < 400 && !/baseline-g1 .*Completed/.test(seen); tries++) {
    seen = (await runFlotilla(t, ['get', 'rollouts', '-o', 'wide'], { env: state })).stdout
    await sleep(250)
  }
  assert.match(seen, /baseline-g1 +baseline-g1 +Completed +\d+ +20 +0 +[1-9]/)
  assert.equal((await demo.stop('SIGINT')).code, 0)
})

test('where another kubeconfig would win or no demo can be remembered, the printed commands name theirs', async (t) => {
  const other = { KUBECONFIG: '/nowhere', FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const unknown = { FLOTILLA_STATE_DIR: NO_FOLDER }
  // The command that plays a situation finds the demo by its state file only.
  for (const [env, printed] of [
    [other, /^[^]*Try in another terminal:\n(.*\n){3}/],
    [unknown, /^[^]*Try in another terminal:\n(.*\n){2}/],
  ] as const) {
    const demo = startFlotilla(t, ['demo', '--clusters', '1'], { env })
    const [stdout] = await demo.says(printed)
    assert.equal(stdout.match(/ --kubeconfig \S+admin\.kubeconfig/g)?.length, 2)
    const { code, stderr } = await demo.stop('SIGTERM')
    assert.equal(code, 0)
    assert.doesNotMatch(stderr, /ENOTDIR|state/)
  }
})

test('a kept demo goes on with the same clusters and commits, until it is reset', async (t) => {
  const state = { FLOTILLA_STATE_DIR: temporaryFolder(t) }
  const flotilla = async (...args: string[]) => await runFlotilla(t, args, { env: state })
  const start = async () => {
    const demo = startFlotilla(t, ['demo', '--clusters', '1', '--keep'], { env: state })
    await demo.says(/Try in another terminal:\n(.*\n){3}/)
    return demo
  }
  const idOf = async () => (await flotilla('get', 'cluster', 'store-01', '-o', 'jsonpath={.spec.id}')).stdout
  const first = await start()
  const id = await idOf()
  assert.match(id, /^c-/)
  assert.equal((await flotilla('demo', '--reset')).code, 5, 'a running demo is not reset')
  assert.equal((await first.stop('SIGINT')).code, 0)
  const second = await start()
  assert.equal(await idOf(), id)
  assert.match((await flotilla('demo', 'release')).stderr, /committed shop 1\.1 /)
  assert.equal((await second.stop('SIGINT')).code, 0)
  assert.equal((await flotilla('demo', '--reset')).code, 0)
  assert.deepEqual(readdirSync(state.FLOTILLA_STATE_DIR), [])
})
