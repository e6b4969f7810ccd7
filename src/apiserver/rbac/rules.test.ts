import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { ruleAllows } from '../../kinds/policy-rule.ts'
import { compactRules, ruleText, uncoveredRules } from './rules.ts'

const caller = { user: 'u', groups: [] }

describe('rules', () => {
  const on = (verb: string, plural: string, more: { subresource?: string; name?: string; group?: string } = {}) => ({
    caller,
    verb,
    path: '',
    resource: { group: '', plural, ...more },
  })
  const rule = (more: Partial<PolicyRule> = {}): PolicyRule => ({
    verbs: ['get'],
    apiGroups: [''],
    resources: ['pods'],
    ...more,
  })

  it('allow what verb, group, resource and name say together', () => {
    assert.equal(ruleAllows(rule(), on('get', 'pods')), true)
    assert.equal(ruleAllows(rule(), on('list', 'pods')), false)
    assert.equal(ruleAllows(rule(), on('get', 'pods', { group: 'apps' })), false)
    assert.equal(ruleAllows(rule(), on('get', 'pods', { subresource: 'log' })), false)
    assert.equal(ruleAllows(rule({ resources: ['*/log'] }), on('get', 'pods', { subresource: 'log' })), true)
    assert.equal(ruleAllows(rule({ resources: ['*'] }), on('get', 'pods', { subresource: 'log' })), true)
    assert.equal(ruleAllows(rule({ resourceNames: ['a'] }), on('get', 'pods', { name: 'a' })), true)
    assert.equal(ruleAllows(rule({ resourceNames: ['a'] }), on('get', 'pods')), false)
  })

  it('about paths allow those paths alone', () => {
    const open: PolicyRule = { verbs: ['get'], nonResourceURLs: ['/api', '/api/*'] }
    const get = (path: string) => ruleAllows(open, { verb: 'get', path })
    assert.deepEqual(['/api', '/api/v1', '/apis', '/'].map(get), [true, true, false, false])
    assert.equal(ruleAllows(open, on('get', 'api')), false)
    assert.equal(ruleAllows(rule({ resources: ['*'] }), { verb: 'get', path: '/api' }), false)
  })

  it('of names cover names, never everything', () => {
    assert.equal(uncoveredRules([rule({ resourceNames: ['a'] })], [rule()]).length, 1)
    assert.equal(uncoveredRules([rule()], [rule({ resourceNames: ['a'] })]).length, 0)
    assert.equal(uncoveredRules([rule({ resourceNames: ['a'] })], [rule({ resourceNames: ['a', 'b'] })]).length, 1)
  })

  it('together cover what none of them covers alone', () => {
    const held = [rule(), rule({ verbs: ['list'] })]
    assert.deepEqual(uncoveredRules(held, [rule({ verbs: ['get', 'list'] })]), [])
    const missing = uncoveredRules(held, [rule({ verbs: ['get', 'watch', 'delete'] })])
    assert.deepEqual(compactRules(missing).map(ruleText), [
      '{APIGroups:[""], Resources:["pods"], Verbs:["watch" "delete"]}',
    ])
  })
})
