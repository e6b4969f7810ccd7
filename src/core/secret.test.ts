import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { Secret } from './secret.ts'

test('a secret does not print', () => {
  const secret = new Secret('hunter2')
  const printed = [
    String(secret),
    JSON.stringify({ secret }),
    inspect({ secret }),
    inspect(secret, { showHidden: true }),
  ]
  for (const text of printed) assert.ok(!text.includes('hunter2'), text)
  assert.equal(secret.reveal(), 'hunter2')
})
