import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { createCredentialReader } from './s3-credentials.ts'
import type { PlainRequest, SendHttp } from './send-http.ts'

const never = new AbortController().signal
const refuse: SendHttp = async () => Promise.reject(new Error('no request was expected'))

async function folderWith(t: TestContext, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'flotilla-credentials-'))
  t.after(() => rm(folder, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  return folder
}

describe('credentials of S3', () => {
  it('come from the files of a folder, and again after a minute or a refusal', async (t) => {
    const folder = await folderWith(t, { 'access-key-id': 'one\n', 'secret-access-key': 'secret\n' })
    let now = 1_000_000
    const reader = createCredentialReader({ from: 'folder', folder }, { clock: { now: () => now }, send: refuse })
    const { accessKeyId, secretAccessKey, sessionToken } = await reader.current(never)
    assert.deepEqual([accessKeyId, secretAccessKey.reveal(), sessionToken], ['one', 'secret', undefined])
    await writeFile(join(folder, 'access-key-id'), 'two')
    assert.equal((await reader.current(never)).accessKeyId, 'one')
    now += 60_000
    assert.equal((await reader.current(never)).accessKeyId, 'two')
    await writeFile(join(folder, 'access-key-id'), 'three')
    reader.forget()
    assert.equal((await reader.current(never)).accessKeyId, 'three')
  })

  it('say which files are missing', async (t) => {
    const folder = await folderWith(t, { 'access-key-id': 'one' })
    const reader = createCredentialReader({ from: 'folder', folder }, { clock: { now: () => 0 }, send: refuse })
    await assert.rejects(reader.current(never), { message: 'no credentials for S3', where: folder })
  })

  it('are exchanged for the token of a web identity, once for all that wait and again before they end', async (t) => {
    const folder = await folderWith(t, { token: 'a.b.c\n' })
    const asked: PlainRequest[] = []
    const send: SendHttp = async (request) => {
      asked.push(request)
      const xml = `<AssumeRoleWithWebIdentityResponse><Credentials><AccessKeyId>id-${asked.length}</AccessKeyId>
        <SecretAccessKey>key</SecretAccessKey><SessionToken>a&amp;b</SessionToken>
        <Expiration>2026-11-19T01:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResponse>`
      return { status: 200, headers: {}, body: utf8(xml) }
    }
    let now = Date.UTC(2026, 10, 19, 0, 0)
    const source = {
      from: 'webIdentity',
      tokenFile: join(folder, 'token'),
      roleArn: 'arn:aws:iam::1:role/hub',
      tokenService: 'https://sts.test',
    } as const
    const reader = createCredentialReader(source, { clock: { now: () => now }, send })
    const [first, second] = await Promise.all([reader.current(never), reader.current(never)])
    assert.equal(first, second)
    assert.equal(first.sessionToken?.reveal(), 'a&b')
    assert.equal(asked.length, 1)
    const form = new URLSearchParams(fromUtf8(asked[0]!.body!))
    assert.equal(form.get('WebIdentityToken'), 'a.b.c')
    assert.equal(form.get('RoleArn'), 'arn:aws:iam::1:role/hub')
    now += 54 * 60_000
    assert.equal((await reader.current(never)).accessKeyId, 'id-1')
    now += 60_000
    assert.equal((await reader.current(never)).accessKeyId, 'id-2')
  })

  it('name the refusal of the security token service', async (t) => {
    const folder = await folderWith(t, { token: 'a.b.c' })
    const body = utf8(
      '<ErrorResponse><Error><Code>ExpiredTokenException</Code><Message>Token expired</Message></Error></ErrorResponse>',
    )
    const send: SendHttp = async () => ({ status: 400, headers: {}, body })
    const source = {
      from: 'webIdentity',
      tokenFile: join(folder, 'token'),
      roleArn: 'r',
      tokenService: 'https://sts.test',
    } as const
    const reader = createCredentialReader(source, { clock: { now: () => 0 }, send })
    await assert.rejects(
      reader.current(never),
      /https:\/\/sts.test gave no credentials for role r: 400 ExpiredTokenException Token expired$/,
    )
  })
})
