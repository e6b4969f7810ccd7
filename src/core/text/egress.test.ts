import assert from 'node:assert/strict'
import { test } from 'node:test'
import { allowHost, checkAddress, EgressRefused } from './egress.ts'
import type { EgressRules } from './egress.ts'

const RULES: EgressRules = { subject: 'Sources', flag: '--source-hosts', isLoopbackOpen: false }

const isAllowed = (rules: EgressRules, hostname: string, port = '443', address?: string): boolean => {
  try {
    const target = allowHost(rules, { hostname, port })
    if (address !== undefined) checkAddress(rules, target, address)
    return true
  } catch (caught) {
    assert.ok(caught instanceof EgressRefused, String(caught))
    return false
  }
}

const LOOPBACK = ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1']
const CLOSED = [
  '0.0.0.0',
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '100.100.100.200',
  '168.63.129.16',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'fd20:ce::254',
  '::',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '64:ff9b:1::7f00:1',
  '2002:7f00:1::',
  '224.0.0.1',
  'ff02::1',
  '255.255.255.255',
]
const OPEN = ['10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1', '140.82.121.4', '2606:50c0:8000::64']

test('the machine, its link and what translates to it are closed; private networks are open', () => {
  for (const address of [...LOOPBACK, ...CLOSED]) {
    assert.equal(isAllowed(RULES, 'git.example', '443', address), false, address)
    assert.equal(isAllowed(RULES, address.includes(':') ? `[${address}]` : address), false, address)
  }
  for (const address of OPEN) assert.equal(isAllowed(RULES, 'git.example', '443', address), true, address)
})

test('open loopback opens nothing else', () => {
  const rules = { ...RULES, isLoopbackOpen: true }
  for (const address of LOOPBACK) assert.equal(isAllowed(rules, 'localhost', '80', address), true, address)
  for (const address of CLOSED) assert.equal(isAllowed(rules, 'localhost', '80', address), false, address)
})

test('a list narrows, and opens what it names without a pattern', () => {
  const rules = { ...RULES, hosts: ['git.corp:8443', '*.example', 'localhost'] }
  assert.equal(isAllowed(rules, 'git.corp', '8443', '127.0.0.1'), true)
  assert.equal(isAllowed(rules, 'git.corp', '443'), false)
  assert.equal(isAllowed(rules, 'localhost', '3000', '127.0.0.1'), true)
  assert.equal(isAllowed(rules, 'charts.example', '443', '10.0.0.1'), true)
  assert.equal(isAllowed(rules, 'charts.example', '443', '127.0.0.1'), false)
  assert.equal(isAllowed(rules, 'github.com'), false)
  assert.equal(isAllowed({ ...rules, hosts: ['*', 'localhost'] }, 'github.com', '443', '140.82.121.4'), true)
})

test('the message says what to do', () => {
  assert.throws(() => allowHost(RULES, { hostname: '169.254.169.254', port: '80' }), {
    message:
      "169.254.169.254 has the address 169.254.169.254, which Sources may not reach; the hub's operator may name it in --source-hosts",
  })
  assert.throws(() => allowHost({ ...RULES, hosts: ['a'] }, { hostname: 'b', port: '80' }), {
    message: "b:80 is not in the hub's list of hosts for Sources; the hub's operator may add it to --source-hosts",
  })
})
