import assert from 'node:assert/strict'
import { test } from 'node:test'
import { reasonFromUserAgent, userAgentFor } from './audit-reason.ts'

test('a reason goes into the user agent and comes out of it, whatever it says', () => {
  for (const reason of ['fire', 'Büro: 100 % (brannte)', 'a\nb', '\ud800', '雪', '%41', 'über) (x']) {
    const agent = userAgentFor(reason)
    assert.match(agent, /^flotilla-cli \([\x20-\x7e]+\)$/)
    assert.equal(reasonFromUserAgent(agent), reason === '\ud800' ? '?' : reason)
  }
  for (const none of [undefined, '', '  ']) assert.equal(userAgentFor(none), 'flotilla-cli')
  assert.equal(reasonFromUserAgent('kubectl/1.36 (linux)'), undefined)
  assert.equal(reasonFromUserAgent('flotilla-console/0.1.0 (store calls%21)'), 'store calls!')
  assert.equal(reasonFromUserAgent('flotilla-console/0.1.0'), undefined)
  assert.equal(reasonFromUserAgent('flotilla-cli (%zz)'), '%zz')
  const long = userAgentFor('雪'.repeat(5000))
  assert.ok(long.length < 1000 && reasonFromUserAgent(long)!.length > 50)
})
