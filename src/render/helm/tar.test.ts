import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { test } from 'node:test'
import fc from 'fast-check'
import { hostileTars, tarWithPax } from '../../testing/fixtures/hostile-tar.ts'
import { HelmError } from './helm-error.ts'
import { readChartArchive } from './chart/chart-archive.ts'

test('a chart archive with a pax record that has no length is refused', () => {
  assert.throws(() => readChartArchive(gzipSync(tarWithPax('1e-300 path=x\n'))), {
    name: 'HelmError',
    message: 'invalid tar header',
  })
})

test('property: any chart archive becomes files or a HelmError', () => {
  fc.assert(
    fc.property(hostileTars, (tar) => {
      try {
        assert.ok(readChartArchive(gzipSync(tar)).length > 0)
      } catch (caught) {
        if (!(caught instanceof HelmError)) throw caught
      }
    }),
    { numRuns: 1000 },
  )
})
