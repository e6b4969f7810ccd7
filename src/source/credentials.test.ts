import assert from 'node:assert/strict'
import { test } from 'node:test'
import { credentialsFor, readCredentials, withCertificates } from './credentials.ts'
import { parseSourceUrl } from './source-url.ts'

const text = (value: string): string => Buffer.from(value).toString('base64')
const secret = (name: string, urls: string, data: Record<string, string>) =>
  readCredentials({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, namespace: 'ns', annotations: { 'flotilla.dev/urls': urls } },
    data: Object.fromEntries(Object.entries(data).map(([key, value]) => [key, text(value)])),
  })

test('certificates of another Secret replace those of the credentials', () => {
  const basic = secret('basic', 'https://a.example.com', { username: 'ana', password: 'pw', 'ca.crt': 'old' })
  const tls = secret('tls', 'https://a.example.com/charts', { 'ca.crt': 'new', 'tls.crt': 'c', 'tls.key': 'k' })
  assert.deepEqual(withCertificates(basic, tls), {
    secret: 'ns/basic with ns/tls',
    urls: ['https://a.example.com/charts'],
    username: 'ana',
    password: 'pw',
    ca: 'new',
    certificate: 'c',
    key: 'k',
  })
  assert.deepEqual(withCertificates(basic, undefined), basic)
  assert.equal(withCertificates(undefined, tls)?.password, undefined)
  assert.equal(withCertificates(undefined, undefined), undefined)
})

test('neither Secret is sent where the owner of the other one does not allow it', () => {
  const basic = secret('basic', 'https://a.example.com', { username: 'ana', password: 'pw' })
  const tls = secret('tls', 'https://b.example.com', { 'tls.crt': 'c', 'tls.key': 'k' })
  for (const url of ['https://a.example.com/x', 'https://b.example.com/x']) {
    assert.throws(
      () => credentialsFor(parseSourceUrl(url, ['https']), withCertificates(basic, tls), false),
      /Secret ns\/basic with ns\/tls is bound to no address/,
    )
  }
})
