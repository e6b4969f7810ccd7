import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { documentedHubRoles } from '../../testing/hub/documented-roles.ts'
import { grantedRights } from '../../testing/hub/used-rights.ts'
import { DIALECT_NAMES } from './dialect-names.ts'
import { kubeHomeDialectRules, kubeHomeRules, kubeHomeSystemRules } from './kube-home-rules.ts'

test('the roles of docs/access.md are those of the code', () => {
  const documented = documentedHubRoles(DIALECT_NAMES).filter(({ kind }) => kind !== 'Namespace')
  const wanted = new Map<string, readonly PolicyRule[]>([
    ['ClusterRole flotilla-hub', kubeHomeRules()],
    ['Role flotilla-hub', kubeHomeSystemRules()],
    ...DIALECT_NAMES.map((name) => [`ClusterRole flotilla-hub-${name}`, kubeHomeDialectRules(name)] as const),
  ])
  assert.deepEqual(documented.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort(), [...wanted.keys()].sort())
  const names = (rules: readonly PolicyRule[]) => rules.flatMap(({ resourceNames = [] }) => resourceNames).sort()
  for (const { kind, metadata, rules = [] } of documented) {
    const own = wanted.get(`${kind} ${metadata.name}`)!
    assert.deepEqual([...grantedRights(rules)].sort(), [...grantedRights(own)].sort(), metadata.name)
    assert.deepEqual(names(rules), names(own))
  }
})

test('a hub on a kube-apiserver has no right on all kinds, and can escalate in the roles it writes only', () => {
  for (const { verbs, apiGroups = [], resources = [], resourceNames = [] } of [
    ...kubeHomeRules(),
    ...kubeHomeSystemRules(),
    ...DIALECT_NAMES.flatMap(kubeHomeDialectRules),
  ]) {
    assert.equal([...verbs, ...apiGroups, ...resources].includes('*'), false)
    assert.equal(verbs.includes('bind') || verbs.includes('impersonate'), false)
    if (verbs.includes('escalate')) assert.ok(resourceNames.every((name) => name.startsWith('flotilla:')))
  }
})
