/**
 * Git repositories on a real git: what becomes an artifact, what is held, and what a hostile repository gets to hear.
 */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import type { Source } from '../../kinds/native/source.ts'
import { createTestRepository } from '../../testing/fixtures/git-repository.ts'
import { createTestFetcher } from '../../testing/fixtures/source-fetcher.ts'
import type { FetchOutcome } from '../fetch-request.ts'

async function world(t: TestContext) {
  const repository = createTestRepository()
  const fetcher = await createTestFetcher()
  t.after(() => {
    fetcher.close()
    repository.remove()
  })
  const spec = (
    more: Partial<Source['spec']> = {},
    ref?: NonNullable<Source['spec']['git']>['ref'],
  ): Source['spec'] => ({
    git: { url: `file://${repository.path}`, ...(ref ? { ref } : {}) },
    ...more,
  })
  return { repository, fetcher, spec }
}

function artifactOf(outcome: FetchOutcome) {
  assert.equal(outcome.kind, 'New', JSON.stringify(outcome))
  return outcome.artifact
}

function failureOf(outcome: FetchOutcome): string {
  assert.equal(outcome.kind, 'Failed', JSON.stringify(outcome))
  const { reason, message } = outcome
  return `${reason}: ${message}`
}

test('a branch becomes files; the next commit reads only what changed', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const first = repository.commit({ 'a.yaml': 'a: 1\n', 'dir/b.yaml': 'b: 1\n' })
  const one = artifactOf(await fetcher.fetch(spec({}, { branch: 'main' })))
  assert.equal(one.revision, `main@sha1:${first}`)
  assert.deepEqual(await fetcher.files(one.digest), { 'a.yaml': 'a: 1\n', 'dir/b.yaml': 'b: 1\n' })
  assert.deepEqual([one.files, one.bytes], [2, 10])
  assert.deepEqual(await fetcher.fetch(spec({}, { branch: 'main' })), { kind: 'Same' })

  repository.commit({ 'a.yaml': 'a: 2\n', 'dir/b.yaml': 'b: 1\n' })
  const puts: number[] = []
  const { blobs } = fetcher
  const put = blobs.put.bind(blobs)
  blobs.put = async (bytes) => {
    puts.push(bytes.byteLength)
    return await put(bytes)
  }
  const two = artifactOf(await fetcher.fetch(spec({}, { branch: 'main' })))
  assert.deepEqual((await fetcher.files(two.digest))['a.yaml'], 'a: 2\n')
  assert.equal(puts.length, 2, 'the changed file and the list of files')
})

test('an artifact has author and subject of its commit, as one safe line each', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const fetched = async (message: string) => {
    repository.commit({ 'a.yaml': `a: ${JSON.stringify(message.slice(0, 20))}\n` }, { message })
    const { author, subject } = artifactOf(await fetcher.fetch(spec()))
    return { author, subject }
  }
  assert.deepEqual(await fetched('Raise replicas\n\nBecause.'), { author: 'Test', subject: 'Raise replicas' })
  assert.deepEqual(await fetched('red \u001b[31m and \u202e back'), { author: 'Test', subject: 'red  [31m and   back' })
  const { subject = '' } = await fetched('x'.repeat(5000))
  assert.ok(subject.length <= 256 && subject.endsWith('…'), subject)
  // A subject of 100 kB is unknown; the content is taken all the same.
  assert.deepEqual(await fetched(`y${'z'.repeat(100_000)}`), { author: undefined, subject: undefined })
})

