import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { utf8 } from '../core/bytes.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { systemIds } from '../core/system-ids.ts'
import { blobsContract } from '../testing/blobs-contract.ts'
import { createFileBlobs } from './file-blobs.ts'
import { createMemoryBlobs } from './memory-blobs.ts'

blobsContract('memory', async () => ({ blobs: createMemoryBlobs(), cleanup: async () => {} }))

blobsContract('files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-blobs-'))
  const blobs = createFileBlobs({ folder: join(folder, 'blobs'), ids: systemIds })
  return { blobs, cleanup: () => rm(folder, { recursive: true }) }
})

describe('file blobs', () => {
  it('notices damage, and a put repairs it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-blobs-'))
    const blobs = createFileBlobs({ folder, ids: systemIds })
    const digest = await blobs.put(utf8('whole'))
    const name = digest.slice(7)
    await writeFile(join(folder, name.slice(0, 2), name.slice(2, 4), name), 'torn')
    await assert.rejects(blobs.get(digest), /is damaged/)
    await blobs.put(utf8('whole'))
    assert.deepEqual(await blobs.get(digest), utf8('whole'))
    await rm(folder, { recursive: true })
  })

  it('makes no path from anything but a digest', async () => {
    const blobs = createFileBlobs({ folder: join(tmpdir(), 'flotilla-none'), ids: systemIds })
    for (const bad of ['sha256:../../etc/passwd', 'sha256:ab', 'x', `sha256:${'a'.repeat(63)}/`]) {
      await assert.rejects(blobs.get(bad as Digest), /is not a digest/)
      await assert.rejects(blobs.has(bad as Digest), /is not a digest/)
      await assert.rejects(blobs.delete(bad as Digest), /is not a digest/)
    }
  })

  it('does not list what a crash left behind', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'flotilla-blobs-'))
    const blobs = createFileBlobs({ folder, ids: systemIds })
    const digest = await blobs.put(utf8('x'))
    const name = digest.slice(7)
    await writeFile(join(folder, name.slice(0, 2), name.slice(2, 4), '.half-written'), 'ha')
    assert.deepEqual(await Array.fromAsync(blobs.list()), [digest])
    assert.equal((await readdir(join(folder, name.slice(0, 2), name.slice(2, 4)))).length, 2)
    await rm(folder, { recursive: true })
  })
})
