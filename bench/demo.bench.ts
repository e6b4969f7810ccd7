// The demo's budgets: ready in under 15 s, never more than 300 MB, the first rollout within two minutes. Linux only.
// `node bench/demo.bench.ts [--clusters 60] [--dir CLONE]`: starts it as `npm start` does, waits for the first rollout,
// plays a release, approves it, and reads the process' resident memory and its peak at each of these points, in MB of
// 1,000,000 bytes.
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'

const { values: flags } = parseArgs({
  options: {
    clusters: { type: 'string', default: '60' },
    dir: { type: 'string', default: resolve(import.meta.dirname, '..') },
  },
})
const state = mkdtempSync(join(tmpdir(), 'flotilla-bench-'))
const env = { ...process.env, FLOTILLA_STATE_DIR: state, LANG: 'C.UTF-8' }
const began = performance.now()
const args = [...process.execArgv, 'scripts/run.mjs', 'start', '--clusters', flags.clusters]
const demo = spawn(process.execPath, args, { cwd: flags.dir, env, stdio: ['ignore', 'pipe', 'inherit'] })
const ended = new Promise<number | null>((done) => demo.once('close', done))

/** What a command prints. */
const flotilla = async (...words: string[]): Promise<string> =>
  await new Promise((done) => {
    execFile(process.execPath, ['bin/flotilla', ...words], { cwd: flags.dir, env }, (_error, stdout) => done(stdout))
  })

async function until(words: readonly string[], pattern: RegExp): Promise<void> {
  while (!pattern.test(await flotilla(...words))) {
    if (demo.exitCode !== null) throw new Error(`the demo ended with ${demo.exitCode}`)
    await sleep(1_000)
  }
}

function show(what: string): void {
  const status = readFileSync(`/proc/${demo.pid}/status`, 'utf8')
  const megabytes = (field: string) =>
    (Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)![1]) * 1.024) / 1000
  const cells = [(performance.now() - began) / 1000, megabytes('VmRSS'), megabytes('VmHWM')]
  console.log(`${what.padEnd(28)}${cells.map((cell) => cell.toFixed(0).padStart(8)).join('')}`)
}

try {
  console.log(`${`demo of ${flags.clusters} clusters`.padEnd(28)} seconds      MB    peak`)
  await new Promise<void>((ready, failed) => {
    let said = ''
    demo.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text
      if (said.includes('Try in another terminal')) ready()
    })
    void ended.then((code) => failed(new Error(`the demo ended with ${code}`)))
  })
  show('ready')
  await until(['rollout', 'status', 'shop-g1'], /^shop-g1 +Completed/)
  show('first rollout through')
  const name = /shop-g\d+/
  await flotilla('demo', 'release')
  const rollout = name.exec(await flotilla('get', 'bundle', 'shop', '-o', 'jsonpath={.status.release}'))![0]
  await until(['rollout', 'status', rollout], /Waits for approval/)
  show('release waits for approval')
  await flotilla('rollout', 'approve', rollout, '--reason', 'bench')
  await until(['rollout', 'status', rollout], new RegExp(`^${rollout} +Completed`))
  show('release through')
  await sleep(60_000)
  show('a minute later')
} finally {
  demo.kill('SIGINT')
  await ended
  rmSync(state, { recursive: true, force: true })
}
