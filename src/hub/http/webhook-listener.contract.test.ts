/** Webhooks of the five git servers: genuine ones ask for news, all others learn nothing. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { test } from 'node:test'
import { createClient } from '../../client/create-client.ts'
import { silentLogger } from '../../core/log.ts'
import { systemClock } from '../../core/time/system-clock.ts'
import { systemIds } from '../../core/system-ids.ts'
import { Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import { createMemoryStore } from '../../store/memory-store.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { composeApi } from '../compose/compose-api.ts'
import { inProcessTransport } from '../compose/in-process-transport.ts'
import { HUB_USERS } from '../ports.ts'
import { listenForWebhooks } from './webhook-listener.ts'

test('signatures of GitHub, Gitea, Bitbucket, tokens of GitLab and Azure DevOps; nothing else', async (t) => {
  const api = composeApi({ store: createMemoryStore(), clock: systemClock, ids: systemIds, log: silentLogger })
  const client = createClient({ transport: inProcessTransport(api.handle, HUB_USERS.admin), clock: systemClock })
  const clock = createVirtualClock()
  const listener = await listenForWebhooks({ listen: { host: '127.0.0.1', port: 0 }, client, clock, log: silentLogger })
  t.after(async () => {
    await listener.close()
    await api.close()
  })
  const git = { url: 'https://git.example.com/x.git' }
  await client.create(Source, build(Source, 'default/apps', { spec: { git, webhook: { secret: 'hook' } } }))
  await client.create(Source, build(Source, 'default/quiet', { spec: { git } }))
  await client.create(Source, build(Source, 'default/fleet', { spec: { git, webhook: { secret: 'gitjob-webhook' } } }))
  const fleetKeys = ['github', 'gogs', 'bitbucket-server', 'gitlab', 'azure-password']
  await client.create(
    Secret,
    build(Secret, 'default/gitjob-webhook', {
      data: Object.fromEntries(fleetKeys.map((key) => [key, Buffer.from(`for ${key}`).toString('base64')])),
    }),
  )
  await client.create(
    Secret,
    build(Secret, 'default/hook', { data: { token: Buffer.from('s3cret').toString('base64') } }),
  )
  const body = '{"ref":"refs/heads/main"}'
  const hmac = (key: string, text = body) => createHmac('sha256', key).update(text).digest('hex')
  const basic = (password: string) => `Basic ${Buffer.from(`azure:${password}`).toString('base64')}`
  const hinted = async () =>
    (await client.get(Source, { namespace: 'default', name: 'apps' })).metadata.annotations?.['flotilla.dev/poll']
  const call = async (headers: Record<string, string>, path = '/hooks/default/apps', method = 'POST') => {
    await clock.advance(3000)
    const before = await hinted()
    const url = `http://127.0.0.1:${listener.port}${path}`
    const { status } = await fetch(url, { method, headers, ...(method === 'POST' ? { body } : {}) })
    return [status, (await hinted()) !== before]
  }
  const good: Record<string, string>[] = [
    { 'x-hub-signature-256': `sha256=${hmac('s3cret')}` },
    { 'x-gitea-signature': hmac('s3cret') },
    { 'x-hub-signature': `sha256=${hmac('s3cret')}` },
    { 'x-gitlab-token': 's3cret' },
    { authorization: basic('s3cret') },
  ]
  for (const headers of good) assert.deepEqual(await call(headers), [202, true], JSON.stringify(headers))
  const bad: Record<string, string>[] = [
    {},
    { 'x-hub-signature-256': `sha256=${hmac('other')}` },
    { 'x-hub-signature-256': `sha256=${hmac('s3cret', `${body} `)}` },
    { 'x-hub-signature-256': 'sha256=' },
    { 'x-hub-signature-256': `sha256=${hmac('other')}`, 'x-gitlab-token': 's3cret' },
    { 'x-gitlab-token': '' },
    { authorization: basic('') },
    { authorization: 'Bearer s3cret' },
  ]
  for (const headers of bad) assert.deepEqual(await call(headers), [401, false], JSON.stringify(headers))
  assert.deepEqual(await call({ 'x-gitlab-token': '' }, '/hooks/default/quiet'), [401, false], 'no secret, no hook')
  assert.deepEqual(await call(good[3]!, '/hooks/default/none'), [401, false], 'unknown looks like wrong')
  assert.deepEqual(await call(good[3]!, '/hooks/default/..%2fapps'), [404, false])
  assert.deepEqual(await call(good[3]!, '/hooks/default/apps', 'GET'), [405, false])

  // A Secret of Rancher Fleet has a key for each git server; the key of one proves no call of another.
  const ofFleet = (token: string): Record<string, string>[] => [
    { 'x-hub-signature-256': `sha256=${hmac(token)}` },
    { 'x-gitea-signature': hmac(token), 'x-hub-signature-256': `sha256=${hmac(token)}` },
    { 'x-hub-signature': `sha256=${hmac(token)}` },
    { 'x-gitlab-token': token },
    { authorization: basic(token) },
  ]
  for (const [at, key] of fleetKeys.entries())
    for (const [other, headers] of ofFleet(`for ${key}`).entries())
      assert.equal((await call(headers, '/hooks/default/fleet'))[0], at === other ? 202 : 401, `${key} ${other}`)

  await call(good[3]!)
  const first = await hinted()
  await fetch(`http://127.0.0.1:${listener.port}/hooks/default/apps`, { method: 'POST', headers: good[3]!, body })
  assert.equal(await hinted(), first, 'a storm is one question')
})
