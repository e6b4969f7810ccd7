import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createApiServer } from '../apiserver/server/api-server.ts'
import { createClient } from '../client/create-client.ts'
import { findObject } from '../client/find-object.ts'
import { createRest } from '../client/rest.ts'
import type { Transport } from '../core/http.ts'
import { silentLogger } from '../core/log.ts'
import { systemIds } from '../core/system-ids.ts'
import { BUILTIN_KINDS } from '../kinds/builtin/builtin-kinds.ts'
import { ConfigMap } from '../kinds/builtin/core.ts'
import { NATIVE_KINDS } from '../kinds/native/native-kinds.ts'
import { createVirtualClock } from '../sim/kernel/virtual-clock.ts'
import { AUDIT_GENESIS, nextAuditRecord } from '../store/audit-chain.ts'
import type { AuditRecord } from '../store/audit-chain.ts'
import { createMemoryStore } from '../store/memory-store.ts'
import { buildTrust } from '../testing/fixtures/wire-builders.ts'
import { CHECKPOINTS, lastCheckpointed } from '../wire/audit-checkpoint.ts'
import { keepLastSigned, signCheckpoints } from './sign-audit.ts'
import type { LastSigned, SignedPlace } from './sign-audit.ts'

/** A hub that signs its audit log, with a database that another person can write. */
async function world(t: TestContext) {
  const clock = createVirtualClock()
  const store = createMemoryStore()
  let rewritten: readonly AuditRecord[] | undefined
  const api = createApiServer({
    store: {
      ...store,
      audit: async (after, limit) => rewritten?.slice(after, after + limit) ?? (await store.audit(after, limit)),
      auditHead: async () => rewritten?.at(-1) ?? (await store.auditHead!()),
    },
    kinds: [...BUILTIN_KINDS, ...NATIVE_KINDS],
    clock,
    ids: systemIds,
    log: silentLogger,
  })
  const ending = new AbortController()
  t.after(async () => {
    ending.abort()
    await api.close()
    await store.close()
  })
  const as =
    (user: string, group: string): Transport =>
    (request, signal) =>
      api.handle(request, { user, groups: [group] }, signal)
  const errors: string[] = []
  const log = { ...silentLogger, error: (_fields: object, message: string) => void errors.push(message) }
  let kept: SignedPlace | undefined
  const lastSigned: LastSigned = {
    where: 'DIR/audit-signed.json',
    read: async () => kept,
    write: async (place) => void (kept = place),
  }
  const { trust } = buildTrust(1, ['https://hub.example:7444'])
  // As the controllers' user: the role of the controllers must be enough.
  const transport = as('system:flotilla:hub', 'system:authenticated')
  const hub = { client: createClient({ transport, clock }), rest: createRest({ transport, clock }) }
  void signCheckpoints({ ...hub, clock, log, lastSigned, trust: () => trust }, ending.signal)
  await clock.settle()
  const client = createClient({ transport: as('admin', 'system:masters'), clock })
  return {
    errors,
    kept: () => kept,
    forget: () => (kept = undefined),
    signed: async () => lastCheckpointed((await findObject(client, ConfigMap, CHECKPOINTS))?.data ?? {}),
    /** Writes records, and waits until the hub signs again. */
    goOn: async () => {
      for (let i = 0; i < 20; i++) {
        const metadata = { generateName: 'more-', namespace: 'default' }
        await client.create(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata } as never)
      }
      await clock.advance(600_000)
      await clock.settle()
    },
    /** Writes the whole chain anew, with valid hashes, and removes the checkpoints. */
    forge: async (change: (lines: readonly string[]) => readonly string[]) => {
      let last: Pick<AuditRecord, 'sequence' | 'hash'> = { sequence: 0, hash: AUDIT_GENESIS }
      const chain: AuditRecord[] = []
      const records = await store.audit(0, 10_000)
      for (const line of change(records.map((record) => record.line))) {
        const record = nextAuditRecord(last, records[0]!.revision, line)
        chain.push(record)
        last = record
      }
      await client.delete(ConfigMap, CHECKPOINTS)
      rewritten = chain
    },
  }
}

test('F16: the hub keeps the place that it signed last, and goes on from there', async (t) => {
  const { kept, signed, goOn, errors } = await world(t)
  const first = kept()
  assert.equal(first?.sequence, await signed())
  await goOn()
  assert.ok(kept()!.sequence > first.sequence)
  assert.equal(kept()?.sequence, await signed())
  assert.deepEqual(errors, [])
})

const FORGERIES = {
  'a record that was changed': (lines: readonly string[]) =>
    lines.map((line) => line.replace('system:apiserver', 'another-user')),
  'records that were removed': (lines: readonly string[]) => lines.slice(0, 5),
} as const

for (const [name, change] of Object.entries(FORGERIES)) {
  test(`F16: the hub does not sign a log with ${name}, although its checkpoints are gone`, async (t) => {
    const { signed, goOn, forge, errors, forget } = await world(t)
    await goOn()
    await forge(change)
    await goOn()
    assert.equal(await signed(), 0)
    assert.match(errors[0] ?? '', /^the audit log no longer has record \d+ as the hub signed it/)
    assert.match(errors[0] ?? '', /remove DIR\/audit-signed\.json/)
    forget()
    errors.length = 0
    await goOn()
    assert.deepEqual(errors, [], 'after the file is removed, the hub signs what it finds')
  })
}

test('the file of the last signed place is private, is read back, and is refused when it is not valid', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-signed-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'audit-signed.json')
  const last = keepLastSigned(file, systemIds)
  assert.equal(await last.read(), undefined)
  const place = { sequence: 12, hash: 'a'.repeat(64) }
  await last.write(place)
  assert.deepEqual(await last.read(), place)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  assert.match(readFileSync(file, 'utf8'), /^\{"sequence":12,/)
  for (const text of ['', '{}', '{"sequence":"12","hash":"x"}', '[]', 'x']) {
    writeFileSync(file, text)
    await assert.rejects(last.read(), /audit-signed\.json is not valid/)
  }
})
