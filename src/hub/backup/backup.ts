/** Backups of an embedded hub: taken while it runs, proved by restoring them, and without any key inside. */
import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { copyFile, mkdir, mkdtemp, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { createFileBlobs } from '../../blobs/file-blobs.ts'
import { utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import type { Clock } from '../../core/time/clock.ts'
import { isDigest } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Stalled, toError } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { isObject } from '../../core/json.ts'
import { Secret } from '../../core/secret.ts'
import { formatTime } from '../../core/time/time.ts'
import { VERSION } from '../../core/version.ts'
import { findAuditBreak } from '../../store/audit-chain.ts'
import { createSealedStore, sealedWith } from '../../store/sealed-store.ts'
import { createSqliteStore } from '../../store/sqlite-store.ts'
import type { Store } from '../../store/store.ts'
import { TRUST_FILES } from '../../wire/trust/hub-keys.ts'
import { readFileIfExists } from '../home/atomic-files.ts'
import { DATABASE_FILE, KEY_FOLDER, parseSealingKeys, SEALING_KEYS_FILE } from '../keys/sealing-keys.ts'
import { noteBackup } from './last-backup.ts'
import { endTar, readTar, writeTarEntry } from './tar.ts'

/** What a backup says about itself. */
export interface BackupManifest {
  readonly format: 'flotilla.dev/backup/v1'
  readonly version: string
  readonly createdAt: string
  readonly revision: number
  readonly database: { readonly file: string; readonly digest: Digest; readonly bytes: number }
  /** Each is verified by its own name; the digest is of the sorted list of names. */
  readonly blobs: { readonly count: number; readonly bytes: number; readonly digest: Digest }
  /** What the restored hub needs and the backup does not have. */
  readonly keys: { readonly files: readonly string[]; readonly sealing: readonly string[] }
}

/** What a restore or a drill read. */
export interface RestoreResult {
  readonly manifest: BackupManifest
  readonly objects: number
  /** Sealed values that could be opened; the others need keys that were not given. */
  readonly opened: number
  readonly sealed: number
  readonly auditRecords: number
  readonly blobs: number
}

/** What backups need from the world. */
export interface BackupPorts {
  readonly clock: Clock
  readonly ids: Ids
}

const FORMAT = 'flotilla.dev/backup/v1'
const MANIFEST = 'manifest.json'
const BLOBS = 'blobs'
const PAGE = 1000
const MAX_MANIFEST = 1024 * 1024
const GIVE_KEYS = 'give the keys directory of the hub that was backed up with --keys DIR'
/** A restored hub starts far above every revision that clients may have seen after the backup. */
const REVISION_GAP = 1_000_000

/** Takes a backup of the hub in `data`, running or not, into one new file. */
export async function takeBackup(data: string, to: string, { clock, ids }: BackupPorts): Promise<BackupManifest> {
  const source = join(data, DATABASE_FILE)
  if (!(await isThere(source))) {
    throw new Stalled('NoDatabase', `no ${DATABASE_FILE} found`, {
      where: data,
      todo: 'give the data directory of an embedded hub with --data DIR',
    })
  }
  if (await isThere(to)) {
    throw new Stalled('NotEmpty', 'the file already exists', { where: to, todo: 'give a file that does not exist' })
  }
  const target = resolve(to)
  const half = `${target}.${ids.suffix(8)}`
  const copy = `${half}.db`
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const out = await open(half, 'wx', 0o600)
  try {
    // The database first: whatever it names was stored as a blob before.
    const { revision, sealing } = copyDatabase(source, copy)
    const database = { file: DATABASE_FILE, ...(await digestOfFile(copy)) }
    await writeTarEntry(out, { name: DATABASE_FILE, size: database.bytes }, createReadStream(copy))
    const blobs = await packBlobs(join(data, BLOBS), out, ids)
    const files = (await readdir(join(data, KEY_FOLDER)).catch(() => [])).filter((name) => name !== TRUST_FILES.root)
    const manifest: BackupManifest = {
      format: FORMAT,
      version: VERSION,
      createdAt: formatTime(clock.now()),
      revision,
      database,
      blobs,
      keys: { files: files.sort(), sealing },
    }
    // Last, so that a file with a manifest is a whole backup.
    const text = utf8(`${JSON.stringify(manifest, undefined, 2)}\n`)
    await writeTarEntry(out, { name: MANIFEST, size: text.byteLength }, [text])
    await endTar(out)
    await out.sync()
    await rename(half, target)
    await noteBackup(data, manifest.createdAt)
    return manifest
  } catch (error) {
    await rm(half, { force: true })
    throw error
  } finally {
    await out.close()
    await rm(copy, { force: true })
  }
}

/**
 * Makes the data directory of a hub from a backup; it must not exist or be empty. `keys` is a folder with the hub's
 * keys.
 */
export async function restoreBackup(
  from: string,
  data: string,
  keys: string | undefined,
  { ids }: Pick<BackupPorts, 'ids'>,
): Promise<RestoreResult> {
  await requireEmpty(data)
  const target = resolve(data)
  const half = `${target}.${ids.suffix(8)}`
  await mkdir(half, { recursive: true, mode: 0o700 })
  try {
    const { manifest, blobs } = await unpack(from, half, ids)
    if (keys !== undefined) await copyKeys(keys, join(half, KEY_FOLDER), manifest)
    const read = await readEverything(join(half, DATABASE_FILE), keys, ids)
    await rm(target, { recursive: true, force: true })
    await rename(half, target)
    return { manifest, blobs, ...read }
  } catch (error) {
    await rm(half, { recursive: true, force: true })
    throw error
  }
}

/** Writes what a backup holds into a folder, and compares all of it with what its manifest says. */
async function unpack(from: string, folder: string, ids: Ids): Promise<{ manifest: BackupManifest; blobs: number }> {
  const file = await open(from, 'r').catch((caught: unknown) => {
    throw new Stalled('NoBackup', `cannot read the backup: ${toError(caught).message}`, {
      where: from,
      todo: 'give the file of a backup',
    })
  })
  const target = createFileBlobs({ folder: join(folder, BLOBS), ids })
  const names: Digest[] = []
  let database: { digest: Digest } | undefined
  let manifest: BackupManifest | undefined
  try {
    for await (const entry of readTar(file, (why) => damaged(from, why))) {
      if (entry.name === DATABASE_FILE) {
        await writeFile(join(folder, DATABASE_FILE), entry.chunks(), { mode: 0o600 })
        database = await digestOfFile(join(folder, DATABASE_FILE))
      } else if (entry.name === MANIFEST && entry.size <= MAX_MANIFEST) {
        manifest = readManifest(from, Buffer.concat(await Array.fromAsync(entry.chunks())).toString())
      } else {
        const digest = `sha256:${entry.name.slice(BLOB_NAME.length)}`
        if (!entry.name.startsWith(BLOB_NAME) || !isDigest(digest)) {
          throw damaged(from, `it holds ${JSON.stringify(entry.name)}, which no backup has`)
        }
        const put = await target.put(Buffer.concat(await Array.fromAsync(entry.chunks())))
        if (put !== digest) throw damaged(from, `the blob ${digest} has the digest ${put}`)
        names.push(digest)
      }
    }
  } finally {
    await file.close()
  }
  if (!manifest)
    throw new Stalled('NoBackup', `no ${MANIFEST} found: not a backup, or an unfinished backup`, { where: from })
  if (database?.digest !== manifest.database.digest) {
    throw damaged(from, `${DATABASE_FILE} has the digest ${database?.digest}, not ${manifest.database.digest}`)
  }
  if (digestOfNames(names) !== manifest.blobs.digest) {
    throw damaged(from, `its ${names.length} blobs are not those it names`)
  }
  return { manifest, blobs: names.length }
}

/** Proves a backup: restores it into a temporary folder, reads everything, and removes it again. */
export async function drillBackup(
  from: string,
  keys: string | undefined,
  ports: Pick<BackupPorts, 'ids'>,
): Promise<RestoreResult> {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-drill-'))
  try {
    return await restoreBackup(from, join(folder, 'data'), keys, ports)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

function copyDatabase(source: string, target: string): { revision: number; sealing: string[] } {
  const db = new DatabaseSync(source, { readOnly: true, timeout: 5000 })
  try {
    // A read transaction: a consistent picture that neither waits for writers nor stops them.
    db.prepare('VACUUM INTO ?').run(target)
  } finally {
    db.close()
  }
  const copy = new DatabaseSync(target)
  try {
    const { revision } = copy.prepare('SELECT revision FROM state').get() as { revision: number }
    const sealing = new Set<string>()
    const rows = copy.prepare("SELECT value FROM log WHERE value LIKE 'sealed:%'").iterate()
    for (const { value } of rows as Iterable<{ value: string }>) {
      const id = sealedWith(value)
      if (id !== undefined) sealing.add(id)
    }
    return { revision, sealing: [...sealing].sort() }
  } finally {
    copy.close()
  }
}

const BLOB_NAME = 'blobs/sha256/'

async function packBlobs(from: string, out: FileHandle, ids: Ids): Promise<BackupManifest['blobs']> {
  const source = createFileBlobs({ folder: from, ids })
  const names: Digest[] = []
  let bytes = 0
  for await (const digest of source.list()) {
    const blob = await source.get(digest)
    // The collector may take one meanwhile: nothing in the database names it any more.
    if (!blob) continue
    await writeTarEntry(out, { name: `${BLOB_NAME}${digest.slice('sha256:'.length)}`, size: blob.byteLength }, [blob])
    names.push(digest)
    bytes += blob.byteLength
  }
  return { count: names.length, bytes, digest: digestOfNames(names) }
}

function digestOfNames(names: readonly Digest[]): Digest {
  return `sha256:${createHash('sha256')
    .update([...names].sort().join('\n'))
    .digest('hex')}`
}

async function copyKeys(from: string, to: string, { keys }: BackupManifest): Promise<void> {
  await mkdir(to, { mode: 0o700 })
  const present = await readdir(from).catch((caught: unknown) => {
    throw new Stalled('KeysMissing', `cannot read the keys: ${toError(caught).message}`, {
      where: from,
      todo: GIVE_KEYS,
    })
  })
  const missing = keys.files.filter((name) => !present.includes(name))
  if (missing.length > 0) {
    throw new Stalled('KeysMissing', `missing keys of this hub: ${missing.join(', ')}`, {
      where: from,
      todo: GIVE_KEYS,
    })
  }
  for (const name of present) await copyFile(join(from, name), join(to, name))
}

/** Opens a restored database and reads every object and audit record in it. */
async function readEverything(path: string, keys: string | undefined, ids: Ids) {
  const db = new DatabaseSync(path)
  try {
    const { integrity_check: verdict } = db.prepare('PRAGMA integrity_check').get() as { integrity_check: string }
    if (verdict !== 'ok') throw damaged(path, verdict)
    // Clients that saw later revisions must not mistake new revisions for them, so that every old watch is told to
    // start anew.
    const next = `revision + ${REVISION_GAP}`
    db.exec(`BEGIN; DELETE FROM log WHERE revision NOT IN (SELECT revision FROM current);
      UPDATE state SET revision = ${next}, compacted = ${next}, swept = ${next}; COMMIT`)
  } finally {
    db.close()
  }
  const plain = createSqliteStore({ path })
  try {
    const store = await openSealed(plain, keys, ids)
    const seen = { objects: 0, opened: 0, sealed: 0, auditRecords: 0 }
    for (let after: string | undefined, more = true; more;) {
      const page = await plain.list(compact({ prefix: '/', limit: PAGE, after }))
      for (const { key, value } of page.entries) {
        seen.objects += 1
        const isSealed = sealedWith(value) !== undefined
        if (isSealed) seen.sealed += 1
        const text = isSealed ? (await store?.get(key))?.value : value
        if (text === undefined) continue
        if (isSealed) seen.opened += 1
        if (!isObject(JSON.parse(text))) throw damaged(path, `${key} is not an object`)
      }
      after = page.entries.at(-1)?.key
      more = page.more
    }
    const audit = await plain.audit(0, Number.MAX_SAFE_INTEGER)
    seen.auditRecords = audit.length
    const broken = findAuditBreak(audit)
    if (broken !== undefined) throw damaged(path, `the audit chain breaks at record ${broken}`)
    return seen
  } finally {
    await plain.close()
  }
}

async function openSealed(store: Store, keys: string | undefined, ids: Ids): Promise<Store | undefined> {
  if (keys === undefined) return undefined
  const file = join(keys, SEALING_KEYS_FILE)
  const text = await readFileIfExists(file)
  if (text === undefined) return undefined
  const [first, ...others] = parseSealingKeys(text, file).map(({ id, key }) => ({ id, key: new Secret(key) }))
  return createSealedStore({ store, prefixes: [], keys: [first!, ...others], ids })
}

function readManifest(from: string, text: string): BackupManifest {
  let manifest: Partial<BackupManifest>
  try {
    manifest = JSON.parse(text) as BackupManifest
  } catch {
    throw damaged(from, `its ${MANIFEST} is not JSON`)
  }
  if (manifest.format !== FORMAT) {
    throw new Stalled('NoBackup', `the format of the backup is not ${FORMAT}`, {
      where: from,
      todo: 'use the version of Flotilla that wrote the backup',
    })
  }
  const { database } = manifest
  if (database?.file !== DATABASE_FILE || !isDigest(database.digest) || !manifest.blobs || !manifest.keys) {
    throw damaged(from, `its ${MANIFEST} names no database`)
  }
  return manifest as BackupManifest
}

async function requireEmpty(path: string): Promise<void> {
  const names = await readdir(path).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return []
    throw error
  })
  if (names.length > 0) {
    throw new Stalled('NotEmpty', 'the directory is not empty', { where: path, todo: 'give a new or empty directory' })
  }
}

async function digestOfFile(path: string): Promise<{ digest: Digest; bytes: number }> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array)
  return { digest: `sha256:${hash.digest('hex')}`, bytes: (await stat(path)).size }
}

function damaged(where: string, why: string): Stalled {
  return new Stalled('BackupDamaged', `the backup is damaged: ${why}`, {
    where,
    todo: 'use another backup, and verify backups with "flotilla restore FILE --drill"',
  })
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}
