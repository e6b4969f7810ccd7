import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { TAR_BLOCK_BYTES, tarChecksum } from '../../core/tar.ts'
import { plantedTar } from '../../testing/fixtures/hostile-tar.ts'
import { readTar } from './tar.ts'

test('a backup whose sizes are no numbers is refused, also when its checksums are right', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'flotilla-tar-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // A reader that goes back by a block reads the same header for ever.
  for (const size of ['-0000001000', '1e-300', '12x', '\u00ff'.repeat(12)]) {
    const tar = plantedTar([{ name: 'hub.db', type: '0', data: utf8('x'), size }])
    const header = tar.subarray(0, TAR_BLOCK_BYTES)
    header.set(utf8(`${tarChecksum(header).toString(8).padStart(6, '0')}\0 `), 148)
    const path = join(folder, 'backup.tar')
    writeFileSync(path, tar)
    const file = await open(path)
    try {
      const entries = readTar(file, (why) => new Error(why))
      await assert.rejects(entries.next(), { message: 'the size of "hub.db" cannot be read' }, size)
    } finally {
      await file.close()
    }
  }
})
