import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInNetwork, parseAddress, parseNetwork } from './cidr.ts'

test('an address is in a network, or not', () => {
  const table: [string, string, boolean][] = [
    ['10.8.1.2', '10.8.0.0/16', true],
    ['10.9.1.2', '10.8.0.0/16', false],
    ['::ffff:10.8.1.2', '10.8.0.0/16', true],
    ['::FFFF:0a08:0102', '10.8.0.0/16', true],
    ['::10.8.1.2', '10.8.0.0/16', false],
    ['10.8.1.2', '10.8.1.2/32', true],
    ['10.8.1.3', '10.8.1.2/32', false],
    ['203.0.113.9', '0.0.0.0/0', true],
    ['2001:db8::1', '0.0.0.0/0', false],
    ['2001:db8:0:1::1', '2001:db8::/32', true],
    ['2001:db9::1', '2001:db8::/32', false],
    ['fe80::1%eth0', 'fe80::/10', true],
    ['2001:db8::1', '::/0', true],
    ['10.0.0.1', '::/0', false],
    ['', '0.0.0.0/0', false],
    ['10.8.1', '10.8.0.0/16', false],
    ['010.8.1.2', '10.8.0.0/16', false],
    ['10.8.1.2', '10.8.0.1/16', false],
    ['10.8.1.2', '10.8.0.0/33', false],
    ['10.8.1.2', '10.8.0.0', false],
    ['10.8.1.2', 'rubbish', false],
  ]
  for (const [address, network, expected] of table) {
    assert.equal(isInNetwork(address, network), expected, `${address} in ${network}`)
  }
})

test('what is no address or network is undefined', () => {
  for (const text of ['1.2.3.4.5', '1.2.3.256', ':::', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', 'g::', 'x']) {
    assert.equal(parseAddress(text), undefined, text)
  }
  for (const text of ['10.0.0.0/08', '10.0.0.0/8/8', '::ffff:10.0.0.0/104', 'fe80::%1/10', '10.0.0.0/-1', '/8']) {
    assert.equal(parseNetwork(text), undefined, text)
  }
  assert.deepEqual(parseNetwork('10.0.0.0/8'), { base: { value: 10n << 24n, bits: 32 }, length: 8 })
})
