/**
 * Git over https and ssh: credentials go where they are bound, nowhere else, and a silent server costs only its time.
 */
import assert from 'node:assert/strict'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { requireBasic, serveGit, startContentServer } from '../../testing/fixtures/content-server.ts'
import type { ContentHandler } from '../../testing/fixtures/content-server.ts'
import { createTestRepository } from '../../testing/fixtures/git-repository.ts'
import { createTestFetcher, TEST_EGRESS } from '../../testing/fixtures/source-fetcher.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import type { Credentials } from '../credentials.ts'
import type { FetchOutcome } from '../fetch-request.ts'
import { createAnswerCache } from '../answer-cache.ts'

async function world(t: TestContext, handlers: readonly ContentHandler[] = [], options: { plain?: boolean } = {}) {
  const repository = createTestRepository()
  const commit = repository.commit({ 'a.yaml': 'a: 1\n' })
  const server = await startContentServer([...handlers, serveGit(repository.path)], options)
  const fetcher = await createTestFetcher()
  t.after(async () => {
    await server.close()
    fetcher.close()
    repository.remove()
  })
  const credentials: Credentials = {
    secret: 'ns/git',
    urls: [`${server.url}/repo.git`],
    username: 'ana',
    password: 'pw',
    ca: server.ca,
  }
  return { repository, commit, server, fetcher, credentials, url: `${server.url}/repo.git` }
}

function words(outcome: FetchOutcome): string {
  return outcome.kind === 'Failed' ? `${outcome.reason}: ${outcome.message}` : outcome.kind
}

test('https with basic authentication and a CA of its own', async (t) => {
  const { fetcher, server, credentials, url, commit } = await world(t, [requireBasic('ana', 'pw')])
  const made = await fetcher.fetch({ git: { url } }, { credentials })
  assert.equal(made.kind === 'New' && made.artifact.commit, commit, words(made))
  fetcher.forget()
  const wrong = await fetcher.fetch({ git: { url } }, { credentials: { ...credentials, password: 'no' } })
  assert.match(words(wrong), /^AuthenticationFailed: .*the server refuses these credentials/)
  assert.ok(!words(wrong).includes('no:') && !words(wrong).includes('pw'))
  const { ca: _ca, ...without } = credentials
  assert.match(words(await fetcher.fetch({ git: { url } }, { credentials: without })), /^CertificateNotTrusted: /)
  assert.ok(server.log.length > 0)
})

test('a credential is sent only to what its owner bound it to', async (t) => {
  const { fetcher, server, credentials, url } = await world(t)
  const said = async (urls: string[], target = url) =>
    words(await fetcher.fetch({ git: { url: target } }, { credentials: { ...credentials, urls } }))
  assert.equal(
    await said([]),
    `CredentialsNotForUrl: Secret ns/git is bound to no address, not to ${url}; its owner may add the address to its annotation flotilla.dev/urls.`,
  )
  assert.match(await said(['https://127.0.0.1/']), /^CredentialsNotForUrl: /, 'another port is another host')
  assert.match(await said([`${server.url}/repo`]), /^CredentialsNotForUrl: /, 'a part of a name is no prefix')
  assert.match(await said([`${server.url}/other/`]), /^CredentialsNotForUrl: /)
  assert.deepEqual(server.log, [], 'nothing was sent')
  assert.equal(await said([server.url]), 'New')
  const plain = await startContentServer([], { plain: true })
  t.after(() => plain.close())
  assert.match(await said([plain.url], `${plain.url}/repo.git`), /^CredentialsOverHttp: /)
  assert.deepEqual(plain.log, [])
})

test('what one credential has fetched is read by no other, also by its commit (F4, CVE-2024-31989)', async (t) => {
  const { fetcher, server, credentials, url, commit } = await world(t, [requireBasic('ana', 'pw')])
  const fetch = (own: Credentials) => {
    fetcher.forget()
    return fetcher.fetch({ git: { url, ref: { commit } } }, { credentials: own })
  }
  assert.equal(words(await fetch(credentials)), 'New')
  // Only a CA, which is no right: the certificate of the test server needs it.
  const { username: _username, password: _password, ...stranger } = credentials
  for (const other of [
    { ...stranger, secret: 'team-b/ca' },
    { ...credentials, secret: 'team-b/git', password: 'guess' },
    { ...stranger, secret: 'ns/git' },
  ]) {
    const { length } = server.log
    assert.match(words(await fetch(other)), /^AuthenticationFailed: /)
    assert.ok(server.log.length > length, 'the server was asked')
  }
  assert.equal(words(await fetch({ ...credentials, secret: 'team-b/git' })), 'New')
})

