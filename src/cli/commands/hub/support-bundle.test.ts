/** support-bundle, against the real API server in memory. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { fromUtf8 } from '../../../core/bytes.ts'
import { tarEntries } from '../../../core/tar.ts'
import { ensureNamespace } from '../../../hub/home/hub-info.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { buildBundle, buildCluster } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorText } from '../../../testing/hub/cli-hub.ts'
import { readEnvironment } from '../../config.ts'
import { supportBundle } from './support-bundle.ts'

test('a support bundle has what helps, and no content', async (t) => {
  const { client, connection, terminal, taken } = createCliHub(t)
  const folder = mkdtempSync(join(tmpdir(), 'support-'))
  t.after(() => rmSync(folder, { recursive: true }))
  await ensureNamespace(client, 'shop')
  const manifests = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {password: hunter2}\n'
  const write = { fieldManager: 'test' }
  await client.create(Bundle, buildBundle('shop/web', { placement: 'p', manifests }), write)
  await client.create(Cluster, buildCluster('store-1'), write)
  const file = join(folder, 'out.tar.gz')
  const run = () =>
    supportBundle([file], {
      connect: async () => connection,
      terminal,
      environment: readEnvironment({}),
      signal: new AbortController().signal,
      flags: { cluster: ['store-1'] },
    })
  await run()
  assert.equal(taken().out, `${file}\n`)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const entries = [...tarEntries(gunzipSync(readFileSync(file)))]
  const files = new Map(entries.map(({ name, data }) => [fromUtf8(name), fromUtf8(data)]))
  const part = (name: string) => files.get(`flotilla-support/${name}`) ?? ''
  assert.equal(part('missing.txt'), '')
  assert.match(part('status.txt'), /^Hub {6}.*\nFleet/)
  assert.ok(JSON.parse(part('check-store-1.json')))
  assert.match(part('audit.jsonl'), /"create"/)
  const bundle = JSON.parse(part('objects/bundles.json'))
  assert.equal(bundle.spec.manifests, `(left out: ${manifests.length} characters)`)
  assert.doesNotMatch([...files.values()].join(''), /hunter2/)
  // Rows per cluster, or per object of every Release, would fill the archive.
  const computed = [...files.keys()].filter((name) => /objects\/.*(states|objects)\.json$/.test(name))
  assert.deepEqual(computed, [])
  assert.match(await expectErrorText(run()), /out\.tar\.gz: cannot write the support bundle: the file already exists/)
})
