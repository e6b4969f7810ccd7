import assert from 'node:assert/strict'
import { test } from 'node:test'
import { frontProxyCaller, readFrontProxy } from './front-proxy.ts'

const proxy = readFrontProxy({
  'client-ca-file': 'ANOTHER PEM',
  'requestheader-client-ca-file': 'PEM',
  'requestheader-allowed-names': '["front-proxy-client"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-uid-headers': '["X-Remote-Uid"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
})!
const proven = { user: 'front-proxy-client', groups: ['system:authenticated'] }

test('what a kube-apiserver publishes is read; without a CA it passes nothing on', () => {
  assert.equal(proxy.clientCa, 'PEM')
  assert.deepEqual(proxy.groupHeaders, ['x-remote-group'])
  assert.equal(readFrontProxy({ 'client-ca-file': 'PEM' }), undefined)
})

test('the proxy says who asks: user, groups line by line, uid and extra', () => {
  const headers = ['X-Remote-User', 'ann', 'x-remote-group', 'ops, system:masters', 'X-Remote-Group', 'dev']
  const more = ['X-Remote-Uid', 'u-1', 'X-Remote-Extra-Acme.com%2fProject', 'shop', 'accept', 'x']
  assert.deepEqual(frontProxyCaller(proxy, proven, [...headers, ...more]), {
    user: 'ann',
    groups: ['ops, system:masters', 'dev', 'system:authenticated'],
    uid: 'u-1',
    extra: { 'acme.com/project': ['shop'] },
  })
})

test('only the proxy is trusted', () => {
  const headers = ['X-Remote-User', 'admin', 'X-Remote-Group', 'system:masters']
  assert.equal(frontProxyCaller(proxy, undefined, headers), undefined)
  assert.equal(frontProxyCaller(proxy, { ...proven, user: 'front-proxy-client2' }, headers), undefined)
  assert.equal(frontProxyCaller(proxy, proven, []), undefined, 'the proxy itself is no user')
  assert.equal(frontProxyCaller(proxy, proven, ['X-Remote-User', '']), undefined)
})
