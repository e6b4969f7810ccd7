import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { toBlobs } from '../../render/render-result.ts'
import type { Files } from '../repository/git-repository.ts'
import { readEarlier } from './earlier-content.ts'
import type { EarlierPorts } from './earlier-content.ts'

const object = (text: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'shop' },
  data: { text },
})
const files = (text: string): Files => new Map([['a.yaml', new TextEncoder().encode(text)]])
const textOf = (given: Files) => new TextDecoder().decode(given.get('a.yaml'))
const part = { set: digestOf('x'), clusters: ['s1'], revisions: ['c1', 'c2'] }
const delivered = { kind: 'Earlier' as const, release: 'web-g2', parts: [part] }

/** A hub that delivers `good`, and a clone whose commits c1 and c2 have these texts. */
const ports = (texts: Readonly<Record<string, string>>, more: Partial<EarlierPorts> = {}): EarlierPorts => ({
  filesAt: async (revision) => (texts[revision] === undefined ? undefined : files(texts[revision])),
  render: (given) => ({ clusters: ['s1'], content: { kind: 'Objects', objects: [object(textOf(given))] } }),
  witnessOf: () => 's1',
  objectsOn: async () => toBlobs([object('good')]),
  isInline: false,
  ...more,
})

test('the commit whose rendering has the delivered digests is taken', async () => {
  const found = await readEarlier(delivered, ports({ c1: 'other', c2: 'good' }))
  assert.deepEqual(
    found.parts.map(({ files: given }) => textOf(given)),
    ['good'],
  )
  assert.equal(found.unknown, undefined)
})

test('what cannot be verified is said, and never guessed', async () => {
  const reasons: [EarlierPorts, RegExp][] = [
    [ports({ c1: 'other', c2: 'more' }), /no commit of this clone has its content for s1/],
    [ports({ c2: 'more' }), /does not have its commit c1; fetch the commit/],
    [ports({ c1: 'good' }, { witnessOf: () => undefined }), /no cluster has received/],
    [ports({ c1: 'good' }, { objectsOn: async () => undefined }), /cannot be read from the hub/],
    [ports({ c1: 'good' }, { isInline: true, render: () => undefined }), /no commit of this clone/],
  ]
  for (const [given, reason] of reasons) {
    const { unknown, parts } = await readEarlier(delivered, given)
    assert.match(unknown ?? '', reason)
    assert.deepEqual(parts, [])
  }
})
