/** Charts of Helm repositories and artifacts of registries, from servers of the test's own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { systemIds } from '../core/system-ids.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { createTestRegistry, requireBasic, serveFiles, startContentServer } from '../testing/fixtures/content-server.ts'
import type { ContentHandler } from '../testing/fixtures/content-server.ts'
import { createTestFetcher } from '../testing/fixtures/source-fetcher.ts'
import { tarGz } from '../testing/fixtures/tar.ts'
import type { TarFile } from '../testing/fixtures/tar.ts'
import type { Credentials } from './credentials.ts'
import type { FetchOutcome } from './fetch-request.ts'
import { fetchSource } from './fetch-source.ts'

const chartOf = (version: string, more: readonly TarFile[] = []): Uint8Array =>
  tarGz([
    { name: 'web/Chart.yaml', content: `apiVersion: v2\nname: web\nversion: ${version}\n` },
    { name: 'web/templates/cm.yaml', content: `v: ${version}\n` },
    ...more,
  ])

function words(outcome: FetchOutcome): string {
  if (outcome.kind === 'Failed') return `${outcome.reason}: ${outcome.message}`
  if (outcome.kind === 'Held') return `Held ${outcome.reason}: ${outcome.message}`
  return outcome.kind === 'New' ? outcome.artifact.revision : outcome.kind
}

async function world(t: TestContext, handlers: readonly ContentHandler[]) {
  const server = await startContentServer(handlers)
  const fetcher = await createTestFetcher()
  t.after(async () => {
    await server.close()
    fetcher.close()
  })
  const credentials = { secret: 'ns/repo', urls: [server.url], ca: server.ca, username: 'ana', password: 'pw' }
  return { server, fetcher, credentials }
}

function helmFiles() {
  const files = new Map<string, Uint8Array | string>()
  const entries: string[] = []
  const publish = (
    version: string,
    archive = chartOf(version),
    digest: string | undefined = digestOf(archive).slice(7),
  ) => {
    files.set(`/charts/web-${version}.tgz`, archive)
    entries.push(
      `  - version: ${version}\n    urls: [web-${version}.tgz]\n${digest === undefined ? '' : `    digest: ${digest}\n`}`,
    )
    files.set('/charts/index.yaml', `apiVersion: v1\nentries:\n  web:\n${entries.join('')}`)
  }
  const unpublish = () => {
    entries.pop()
    files.set('/charts/index.yaml', `apiVersion: v1\nentries:\n  web:\n${entries.join('')}`)
  }
  return { files, publish, unpublish }
}

test('a chart of a Helm repository: ranges, digests, and what must not change', async (t) => {
  const { files, publish, unpublish } = helmFiles()
  const { server, fetcher, credentials } = await world(t, [requireBasic('ana', 'pw'), serveFiles(files)])
  publish('1.0.0')
  publish('1.1.0')
  publish('2.0.0-rc.1')
  const helm = { url: `${server.url}/charts`, chart: 'web' }
  const fetch = (more: object = {}) => fetcher.fetch({ helm: { ...helm, ...more } }, { credentials })
  const made = await fetch()
  assert.equal(words(made), `1.1.0@${digestOf(chartOf('1.1.0'))}`)
  assert.deepEqual(made.kind === 'New' && Object.keys(await fetcher.files(made.artifact.digest)), [
    'Chart.yaml',
    'templates/cm.yaml',
  ])
  assert.equal(words(await fetch()), 'Same')
  publish('1.2.0')
  assert.match(words(await fetch()), /^1\.2\.0@sha256:/)
  unpublish()
  assert.equal(words(await fetch()), 'Held WentBack: The newest version in the range is 1.1.0 now, older than 1.2.0')
  assert.match(words(await fetcher.fetch({ helm, accept: '1.1.0' }, { credentials })), /^1\.1\.0@/)
  publish('1.3.0', chartOf('1.3.0'), '0'.repeat(64))
  assert.match(
    words(await fetch()),
    /^DigestMismatch: .*web-1\.3\.0\.tgz has the digest sha256:.*, and index\.yaml says sha256:0;/,
  )
  unpublish()
  assert.match(
    words(await fetch({ version: '>=3' })),
    /^VersionNotFound: Chart web has no version in the range ">=3"; it has 1\.0\.0, 1\.1\.0/,
  )
  assert.match(words(await fetch({ chart: 'webb' })), /^ChartNotFound: .*has no chart "webb"; it has web\./)
  assert.match(words(await fetch({ url: `${server.url}/none` })), /^NotFound: /)
})

test('the index of a repository is an artifact, and Sources of one repository share its answer', async (t) => {
  const { files, publish } = helmFiles()
  const { server, fetcher, credentials } = await world(t, [requireBasic('ana', 'pw'), serveFiles(files)])
  publish('1.0.0')
  publish('1.1.0')
  const url = `${server.url}/charts`
  const index = () => Buffer.from(files.get('/charts/index.yaml') as string)
  const fetch = (helm: object, reader = credentials) =>
    fetcher.fetch({ helm: { url, ...helm }, interval: '1m' }, { credentials: reader, isHinted: false })
  const made = await fetch({ index: true })
  assert.ok(made.kind === 'New')
  assert.deepEqual([made.artifact.revision, made.artifact.fetchedBytes], [digestOf(index()), index().byteLength])
  assert.deepEqual(await fetcher.files(made.artifact.digest), { 'charts.json': '{"web":["1.0.0","1.1.0"]}' })
  assert.equal(words(await fetch({ index: true })), 'Same')
  assert.match(words(await fetch({ index: true, chart: 'web' })), /^BadSource: spec\.helm\.index reads the index alone/)

  const request = (helm: object, reader = credentials) => ({
    spec: { helm: { url, ...helm }, interval: '1m' },
    mirrors: [],
    credentials: reader,
    isHinted: false,
  })
  const signal = new AbortController().signal
  const polls = () => server.log.filter((line) => line.startsWith('GET /charts/index.yaml')).length
  const before = polls()
  await Promise.all(
    ['1.0.0', '1.1.0', '*'].map((version) => fetchSource(request({ chart: 'web', version }), fetcher.parts, signal)),
  )
  await fetchSource(request({ index: true }), fetcher.parts, signal)
  assert.equal(polls(), before + 1)
  const stranger = await fetchSource(request({ index: true }, { ...credentials, password: 'x' }), fetcher.parts, signal)
  assert.match(words(stranger), /^AuthenticationFailed: /, 'another reader does not see the answer')
})

test('a version whose content changed is held', async (t) => {
  const { files, publish } = helmFiles()
  const { server, fetcher, credentials } = await world(t, [serveFiles(files)])
  publish('1.0.0')
  const spec = { helm: { url: `${server.url}/charts`, chart: 'web', version: '1.0.0' } }
  await fetcher.fetch(spec, { credentials })
  const other = chartOf('1.0.0', [{ name: 'web/x', content: 'x' }])
  files.set('/charts/web-1.0.0.tgz', other)
  files.set(
    '/charts/index.yaml',
    `entries:\n  web:\n  - version: 1.0.0\n    urls: [web-1.0.0.tgz]\n    digest: ${digestOf(other).slice(7)}\n`,
  )
  assert.match(
    words(await fetcher.fetch(spec, { credentials })),
    /^Held ContentChanged: Version 1\.0\.0 has other content than before/,
  )
})

test('an archive by its address says its own version', async (t) => {
  const files = new Map<string, Uint8Array | string>()
  const { server, fetcher, credentials } = await world(t, [serveFiles(files)])
  const url = `${server.url}/web.tgz`
  const fetch = (more: object = {}) => fetcher.fetch({ helm: { url, ...more } }, { credentials })
  assert.match(words(await fetch()), /^NotFound: /)
  files.set('/web.tgz', chartOf('1.0.0'))
  assert.equal(words(await fetch()), `1.0.0@${digestOf(chartOf('1.0.0'))}`)
  assert.equal(words(await fetch()), 'Same')
  files.set('/web.tgz', chartOf('1.0.0', [{ name: 'web/x', content: 'x' }]))
  assert.match(words(await fetch()), /^Held ContentChanged: Version 1\.0\.0 has other content than before/)
  files.set('/web.tgz', chartOf('0.9.0'))
  assert.match(words(await fetch()), /^Held WentBack: /)
  files.set('/web.tgz', chartOf('1.1.0'))
  assert.match(words(await fetch()), /^1\.1\.0@sha256:/)
  assert.match(
    words(await fetch({ version: '1.1.0' })),
    /^BadSource: spec\.helm\.version is for a chart of a repository/,
  )
  files.set('/web.tgz', tarGz([{ name: 'web/values.yaml', content: 'a: 1\n' }]))
  assert.equal(words(await fetch()), 'BadArchive: web.tgz is no chart: it has no Chart.yaml.')
  files.set('/web.tgz', tarGz([{ name: 'web/Chart.yaml', content: 'name: web\n' }]))
  assert.equal(words(await fetch()), 'BadArchive: web.tgz is no chart: its Chart.yaml has no version.')
  files.set('/web.tgz', tarGz([{ name: 'web/Chart.yaml', content: 'a: [' }]))
  assert.match(words(await fetch()), /^BadArchive: web\.tgz: Chart\.yaml/)
})

test('redirects are followed, whatever they bring along', async (t) => {
  const { files, publish } = helmFiles()
  publish('1.0.0')
  const bodies: Readonly<Record<string, string>> = { '/none': '', '/short': 'moved', '/long': 'x'.repeat(100_000) }
  const redirect: ContentHandler = (request, response) => {
    const [, first = '', rest = ''] = /^(\/\w+)(\/charts\/.*)$/.exec(request.url ?? '') ?? []
    const body = bodies[first]
    if (body === undefined) return false
    response.writeHead(302, { location: rest }).end(body)
    return true
  }
  const { server, fetcher, credentials } = await world(t, [redirect, serveFiles(files)])
  for (const from of Object.keys(bodies)) {
    const helm = { url: `${server.url}${from}/charts`, chart: 'web' }
    const outcome = await fetcher.fetch({ helm }, { credentials })
    assert.ok(outcome.kind === 'New' || outcome.kind === 'Same', `${from}: ${words(outcome)}`)
  }
})

test('addresses that cannot be read are refused by name', async (t) => {
  const files = new Map<string, Uint8Array | string>()
  const redirect: ContentHandler = (request, response) => {
    if (request.url !== '/moved/index.yaml') return false
    response.writeHead(302, { location: 'https://[' }).end()
    return true
  }
  const { server, fetcher, credentials } = await world(t, [redirect, serveFiles(files)])
  const said = async (helm: object) => words(await fetcher.fetch({ helm: helm as never }, { credentials }))
  files.set('/charts/index.yaml', 'entries:\n  web:\n  - version: 1.0.0\n    urls: ["https://["]\n')
  assert.match(await said({ url: `${server.url}/charts`, chart: 'web' }), /^BadIndex: .*"https:\/\/\[" is no address/)
  assert.match(
    await said({ url: `${server.url}/moved`, chart: 'web' }),
    /^Redirected: .*"https:\/\/\[", which is no address/,
  )
  files.set('/%zz.tgz', chartOf('1.0.0'))
  assert.match(await said({ url: `${server.url}/%zz.tgz` }), /^1\.0\.0@sha256:/)
})

test('CVE-2024-56514, CVE-2026-47680: hostile archives are refused by name', async (t) => {
  const { files, publish } = helmFiles()
  const { server, fetcher, credentials } = await world(t, [serveFiles(files)])
  const said = async (version: string, entry: TarFile) => {
    publish(version, chartOf(version, [entry]))
    return words(await fetcher.fetch({ helm: { url: `${server.url}/charts`, chart: 'web', version } }, { credentials }))
  }
  assert.match(await said('1.0.0', { name: 'web/../../etc/x' }), /^BadPath: "web\/\.\.\/\.\.\/etc\/x"/)
  assert.match(await said('1.0.1', { name: '/etc/x' }), /^BadPath: "\/etc\/x": the path is absolute/)
  assert.match(
    await said('1.0.2', { name: 'web/l', type: '2', link: '/etc/passwd' }),
    /^BadArchive: web-1\.0\.2\.tgz: "web\/l" is a link/,
  )
  assert.match(await said('1.0.3', { name: 'web/dev', type: '3' }), /"web\/dev" is a device; only files are allowed/)
  assert.match(await said('1.0.4', { name: 'loose' }), /"loose" is not in the chart's directory/)
  assert.match(
    await said('1.0.5', { name: 'web/big', content: new Uint8Array(17 << 20) }),
    /^BadArchive: web-1\.0\.5\.tgz cannot be unpacked: .* more than 100 times its size/,
  )
  assert.match(
    await said('1.0.7', { name: 'web/big', content: systemIds.bytes(17 << 20) }),
    /^TooLarge: web-1\.0\.7\.tgz: "big" makes it larger/,
  )
  publish('1.0.6', new Uint8Array([0x1f, 0x8b, 8, 0, 1, 2, 3]))
  const damaged = await fetcher.fetch(
    { helm: { url: `${server.url}/charts`, chart: 'web', version: '1.0.6' } },
    { credentials },
  )
  assert.match(words(damaged), /^BadArchive: web-1\.0\.6\.tgz cannot be unpacked/)
  files.set('/charts/index.yaml', 'entries: [\n')
  assert.match(
    words(await fetcher.fetch({ helm: { url: `${server.url}/charts`, chart: 'web' } }, { credentials })),
    /^BadIndex: .*index\.yaml cannot be read: line 2, column 1/,
  )
})

test('an archive on another host gets no credential', async (t) => {
  const { files } = helmFiles()
  const elsewhere = await startContentServer([serveFiles(new Map([['/web.tgz', chartOf('1.0.0')]]))], { plain: true })
  t.after(() => elsewhere.close())
  const local = elsewhere.url.replace('127.0.0.1', 'localhost')
  files.set('/charts/index.yaml', `entries:\n  web:\n  - version: 1.0.0\n    urls: ['${local}/web.tgz']\n`)
  const { server, fetcher, credentials } = await world(t, [requireBasic('ana', 'pw'), serveFiles(files)])
  const made = await fetcher.fetch({ helm: { url: `${server.url}/charts`, chart: 'web' } }, { credentials })
  assert.match(words(made), /^1\.0\.0@/)
  assert.deepEqual(elsewhere.log, ['GET /web.tgz -'])
})

const LAYER = 'application/vnd.cncf.helm.chart.content.v1.tar+gzip'

/** Asks for a token and takes it; the token service is on the same host unless another realm is given. */
function tokenAuth(realm: () => string): ContentHandler {
  return (request, response) => {
    if (request.url?.startsWith('/token')) {
      const ok = request.headers.authorization === `Basic ${Buffer.from('ana:pw').toString('base64')}`
      response.writeHead(ok ? 200 : 401).end(JSON.stringify({ token: 'T0KEN' }))
      return true
    }
    if (request.headers.authorization === 'Bearer T0KEN') return false
    response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm()}",service="reg"` }).end()
    return true
  }
}

