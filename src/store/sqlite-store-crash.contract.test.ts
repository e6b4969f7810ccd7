import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { it } from 'node:test'
import { findAuditBreak } from './audit-chain.ts'
import { createSqliteStore } from './sqlite-store.ts'

const ROUNDS = 8

/** Writes as fast as it can and says each key only after its commit was acknowledged. */
const WRITER = `
  import { createSqliteStore } from ${JSON.stringify(join(import.meta.dirname, 'sqlite-store.ts'))}
  const store = createSqliteStore({ path: process.argv[1], defer: setImmediate })
  const round = process.argv[2]
  let n = 0
  async function writer(id) {
    for (;;) {
      n += 1
      const key = '/w/' + round + '/' + id + '/' + n
      const value = String(n)
      const result = await store.commit({ key, expect: 0, value: () => value, audit: key })
      if (result.ok) process.stdout.write(result.revision + ' ' + key + ' ' + value + '\\n')
      if (n % 50 === 0) await store.compact(Math.max(0, store.revision() - 40))
    }
  }
  for (let id = 0; id < 8; id += 1) void writer(id)
`

it('kill -9 in a loop loses no acknowledged write, and revisions never go back', { timeout: 120_000 }, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-crash-'))
  const path = join(folder, 'hub.db')
  const acknowledged = new Map<string, { revision: number; value: string }>()
  try {
    for (let round = 0; round < ROUNDS; round += 1) {
      const child = spawn(process.execPath, ['--input-type=module', '-e', WRITER, path, `${round}`], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      const wanted = 40 + round * 35
      let seen = 0
      for await (const line of createInterface({ input: child.stdout })) {
        const [revision, key, value] = line.split(' ')
        // The last line may be cut in the middle by the kill: only whole ones are acknowledgements.
        if (value === undefined || !/^\d+$/.test(value)) continue
        acknowledged.set(key!, { revision: Number(revision), value })
        seen += 1
        if (seen === wanted) child.kill('SIGKILL')
      }
      assert.ok(seen >= wanted, `the writer of round ${round} stopped by itself after ${seen} writes`)

      const store = createSqliteStore({ path })
      for (const [key, { revision, value }] of acknowledged) {
        const entry = await store.get(key)
        assert.equal(entry?.modRevision, revision, `${key} was acknowledged at revision ${revision}`)
        assert.ok(entry.value.startsWith(value))
        assert.ok(store.revision() >= revision)
      }
      const audit = await store.audit(0, 1_000_000)
      assert.equal(findAuditBreak(audit), undefined)
      const list = await store.list({ prefix: '/w/' })
      assert.deepEqual(
        audit.map((record) => record.line).sort(),
        list.entries.map((entry) => entry.key).sort(),
        'one audit record for each change, in the same transaction',
      )
      await store.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
})
