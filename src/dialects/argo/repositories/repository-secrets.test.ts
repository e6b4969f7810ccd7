import assert from 'node:assert/strict'
import { test } from 'node:test'
import { base64, utf8 } from '../../../core/bytes.ts'
import { ConfigMap, Secret } from '../../../kinds/builtin/core.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { fieldOf, repositoryAccess } from './repository-secrets.ts'

function secret(name: string, type: string, fields: Readonly<Record<string, string>>): Secret {
  const data = Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, base64(utf8(value))]))
  const made = build(Secret, `argocd/${name}`, { data })
  const labels = { 'argocd.argoproj.io/secret-type': type }
  return { ...made, metadata: { ...made.metadata, labels, uid: `uid-${name}` } }
}

const CREDS = secret('acme', 'repo-creds', { url: 'https://git.example/acme', username: 'bot', password: 'all' })
const SHOP = secret('shop', 'repository', {
  url: 'https://git.example/acme/shop.git',
  username: 'ana',
  password: 'one',
})
const BARE = secret('bare', 'repository', { url: 'https://git.example/acme/bare', type: 'git' })
const SCOPED = secret('scoped', 'repository', {
  url: 'https://git.example/acme/shop',
  project: 'team',
  username: 'team',
  password: 'two',
})
const REGISTRY = secret('registry', 'repository', {
  url: 'registry.example/charts',
  enableOCI: 'true',
  type: 'helm',
  username: 'r',
  password: 'x',
})
const SSH = secret('ssh', 'repository', { url: 'git@git.example:acme/ops.git', sshPrivateKey: 'KEY' })

function passwordFor(url: string, project = 'default', secrets = [CREDS, SHOP, BARE, SCOPED, REGISTRY, SSH]): string {
  const answer = repositoryAccess(url, project, { secrets, configMaps: [] })
  if (answer && 'problem' in answer) return answer.problem
  return answer ? fieldOf(answer.secret, 'password') : 'none'
}

test('the Secret of the repository, of its project, or the template with the longest address', () => {
  const cases: [url: string, password: string, project?: string][] = [
    ['https://git.example/acme/shop.git', 'one'],
    ['https://git.example/ACME/shop', 'one'],
    ['https://git.example/acme/shop', 'two', 'team'],
    ['https://git.example/acme/web', 'all'],
    ['https://git.example/acme/bare.git', 'all'],
    ['https://git.example/acme-other/web', 'none'],
    ['https://git.example/acme', 'all'],
    ['https://other.example/acme/shop', 'none'],
    ['http://git.example/acme/shop', 'none'],
    ['oci://registry.example/charts/web', 'x'],
    ['oci://registry.example/chartsmith/web', 'none'],
  ]
  for (const [url, password, project] of cases) assert.equal(passwordFor(url, project), password, `${url} ${project}`)
})

test('the Secret of a Source is bound to its address and to nothing else, and goes with the Secret of the user', () => {
  const answer = repositoryAccess('https://git.example/acme/web.git', '', { secrets: [CREDS], configMaps: [] })
  assert.ok(answer && 'secret' in answer)
  const { metadata, data, type } = answer.secret
  assert.equal(metadata.annotations?.['flotilla.dev/urls'], 'https://git.example/acme/web.git')
  assert.deepEqual(metadata.ownerReferences, [{ apiVersion: 'v1', kind: 'Secret', name: 'acme', uid: 'uid-acme' }])
  assert.deepEqual(Object.keys(data ?? {}).sort(), ['password', 'username'])
  assert.equal(type, 'Opaque')
  assert.match(metadata.name, /^argo-repository-[0-9a-f]{12}$/)
})

test('an ssh key with the known hosts of Argo CD, and certificates of servers', () => {
  const configMaps = [
    build(ConfigMap, 'argocd/argocd-ssh-known-hosts-cm', { data: { ssh_known_hosts: 'git.example ssh-ed25519 AAAA' } }),
    build(ConfigMap, 'argocd/argocd-tls-certs-cm', { data: { 'git.example': 'PEM' } }),
  ]
  const of = (url: string) => {
    const answer = repositoryAccess(url, '', { secrets: [SSH], configMaps })
    return answer && 'secret' in answer
      ? Object.fromEntries(Object.keys(answer.secret.data ?? {}).map((key) => [key, fieldOf(answer.secret, key)]))
      : answer
  }
  assert.deepEqual(of('git@git.example:acme/ops.git'), {
    'ssh-privatekey': 'KEY\n',
    known_hosts: 'git.example ssh-ed25519 AAAA',
    'ca.crt': 'PEM',
  })
  assert.deepEqual(of('https://git.example:8443/x.git'), { 'ca.crt': 'PEM' }, 'a certificate without credentials')
  assert.equal(of('https://public.example/x.git'), undefined)
})

test('a GitHub App, with the installation that the Secret names or that of the owner of the repository', () => {
  const of = (fields: Readonly<Record<string, string>>, url = 'https://github.com/acme/web.git') => {
    const secrets = [secret('app', 'repo-creds', { url: 'https://github.com/acme', ...fields })]
    const answer = repositoryAccess(url, '', { secrets, configMaps: [] })
    return answer && 'secret' in answer
      ? Object.fromEntries(Object.keys(answer.secret.data ?? {}).map((key) => [key, fieldOf(answer.secret, key)]))
      : answer
  }
  const app = { githubAppID: '1', githubAppPrivateKey: 'KEY' }
  assert.deepEqual(
    of({ ...app, githubAppInstallationID: '2', githubAppEnterpriseBaseUrl: 'https://ghe.example/api/v3' }),
    {
      ...app,
      githubAppInstallationID: '2',
      githubAppBaseURL: 'https://ghe.example/api/v3',
    },
  )
  assert.deepEqual(of(app), { ...app, githubAppInstallationOwner: 'acme' })
})

test('credentials that are not served are refused by name, and settings without effect are said', () => {
  const of = (fields: Readonly<Record<string, string>>) =>
    repositoryAccess('https://git.example/x', '', {
      secrets: [secret('x', 'repository', { url: 'https://git.example/x', ...fields })],
      configMaps: [],
    })
  assert.deepEqual(of({ gcpServiceAccountKey: '{}' }), {
    problem:
      'Secret x: gcpServiceAccountKey (a service account of Google Cloud) is not served; use username and password, or sshPrivateKey',
  })
  const noted = of({ password: 'p', insecure: 'true', proxy: 'http://proxy', enableLfs: 'false' })
  assert.ok(noted && 'notes' in noted)
  assert.match(noted.notes.join('; '), /^insecure of Secret x has no effect: servers are always verified.*; proxy of/)
  assert.equal(noted.notes.length, 2)
})

test('a Secret without an address, or with bytes that are no text, gives nothing', () => {
  const broken = { ...SHOP, data: { url: base64(new Uint8Array([255, 254])), password: 'eA==' } }
  assert.equal(passwordFor('https://git.example/acme/shop', '', [broken]), 'none')
})