test('charts and artifacts of a registry: token, tag, range, digest', async (t) => {
  const registry = createTestRegistry('team/web')
  let realm = ''
  const { server, fetcher, credentials } = await world(t, [tokenAuth(() => realm), registry.handle])
  realm = `${server.url}/token`
  const url = `${server.url.replace('https', 'oci')}/team/web`
  const oci = { ...credentials, urls: [url] }
  const push = (tag: string, archive = chartOf(tag)) =>
    registry.push(tag, [{ mediaType: LAYER, ...registry.addBlob(archive) }])
  const one = push('1.0.0')
  const fetch = (more: object, own = oci) => fetcher.fetch({ oci: { url, ...more } }, { credentials: own })
  const made = await fetch({ semver: '1.x' })
  assert.equal(words(made), `1.0.0@${one}`)
  assert.deepEqual(made.kind === 'New' && Object.keys(await fetcher.files(made.artifact.digest)), [
    'Chart.yaml',
    'templates/cm.yaml',
  ])
  assert.equal(words(await fetch({ semver: '1.x' })), 'Same')
  const two = push('1.1.0')
  assert.equal(words(await fetch({ semver: '1.x' })), `1.1.0@${two}`)
  push('1.1.0', chartOf('changed'))
  assert.match(words(await fetch({ semver: '1.x' })), /^Held ContentChanged: Version 1\.1\.0/)
  assert.equal(words(await fetch({ digest: one })), one)
  const asked = server.log.length
  assert.equal(words(await fetch({ digest: one })), 'Same')
  assert.ok(server.log.length > asked, 'the right to read is checked again')
  const refused = await fetch({ digest: one }, { ...oci, password: 'guess' })
  assert.match(words(refused), /^AuthenticationFailed: /)
  assert.ok(server.log.filter((line) => line.includes('/v2/')).every((line) => / (-|Bearer T0KEN)$/.test(line)))

  realm = `${server.url.replace('https', 'http')}/token`
  const plain = words(await fetch({ tag: '1.0.0' }))
  assert.match(plain, /^CredentialsNotForUrl: 127\.0\.0\.1 asks to sign in at http:.*which is not https/)
  realm = 'https://auth.example.com/token'
  const foreign = words(await fetch({ tag: '1.0.0' }))
  assert.match(
    foreign,
    /^CredentialsNotForUrl: 127\.0\.0\.1 asks to sign in at https:\/\/auth\.example\.com\/token; Secret ns\/repo is not bound to that/,
  )
})