test('default branch, tags (light and annotated), ranges and commits', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const first = repository.commit({ v: '1' })
  repository.tag('v1.0.0', first)
  const second = repository.commit({ v: '2' })
  repository.tag('v1.2.0', second, 'annotated')
  const third = repository.commit({ v: '3' })
  repository.tag('v2.0.0-rc.1', third)
  const at = async (ref?: NonNullable<Source['spec']['git']>['ref']) => {
    fetcher.forget()
    return artifactOf(await fetcher.fetch(spec({}, ref))).revision
  }
  assert.equal(await at(), `HEAD@sha1:${third}`)
  assert.equal(await at({ tag: 'v1.2.0' }), `v1.2.0@sha1:${second}`)
  assert.equal(await at({ semver: '>=1.0.0 <2' }), `v1.2.0@sha1:${second}`)
  assert.equal(await at({ semver: '>=2.0.0-0' }), `v2.0.0-rc.1@sha1:${third}`)
  assert.equal(await at({ commit: first }), `sha1:${first}`)
  const missing = failureOf(await fetcher.fetch(spec({}, { branch: 'nope' })))
  assert.equal(missing, 'RefNotFound: The repository has no branch "nope"; it has main.')
  assert.match(failureOf(await fetcher.fetch(spec({}, { commit: '0'.repeat(39) + '1' }))), /^CommitNotFound: /)
  assert.match(failureOf(await fetcher.fetch(spec({}, { semver: '1.x.y.z' }))), /^BadRange: "1.x.y.z" is no range/)
})

test('a pinned commit stays as long as the server does not refuse it', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const commit = repository.commit({ v: '1' })
  artifactOf(await fetcher.fetch(spec({}, { commit })))
  assert.deepEqual(await fetcher.fetch(spec({}, { commit })), { kind: 'Same' })
  repository.remove()
  assert.match(failureOf(await fetcher.fetch(spec({}, { commit }))), /^RepositoryNotFound: /)
})

test('refs of one repository can be fetched at the same time', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const commits = Array.from({ length: 8 }, (_, at) => repository.commit({ v: `${at}`, [`f${at}`]: 'x' }))
  const outcomes = await Promise.all(commits.map((commit) => fetcher.fetch(spec({}, { commit }))))
  assert.deepEqual(
    outcomes.map((outcome) => artifactOf(outcome).commit),
    commits,
  )
})

test('a fetch waits while another thread has locked the repository', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const first = repository.commit({ v: '1' })
  artifactOf(await fetcher.fetch(spec({}, { commit: first })))
  const [cache] = readdirSync(fetcher.parts.folder).filter((name) => /^[0-9a-f]{40}$/.test(name))
  const lock = join(fetcher.parts.folder, cache!, 'shallow.lock')
  writeFileSync(lock, '')
  const second = repository.commit({ v: '2' })
  const fetching = fetcher.fetch(spec({}, { commit: second }))
  setTimeout(() => rmSync(lock), 700)
  assert.equal(artifactOf(await fetching).commit, second)
})

test('only the wanted paths are fetched', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const noise = Buffer.from(Array.from({ length: 400_000 }, (_, i) => (i * 2654435761) & 0xff))
  repository.commit({
    'stores/a.yaml': 'a',
    'stores/x/b.yaml': 'b',
    'stores/x/skip.md': 's',
    big: noise,
    'storesx/c': 'c',
  })
  const made = artifactOf(await fetcher.fetch(spec({ paths: ['stores/'], ignore: ['stores/**/*.md'] })))
  assert.deepEqual(Object.keys(await fetcher.files(made.digest)), ['stores/a.yaml', 'stores/x/b.yaml'])
  assert.ok(made.fetchedBytes < 20_000, `${made.fetchedBytes} bytes for two small files`)
  const gone = failureOf(await fetcher.fetch(spec({ paths: ['stores', 'plants'] })))
  assert.equal(gone, 'PathNotFound: spec.paths names "plants", and nothing is there.')
})

test('CVE-2026-44937: a new commit must descend from the last, unless a person changed the ref or released it', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const base = repository.commit({ v: '0' })
  for (let n = 1; n < 3; n++) repository.commit({ v: String(n) })
  const last = artifactOf(await fetcher.fetch(spec({}, { branch: 'main' })))
  for (let n = 3; n < 21; n++) repository.commit({ v: String(n) })
  const far = artifactOf(await fetcher.fetch(spec({}, { branch: 'main' })))
  assert.notEqual(far.commit, last.commit, 'eighteen commits on is still a descendant')

  const forced = repository.commit({ v: 'forced' }, { parents: [base] })
  const held = await fetcher.fetch(spec({}, { branch: 'main' }))
  assert.deepEqual(held, {
    kind: 'Held',
    revision: `main@sha1:${forced}`,
    reason: 'HistoryRewritten',
    message: `main is at ${forced} now, which does not descend from ${far.commit}`,
  })
  repository.git('update-ref', 'refs/heads/main', last.commit)
  const back = await fetcher.fetch(spec({}, { branch: 'main' }))
  assert.equal(back.kind === 'Held' && back.reason, 'WentBack')

  repository.git('update-ref', 'refs/heads/main', forced)
  repository.git('update-ref', 'refs/heads/other', forced)
  assert.equal(artifactOf(await fetcher.fetch(spec({ accept: forced }, { branch: 'main' }))).commit, forced)
  repository.git('update-ref', 'refs/heads/other', base)
  assert.equal(artifactOf(await fetcher.fetch(spec({}, { branch: 'other' }))).commit, base)
})

