/** Submodules, signatures of commits and tags, and proxies, on a real git. */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemClock } from '../../core/time/system-clock.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Source } from '../../kinds/native/source.ts'
import { serveGit, startContentServer } from '../../testing/fixtures/content-server.ts'
import { createTestRepository } from '../../testing/fixtures/git-repository.ts'
import { createTestFetcher, TEST_EGRESS } from '../../testing/fixtures/source-fetcher.ts'
import type { FetchOutcome, FetchParts, FetchRequest } from '../fetch-request.ts'
import { parseSourceUrl } from '../source-url.ts'
import { prepareGitHome } from './run-git.ts'
import { absoluteAddress } from './submodules.ts'

const DATA = join(import.meta.dirname, '../testdata')
const read = (name: string): string => readFileSync(join(DATA, name), 'utf8')

type Git = NonNullable<Source['spec']['git']>

/** After the time at which the signatures were made. */
const LATER: Clock = { ...systemClock, now: () => Date.parse('2027-01-01T00:00:00Z') }

async function world(t: TestContext, overrides: Partial<FetchParts> = {}) {
  const [outer, inner, deep] = [createTestRepository(), createTestRepository(), createTestRepository()]
  const fetcher = await createTestFetcher(overrides)
  t.after(() => {
    fetcher.close()
    for (const one of [outer, inner, deep]) one.remove()
  })
  const fetch = async (git: Partial<Git>, more: Partial<Source['spec']> = {}, request: Partial<FetchRequest> = {}) => {
    fetcher.forget()
    return await fetcher.fetch({ git: { url: `file://${outer.path}`, ...git }, ...more }, request)
  }
  const files = async (outcome: FetchOutcome) =>
    outcome.kind === 'New' ? await fetcher.files(outcome.artifact.digest) : words(outcome)
  return { outer, inner, deep, fetcher, fetch, files }
}

function words(outcome: FetchOutcome): string {
  return outcome.kind === 'Failed' ? `${outcome.reason}: ${outcome.message}` : outcome.kind
}

const modules = (entries: Record<string, string>): string =>
  Object.entries(entries)
    .map(([path, url]) => `[submodule "${path}"]\n\tpath = ${path}\n\turl = ${url}\n`)
    .join('')

test('submodules are refused, left out, or fetched with theirs', async (t) => {
  const { outer, inner, deep, fetch, files } = await world(t)
  const bottom = deep.commit({ 'deep.yaml': 'deep: 1\n' })
  const middle = inner.commit({
    'inner.yaml': 'inner: 1\n',
    'lib/x.yaml': 'x: 1\n',
    more: { submodule: bottom },
    '.gitmodules': modules({ more: `file://${deep.path}` }),
  })
  inner.commit({ 'inner.yaml': 'inner: 2\n' })
  const own = { 'a.yaml': 'a: 1\n', '.gitmodules': modules({ 'vendor/inner': `file://${inner.path}` }) }
  outer.commit({ ...own, 'vendor/inner': { submodule: middle } })
  assert.match(words(await fetch({})), /^Submodule: "vendor\/inner" is a submodule.*spec\.git\.submodules/)
  assert.deepEqual(await files(await fetch({ submodules: 'Ignore' })), own)
  const whole = {
    ...own,
    'vendor/inner/inner.yaml': 'inner: 1\n',
    'vendor/inner/lib/x.yaml': 'x: 1\n',
    'vendor/inner/.gitmodules': modules({ more: `file://${deep.path}` }),
    'vendor/inner/more/deep.yaml': 'deep: 1\n',
  }
  assert.deepEqual(await files(await fetch({ submodules: 'Fetch' })), whole, 'the commit that is named, not the newest')
  assert.deepEqual(
    await files(await fetch({ submodules: 'Fetch' }, { paths: ['vendor/inner/lib'] })),
    { 'vendor/inner/lib/x.yaml': 'x: 1\n' },
    'a path inside of a submodule',
  )
  assert.deepEqual(await files(await fetch({ submodules: 'Fetch' }, { ignore: ['vendor'] })), own)
  const gone = await fetch({ submodules: 'Fetch' }, { paths: ['vendor/other'] })
  assert.match(words(gone), /^PathNotFound/)
})

