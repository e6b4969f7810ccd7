/** Buckets of a real S3 server (versitygw) as Sources. */
import assert from 'node:assert/strict'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../core/bytes.ts'
import { systemIds } from '../../core/system-ids.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { createS3Client } from '../../blobs/s3/s3-client.ts'
import { openHttpSockets } from '../../blobs/s3/send-http.ts'
import { S3_ACCOUNT, startS3Server } from '../../testing/s3/s3-server.ts'
import { startContentServer } from '../../testing/fixtures/content-server.ts'
import { createTestFetcher, TEST_EGRESS } from '../../testing/fixtures/source-fetcher.ts'
import type { Source } from '../../kinds/native/source.ts'
import type { Credentials } from '../credentials.ts'
import type { FetchOutcome } from '../fetch-request.ts'

const encoded = (key: string): string =>
  key
    .split('/')
    .map((part) =>
      encodeURIComponent(part).replaceAll(/[()*]/g, (sign) => `%${sign.codePointAt(0)!.toString(16)}`.toUpperCase()),
    )
    .join('/')

async function world(t: TestContext) {
  const server = await startS3Server()
  const sockets = openHttpSockets({})
  const fetcher = await createTestFetcher()
  t.after(async () => {
    fetcher.close()
    await sockets.close()
    await server.kill()
  })
  const parts = { clock: systemClock, ids: systemIds, http: sockets.send }
  const client = createS3Client({ ...parts, settings: server.settings() })
  const put = async (key: string, text: string) => {
    const answer = await client.send({ method: 'PUT', key: encoded(key), body: utf8(text) })
    assert.equal(answer.status, 200, answer.code)
  }
  const drop = async (key: string) => void (await client.send({ method: 'DELETE', key }))
  const url = `${server.endpoint}/flotilla`
  const credentials: Credentials = {
    secret: 'ns/keys',
    urls: [url],
    accessKey: S3_ACCOUNT.accessKeyId,
    secretKey: S3_ACCOUNT.secretAccessKey,
  }
  const fetch = async (spec: Partial<Source['spec']> = {}, use: Partial<Credentials> = {}) =>
    await fetcher.fetch({ s3: { url }, ...spec }, { credentials: { ...credentials, ...use } })
  return { server, fetcher, put, drop, url, fetch }
}

function words(outcome: FetchOutcome): string {
  return outcome.kind === 'Failed' ? `${outcome.reason}: ${outcome.message}` : outcome.kind
}

function artifactOf(outcome: FetchOutcome) {
  assert.equal(outcome.kind, 'New', words(outcome))
  return outcome.artifact
}

test('a bucket becomes files, and the next fetch reads only what changed', async (t) => {
  const { fetcher, put, drop, fetch, url } = await world(t)
  await put('apps/web/cm.yaml', 'a: 1\n')
  await put('apps/odd name+(1)*é.yaml', 'b: 1\n')
  await put('other/x.yaml', 'c: 1\n')
  const first = artifactOf(await fetch())
  const all = { 'apps/web/cm.yaml': 'a: 1\n', 'apps/odd name+(1)*é.yaml': 'b: 1\n', 'other/x.yaml': 'c: 1\n' }
  assert.deepEqual(await fetcher.files(first.digest), all)
  assert.match(first.revision, /^sha256:[0-9a-f]{64}$/)
  assert.equal(first.fetchedBytes, 15)
  assert.equal((await fetch()).kind, 'Same')
  await put('apps/web/cm.yaml', 'a: 22\n')
  const second = artifactOf(await fetch())
  assert.equal(second.fetchedBytes, 6, 'the changed file alone')
  assert.deepEqual(await fetcher.files(second.digest), { ...all, 'apps/web/cm.yaml': 'a: 22\n' })
  await drop('other/x.yaml')
  assert.equal(artifactOf(await fetch()).files, 2)

  fetcher.forget()
  const below = artifactOf(await fetch({ s3: { url, prefix: 'apps/web/' } }))
  assert.deepEqual(await fetcher.files(below.digest), { 'apps/web/cm.yaml': 'a: 22\n' })
  const selected = artifactOf(await fetch({ ignore: ['apps/web'] }))
  assert.deepEqual(Object.keys(await fetcher.files(selected.digest)), ['apps/odd name+(1)*é.yaml'])
})

