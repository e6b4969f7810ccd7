import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { silentLogger } from '../../core/log.ts'
import type { HubStorage } from '../../plan/fleet/hub-health.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { noteBackup } from '../backup/last-backup.ts'
import { createStorageWatch, measureStorage } from './storage-health.ts'

test('a directory has free space, and the database and the last backup that are in it', async (t) => {
  const path = mkdtempSync(join(tmpdir(), 'flotilla-storage-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  const directory = { path, file: (...parts: readonly string[]) => join(path, ...parts) }
  const empty = await measureStorage(directory)
  assert.ok(empty.freeBytes > 0)
  assert.deepEqual(Object.keys(empty), ['freeBytes'])
  writeFileSync(join(path, 'hub.db'), 'x'.repeat(1000))
  writeFileSync(join(path, 'hub.db-wal'), 'x'.repeat(234))
  writeFileSync(join(path, 'last-backup.json'), '{"at":')
  assert.equal((await measureStorage(directory)).lastBackup, undefined)
  await noteBackup(path, '2026-01-02T03:04:05Z')
  const { databaseBytes, lastBackup, createdAt } = await measureStorage(directory)
  assert.ok(createdAt === undefined || Math.abs(Date.parse(createdAt) - Date.now()) < 60_000)
  assert.deepEqual({ databaseBytes, lastBackup }, { databaseBytes: 1200, lastBackup: '2026-01-02T03:04:05Z' })
})

test('a change is told, the same numbers are not, and what cannot be measured is unknown', async () => {
  const clock = createVirtualClock()
  let next: HubStorage | Error = { freeBytes: 10 }
  const storage = createStorageWatch({ clock, log: silentLogger }, async () => {
    if (next instanceof Error) throw next
    return { ...next }
  })
  let told = 0
  storage.onChange(() => (told += 1))
  const stop = new AbortController()
  const running = storage.run(stop.signal)
  await clock.advance(1_000)
  assert.deepEqual([told, storage.current()], [1, { freeBytes: 10 }])
  await clock.advance(300_000)
  assert.equal(told, 1)
  next = { freeBytes: 9 }
  await clock.advance(60_000)
  assert.deepEqual([told, storage.current()], [2, { freeBytes: 9 }])
  next = new Error('EIO')
  await clock.advance(60_000)
  assert.deepEqual([told, storage.current()], [3, undefined])
  stop.abort()
  await running
})
