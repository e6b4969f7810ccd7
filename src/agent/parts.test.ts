import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { fromUtf8, utf8 } from '../core/bytes.ts'
import { digestOf } from '../core/crypto/digest.ts'
import { seededKeys } from '../core/crypto/key-pair.ts'
import { countingIds } from '../testing/fixtures/wire-builders.ts'
import { formatJoinCode, tokenSecret } from '../wire/trust/join-code.ts'
import { describeDenied, fieldManager } from './cluster/applier.ts'
import { readLocalLimits } from './cluster/local-limits-file.ts'
import { readAgentConfig } from './config.ts'
import { createFileStorage } from './storage/file-storage.ts'
import { loadIdentity } from './link/identity.ts'
import { createJsonLogger } from './json-logger.ts'
import { objectKey } from '../plan/objects/object-id.ts'
import { createMemoryStorage } from './storage/storage.ts'

describe('file storage', () => {
  it('keeps files to their owner and replaces them whole', async () => {
    const parent = await mkdtemp(join(tmpdir(), 'flotilla-agent-'))
    try {
      const folder = join(parent, 'data')
      const storage = await createFileStorage(folder)
      assert.equal(await storage.read('identity.json'), undefined)
      await storage.write('identity.json', utf8('one'))
      await storage.write('identity.json', utf8('two'))
      assert.equal(fromUtf8((await (await createFileStorage(folder)).read('identity.json'))!), 'two')
      assert.equal((await stat(folder)).mode & 0o777, 0o700)
      assert.equal((await stat(join(folder, 'identity.json'))).mode & 0o777, 0o600)
      assert.deepEqual(await readdir(folder), ['identity.json'])
    } finally {
      await rm(parent, { recursive: true })
    }
  })
})

describe('identity', () => {
  const codeFor = (root: string, fill = 1) =>
    formatJoinCode({
      endpoints: ['https://hub:7444'],
      root: digestOf(root),
      token: { name: 'x', secret: tokenSecret(new Uint8Array(32).fill(fill)) },
    })
  const newKeyPair = seededKeys(countingIds())

  it('is made once, takes a newer code of its hub, and refuses another hub', async () => {
    const storage = createMemoryStorage()
    await assert.rejects(loadIdentity(storage, { newKeyPair }), /--join/)
    const made = await loadIdentity(storage, { joinCode: codeFor('hub'), newKeyPair })
    assert.deepEqual(await loadIdentity(storage, { newKeyPair }), made)
    const renewed = await loadIdentity(storage, { joinCode: codeFor('hub', 2), newKeyPair })
    assert.equal(renewed.identityKey, made.identityKey)
    assert.notEqual(renewed.token.secret, made.token.secret)
    await assert.rejects(loadIdentity(storage, { joinCode: codeFor('other'), newKeyPair }), /another --data directory/)
  })
})

describe('configuration', () => {
  it('takes flags before environment and says what is missing', () => {
    const env = { FLOTILLA_JOIN: 'a', FLOTILLA_DATA: '/d', KUBECONFIG: '/k', HTTPS_PROXY: 'http://p:1', SECRET: 'x' }
    const { proxyVariables, ...config } = readAgentConfig(['--join', 'b', '--name', 'store-1'], env)
    assert.deepEqual(JSON.parse(JSON.stringify(proxyVariables)), { HTTPS_PROXY: 'http://p:1' })
    assert.deepEqual(config, {
      kubeconfig: '/k',
      dataDir: '/d',
      logLevel: 'info',
      joinCode: 'b',
      clusterName: 'store-1',
    })
    assert.throws(() => readAgentConfig([], { FLOTILLA_DATA: '/d' }), /--kubeconfig/)
    assert.throws(() => readAgentConfig([], { KUBECONFIG: '/k' }), /--data/)
    assert.throws(() => readAgentConfig(['--log-level', 'loud'], env), /"loud" is none of debug/)
  })
})

describe('the ceiling file', () => {
  it('is YAML with known fields; anything else stops the agent', () => {
    assert.deepEqual(readLocalLimits('', 'c.yaml'), {})
    const text = 'namespaces: [shop-*]\nclusterScoped: false\ndenyKinds: [{kind: Secret}]\nmaxPrune: 5\n'
    const ceiling = { namespaces: ['shop-*'], clusterScoped: false, denyKinds: [{ kind: 'Secret' }], maxPrune: 5 }
    assert.deepEqual(readLocalLimits(text, 'c.yaml'), ceiling)
    assert.throws(
      () => readLocalLimits('namespace: [shop]', 'c.yaml'),
      /c\.yaml: unknown field namespace; known are namespaces, /,
    )
    assert.throws(() => readLocalLimits('maxPrune: many', 'c.yaml'), /ceiling\.maxPrune/)
    assert.throws(() => readLocalLimits('a: [', 'c.yaml'), /c\.yaml: /)
  })
})

describe('denied calls', () => {
  it('are named with verb, resource and subject', () => {
    const said =
      'deployments.apps "x" is forbidden: User "system:serviceaccount:a:b" cannot patch resource "deployments" in API group "apps" in the namespace "shop"'
    assert.equal(
      describeDenied(said),
      'denied: system:serviceaccount:a:b may not patch deployments.apps in namespace shop',
    )
    const wide =
      'namespaces is forbidden: User "u" cannot create resource "namespaces" in API group "" at the cluster scope'
    assert.equal(describeDenied(wide), 'denied: u may not create namespaces')
    assert.equal(describeDenied('exceeded quota'), undefined)
  })
})

describe('the logger', () => {
  it('writes one line of JSON with errors and their causes', () => {
    const lines: string[] = []
    const clock = { now: () => 0, monotonicMs: () => 0, sleep: async () => {} }
    const log = createJsonLogger({ write: (line) => void lines.push(line), clock, level: 'info' }).child({ part: 'x' })
    log.debug({}, 'not this')
    log.warn({ err: new Error('outer', { cause: new Error('inner') }) }, 'this')
    assert.deepEqual(
      lines.map((line): unknown => JSON.parse(line)),
      [
        {
          time: '1970-01-01T00:00:00.000000Z',
          level: 'warn',
          part: 'x',
          err: { name: 'Error', message: 'outer', cause: { name: 'Error', message: 'inner' } },
          msg: 'this',
        },
      ],
    )
    assert.ok(lines[0]?.endsWith('\n'))
  })
})

describe('names', () => {
  it('tell objects apart by group, not by version, and fit into a field manager', () => {
    const web = { kind: 'Deployment', namespace: 'a', name: 'web' }
    assert.equal(objectKey({ apiVersion: 'apps/v1', ...web }), objectKey({ apiVersion: 'apps/v1beta1', ...web }))
    assert.notEqual(objectKey({ apiVersion: 'apps/v1', ...web }), objectKey({ apiVersion: 'extensions/v1', ...web }))
    assert.equal(fieldManager('default/hello'), 'flotilla:default/hello')
    assert.ok(fieldManager(`default/${'x'.repeat(253)}`).length <= 128)
  })
})
