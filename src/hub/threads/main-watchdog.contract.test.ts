/** A process whose main thread hangs is told and ended; one that is only busy now and then is not. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'

const WATCHDOG = new URL('./main-watchdog.ts', import.meta.url).href
const CLOCK = new URL('../../core/time/system-clock.ts', import.meta.url).href

/** Runs a script beside a watchdog that is impatient. */
async function run(script: string) {
  const program = `
    const { watchMainThread } = await import(${JSON.stringify(WATCHDOG)})
    const { systemClock } = await import(${JSON.stringify(CLOCK)})
    const closing = new AbortController()
    const log = { warn: (about) => { throw about.err } }
    const watching = watchMainThread({ clock: systemClock, log }, closing.signal, { everyMs: 100, warnAfter: 5, endAfter: 20 })
    const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
    const block = (ms) => { for (const end = Date.now() + ms; Date.now() < end;); }
    await sleep(500)
    ${script}
    closing.abort()
    await watching
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 60_000,
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  return { code, signal, stderr }
}

test('a main thread that hangs is told, and ends the process', async () => {
  const { signal, stderr } = await run('for (;;);')
  assert.equal(signal, 'SIGKILL', stderr)
  assert.match(stderr, /"msg":"the main thread of the hub does not answer"/)
  assert.match(stderr, /its process manager must start it again/)
})

test('a main thread that is busy for a while is not ended', async () => {
  const { code, stderr } = await run('for (let n = 0; n < 5; n++) { block(200); await sleep(300) }')
  assert.equal(code, 0, stderr)
})
