import assert from 'node:assert/strict'
import { test } from 'node:test'
import { proxyFor } from './proxy.ts'

test('a proxy is taken from HTTPS_PROXY, and left out for what NO_PROXY names', () => {
  const hub = 'https://hub.example.com:7444'
  const proxy = 'http://proxy.example:3128/'
  assert.equal(proxyFor(hub, {}), undefined)
  assert.equal(proxyFor(hub, { HTTP_PROXY: 'http://x' }), undefined)
  assert.equal(proxyFor(hub, { HTTPS_PROXY: 'proxy.example:3128' }), proxy)
  assert.equal(proxyFor(hub, { https_proxy: 'http://proxy.example:3128' }), proxy)
  const without = (endpoint: string, noProxy: string) => proxyFor(endpoint, { HTTPS_PROXY: proxy, NO_PROXY: noProxy })
  for (const words of [
    '*',
    'hub.example.com',
    '.example.com',
    'example.com',
    '*.example.com',
    'a, HUB.example.com:7444',
  ]) {
    assert.equal(without(hub, words), undefined, words)
  }
  for (const words of ['', 'ub.example.com', 'hub.example.com:443', 'hub.example.com.evil', 'xample.com']) {
    assert.equal(without(hub, words), proxy, words)
  }
  assert.equal(without('https://10.1.2.3:7444', '10.0.0.0/8'), undefined)
  assert.equal(without('https://[fd00::1]:7444', 'fd00::/8'), undefined)
  assert.equal(without('https://[fd00::1]:7444', 'fd00::1'), undefined)
  assert.equal(without('https://11.1.2.3:7444', '10.0.0.0/8'), proxy)
  assert.throws(() => proxyFor(hub, { HTTPS_PROXY: 'socks5://x' }), /HTTPS_PROXY: socks5: is not supported/)
  assert.throws(() => proxyFor(hub, { HTTPS_PROXY: 'http://' }), /HTTPS_PROXY: not a valid URL/)
})
