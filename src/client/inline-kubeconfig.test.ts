import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readInlineKubeconfig } from './inline-kubeconfig.ts'

const CANARY = 'c4n4ry-credential'

const kubeconfig = (cluster: object, user: object) =>
  JSON.stringify({
    'current-context': 'a',
    contexts: [{ name: 'a', context: { cluster: 'c', user: 'u' } }],
    clusters: [{ name: 'c', cluster: { server: 'https://10.0.0.1:6443', ...cluster } }],
    users: [{ name: 'u', user }],
  })

test('a kubeconfig with everything inline is read', async () => {
  const ca = Buffer.from('CA').toString('base64')
  const read = await readInlineKubeconfig(kubeconfig({ 'certificate-authority-data': ca }, { token: CANARY }), 'Secret')
  assert.deepEqual([read.server, read.ca, read.token?.reveal()], ['https://10.0.0.1:6443', 'CA', CANARY])
})

test('everything that needs another machine, runs a program or trusts any server is refused by name', async () => {
  const token = { token: CANARY }
  const refused: [string, RegExp][] = [
    [kubeconfig({}, { exec: { command: 'aws' } }), /"exec", which is not supported: make a context with/],
    [kubeconfig({}, { 'auth-provider': { name: 'gcp' } }), /"auth-provider", which is not supported/],
    [kubeconfig({}, { username: 'a', password: CANARY }), /"username"/],
    [kubeconfig({}, { ...token, as: 'root' }), /"as"/],
    [kubeconfig({ 'certificate-authority': '/etc/ca' }, token), /file in "certificate-authority".*--flatten/],
    [kubeconfig({}, { 'client-certificate': '/c', 'client-key': '/k' }), /file in "client-certificate"/],
    [kubeconfig({}, { tokenFile: '/var/run/token' }), /file in "tokenFile"/],
    [kubeconfig({ 'insecure-skip-tls-verify': true }, token), /"insecure-skip-tls-verify", which is refused/],
    [kubeconfig({ 'proxy-url': 'http://p' }, token), /proxy-url/],
    [kubeconfig({ server: 'http://10.0.0.1' }, token), /not https:\/\/HOST:PORT/],
    [kubeconfig({ server: `https://u:${CANARY}@h` }, token), /not https:\/\/HOST:PORT/],
    [kubeconfig({}, {}), /no credential/],
    [`users: [${CANARY}`, /cannot be read as YAML/],
    [`${CANARY}: "\\q"`, /cannot be read as YAML/],
    [kubeconfig({ 'certificate-authority-data': `%%${CANARY}` }, token), /not base64/],
    ['x'.repeat(300_000), /larger than 256 KiB/],
    ['', /holds no mapping/],
  ]
  for (const [text, message] of refused) {
    await assert.rejects(readInlineKubeconfig(text, 'Secret a/b'), (error: Error) => {
      assert.match(error.message, message)
      assert.ok(error.message.startsWith('Secret a/b '), error.message)
      assert.ok(!`${error.message} ${String(error.cause)}`.includes(CANARY), error.message)
      return true
    })
  }
})
