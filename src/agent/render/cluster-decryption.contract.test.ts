/** Content that SOPS encrypted, decrypted by the agent with keys that only its cluster has. */
import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { base64, fromBase64, fromUtf8, utf8 } from '../../core/bytes.ts'
import type { JsonObject } from '../../core/json.ts'
import { ServiceAccount } from '../../kinds/builtin/core.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import { readIdentities } from '../../render/sops/age.ts'
import type { AgentUnderTest } from '../../testing/agents/agent-under-test.ts'
import { joinedAgents } from '../../testing/agents/joined-agents.ts'
import { secretObject } from '../../testing/hub/test-hub.ts'
import { encryptedContent } from '../../testing/sops/encrypted-content.ts'
import { AGE_KEY, encryptSops, OTHER_AGE_KEY } from '../../testing/sops/encrypt-sops.ts'
import { readCases } from '../../../test/recorded/recorded-case.ts'

const BUNDLE = 'default/app'
const CANARY = 'plaintext-canary-4711'
const [IDENTITY] = readIdentities(AGE_KEY)
const { joined, close } = joinedAgents()
afterEach(close)

const secretFile = (fields: Readonly<Record<string, unknown>> = {}): string =>
  encryptSops(
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, stringData: { password: CANARY }, ...fields },
    IDENTITY!.recipient,
  )
const app = (
  files: Readonly<Record<string, string>>,
  { generation = 1, options, mac }: { generation?: number; options?: BundleOptions; mac?: 'Ignore' } = {},
) => ({ [BUNDLE]: { generation, content: encryptedContent(files, { mac }), ...(options ? { options } : {}) } })
const keys = (text = AGE_KEY) => secretObject('sops-keys', { 'identity.agekey': text })

async function valueOf(site: AgentUnderTest, name: string, key: string): Promise<string | undefined> {
  const found = (await site.get('Secret', name)) as JsonObject | undefined
  const data = (found?.['data'] ?? {}) as Record<string, string>
  return data[key] === undefined ? undefined : fromUtf8(fromBase64(data[key]))
}

/** Everything that left the cluster or stands on disks: reports, documents, blobs, logs. */
async function outside({ hub, site }: Awaited<ReturnType<typeof joined>>): Promise<string> {
  const kind = { group: 'flotilla.dev', version: 'v1alpha1', scope: 'Cluster' } as const
  const reports = await hub.client.list({ ...kind, kind: 'ClusterReport', plural: 'clusterreports' })
  const texts = [JSON.stringify(reports), ...[...site.files.values()].map((bytes) => new TextDecoder().decode(bytes))]
  for (const blobs of [site.blobs, hub.blobs])
    for await (const digest of blobs.list()) texts.push(new TextDecoder().decode(await blobs.get(digest)))
  return texts.join('\n')
}

