import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pushEgress, sourceEgress } from './egress-rules.ts'

const LOOPBACK = { listen: '127.0.0.1:7443', gatewayListen: '[::1]:0', consoleListen: 'localhost:7480' }

test('loopback is open to Sources only while every listener is on a loopback address', () => {
  assert.equal(sourceEgress(LOOPBACK).isLoopbackOpen, true)
  for (const listener of ['listen', 'gatewayListen', 'metricsListen', 'webhookListen']) {
    for (const address of ['0.0.0.0:7444', ':7444', '10.0.0.1:7444', '[::]:7444']) {
      assert.equal(sourceEgress({ ...LOOPBACK, [listener]: address }).isLoopbackOpen, false, `${listener} ${address}`)
    }
  }
})

test('the list of hosts is the one of the setting', () => {
  assert.equal(sourceEgress(LOOPBACK).hosts, undefined)
  assert.deepEqual(pushEgress({ ...LOOPBACK, pushHosts: 'store.corp' }).hosts, ['store.corp'])
  assert.deepEqual(sourceEgress({ ...LOOPBACK, sourceHosts: 'git.corp, *.example' }).hosts, ['git.corp', '*.example'])
})
