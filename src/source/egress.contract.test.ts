/** Sources reach no address that the rules close: not by name, not through a redirect, with no transport. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { EgressRules } from '../core/text/egress.ts'
import type { Source } from '../kinds/native/source.ts'
import { serveGit, startContentServer } from '../testing/fixtures/content-server.ts'
import type { ContentHandler } from '../testing/fixtures/content-server.ts'
import { createTestRepository } from '../testing/fixtures/git-repository.ts'
import { createTestFetcher, TEST_EGRESS } from '../testing/fixtures/source-fetcher.ts'

const CLOSED: EgressRules = { ...TEST_EGRESS, isLoopbackOpen: false }

async function serve(t: TestContext, handlers: readonly ContentHandler[]) {
  const server = await startContentServer(handlers, { plain: true })
  t.after(() => server.close())
  return { ...server, port: new URL(server.url).port }
}

async function reason(t: TestContext, egress: EgressRules, spec: Source['spec'], more = {}): Promise<string> {
  const fetcher = await createTestFetcher({ egress })
  t.after(() => fetcher.close())
  const outcome = await fetcher.fetch(spec, more)
  return outcome.kind === 'Failed' ? `${outcome.reason}: ${outcome.message}` : outcome.kind
}

const SSH = { secret: 'ns/git', urls: ['ssh://'], sshKey: 'key', knownHosts: 'host ssh-ed25519 AAAA' }

test('F12, CVE-2020-8555, CVE-2025-13281: a closed address is refused before a connection is made, with each transport', async (t) => {
  const server = await serve(t, [])
  for (const host of ['127.0.0.1', 'localhost', '2130706433', '0x7f.1']) {
    const at = `${host}:${server.port}`
    const specs: Source['spec'][] = [
      { helm: { url: `http://${at}/latest/meta-data` } },
      { helm: { url: `http://${at}/`, chart: 'web' } },
      { oci: { url: `oci://${at}/a/b` } },
      { git: { url: `http://${at}/repo.git` } },
    ]
    for (const spec of specs) {
      const said = await reason(t, CLOSED, spec)
      assert.match(said, /^AddressRefused: .* which Sources may not reach; .* --source-hosts/, JSON.stringify(spec))
    }
  }
  const url = `ssh://git@localhost:${server.port}/repo.git`
  const ssh = await reason(t, CLOSED, { git: { url } }, { credentials: { ...SSH, urls: [url] } })
  assert.match(ssh, /^AddressRefused: /)
  for (const address of ['169.254.169.254', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '100.100.100.200']) {
    const said = await reason(t, TEST_EGRESS, { helm: { url: `http://${address}/latest/meta-data` } })
    assert.match(said, /^AddressRefused: /, address)
  }
  assert.deepEqual(server.log, [])
})

test('F12: a redirect leads to no closed address', async (t) => {
  const repository = createTestRepository()
  t.after(() => repository.remove())
  repository.commit({ 'a.yaml': 'a: 1\n' })
  const inner = await serve(t, [serveGit(repository.path)])
  const outer = await serve(t, [
    (request, response) => void response.writeHead(302, { location: `${inner.url}${request.url}` }).end(),
  ])
  const named = { ...CLOSED, hosts: ['*', `localhost:${outer.port}`] }
  const base = `http://localhost:${outer.port}`
  for (const spec of [
    { helm: { url: `${base}/web.tgz` } },
    { oci: { url: `oci://localhost:${outer.port}/a/b` } },
    { git: { url: `${base}/repo.git` } },
  ]) {
    const before = outer.log.length
    const said = await reason(t, named, spec)
    assert.match(said, /^AddressRefused: 127\.0\.0\.1 /, JSON.stringify(spec))
    assert.ok(outer.log.length > before, 'the server that the operator named was asked')
  }
  assert.deepEqual(inner.log, [])
  // The same redirect leads to an open address.
  assert.equal(await reason(t, TEST_EGRESS, { git: { url: `${base}/repo.git` } }), 'New')
})

test('F12: a list of hosts narrows', async (t) => {
  const said = await reason(t, { ...TEST_EGRESS, hosts: ['git.corp'] }, { git: { url: 'http://127.0.0.1:1/repo.git' } })
  assert.match(said, /^AddressRefused: 127\.0\.0\.1:1 is not in the hub's list of hosts for Sources/)
})
