import assert from 'node:assert/strict'
import { test } from 'node:test'
import { drainMs, hubRoles, printConfig, readDays, readHubConfig, environmentVariable } from './config.ts'

test('flags win over environment, environment over file, file over defaults', () => {
  const file = { path: 'hub.yaml', text: 'data: /file\nlisten: 127.0.0.1:1\nlogLevel: debug\n' }
  const env = { FLOTILLA_HUB_LISTEN: '127.0.0.1:2', FLOTILLA_HUB_DATA: '/env' }
  const read = readHubConfig({ flags: { data: '/flag', color: 'auto' }, env, file })
  assert.deepEqual(read.config, {
    data: '/flag',
    listen: '127.0.0.1:2',
    gatewayListen: '0.0.0.0:7444',
    consoleListen: '127.0.0.1:7480',
    logLevel: 'debug',
  })
  assert.equal(
    printConfig(read),
    [
      'data           /flag  (--data)',
      'listen         127.0.0.1:2  (FLOTILLA_HUB_LISTEN)',
      'gatewayListen  0.0.0.0:7444  (default)',
      'consoleListen  127.0.0.1:7480  (default)',
      'logLevel       debug  (hub.yaml)',
      '',
    ].join('\n'),
  )
})

test('a retention is in days', () => {
  assert.equal(readDays('2d'), 172_800_000)
  assert.equal(readDays(undefined), undefined)
})

test('variables are named after their settings', () => {
  assert.equal(environmentVariable('gatewayListen'), 'FLOTILLA_HUB_GATEWAY_LISTEN')
})

const WRONG: readonly (readonly [flags: Record<string, unknown>, says: RegExp])[] = [
  [{}, /missing data directory/],
  [
    { data: '/d', agentImage: 'r.example/agent' },
    /^--agent-image: .*; must be REGISTRY\/NAME:TAG or REGISTRY\/NAME@sha256/,
  ],
  [{ data: '/d', listen: 'nowhere' }, /^--listen: invalid value "nowhere"; must be HOST:PORT, for example 127/],
  [{ data: '/d', logLevel: 'loud' }, /^--log-level: invalid value "loud"; must be one of debug, info/],
  [{ data: '/d', evidenceRetention: '90' }, /^--evidence-retention: invalid value "90"; must be a number of days/],
  [
    { data: '/d', roles: 'gateway,agents' },
    /^--roles: .*; must be a list of controllers, renderers, gateway, views, c/,
  ],
  [{ data: '/d', roles: '' }, /^--roles: invalid value ""/],
  [{ data: '/d', drain: '5m' }, /^--drain: .*; must be a number of seconds/],
  [{ data: '/d', gatewayUrl: 'http://x' }, /^--gateway-url: invalid value "http:\/\/x"; must be https:/],
]

for (const [flags, says] of WRONG) {
  test(`a wrong setting stops the start: ${JSON.stringify(flags)}`, () => {
    assert.throws(() => readHubConfig({ flags, env: {} }), { message: says, name: 'Stalled' })
  })
}

test('a setting that does not exist is refused with its file', () => {
  const file = { path: 'hub.yaml', text: 'data: /d\nlisten_address: x\n' }
  assert.throws(() => readHubConfig({ flags: {}, env: {}, file }), {
    message: /^hub.yaml: unknown setting "listen_address"; valid settings: data, listen/,
  })
})

const shared = { kubeconfig: '/home', keys: '/keys', blobs: 's3://flotilla' }
const roles = (flags: Record<string, unknown>) =>
  hubRoles(readHubConfig({ flags: { data: '/d', ...flags }, env: {} }).config)

test('a process does everything, or the roles that it is given', () => {
  const all = ['controllers', 'renderers', 'gateway', 'views', 'console']
  assert.deepEqual(roles({}), all)
  assert.deepEqual(roles({ roles: all.toReversed().join(',') }), all)
  assert.deepEqual(roles({ ...shared, roles: 'gateway' }), ['gateway'])
  assert.deepEqual(roles({ ...shared, roles: 'renderers,controllers,renderers' }), ['controllers', 'renderers'])
})

for (const missing of ['kubeconfig', 'keys', 'blobs'] as const) {
  test(`a part of the roles needs ${missing}`, () => {
    assert.throws(() => roles({ ...shared, [missing]: undefined, roles: 'gateway' }), {
      message: `roles gateway need ${missing}`,
    })
  })
}

test('a gateway drains if there may be another one', () => {
  const drain = (flags: Record<string, unknown>) =>
    drainMs(readHubConfig({ flags: { data: '/d', ...flags }, env: {} }).config)
  assert.equal(drain({}), 0)
  assert.equal(drain({ kubeconfig: '/home' }), 10_000)
  assert.equal(drain({ kubeconfig: '/home', drain: '0s' }), 0)
  assert.equal(drain({ drain: '120s' }), 120_000)
})
