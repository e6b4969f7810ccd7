// What a command writes past the streams of Node reaches a slow reader whole, and a reader that leaves is no error.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'node:test'

const MODULE = join(import.meta.dirname, 'process-output.ts')
const SIZE = 3_000_000

function writer(before = ''): ReturnType<typeof spawn> {
  const code = `
    import { plainOutput } from ${JSON.stringify(MODULE)}
    ${before}
    const output = plainOutput('stdout')
    output.write('a'.repeat(${SIZE}))
    output.write('é\\n')
    plainOutput('stderr').write('said')`
  return spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'pipe'] })
}

async function readSlowly(child: ReturnType<typeof spawn>): Promise<string> {
  await delay(200)
  let text = ''
  for await (const part of child.stdout!.setEncoding('utf8')) text += String(part)
  return text
}

for (const [what, before] of [
  ['as it is', ''],
  ['that does not wait', 'process.stdout._handle?.setBlocking?.(false)'],
] as const) {
  test(`everything arrives through a pipe ${what}`, async () => {
    const child = writer(before)
    const said = readSlowly(child)
    let err = ''
    child.stderr!.on('data', (part) => void (err += String(part)))
    const [[code], text] = await Promise.all([once(child, 'close'), said])
    assert.deepEqual([code, text.length, text.endsWith('aé\n'), err], [0, SIZE + 2, true, 'said'])
  })
}

test('a reader that leaves ends the command in silence', async () => {
  const child = writer()
  let err = ''
  child.stderr!.on('data', (part) => void (err += String(part)))
  child.stdout!.once('data', () => child.stdout!.destroy())
  const [code] = await once(child, 'close')
  assert.deepEqual([code, err], [0, ''])
})