test('a pinned commit is asked for again, and stays while its server is away', async (t) => {
  let password = 'pw'
  const guard: ContentHandler = (request, response) => requireBasic('ana', password)(request, response)
  const { fetcher, server, credentials, url, commit } = await world(t, [guard])
  const fetch = () => fetcher.fetch({ git: { url, ref: { commit } } }, { credentials })
  assert.equal(words(await fetch()), 'New')
  const { length } = server.log
  assert.equal(words(await fetch()), 'Same')
  assert.ok(server.log.length > length)
  password = 'other'
  assert.match(words(await fetch()), /^AuthenticationFailed: /)
  await server.close()
  assert.equal(words(await fetch()), 'Same')
})

test('CVE-2026-25934: a pack with one changed bit is detected, wherever the bit is', async (t) => {
  let flipAt = -1
  let length = 0
  const flip: ContentHandler = (request, response) => {
    if (request.method !== 'POST' || !request.url?.endsWith('/git-upload-pack')) return false
    let at = 0
    const write = response.write.bind(response)
    response.write = ((chunk: Buffer, ...rest: never[]) => {
      const bytes = Buffer.from(chunk)
      if (flipAt >= at && flipAt < at + bytes.length) bytes[flipAt - at]! ^= 1
      at += bytes.length
      length = Math.max(length, at)
      return write(bytes, ...rest)
    }) as typeof response.write
    return false
  }
  const { server, credentials, url, commit } = await world(t, [flip])
  const outcomeWith = async (position: number) => {
    flipAt = position
    const fetcher = await createTestFetcher()
    try {
      return await fetcher.fetch({ git: { url } }, { credentials })
    } finally {
      fetcher.close()
    }
  }
  const good = await outcomeWith(-1)
  assert.ok(good.kind === 'New', words(good))
  assert.ok(length > 100 && server.log.length > 0)
  let refused = 0
  const STEPS = 12
  for (let step = 0; step < STEPS; step += 1) {
    const outcome = await outcomeWith(Math.floor(((step + 0.5) * length) / STEPS))
    if (outcome.kind === 'Failed') refused += 1
    // A bit of the progress that git prints changes nothing.
    else
      assert.deepEqual([outcome.kind, outcome.kind === 'New' && outcome.artifact.digest], ['New', good.artifact.digest])
    assert.ok(outcome.kind !== 'New' || outcome.artifact.commit === commit)
  }
  assert.ok(refused > 0, 'no position was in the pack')
})

test('CVE-2026-44936: a redirect takes no credential along', async (t) => {
  const elsewhere = await startContentServer([], { plain: true })
  t.after(() => elsewhere.close())
  const redirect: ContentHandler = (request, response) => {
    response.writeHead(302, { location: `${elsewhere.url}${request.url}` }).end()
  }
  const { fetcher, credentials, url } = await world(t, [redirect])
  const outcome = await fetcher.fetch({ git: { url } }, { credentials })
  assert.match(
    words(outcome),
    /^Redirected: .*the server redirects, and credentials are not taken along; name the final address/,
  )
  assert.deepEqual(elsewhere.log, [])
})

test('a mirror serves what a file names, without the credential of the original', async (t) => {
  const { fetcher, server, credentials, commit } = await world(t, [], { plain: true })
  const mirrors = [
    { from: 'https://github.com/', to: 'https://nowhere.invalid/' },
    { from: 'https://github.com/acme', to: server.url },
  ]
  const github = { ...credentials, urls: ['https://github.com/acme/'] }
  const spec = { git: { url: 'https://github.com/acme/repo.git' } }
  const made = await fetcher.fetch(spec, { mirrors, credentials: github })
  assert.equal(made.kind === 'New' && made.artifact.commit, commit, words(made))
  assert.equal(made.kind === 'New' && made.artifact.from, `${server.url}/repo.git`)
  assert.ok(
    server.log.every((line) => line.endsWith(' -')),
    server.log.join('\n'),
  )
})

