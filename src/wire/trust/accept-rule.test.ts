import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptRuleProblem, isAcceptedBy } from './accept-rule.ts'

const facts = { name: 'store-042', labels: { region: 'eu' }, address: '10.8.1.7', agentVersion: '0.2.0' }

test('a rule accepts when it says true, and never otherwise', () => {
  const yes = [
    "name.startsWith('store-')",
    "labels.region == 'eu' && cidr('10.8.0.0/16').containsIP(address)",
    "name.matches('^store-[0-9]{3}$')",
    "labels[?'region'].orValue('') == 'eu'",
  ]
  const no = [
    "name == 'bank'",
    'labels.tier == "store"', // no such label: an error is no yes
    "'true'",
    '1',
    'name.startsWith(',
    'unknown == 1',
    "cidr('10.8.0.0/16').containsIP('nowhere')",
    '[1,2,3].all(a, [1,2,3].all(b, [1,2,3].all(c, name.matches("(a+)+$")))) && false',
  ]
  for (const rule of yes) assert.equal(isAcceptedBy(rule, facts), true, rule)
  for (const rule of no) assert.equal(isAcceptedBy(rule, facts), false, rule)
  assert.equal(acceptRuleProblem(yes[0]!), undefined)
  assert.match(acceptRuleProblem('nam == 1')!, /undeclared reference to 'nam'/)
})
