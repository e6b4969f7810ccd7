import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import { openConsoleSocket } from './console-socket.ts'

test('a hub in a directory that no socket fits in works without one, and says so', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-door-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message) }
  const door = await openConsoleSocket(join(folder, 'x'.repeat(120)), { signInUrl: () => 'never', log })
  assert.deepEqual(warnings, ['flotilla hub sign-in will not work'])
  await door.close()
})
