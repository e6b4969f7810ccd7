import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { test } from 'node:test'
import fc from 'fast-check'
import { hostileTars, tarWithPax } from '../testing/fixtures/hostile-tar.ts'
import { SourceError } from './source-error.ts'
import { extractFiles } from './untar.ts'

const CHART = { name: 'web-1.0.0.tgz', stripFirst: true }

test('an archive with a pax record that has no length is refused by name', () => {
  for (const archive of [tarWithPax('1e-300 path=x\n'), gzipSync(tarWithPax('1e-300 path=x\n'))]) {
    assert.throws(() => extractFiles(archive, CHART), {
      name: 'SourceError',
      reason: 'BadArchive',
      message: 'web-1.0.0.tgz is no archive: invalid tar header.',
    })
  }
})

test('CVE-2025-32386: an archive that unpacks to more than 100 times its size is refused (F23)', () => {
  const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024))
  assert.ok(bomb.byteLength < 64 * 1024)
  assert.throws(() => extractFiles(bomb, CHART), {
    reason: 'BadArchive',
    message: /^web-1\.0\.0\.tgz cannot be unpacked: .* or unpacks to more than 100 times its size\.$/,
  })
})

test('property: any archive becomes files or a SourceError', () => {
  fc.assert(
    fc.property(hostileTars, fc.boolean(), fc.boolean(), (tar, isZipped, stripFirst) => {
      try {
        assert.ok(extractFiles(isZipped ? gzipSync(tar) : tar, { ...CHART, stripFirst }).size > 0)
      } catch (caught) {
        if (!(caught instanceof SourceError)) throw caught
      }
    }),
    { numRuns: 1000 },
  )
})
