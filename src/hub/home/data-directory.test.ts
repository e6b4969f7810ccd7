import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '../../core/time/system-clock.ts'
import { openDataDirectory } from './data-directory.ts'

function temporary(t: { after(fn: () => void): void }): string {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-data-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

test('a data directory is made private, also when it was not', async (t) => {
  const folder = temporary(t)
  chmodSync(folder, 0o755)
  const old = await openDataDirectory(folder, systemClock)
  const made = await openDataDirectory(join(folder, 'a', 'b'), systemClock)
  assert.equal(statSync(folder).mode & 0o777, 0o700)
  assert.equal(statSync(made.path).mode & 0o777, 0o700)
  old.release()
  made.release()
})

test('a directory in use says who holds it, and is free when released', async (t) => {
  const folder = temporary(t)
  const clock = { ...systemClock, now: () => 0 }
  const held = await openDataDirectory(folder, clock)
  await assert.rejects(openDataDirectory(folder, clock), {
    name: 'Stalled',
    where: folder,
    message: `the directory is in use by process ${process.pid} on ${hostname()} since 1970-01-01T00:00:00Z`,
  })
  held.release()
  const again = await openDataDirectory(folder, clock)
  again.release()
})

test('a directory given relative to where the hub was started has absolute paths', async (t) => {
  const folder = temporary(t)
  const directory = await openDataDirectory(relative(process.cwd(), folder), systemClock)
  t.after(() => directory.release())
  assert.equal(directory.file('sources'), join(folder, 'sources'))
})

test('git ignores a data directory, keys and all', async (t) => {
  const clone = temporary(t)
  execFileSync('git', ['init', '--quiet', clone])
  const directory = await openDataDirectory(join(clone, 'hub-data'), systemClock)
  t.after(() => directory.release())
  writeFileSync(directory.file('root.key'), 'secret')
  assert.equal(
    execFileSync('git', ['-C', clone, 'status', '--short', '--untracked-files=all'], { encoding: 'utf8' }),
    '',
  )
})