test('one layer of an artifact, and a registry without TLS', async (t) => {
  const registry = createTestRegistry('team/web')
  const plain = await startContentServer([registry.handle], { plain: true })
  t.after(() => plain.close())
  const { server, fetcher } = await world(t, [])
  const url = `${plain.url.replace('http', 'oci')}/team/web`
  // With a CA, also a registry on a loopback address is asked over HTTPS unless the Source says otherwise.
  const ca = { secret: 'ns/ca', urls: [url], ca: server.ca }
  const note = (text: string) => registry.addBlob(Buffer.from(text))
  const title = (name: string) => ({ 'org.opencontainers.image.title': name })
  registry.push('1.0.0', [
    { mediaType: 'text/a', annotations: title('a.txt'), ...note('a') },
    { mediaType: 'text/b', annotations: title('b.txt'), ...note('b') },
    { mediaType: 'text/b', annotations: title('c.txt'), ...note('c') },
  ])
  const fetch = (more: object, own: Credentials = ca) =>
    fetcher.fetch({ oci: { url, tag: '1.0.0', ...more } }, { credentials: own })
  const refused = await fetch({})
  assert.equal(refused.kind, 'Failed')
  const made = await fetch({ insecure: true, mediaType: 'text/b' })
  assert.deepEqual(made.kind === 'New' && (await fetcher.files(made.artifact.digest)), { 'b.txt': 'b' })
  const none = await fetch({ insecure: true, mediaType: 'text/x' })
  assert.match(words(none), /^NoLayer: .*has no layer of type text\/x; it has text\/a, text\/b, text\/b\.$/)
  const secret = { secret: 'ns/s', urls: [url], username: 'ana', password: 'pw' }
  assert.match(
    words(await fetch({ insecure: true }, secret)),
    /^CredentialsOverHttp: Secret ns\/s is not sent over plain/,
  )
  assert.ok(plain.log.every((line) => line.endsWith(' -')))
})

