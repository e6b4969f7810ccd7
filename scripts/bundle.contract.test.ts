import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { bundle } from './bundle.ts'

const execute = promisify(execFile)

/** The rooms an agent is made of, by the import table of ARCHITECTURE.md. */
const ROOMS_OF_AGENT = ['core', 'yaml', 'cel', 'lua', 'kinds', 'plan', 'render', 'wire', 'client', 'blobs', 'agent']

describe('the built binaries', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'flotilla-bundle-'))
  after(() => rmSync(dir, { recursive: true }))
  const made = await bundle(dir)

  test("the agent's has nothing of the hub", () => {
    const agent = made.find(({ name }) => name === 'agent')!
    const rooms = new Set(
      agent.inputs.map((file) => /^src\/([^/]+)\//.exec(file)?.[1]).filter((room) => room !== undefined),
    )
    assert.ok(rooms.has('agent') && rooms.has('wire'), `rooms seen: ${[...rooms].join(', ')}`)
    assert.deepEqual(
      [...rooms].filter((room) => !ROOMS_OF_AGENT.includes(room)),
      [],
    )
  })

  test('run without the clone', async () => {
    const run = (name: string, ...args: string[]) =>
      execute(process.execPath, [join(dir, `${name}.mjs`), ...args], { cwd: dir })
    assert.match((await run('flotilla', '--help')).stdout, /^Usage: flotilla /)
    assert.match((await run('hub', '--data', 'there', '--print-config')).stdout, /there/)
    await assert.rejects(run('agent', '--no-such-flag'), /flotilla agent: .*--no-such-flag/)
  })
})
