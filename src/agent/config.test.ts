import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readAgentConfig } from './config.ts'

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
    assert.equal(readAgentConfig(['--identity-secret', 'own'], env).identitySecret, 'own')
    assert.throws(() => readAgentConfig(['--identity-secret', '../x'], env), /"..\/x" cannot be the name of a Secret/)
    assert.throws(() => readAgentConfig([], { FLOTILLA_DATA: '/d' }), /--kubeconfig/)
    assert.throws(() => readAgentConfig([], { KUBECONFIG: '/k' }), /--data/)
    assert.throws(
      () => readAgentConfig(['--log-level', 'loud'], env),
      /"loud" is not a log level; must be one of debug/,
    )
  })
})
