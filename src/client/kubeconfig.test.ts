import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { base64, utf8 } from '../core/bytes.ts'
import { Secret } from '../core/secret.ts'
import { kubeconfigFor, readKubeconfig } from './kubeconfig.ts'

const noFiles = () => Promise.reject(new Error('ENOENT'))

function config(user: string, cluster = 'server: https://127.0.0.1:6443'): string {
  return `
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: c
  cluster: { ${cluster} }
users:
- name: u
  user: { ${user} }
contexts:
- name: dev
  context: { cluster: c, user: u, namespace: apps }
- name: bare
  context: { cluster: c }
`
}

const read = (
  text: string,
  more: { readonly context?: string; readonly readFile?: (path: string) => Promise<string> } = {},
) => readKubeconfig({ text, file: '/home/me/.kube/config', readFile: noFiles, ...more })

describe('kubeconfig', () => {
  it('reads inline certificates', async () => {
    const user = `client-certificate-data: ${base64(utf8('CERT'))}, client-key-data: ${base64(utf8('KEY'))}`
    const ca = `server: "https://h:1/k8s", certificate-authority-data: ${base64(utf8('CA'))}, tls-server-name: hub`
    const { context, namespace, connection } = await read(config(user, ca))
    assert.deepEqual([context, namespace], ['dev', 'apps'])
    assert.deepEqual(
      { ...connection, key: connection.key?.reveal() },
      {
        server: 'https://h:1/k8s',
        ca: 'CA',
        serverName: 'hub',
        cert: 'CERT',
        key: 'KEY',
      },
    )
    assert.ok(!JSON.stringify(connection).includes('KEY'))
  })

  it('reads files next to itself', async () => {
    const files: Record<string, string> = { '/home/me/.kube/ca.pem': 'CA', '/etc/token': 'TOKEN\n' }
    const readFile = (path: string) => (files[path] ? Promise.resolve(files[path]) : noFiles())
    const text = config('tokenFile: /etc/token', 'server: "https://h:1", certificate-authority: ca.pem')
    const { connection } = await read(text, { readFile })
    assert.equal(connection.ca, 'CA')
    assert.equal(connection.token?.reveal(), 'TOKEN')
    // The file is read again later, also by who reads a kubeconfig that was made from this one.
    assert.equal(connection.tokenFile, '/etc/token')
    const [{ user }] = kubeconfigFor('c', { ...connection, user: 'u' })['users'] as [{ user: object }]
    assert.deepEqual(user, { tokenFile: '/etc/token' })
    await assert.rejects(
      read(text),
      /\/home\/me\/\.kube\/config names the file \/home\/me\/\.kube\/ca\.pem, which cannot be read/,
    )
  })

  it('takes another context, and one without a user', async () => {
    const { namespace, connection } = await read(config('token: t'), { context: 'bare' })
    assert.equal(namespace, 'default')
    assert.equal(connection.token, undefined)
  })

  const refusals: readonly (readonly [string, string, RegExp])[] = [
    [
      'exec plugins',
      config('exec: { command: aws }'),
      /user "u" with "exec", which is not supported: make a context with a client certificate/,
    ],
    ['auth providers', config('auth-provider: { name: gcp }'), /"auth-provider", which is not supported/],
    ['impersonation', config('token: t, as: admin'), /"as", which is not supported/],
    ['half a certificate', config('client-certificate-data: YQ=='), /only one of client-certificate and client-key/],
    ['proxies', config('token: t', 'server: "https://h", proxy-url: "http://p"'), /proxy-url, which is not supported/],
    ['no server', config('token: t', 'x: y'), /a cluster without a server/],
    ['an odd server', config('token: t', 'server: h'), /server "h": want https/],
    [
      'an unknown context',
      config('token: t').replace('current-context: dev', 'current-context: prod'),
      /has no context "prod": it has dev, bare/,
    ],
    ['no context', config('token: t').replace('current-context: dev', ''), /no current-context/],
    ['no mapping', '- a', /not a kubeconfig/],
  ]
  for (const [what, text, message] of refusals) {
    it(`refuses ${what}`, () => assert.rejects(read(text), message))
  }

  it('reads what it writes', async () => {
    const value = kubeconfigFor('flotilla', {
      server: 'https://h:1',
      ca: 'CA',
      cert: 'C',
      key: new Secret('K'),
      user: 'admin',
    })
    const { context, connection } = await read(JSON.stringify(value))
    assert.equal(context, 'flotilla')
    assert.deepEqual(
      { ...connection, key: connection.key?.reveal() },
      { server: 'https://h:1', ca: 'CA', cert: 'C', key: 'K' },
    )
  })
})
