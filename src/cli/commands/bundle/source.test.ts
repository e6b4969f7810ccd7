/** source poll, suspend, resume and accept, against the real API server in memory. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../../core/crypto/digest.ts'
import { Source } from '../../../kinds/native/source.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { createCliHub, expectErrorReport } from '../../../testing/hub/cli-hub.ts'
import { sourceAccept, sourcePoll, sourceResume, sourceSuspend } from './source.ts'

async function started(t: { after(fn: () => Promise<void>): void }) {
  const { client, connection, terminal, said } = createCliHub(t)
  const input = { connection, terminal, flags: {}, confirm: async () => false }
  await client.create(
    Source,
    build(Source, 'default/apps', { spec: { git: { url: 'https://git.example.com/x.git' } } }),
  )
  const source = () => client.get(Source, { namespace: 'default', name: 'apps' })
  return { client, input, source, said: () => said.out + said.err }
}

test('poll asks once more each time; suspend and resume', async (t) => {
  const { input, source, said } = await started(t)
  await sourcePoll('apps', input)
  const first = (await source()).metadata.annotations?.['flotilla.dev/poll']
  await sourcePoll('apps', input)
  assert.notEqual((await source()).metadata.annotations?.['flotilla.dev/poll'], first)
  await sourceSuspend('apps', input)
  assert.equal((await source()).spec.suspend, true)
  assert.deepEqual(await expectErrorReport(sourcePoll('apps', input)), {
    exitCode: 5,
    what: 'source "apps" is suspended',
    todo: 'resume it with "flotilla source resume apps"',
  })
  await sourceResume('apps', input)
  assert.equal((await source()).spec.suspend, false)
  assert.match(said(), /source "apps" suspended; it has no artifact yet/)
  const missing = await expectErrorReport(sourcePoll('aps', input))
  assert.deepEqual([missing.exitCode, missing.what], [3, 'source "aps" not found in namespace "default"'])
})

test('accept releases exactly what is held, and asks', async (t) => {
  const { client, input, source } = await started(t)
  assert.deepEqual(await expectErrorReport(sourceAccept('apps', input)), {
    exitCode: 5,
    what: 'source "apps" has no guarded revision to accept',
  })
  const artifact = {
    revision: 'main@sha1:aaa',
    commit: 'aaa',
    digest: digestOf('x'),
    files: 1,
    bytes: 1,
    fetchedBytes: 1,
    fetchMs: 1,
    fetchedAt: '2026-01-01T00:00:00Z',
    from: 'x',
    identity: digestOf('i'),
    selection: digestOf('s'),
  }
  const held = { revision: 'main@sha1:bbb', accept: 'bbb', since: '2026-01-01T00:00:00Z' }
  await client.update(Source, { ...(await source()), status: { artifact, held } }, { subresource: 'status' })
  const asked = await expectErrorReport(sourceAccept('apps', input))
  assert.equal(asked.exitCode, 2)
  assert.match(asked.what, /^accept revision main@sha1:bbb of source "apps", which does not descend from main@sha1:aaa/)
  await sourceAccept('apps', { ...input, flags: { yes: true } })
  assert.equal((await source()).spec.accept, 'bbb')
})