test('a submodule leads nowhere that the repository itself could not', async (t) => {
  const { outer, inner, fetcher, fetch } = await world(t)
  const commit = inner.commit({ 'a.yaml': 'a: 1\n' })
  const said = async (address: string, request: Partial<FetchRequest> = {}) => {
    outer.commit({ '.gitmodules': modules({ lib: address }), lib: { submodule: commit } })
    return words(await fetch({ submodules: 'Fetch' }, {}, request))
  }
  assert.match(await said('ext::sh -c touch% /tmp/x'), /^BadUrl: /)
  assert.match(await said('--upload-pack=x'), /^BadUrl: /)
  assert.match(await said('http://169.254.169.254/x.git'), /^AddressRefused: /)
  assert.match(await said(`file://${inner.path}/nope`), /^SubmoduleFailed: submodule "lib" at file:.*nope/)
  outer.commit({ lib: { submodule: commit } })
  assert.match(words(await fetch({ submodules: 'Fetch' })), /^Submodule: "lib" is a submodule without an address/)
  outer.commit({ '.gitmodules': '[submodule', lib: { submodule: commit } })
  assert.match(words(await fetch({ submodules: 'Fetch' })), /^Submodule: \.gitmodules cannot be read/)
  const many = Array.from({ length: 65 }, (_, at) => [`m${at}`, { submodule: commit }] as const)
  outer.commit(Object.fromEntries(many))
  assert.match(words(await fetch({ submodules: 'Fetch' })), /^Submodule: There are 65 submodules, more than the 64/)
  // Each of the nine has eight.
  const eight = Array.from({ length: 8 }, (_, at) => `n${at}`)
  const here = (names: readonly string[], of: string) =>
    Object.fromEntries([
      ...names.map((name) => [name, { submodule: of }] as const),
      ['.gitmodules', modules(Object.fromEntries(names.map((name) => [name, `file://${inner.path}`])))],
    ])
  outer.commit(here([...eight, 'n8'], inner.commit(here(eight, commit))))
  assert.match(words(await fetch({ submodules: 'Fetch' })), /^Submodule: There are 65 submodules, more than the 64/)
  // A repository that is its own submodule.
  const tip = outer.commit({ 'a.yaml': 'a: 1\n' })
  let last = tip
  for (let at = 0; at < 7; at += 1) {
    last = outer.commit({ '.gitmodules': modules({ lib: `file://${outer.path}` }), lib: { submodule: last } })
  }
  assert.match(words(await fetch({ submodules: 'Fetch' })), /^Submodule: Submodules are nested more than 5 deep/)
  const strict = await createTestFetcher({ localPaths: [outer.path] })
  t.after(() => strict.close())
  outer.commit({ '.gitmodules': modules({ lib: `file://${inner.path}` }), lib: { submodule: commit } })
  const outside = await strict.fetch({ git: { url: `file://${outer.path}`, submodules: 'Fetch' } })
  assert.match(words(outside), /^LocalPathNotAllowed: /)
  assert.ok(fetcher)
})

test('a repository elsewhere has no submodule on the disk of the hub', async (t) => {
  const { outer, inner, fetcher } = await world(t)
  const commit = inner.commit({ 'a.yaml': 'a: 1\n' })
  outer.commit({ '.gitmodules': modules({ lib: `file://${inner.path}` }), lib: { submodule: commit } })
  const server = await startContentServer([serveGit(outer.path)])
  t.after(() => server.close())
  const url = `${server.url}/repo.git`
  const credentials = { secret: 'ns/git', urls: [server.url], ca: server.ca }
  const outcome = await fetcher.fetch({ git: { url, submodules: 'Fetch' } }, { credentials })
  assert.match(
    words(outcome),
    /^Submodule: Submodule "lib" is at file:\/\/.*, and the repository is not a local one\.$/,
  )
})

test('the Secret of a repository is not sent to a submodule that it does not name', async (t) => {
  const { outer, inner, fetcher } = await world(t)
  const commit = inner.commit({ 'a.yaml': 'a: 1\n' })
  const [main, other] = [
    await startContentServer([serveGit(outer.path)]),
    await startContentServer([serveGit(inner.path)]),
  ]
  t.after(async () => await Promise.all([main.close(), other.close()]))
  outer.commit({ '.gitmodules': modules({ lib: `${other.url}/repo.git` }), lib: { submodule: commit } })
  const spec: Source['spec'] = { git: { url: `${main.url}/repo.git`, submodules: 'Fetch' } }
  const credentials = { secret: 'ns/git', urls: [main.url], username: 'ana', password: 'pw', ca: main.ca }
  await fetcher.fetch(spec, { credentials })
  assert.ok(main.log.every((line) => line.includes('Basic ')))
  assert.ok(
    other.log.every((line) => line.endsWith(' -')),
    other.log.join('\n'),
  )
})