test('a list of several pages is read to its end', async (t) => {
  const { server, fetcher, fetch } = await world(t)
  for (let n = 0; n < 1003; n += 1) {
    const file = join(server.folder, `f${n}.yaml`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, 'x')
  }
  assert.equal(artifactOf(await fetch()).files, 1003)
  rmSync(join(server.folder, 'f7.yaml'))
  assert.equal(artifactOf(await fetch()).files, 1002)
  assert.ok(fetcher)
})

test('what is wrong is said, and keys are sent only where their owner allows', async (t) => {
  const { fetcher, put, fetch, url, server } = await world(t)
  await put('a.yaml', 'a: 1\n')
  assert.match(words(await fetch({}, { secretKey: 'wrong' })), /^AuthenticationFailed: GET s3:\/\/flotilla .*403 Sign/)
  assert.match(
    words(await fetch({}, { accessKey: 'other' })),
    /^(AuthenticationFailed|FetchFailed): .*(403|404 XAdmin)/,
  )
  assert.match(words(await fetch({}, { urls: ['https://elsewhere/'] })), /^CredentialsNotForUrl: Secret ns\/keys/)
  const open = await fetcher.fetch({ s3: { url } })
  assert.match(words(open), /^AuthenticationFailed: .*403/, 'a request without keys is not signed')
  assert.match(
    words(await fetch({ s3: { url: `${server.endpoint}/nowhere` } }, { urls: [server.endpoint] })),
    /NoSuchBucket/,
  )
  assert.match(words(await fetch({ s3: { url: `${server.endpoint}/a/b` } }, { urls: [server.endpoint] })), /^BadUrl: /)
  assert.match(words(await fetch({ s3: { url, prefix: 'none/' } })), /^PathNotFound: /)
  const inside = await fetcher.fetch({ s3: { url: 'http://169.254.169.254/bucket' } })
  assert.match(words(inside), /^AddressRefused: /)
  const strict = await createTestFetcher({ egress: { ...TEST_EGRESS, hosts: ['minio.example.com'] } })
  t.after(() => strict.close())
  assert.match(words(await strict.fetch({ s3: { url } })), /^AddressRefused: .*not in the hub's list/)
})

test('a hostile server gives no path outside, no endless list and no redirect', async (t) => {
  let answer = ''
  let location: string | undefined
  const server = await startContentServer(
    [
      (_request, response) => {
        if (location !== undefined) response.writeHead(307, { location }).end()
        else response.writeHead(200, { 'content-type': 'application/xml' }).end(answer)
      },
    ],
    { plain: true },
  )
  const fetcher = await createTestFetcher()
  t.after(async () => {
    fetcher.close()
    await server.close()
  })
  const said = async (next: string) => {
    answer = next
    return words(await fetcher.fetch({ s3: { url: `${server.url}/bucket` } }))
  }
  const entry = (key: string, size = '1') =>
    `<Contents><Key>${key}</Key><ETag>"e"</ETag><Size>${size}</Size></Contents>`
  const list = (inner: string, more = '<IsTruncated>false</IsTruncated>') => `<R>${more}${inner}</R>`
  assert.match(await said(list(entry('../../etc/passwd'))), /^BadPath: /)
  assert.match(await said(list(entry('/etc/passwd'))), /^BadPath: /)
  assert.match(await said(list(entry('a', '99999999999'))), /^FileTooLarge: /)
  assert.match(await said(list(entry('a'), '<IsTruncated>true</IsTruncated>')), /does not say whether it is complete/)
  assert.match(await said(list(entry('a'), '')), /does not say whether it is complete/)
  assert.match(await said(list('<Contents><Key>a</Key></Contents>')), /without key, size or ETag/)
  assert.match(await said('nonsense'), /does not say whether it is complete/)
  assert.match(await said(list(entry('a', '3'))), /^FetchFailed: "a" has \d+ bytes|^TooLarge/)
  const endless = '<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>'
  const page = list(Array.from({ length: 50_000 }, (_, at) => entry(`k${at}`)).join(''), endless)
  assert.match(await said(page), /^TooManyFiles: /)
  const other = await startContentServer([], { plain: true })
  t.after(() => other.close())
  location = `${other.url}/bucket`
  assert.match(await said(''), /^(Redirected|AuthenticationFailed|NotFound|FetchFailed): /)
  assert.ok(
    other.log.every((line) => line.endsWith(' -')),
    'no signature is sent to another host',
  )
})
