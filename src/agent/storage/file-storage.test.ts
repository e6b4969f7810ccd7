import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { createFileStorage } from './file-storage.ts'

describe('file storage', () => {
  it('keeps files to their owner and replaces them whole', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'flotilla-agent-'))
    try {
      const folder = join(parent, 'data')
      const storage = await createFileStorage(folder)
      assert.equal(await storage.read('identity.json'), undefined)
      await storage.write('identity.json', utf8('one'))
      await storage.write('identity.json', utf8('two'))
      assert.equal(fromUtf8((await (await createFileStorage(folder)).read('identity.json'))!), 'two')
      assert.equal((await stat(folder)).mode & 0o777, 0o700)
      assert.equal((await stat(join(folder, 'identity.json'))).mode & 0o777, 0o600)
      assert.deepEqual(await readdir(folder), ['identity.json'])
    } finally {
      await rm(parent, { recursive: true })
    }
  })
})