test('addresses of submodules can be relative', () => {
  const from = (base: string, address: string) => absoluteAddress(address, parseSourceUrl(base, ['https', 'ssh']))
  assert.equal(from('https://git.example.com/team/app.git', '../lib.git'), 'https://git.example.com/team/lib.git')
  assert.equal(from('https://git.example.com/team/app.git', './lib'), 'https://git.example.com/team/app.git/lib')
  assert.equal(from('https://git.example.com/team/app.git', '../../b'), 'https://git.example.com/b')
  assert.throws(() => from('https://git.example.com/a', '../../b'), /leaves its server/)
})

async function signed(t: TestContext) {
  const it = await world(t, { clock: LATER })
  const { outer } = it
  // The tree and the blob of the signed commit.
  outer.commit({ 'a.yaml': 'a: 1\n' }, { branch: 'other' })
  const commit = outer.git('hash-object', '-t', 'commit', '-w', join(DATA, 'signed-commit.txt'))
  const tag = outer.git('hash-object', '-t', 'tag', '-w', join(DATA, 'signed-tag.txt'))
  outer.git('update-ref', 'refs/heads/main', commit)
  outer.git('update-ref', 'refs/tags/v1.0.0', tag)
  const verify = async (
    mode: 'Commit' | 'Tag' | 'TagAndCommit',
    ref: NonNullable<Git['ref']>,
    keyring: string | undefined = read('signer.asc'),
  ) => {
    const request = keyring === undefined ? {} : { keyring }
    const outcome = await it.fetch({ ref, verify: { mode, keys: 'keys' } }, {}, request)
    return outcome.kind === 'New' ? (outcome.artifact.verified ?? 'nothing') : words(outcome)
  }
  return { ...it, commit, verify }
}

test('signatures that GnuPG made of commits and tags are verified', async (t) => {
  const { outer, commit, verify } = await signed(t)
  const key = '[0-9A-F]{16}'
  assert.match(await verify('Commit', { branch: 'main' }), new RegExp(`^commit ${commit} with key ${key}$`))
  assert.match(await verify('Tag', { tag: 'v1.0.0' }), new RegExp(`^tag v1\\.0\\.0 with key ${key}$`))
  assert.match(await verify('TagAndCommit', { semver: '1.x' }), /^tag v1\.0\.0 with key \w+, commit \w+ with key \w+$/)
  assert.match(await verify('Tag', { name: 'refs/tags/v1.0.0' }), /^tag refs\/tags\/v1\.0\.0 with key/)
  const both = `${read('stranger.asc')}\n${read('signer.asc')}`
  assert.match(await verify('Commit', { branch: 'main' }, both), /^commit \w+ with key/)

  assert.match(
    await verify('Commit', { branch: 'main' }, read('stranger.asc')),
    /^NotVerified: The signature of commit \w+ is not valid: no key of the keyring signed it/,
  )
  assert.match(await verify('Commit', { branch: 'main' }, 'x'), /the keyring has no armored public key/)
  assert.match(await verify('Commit', { branch: 'other' }), /^NotVerified: commit \w+ is not signed\.$/)
  assert.match(await verify('Tag', { branch: 'main' }), /^NotVerified: spec\.git\.ref selects main, which is no tag/)
  outer.tag('light', commit)
  assert.match(await verify('Tag', { tag: 'light' }), /^NotVerified: tag light is not signed/)
  outer.tag('plain', commit, 'annotated')
  assert.match(await verify('Tag', { tag: 'plain' }), /^NotVerified: tag plain is not signed/)
})

test('a signed tag vouches for its own commit and name only', async (t) => {
  const { outer, commit, verify } = await signed(t)
  const { writeFileSync } = await import('node:fs')
  const tag = outer.git('rev-parse', 'refs/tags/v1.0.0')
  outer.git('update-ref', 'refs/tags/v9.0.0', tag)
  assert.match(
    await verify('Tag', { tag: 'v9.0.0' }),
    /^NotVerified: The tag object of tag v9\.0\.0 has the name v1\.0\.0\.$/,
  )
  // What a server says of a tag need not be true.
  const evil = outer.commit({ 'a.yaml': 'a: evil\n' }, { branch: 'evil' })
  outer.git('update-ref', '-d', 'refs/tags/v1.0.0')
  const packed = `# pack-refs with: peeled fully-peeled sorted \n${tag} refs/tags/v1.0.0\n^${evil}\n`
  writeFileSync(join(outer.path, 'packed-refs'), packed)
  for (const mode of ['Tag', 'TagAndCommit'] as const) {
    assert.equal(
      await verify(mode, { tag: 'v1.0.0' }),
      `NotVerified: The tag object of tag v1.0.0 names the object ${commit}, and not commit ${evil}.`,
    )
  }
})