test('registries that lie, and artifacts that are files', async (t) => {
  const registry = createTestRegistry('team/web')
  const { server, fetcher, credentials } = await world(t, [registry.handle])
  const url = `${server.url.replace('https', 'oci')}/team/web`
  const fetch = (more: object) =>
    fetcher.fetch({ oci: { url, ...more } }, { credentials: { ...credentials, urls: [url] } })
  const file = registry.addBlob(Buffer.from('kind: X\n'))
  const annotations = { 'org.opencontainers.image.title': 'manifests/x.yaml' }
  registry.push('file', [{ mediaType: 'text/yaml', annotations, ...file }])
  const made = await fetch({ tag: 'file' })
  assert.deepEqual(made.kind === 'New' && (await fetcher.files(made.artifact.digest)), {
    'manifests/x.yaml': 'kind: X\n',
  })
  const evil = { 'org.opencontainers.image.title': '../x.yaml' }
  registry.push('evil', [{ mediaType: 'text/yaml', annotations: evil, ...file }])
  assert.match(words(await fetch({ tag: 'evil' })), /^BadPath: "\.\.\/x\.yaml"/)
  const digest = registry.push('lie', [{ mediaType: LAYER, ...registry.addBlob(chartOf('9.9.9')) }])
  registry.corrupt(digestOf(chartOf('9.9.9')), chartOf('6.6.6'))
  assert.match(words(await fetch({ tag: 'lie' })), /^DigestMismatch: A layer of/)
  registry.corrupt(digest, Buffer.from('{}'))
  assert.match(words(await fetch({ digest })), /^DigestMismatch: The manifest of/)
  assert.match(words(await fetch({ tag: 'none' })), /^NotFound: .*it is not there \(HTTP 404\)/)
})