test('a server that never answers costs its own time only', async (t) => {
  const silent = createServer(() => {})
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  t.after(() => silent.close())
  const { fetcher } = await world(t)
  const { port } = silent.address() as AddressInfo
  const outcome = await fetcher.fetch({ git: { url: `http://127.0.0.1:${port}/x.git` }, timeout: '1s' })
  assert.equal(words(outcome), 'TimedOut: The source did not answer within 1 s (spec.timeout).')
})

test('one question serves all sources of a repository', async (t) => {
  const { server, url } = await world(t, [], { plain: true })
  const fetcher = await createTestFetcher({
    polls: createAnswerCache<Map<string, string>>(systemClock, { most: 1000 }),
  })
  t.after(() => fetcher.close())
  const polls = () => server.log.filter((line) => line.startsWith('GET /repo.git/info/refs')).length
  await fetcher.fetch({ git: { url } }, { isHinted: false })
  const before = polls()
  for (let n = 0; n < 5; n++) {
    assert.equal((await fetcher.fetch({ git: { url } }, { isHinted: false })).kind, 'Same')
  }
  assert.equal(polls(), before)
})

test('CVE-2025-23390: ssh uses the key and the known hosts of the Secret, and no other configuration counts', async (t) => {
  const { repository, commit } = await world(t)
  const fetcher = await createTestFetcher()
  t.after(() => fetcher.close())
  const ssh = join(fetcher.parts.folder, 'fake-ssh')
  const record = join(fetcher.parts.folder, 'record')
  writeFileSync(
    ssh,
    `#!/bin/sh\nprintf '%s\\n' "$@" > ${record}\ncat "$2" >> ${record}\nexec git upload-pack ${repository.path}\n`,
  )
  chmodSync(ssh, 0o755)
  const spawned = { ...fetcher.parts.git, ssh }
  const { fetchSource } = await import('../fetch-source.ts')
  // The operator named the host, which no name server of a test knows.
  const egress = { ...TEST_EGRESS, hosts: ['*', 'git.example.com'] }
  const ask = (credentials?: Credentials, url = 'git@git.example.com:team/repo.git') =>
    fetchSource(
      {
        spec: { git: { url } },
        mirrors: [],
        isHinted: true,
        ...(credentials && { credentials }),
      },
      {
        ...fetcher.parts,
        egress,
        git: spawned,
        polls: createAnswerCache<Map<string, string>>(systemClock, { most: 1000 }),
      },
      new AbortController().signal,
    )
  assert.match(
    words(await ask()),
    /^CredentialsMissing: ssh needs a Secret in spec.credentials with ssh-privatekey and known_hosts/,
  )
  const key: Credentials = {
    secret: 'ns/ssh',
    urls: ['ssh://git.example.com/team/'],
    sshKey: 'KEY',
    knownHosts: 'HOSTS',
  }
  const made = await ask(key)
  const seen = readFileSync(record, 'utf8')
  assert.equal(made.kind === 'New' && made.artifact.commit, commit, `${words(made)}\n${seen}`)
  assert.match(seen, /^-F\n/)
  assert.match(seen, /git@git\.example\.com\ngit-upload-pack 'team\/repo\.git'/)
  assert.match(seen, /StrictHostKeyChecking yes/)
  assert.match(seen, /IdentityAgent none/)
  assert.doesNotMatch(seen, /HostName/)
  assert.match(words(await ask({ ...key, urls: ['ssh://git.example.com/other/'] })), /^CredentialsNotForUrl: /)
  // Other hosts are looked up once, and ssh uses that address.
  const pinned = await ask({ ...key, urls: ['ssh://localhost:2222/'] }, 'ssh://git@localhost:2222/team/repo.git')
  assert.equal(pinned.kind, 'New', words(pinned))
  assert.match(readFileSync(record, 'utf8'), /HostName (127\.0\.0\.1|::1)\nHostKeyAlias \[localhost\]:2222/)
})