test('the history binds also after the cache is gone', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const base = repository.commit({ v: '0' })
  repository.commit({ v: '1' })
  artifactOf(await fetcher.fetch(spec({}, { branch: 'main' })))
  for (const name of readdirSync(fetcher.parts.folder)) {
    if (name !== 'home') rmSync(`${fetcher.parts.folder}/${name}`, { recursive: true })
  }
  repository.commit({ v: 'x' }, { parents: [base] })
  const held = await fetcher.fetch(spec({}, { branch: 'main' }))
  assert.equal(held.kind === 'Held' && held.reason, 'HistoryRewritten', JSON.stringify(held))
})

test('versions do not go back, and may come from other branches', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const base = repository.commit({ v: '0' })
  const one = repository.commit({ v: '1' }, { branch: 'release-1', parents: [base] })
  repository.tag('1.1.0', one)
  artifactOf(await fetcher.fetch(spec({}, { semver: '*' })))
  const two = repository.commit({ v: '2' }, { branch: 'release-2', parents: [base] })
  repository.tag('2.0.0', two)
  assert.equal(artifactOf(await fetcher.fetch(spec({}, { semver: '*' }))).commit, two)
  repository.git('tag', '-d', '2.0.0')
  const held = await fetcher.fetch(spec({}, { semver: '*' }))
  assert.deepEqual(held.kind === 'Held' && [held.reason, held.message], [
    'WentBack',
    'The newest tag in the range is 1.1.0 now, older than 2.0.0',
  ])
  repository.tag('2.0.0', repository.commit({ v: 'moved' }, { branch: 'elsewhere', parents: [base] }))
  const moved = await fetcher.fetch(spec({}, { semver: '*' }))
  assert.equal(moved.kind === 'Held' && moved.reason, 'HistoryRewritten')
})

test('a reference is followed by its full name, also one that is neither a branch nor a tag', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const commit = repository.commit({ 'a.yaml': '1' })
  repository.git('tag', '-a', 'v1', '-m', 'one')
  repository.git('update-ref', 'refs/pull/7/head', commit)
  const at = async (name: string) => await fetcher.fetch(spec({}, { name }))
  for (const name of ['refs/heads/main', 'refs/tags/v1', 'refs/pull/7/head']) {
    assert.equal(artifactOf(await at(name)).revision, `${name}@sha1:${commit}`)
  }
  assert.match(failureOf(await at('refs/pull/8/head')), /^RefNotFound: The repository has no reference "refs\/pull\/8/)
  assert.match(failureOf(await at('refs/pull/*')), /^RefNotFound: The repository has no reference/)
})

test('links inside the repository become what they point to', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  repository.commit({
    'base/a.yaml': 'a',
    'base/sub/b.yaml': 'b',
    'prod/a.yaml': { link: '../base/a.yaml' },
    'prod/all': { link: '../base' },
    'prod/far': { link: 'all2/sub/b.yaml' },
    'prod/all2': { link: './../base/' },
  })
  const made = artifactOf(await fetcher.fetch(spec({ paths: ['prod'] })))
  assert.deepEqual(await fetcher.files(made.digest), {
    'prod/a.yaml': 'a',
    'prod/all/a.yaml': 'a',
    'prod/all/sub/b.yaml': 'b',
    'prod/all2/a.yaml': 'a',
    'prod/all2/sub/b.yaml': 'b',
    'prod/far': 'b',
  })
})

