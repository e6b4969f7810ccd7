import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { createFileBlobs } from '../../blobs/file-blobs.ts'
import { base64, utf8 } from '../../core/bytes.ts'
import { Secret } from '../../core/secret.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { createSealedStore } from '../../store/sealed-store.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { drillBackup, restoreBackup, takeBackup } from './backup.ts'

const ports = { clock: systemClock, ids: systemIds }
const key = base64(systemIds.bytes(32))

describe('backup and restore', () => {
  let root: string
  let data: string
  let store: Store
  const blobsOf = (folder: string) => createFileBlobs({ folder: join(folder, 'blobs'), ids: systemIds })
  const openStore = (folder: string) =>
    createSealedStore({
      store: createSqliteStore({ path: join(folder, 'hub.db') }),
      prefixes: ['/_/secrets/'],
      keys: [{ id: 'k1', key: new Secret(key) }],
      ids: systemIds,
    })

  before(async () => {
    root = await mkdtemp(join(tmpdir(), 'flotilla-backup-'))
    data = join(root, 'data')
    await mkdir(join(data, 'keys'), { recursive: true })
    await writeFile(join(data, 'keys', 'sealing.keys'), `k1 ${key}\n`)
    await writeFile(join(data, 'keys', 'root.key'), 'ROOT-CANARY')
    await writeFile(join(data, 'keys', 'signer.key'), 'SIGNER-CANARY')
    store = openStore(data)
    for (let n = 0; n < 50; n += 1) {
      await store.commit({ key: `/_/configmaps/ns/m${n}`, expect: 0, value: () => `{"n":${n}}`, audit: `made m${n}` })
    }
    await store.commit({ key: '/_/secrets/ns/s', expect: 0, value: () => '{"data":"SECRET-CANARY"}', audit: 'made s' })
    await blobsOf(data).put(utf8('one blob'))
  })
  after(async () => {
    await store?.close()
    if (root) await rm(root, { recursive: true })
  })

  it('takes a consistent picture while writes go on, without a key in it', async () => {
    const writing = new AbortController()
    const writer = (async () => {
      for (let n = 0; !writing.signal.aborted; n += 1) {
        await store.commit({ key: `/_/configmaps/busy/m${n}`, expect: 0, value: () => '{}', audit: `busy ${n}` })
        await new Promise((resolve) => setImmediate(resolve))
      }
    })()
    const to = join(root, 'backup.tar')
    const manifest = await takeBackup(data, to, ports)
    writing.abort()
    await writer
    const noted: unknown = JSON.parse(await readFile(join(data, 'last-backup.json'), 'utf8'))
    assert.deepEqual(noted, { at: manifest.createdAt })
    assert.ok(manifest.revision >= 51)
    assert.deepEqual(manifest.keys, { files: ['sealing.keys', 'signer.key'], sealing: ['k1'] })
    assert.equal(manifest.blobs.count, 1)
    assert.equal((await stat(to)).mode & 0o077, 0)
    const text = await readFile(to, 'latin1')
    assert.ok(text.includes('one blob'), 'the search finds what is not sealed')
    for (const canary of ['ROOT-CANARY', 'SIGNER-CANARY', 'SECRET-CANARY', key]) {
      assert.ok(!text.includes(canary), canary)
    }
    await assert.rejects(takeBackup(data, to, ports), /the file already exists/)
    assert.deepEqual((await readdir(root)).sort(), ['backup.tar', 'data'])
  })

  it('a drill reads everything, with keys the sealed values, too, and leaves nothing', async () => {
    const from = join(root, 'backup.tar')
    const blind = await drillBackup(from, undefined, ports)
    assert.equal(blind.sealed, 1)
    assert.equal(blind.opened, 0)
    await assert.rejects(drillBackup(from, join(root, 'no-keys'), ports), /cannot read the keys: ENOENT/)
    const read = await drillBackup(from, join(data, 'keys'), ports)
    assert.equal(read.opened, 1)
    assert.equal(read.objects, read.auditRecords)
    assert.ok(read.objects >= 51)
    assert.equal(read.blobs, 1)
  })

  it('restores a hub that goes on above every revision seen before', async () => {
    const target = join(root, 'restored')
    const { manifest } = await restoreBackup(join(root, 'backup.tar'), target, join(data, 'keys'), ports)
    const restored = openStore(target)
    assert.equal((await restored.get('/_/secrets/ns/s'))?.value, '{"data":"SECRET-CANARY"}')
    assert.equal((await restored.list({ prefix: '/_/configmaps/ns/' })).entries.length, 50)
    assert.ok(restored.revision() > store.revision() + 1000)
    const events = restored.watch('/_/', manifest.revision, AbortSignal.timeout(5000))
    await assert.rejects(events[Symbol.asyncIterator]().next(), { reason: 'Expired' })
    const written = await restored.commit({ key: '/_/configmaps/ns/new', expect: 0, value: () => '{}' })
    assert.ok(written.ok)
    await restored.compact(restored.revision())
    assert.equal((await restored.list({ prefix: '/_/configmaps/ns/' })).entries.length, 51)
    await restored.close()
    for await (const digest of blobsOf(data).list()) assert.ok(await blobsOf(target).get(digest))
    await assert.rejects(restoreBackup(join(root, 'backup.tar'), target, undefined, ports), /is not empty/)
  })

  it('is an archive that other programs list', async () => {
    const { stdout } = await promisify(execFile)('tar', ['tf', join(root, 'backup.tar')])
    const [first, ...others] = stdout.trim().split('\n')
    assert.equal(first, 'hub.db')
    assert.equal(others.at(-1), 'manifest.json')
    assert.match(others[0]!, /^blobs\/sha256\/[0-9a-f]{64}$/)
  })

  it('refuses a backup with a changed byte anywhere, one cut short, and what is no backup, and leaves nothing', async () => {
    const from = join(root, 'damaged.tar')
    const bytes = await readFile(join(root, 'backup.tar'))
    const at = (text: string) => bytes.indexOf(text)
    const cases: readonly [number, RegExp][] = [
      [at('SQLite format'), /hub\.db has the digest/],
      [at('"m7"') < 0 ? at('made m7') : at('"m7"'), /hub\.db has the digest/],
      [at('one blob'), /the blob sha256:.* has the digest sha256:/],
      [at('blobs/sha256/') + 20, /it is no archive, or one with a changed byte/],
      [at('"digest"') + 20, /has the digest|names no database/],
      [0, /it is no archive, or one with a changed byte/],
    ]
    for (const [offset, expected] of cases) {
      const changed = Buffer.from(bytes)
      changed[offset]! ^= 1
      await writeFile(from, changed)
      await assert.rejects(drillBackup(from, undefined, ports), expected, `byte ${offset}`)
    }
    await writeFile(from, bytes.subarray(0, at('manifest.json') + 100))
    await assert.rejects(drillBackup(from, undefined, ports), /it ends in the middle/)
    await writeFile(from, Buffer.concat([bytes.subarray(0, at('manifest.json')), Buffer.alloc(1024)]))
    await assert.rejects(drillBackup(from, undefined, ports), /not a backup, or an unfinished backup/)
    await assert.rejects(restoreBackup(from, join(root, 'never'), undefined, ports), /not a backup/)
    assert.deepEqual(
      (await readdir(root)).filter((name) => name.startsWith('never')),
      [],
    )
    await assert.rejects(drillBackup(join(root, 'nowhere'), undefined, ports), /cannot read the backup: ENOENT/)
    await assert.rejects(takeBackup(join(root, 'nowhere'), join(root, 'x'), ports), /no hub\.db found/)
  })
})