test('a signature of other content is not valid', async (t) => {
  const { outer, fetch } = await signed(t)
  const { writeFileSync } = await import('node:fs')
  const file = join(outer.path, 'forged')
  const forge = async (change: (text: string) => string) => {
    writeFileSync(file, change(read('signed-commit.txt')))
    outer.git('update-ref', 'refs/heads/main', outer.git('hash-object', '-t', 'commit', '-w', '--literally', file))
    const request = { keyring: read('signer.asc') }
    return words(await fetch({ ref: { branch: 'main' }, verify: { mode: 'Commit', keys: 'keys' } }, {}, request))
  }
  assert.match(await forge((text) => text.replace('Signed commit', 'Signed comment')), /^NotVerified: .*is not valid/)
  assert.match(await forge((text) => text.replace('author Test', 'author Tess')), /^NotVerified: .*is not valid/)
  const foreign = (text: string) => text.replaceAll('PGP SIGNATURE', 'SSH SIGNATURE')
  assert.match(await forge(foreign), /is signed with a key of SSH, and signatures of OpenPGP alone are verified/)
  assert.equal(await forge((text) => text), 'New')
})

test('a proxy of the Source is the only server that is contacted', async (t) => {
  const { outer, fetch, files } = await world(t)
  outer.commit({ 'a.yaml': 'a: 1\n' })
  const server = await startContentServer([serveGit(outer.path)])
  const asked: string[] = []
  const proxy = createServer().on('connect', (request, socket) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? '-'}`)
    // The name is known to the proxy alone.
    const target = connect(Number(new URL(server.url).port), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      target.pipe(socket).pipe(target)
    })
    target.on('error', () => socket.destroy())
    socket.on('error', () => target.destroy())
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await server.close()
  })
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const url = `https://git.invalid/repo.git`
  const outcome = await fetch({ url }, {}, { proxy: { address, username: 'u', password: 'p w' } })
  assert.match(words(outcome), /^CertificateNotTrusted/, 'the certificate is that of another host')
  assert.equal(asked.at(-1), `git.invalid:443 Basic ${Buffer.from('u:p w').toString('base64')}`)
  assert.ok(asked.every((line) => line.startsWith('git.invalid:443 ')))
  const local = `https://127.0.0.1:${new URL(server.url).port}/repo.git`
  const credentials = { secret: 'ns/git', urls: [local], ca: server.ca }
  const through = await fetch({ url: local }, {}, { proxy: { address }, credentials })
  assert.deepEqual(await files(through), { 'a.yaml': 'a: 1\n' })

  const closed = await fetch({ url }, {}, { proxy: { address: 'http://169.254.169.254:80' } })
  assert.match(words(closed), /^AddressRefused: /)
  const strict = await createTestFetcher({ egress: { ...TEST_EGRESS, hosts: ['127.0.0.1:*'] } })
  t.after(() => strict.close())
  const refused = await strict.fetch({ git: { url } }, { proxy: { address } })
  assert.match(words(refused), /^AddressRefused: git\.invalid:443 is not in the hub's list/)
  const ssh = await fetch({ url: 'ssh://git@127.0.0.1/x.git' }, {}, { proxy: { address } })
  assert.match(words(ssh), /^ProxyNotUsed: /)
})

test('NO_PROXY of the hub leads to no server past the proxy of the Source', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'flotilla-home-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  await prepareGitHome(home)
  const environment = { NO_PROXY: '*', no_proxy: '127.0.0.1' }
  const { outer, fetch } = await world(t, { git: { path: process.env['PATH'] ?? '', home, environment } })
  outer.commit({ 'a.yaml': 'a: 1\n' })
  const server = await startContentServer([serveGit(outer.path)])
  let asked = 0
  const proxy = createServer().on('connect', (_request, socket) => {
    asked += 1
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    proxy.closeAllConnections()
    proxy.close()
    await server.close()
  })
  const url = `https://127.0.0.1:${new URL(server.url).port}/repo.git`
  const credentials = { secret: 'ns/git', urls: [url], ca: server.ca }
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const outcome = await fetch({ url }, {}, { proxy: { address }, credentials })
  assert.equal(outcome.kind, 'Failed')
  assert.ok(asked > 0)
  assert.deepEqual(server.log, [])
})