test('CVE-2022-24348, CVE-2022-24904, the evil repository: each thing is refused by name', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const said = async (make: () => void): Promise<string> => {
    make()
    fetcher.forget()
    return failureOf(await fetcher.fetch(spec({}, { branch: 'evil' })))
  }
  const evil = (files: Parameters<typeof repository.commit>[0]) => () =>
    void repository.commit(files, { branch: 'evil' })
  assert.match(
    await said(evil({ ok: '', 'x/passwd': { link: '/etc/passwd' } })),
    /^LinkOutside: "x\/passwd" is a link to "\/etc\/passwd", which is outside the repository; remove it/,
  )
  assert.match(await said(evil({ 'x/up': { link: '../../up' } })), /^LinkOutside: "x\/up" is a link to "..\/..\/up"/)
  assert.match(
    await said(evil({ a: { link: 'b' }, b: { link: 'a' } })),
    /^BadLink: "a" is a link that goes in a circle/,
  )
  assert.match(
    await said(evil({ 'd/self': { link: '.' } })),
    /^BadLink: "d\/self" is a link to a directory that contains it/,
  )
  assert.match(
    await said(evil({ 'd/root': { link: '..' } })),
    /^BadLink: "d\/root" is a link to a directory that contains it/,
  )
  assert.match(
    await said(evil({ gone: { link: 'nowhere' } })),
    /^BadLink: "gone" is a link to "nowhere", and nothing is there/,
  )
  assert.match(
    await said(evil({ 'vendor/lib': { submodule: 'a'.repeat(40) } })),
    /^Submodule: "vendor\/lib" is a submodule, which is another repository; fetch or ignore it with spec.git.submodules/,
  )
  assert.match(
    await said(evil({ [`${'d/'.repeat(300)}deep`]: 'x' })),
    /^BadPath: .*: it is 301 directories deep, more than the 64 allowed/,
  )
  const raw = (name: string | Uint8Array) => () => void repository.commitRaw(Buffer.from(name), 'x', 'evil')
  assert.match(await said(raw('..')), /^BadPath: "\.\.": the path has/)
  assert.match(
    await said(raw(new Uint8Array([0x61, 0xff, 0x62]))),
    /^BadPath: "a.b": the name of the file is not UTF-8/,
  )
  assert.match(
    await said(evil({ huge: new Uint8Array(17 * 1024 * 1024) })),
    /^FileTooLarge: "huge" is larger than the 16777216 bytes a file may have; leave it out with spec.ignore/,
  )
  const many = Object.fromEntries(Array.from({ length: 50_001 }, (_, i) => [`f/${i % 250}/${i}`, '']))
  assert.match(
    await said(evil(many)),
    /^TooManyFiles: 50001 files are more than the 50000 one artifact may have; name the directories you need in spec.paths/,
  )
  repository.commit({ ...many, 'good/a': 'a', 'x/passwd': { link: '/etc/passwd' } }, { branch: 'evil' })
  const around = artifactOf(await fetcher.fetch(spec({ paths: ['good'] }, { branch: 'evil' })))
  assert.deepEqual(await fetcher.files(around.digest), { 'good/a': 'a' }, 'what is not wanted does no harm')
})

test('a large file in a later commit is refused by name too', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const files = Object.fromEntries(Array.from({ length: 10 }, (_, i) => [`f${i}`, String(i)]))
  repository.commit(files)
  artifactOf(await fetcher.fetch(spec()))
  repository.commit({ ...files, huge: new Uint8Array(17 * 1024 * 1024) })
  assert.match(failureOf(await fetcher.fetch(spec())), /^FileTooLarge: "huge"/)
})

const HOOKS = [
  'reference-transaction',
  'post-checkout',
  'post-merge',
  'pre-auto-gc',
  'post-update',
  'post-index-change',
]

