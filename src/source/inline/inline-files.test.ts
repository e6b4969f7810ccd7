import assert from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { createMemoryBlobs } from '../../blobs/memory-blobs.ts'
import { base64, fromUtf8 } from '../../core/bytes.ts'
import { readFiles, readTree } from '../artifact.ts'
import type { FetchContext, PreviousArtifact } from '../fetch-request.ts'
import { identityOf, selectionOf } from '../fetch-request.ts'
import { fetchInline } from './inline-files.ts'

type Files = Parameters<typeof fetchInline>[0]['files']

const zipped = (bytes: Uint8Array) => base64(new Uint8Array(gzipSync(bytes)))

async function fetched(files: Files, previous?: PreviousArtifact) {
  const blobs = createMemoryBlobs()
  const spec = { inline: { files } }
  const outcome = await fetchInline(spec.inline, { blobs, spec, previous } as unknown as FetchContext)
  return { outcome, blobs, spec }
}

test('files of a Source become its artifact, plain and compressed', async () => {
  const files: Files = [
    { path: 'a/b.yaml', content: 'x: 1\n' },
    { path: 'c.yaml', content: zipped(Buffer.from('y: 2\n')), encoding: 'Gzip' },
  ]
  const { outcome, blobs, spec } = await fetched(files)
  assert.ok(outcome.kind === 'New')
  const tree = await readTree(outcome.artifact.digest, blobs)
  const read = await readFiles(tree!, '', blobs)
  assert.deepEqual(
    [...read].map(([path, bytes]) => [path, fromUtf8(bytes)]),
    [
      ['a/b.yaml', 'x: 1\n'],
      ['c.yaml', 'y: 2\n'],
    ],
  )
  const previous = { ...outcome.artifact, identity: identityOf(spec), selection: selectionOf(spec) }
  assert.equal((await fetched(files, previous as unknown as PreviousArtifact)).outcome.kind, 'Same')
  const changed = [{ ...files[0]!, content: 'x: 2\n' }, files[1]!]
  assert.equal((await fetched(changed, previous as unknown as PreviousArtifact)).outcome.kind, 'New')
})

test('files that leave the Source, are there twice, or unpack to too much are refused by name', async () => {
  await assert.rejects(fetched([{ path: '../x', content: '' }]), /"\.\.\/x": the path has "\.", "\.\."/)
  await assert.rejects(fetched([{ path: '/x', content: '' }]), /the path is absolute or empty/)
  const twice = { path: 'x', content: '' }
  await assert.rejects(fetched([twice, twice]), /spec\.inline\.files has "x" twice/)
  await assert.rejects(fetched([{ path: 'x', content: 'no', encoding: 'Gzip' }]), /"x" of spec\.inline\.files is not/)
  const bomb = zipped(new Uint8Array(17 * 1024 * 1024))
  assert.ok(bomb.length < 50_000)
  await assert.rejects(fetched([{ path: 'x', content: bomb, encoding: 'Gzip' }]), /unpacks to more than 16777216 bytes/)
  const half = zipped(new Uint8Array(12 * 1024 * 1024))
  const three = ['a', 'b', 'c'].map((path) => ({ path, content: half, encoding: 'Gzip' as const }))
  await assert.rejects(fetched(three), /"c" of spec\.inline\.files .* more than 8388608 bytes/)
})