describe('content that an agent decrypts', () => {
  it('is decrypted with the key of the cluster; neither the key nor a value leaves the cluster', async () => {
    const scene = await joined()
    const { hub, site } = scene
    await site.create('Secret', keys())
    await hub.assign('store-1', app({ 'secret.yaml': secretFile() }))
    await site.until(BUNDLE, 'Ready')
    assert.equal(await valueOf(site, 'db', 'password'), CANARY)
    const written = (await site.get('Secret', 'db')) as JsonObject
    assert.equal(written['sops'], undefined)
    const all = await outside(scene)
    assert.ok(all.includes('ENC[AES256_GCM'), 'the encrypted file travels')
    for (const text of [CANARY, AGE_KEY])
      for (const form of [text, base64(utf8(text))]) assert.ok(!all.includes(form), `found ${form}`)
  })

  it('is decrypted again after a restart without the hub, when the Secret was deleted', async () => {
    const { hub, site } = await joined()
    await site.create('Secret', keys())
    await hub.assign('store-1', app({ 'secret.yaml': secretFile() }))
    await site.until(BUNDLE, 'Ready')
    hub.network.up = false
    await site.stop()
    await site.start()
    await site.remove('Secret', 'db')
    await hub.clock.advance(60_000)
    assert.equal(await valueOf(site, 'db', 'password'), CANARY)
  })

  it('waits for a missing key Secret, naming it, and goes on when the Secret is there', async () => {
    const { hub, site } = await joined()
    await hub.assign('store-1', app({ 'secret.yaml': secretFile() }))
    const row = await site.until(BUNDLE, 'Failed')
    assert.equal(row.message, 'decryption names Secret default/sops-keys: not found in the cluster')
    await site.create('Secret', keys())
    await site.until(BUNDLE, 'Ready')
    assert.equal(await valueOf(site, 'db', 'password'), CANARY)
  })

  it('is refused with the key of another recipient; the message has no key', async () => {
    const { hub, site } = await joined()
    await site.create('Secret', keys(OTHER_AGE_KEY))
    await hub.assign('store-1', app({ 'secret.yaml': secretFile() }))
    const { message = '' } = await site.until(BUNDLE, 'Failed')
    assert.match(message, /decryption failed for 'Secret\.v1\.\[noGrp\]\/db': .*age1test: FAILED/s)
    assert.ok(!message.includes(OTHER_AGE_KEY))
    assert.equal(await site.get('Secret', 'db'), undefined)
  })

  it('is refused when the MAC of its file does not fit, unless the Bundle accepts it', async () => {
    const { hub, site } = await joined()
    await site.create('Secret', keys())
    const changed = secretFile({ type: 'Opaque' }).replace('"type": "Opaque"', '"type": "example.com/other"')
    await hub.assign('store-1', app({ 'secret.yaml': changed }))
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /secret\.yaml: MAC mismatch/)
    await hub.assign('store-1', app({ 'secret.yaml': changed }, { generation: 2, mac: 'Ignore' }))
    await site.until(BUNDLE, 'Ready')
    assert.equal(await valueOf(site, 'db', 'password'), CANARY)
  })

  it('is refused when an altered copy of its file has the same MAC in another form', async () => {
    const { hub, site } = await joined()
    await site.create('Secret', keys())
    const original = secretFile({ type: 'Opaque' })
    const copy = original
      .replace('"type": "Opaque"', '"type": "example.com/other"')
      .replace('"mac": "E', '"mac": "\\u0045')
    const files = { 'kustomization.yaml': 'resources: [copy.yaml]\n', 'copy.yaml': copy, 'original.yaml': original }
    await hub.assign('store-1', app(files))
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /copy\.yaml repeats the MAC of an encrypted file/)
    assert.equal(await site.get('Secret', 'db'), undefined)
  })

  it('has its files in the data of Secrets decrypted, and their MAC checked', async () => {
    const { hub, site } = await joined()
    await site.create('Secret', keys())
    const file = encryptSops({ token: CANARY, host: 'db' }, IDENTITY!.recipient, ['token'])
    const generator = 'secretGenerator:\n- name: gen\n  files: [f.json]\n  options: {disableNameSuffixHash: true}\n'
    await hub.assign('store-1', app({ 'kustomization.yaml': generator, 'f.json': file }))
    await site.until(BUNDLE, 'Ready')
    assert.deepEqual(JSON.parse((await valueOf(site, 'gen', 'f.json'))!), { token: CANARY, host: 'db' })
    const changed = file.replace('"host": "db"', '"host": "elsewhere"')
    await hub.assign('store-1', app({ 'kustomization.yaml': generator, 'f.json': changed }, { generation: 2 }))
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /Secret field 'f\.json': MAC mismatch/)
  })

  it('is refused for keys of OpenPGP alone, with the reason', async () => {
    const { hub, site } = await joined()
    await site.create('Secret', keys())
    const recorded = readCases('flux/sops.jsonl.gz').find(({ id }) => id === 'sops-0085')!
    await hub.assign('store-1', app(recorded['files'] as Readonly<Record<string, string>>))
    assert.match((await site.until(BUNDLE, 'Failed')).message ?? '', /an agent opens keys[\s|]*of age only/)
  })

  it('reads the keys as the executor, whose rights count', async () => {
    const { hub, site } = await joined({ ceiling: { namespaces: ['default', 'flotilla-agent'] } })
    await site.create('Secret', keys())
    await site.cluster.client.create(ServiceAccount, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'deployer', namespace: 'default' },
    })
    const options = { executor: { namespace: 'default', name: 'deployer' } }
    await hub.assign('store-1', app({ 'secret.yaml': secretFile() }, { options }))
    assert.equal(
      (await site.until(BUNDLE, 'Failed')).message,
      'Secret default/sops-keys: denied: system:serviceaccount:default:deployer may not get secrets in namespace default',
    )
  })
})