test('nothing that a repository brings along is run: hooks, and programs that its configuration names', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  const marker = join(fetcher.parts.folder, 'was-run')
  const script = join(fetcher.parts.folder, 'evil.sh')
  writeFileSync(script, `#!/bin/sh\necho "$0 $*" >> ${marker}\nexec "$@"\n`, { mode: 0o755 })
  repository.commit({ '.git-hooks/post-checkout': '#!/bin/sh\n', '.gitattributes': '* filter=evil\n', a: '1' })
  artifactOf(await fetcher.fetch(spec()))
  const caches = readdirSync(fetcher.parts.folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'home')
    .map(({ name }) => join(fetcher.parts.folder, name))
  const bare = caches.find((folder) => existsSync(join(folder, 'objects')))
  assert.ok(bare, 'the cache is a bare repository')
  repository.commit({ '.gitattributes': '* filter=evil\n', a: '2' })
  for (const key of ['uploadpack.packObjectsHook', 'core.fsmonitor', 'core.sshCommand', 'filter.evil.smudge'])
    repository.git('config', key, script)
  for (const folder of [repository.path, bare]) {
    mkdirSync(join(folder, 'hooks'), { recursive: true })
    for (const hook of HOOKS) copyFileSync(script, join(folder, 'hooks', hook))
  }
  const { digest } = artifactOf(await fetcher.fetch(spec()))
  assert.equal((await fetcher.files(digest))['a'], '2')
  assert.equal(existsSync(marker) ? readFileSync(marker, 'utf8') : '', '')
})

test('a ref is looked up among those the repository has, and never read by git as anything else', async (t) => {
  const { repository, fetcher, spec } = await world(t)
  repository.commit({ a: '1' })
  const marker = join(fetcher.parts.folder, 'was-run')
  const refs = [
    `--upload-pack=touch ${marker}`,
    '-c',
    'main:refs/heads/x',
    '*',
    'main^{}',
    'main@{1}',
    '$(touch x)',
    'a\nb',
  ]
  for (const ref of refs) {
    assert.match(
      failureOf(await fetcher.fetch(spec({}, { branch: ref }))),
      /^RefNotFound: The repository has no branch/,
      ref,
    )
    assert.match(failureOf(await fetcher.fetch(spec({}, { tag: ref }))), /^RefNotFound: The repository has no tag/, ref)
    assert.match(
      failureOf(await fetcher.fetch(spec({}, { commit: ref }))),
      /^BadCommit: .* is no commit: want 40 or 64 hexadecimal digits\.$/s,
      ref,
    )
  }
  assert.ok(!existsSync(marker))
})

test('CVE-2025-1767, CVE-2025-21613: addresses that would run or read something else are refused before git starts', async (t) => {
  const { fetcher } = await world(t)
  const git = { path: '/dev/null/git', home: '/dev/null/home' }
  const said = async (url: string, localPaths: readonly string[] = []) => {
    const { fetchSource } = await import('../fetch-source.ts')
    const parts = { ...fetcher.parts, git, localPaths }
    const request = { spec: { git: { url } }, mirrors: [], isHinted: false }
    return failureOf(await fetchSource(request, parts, new AbortController().signal))
  }
  assert.match(await said('ext::sh -c touch% /tmp/x'), /^BadUrl: .*white space/)
  assert.match(
    await said('ext::touch'),
    /^BadUrl: .*remote helpers are not allowed; use https:\/\/…, http:\/\/…, ssh:\/\/…, file:\/\/\/path/,
  )
  assert.match(await said('--upload-pack=touch'), /^BadUrl: .*begins with a dash/)
  assert.match(await said('ssh://-oProxyCommand=x/y'), /^BadUrl: .*no host name/)
  assert.match(await said('ssh://-l@host/y'), /^BadUrl: .*no user name/)
  assert.match(await said('git@-host:x'), /^BadUrl: .*no host name/)
  assert.match(await said('git://host/x'), /^BadUrl: .*use https/)
  assert.match(await said('https://user:pw@host/x'), /^BadUrl: .*put the password into a Secret/)
  for (const user of ['%zz', '%', '%ff']) {
    assert.match(await said(`https://${user}@host/x`), /^BadUrl: .*"%" that escapes nothing/)
  }
  assert.match(await said('https://host/a/%2e%2e/b'), /^BadUrl: |FetchFailed|^HostNotFound: https:\/\/host\/b:/)
  assert.match(await said('file:///srv/../etc'), /^BadUrl: .*must be clean/)
  assert.equal(
    await said('/etc'),
    'LocalPathNotAllowed: /etc is a local path, and this hub allows none; start it with --source-paths DIR to allow more.',
  )
  assert.match(await said('/srv/gitx/a', ['/srv/git']), /^LocalPathNotAllowed: /)
})
