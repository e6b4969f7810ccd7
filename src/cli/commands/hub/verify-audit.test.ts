import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createApiServer } from '../../../apiserver/server/api-server.ts'
import { createClient } from '../../../client/create-client.ts'
import { createRest } from '../../../client/rest.ts'
import type { Transport } from '../../../core/http.ts'
import { silentLogger } from '../../../core/log.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { signCheckpoints } from '../../../hub/sign-audit.ts'
import { BUILTIN_KINDS } from '../../../kinds/builtin/builtin-kinds.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { NATIVE_KINDS } from '../../../kinds/native/native-kinds.ts'
import { createVirtualClock } from '../../../sim/kernel/virtual-clock.ts'
import { AUDIT_GENESIS, nextAuditRecord } from '../../../store/audit-chain.ts'
import type { AuditRecord } from '../../../store/audit-chain.ts'
import { createMemoryStore } from '../../../store/memory-store.ts'
import { buildTrust } from '../../../testing/fixtures/wire-builders.ts'
import { CHECKPOINTS } from '../../../wire/audit-checkpoint.ts'
import { audit } from './audit.ts'
import type { AuditFlags } from './audit-pages.ts'

/** A hub whose controllers signed the audit log, and a command that reads it. */
async function world(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-audit-'))
  const clock = createVirtualClock()
  const store = createMemoryStore()
  /** What a person with the database has made of the chain. */
  let rewritten: readonly AuditRecord[] | undefined
  const api = createApiServer({
    store: {
      ...store,
      audit: async (after, limit) => rewritten?.slice(after, after + limit) ?? (await store.audit(after, limit)),
    },
    kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS],
    clock,
    ids: systemIds,
    log: silentLogger,
  })
  const ending = new AbortController()
  t.after(async () => {
    ending.abort()
    rmSync(folder, { recursive: true, force: true })
    await api.close()
    await store.close()
  })
  const as =
    (user: string, group: string): Transport =>
    (request, signal) =>
      api.handle(request, { user, groups: [group] }, signal)
  const { trust } = buildTrust(1, ['https://hub.example:7444'])
  // As the controllers' user: the role of the controllers must be enough.
  const transport = as('system:flotilla:hub', 'system:authenticated')
  const hub = { client: createClient({ transport, clock }), rest: createRest({ transport, clock }) }
  const lastSigned = { where: 'memory', read: async () => undefined, write: async () => {} }
  void signCheckpoints({ ...hub, clock, log: silentLogger, lastSigned, trust: () => trust }, ending.signal)
  await clock.settle()
  const admin = as('admin', 'system:masters')
  const rest = createRest({ transport: admin, clock })
  const rootKey = join(folder, 'root')
  writeFileSync(rootKey, trust.root.keyId)
  const run = async (flags: AuditFlags = { verify: true, rootKey }) => {
    const out: string[] = []
    const terminal = { data: (text: string) => void out.push(text), say: (text: string) => void out.push(text) }
    await audit({ connection: { rest }, terminal, flags })
    return out.join('')
  }
  return {
    run,
    rootKey,
    client: createClient({ transport: admin, clock }),
    rewrite: async (change: (line: string) => string) => {
      let last: Pick<AuditRecord, 'sequence' | 'hash'> = { sequence: 0, hash: AUDIT_GENESIS }
      const chain: AuditRecord[] = []
      for (const { revision, line } of await store.audit(0, 10_000)) {
        const record = nextAuditRecord(last, revision, change(line))
        chain.push(record)
        last = record
      }
      rewritten = chain
    },
  }
}

test('F16: the hub signs its audit log, and the signatures are verified', async (t) => {
  const { run } = await world(t)
  const said = await run()
  assert.match(said, /^\d+ records, hash chain verified; the last hash is [\da-f]{64}\n/)
  assert.match(said, /1 signed checkpoints verified; the newest one is of 2026-\S+ and proves records 1 to \d+\n/)
  assert.match(
    await run({ verify: true }),
    /Checkpoints are not verified; verify their signatures with --root-key FILE/,
  )
})

test('F16: a chain that was written anew has valid hashes, and does not match the checkpoints', async (t) => {
  const { run, rewrite } = await world(t)
  await rewrite((line) => line.replace('system:apiserver', 'another-user'))
  assert.match(await run({ verify: true }), /hash chain verified/, 'without a key nothing is seen')
  await assert.rejects(run(), /the audit log does not contain what the hub signed at record \d+/)
})

test('F16: checkpoints that were removed are not taken for verified', async (t) => {
  const { run, client } = await world(t)
  await client.delete(ConfigMap, CHECKPOINTS)
  await assert.rejects(run(), /the hash chain is whole, and its checkpoints are not verified/)
})
