import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DocumentRules } from '../../wire/document/cluster-document.ts'
import { createProjectRules } from './project-rules.ts'

const deployer = { namespace: 'sys', name: 'deployer' }
const map = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'x' }
const RULES: DocumentRules = {
  trustVersion: 1,
  projects: [
    { name: 'team-a', namespaces: ['a', 'a2'], kinds: ['ConfigMap'], targetNamespaces: ['shop'], ownRights: true },
    { name: 'team-b', namespaces: ['b'], executors: [], defaultExecutor: 'sys/deployer', ownRights: false },
  ],
  withoutProject: [{ namespace: 'c', message: 'Namespace c has no Project.' }],
}

test('rules hold for the bundles of their namespaces', () => {
  const { writeRefusal, lookupRefusal } = createProjectRules(() => RULES)
  const secret = { ...map, kind: 'Secret' }
  const cases: [string | undefined, string | undefined][] = [
    [writeRefusal('a/x', undefined, map), undefined],
    [writeRefusal('a2/delivery:x', undefined, secret), 'Project team-a: spec.kinds does not list Secret'],
    [writeRefusal('aa/x', undefined, secret), undefined],
    [writeRefusal('b/x', deployer, secret), undefined],
    [
      writeRefusal('b/x', undefined, map),
      'Project team-b: spec.executors.default is sys/deployer, and the content was rendered without it',
    ],
    [
      writeRefusal('b/x', { namespace: 'kube-system', name: 'admin' }, map),
      'Project team-b: spec.executors.allowed does not list kube-system/admin',
    ],
    [writeRefusal('c/x', deployer, map), 'Namespace c has no Project.'],
    [writeRefusal('c/delivery:x', undefined, map), undefined],
    [lookupRefusal('c/delivery:x', undefined, { ...map, isNamespaced: true }), undefined],
    [lookupRefusal('c/x', undefined, { ...map, isNamespaced: true }), 'Namespace c has no Project.'],
    [lookupRefusal('a/x', undefined, { ...map, isNamespaced: true }), undefined],
    [
      lookupRefusal('a/x', undefined, { ...secret, namespace: 'kube-system', isNamespaced: true }),
      'Project team-a: spec.targetNamespaces does not list kube-system, so Secret cannot be looked up there',
    ],
    [
      lookupRefusal('b/x', undefined, { ...secret, isNamespaced: true }),
      'Project team-b: spec.executors.default is sys/deployer, and the content was rendered without it',
    ],
  ]
  for (const [given, expected] of cases) assert.equal(given, expected)
})

test('a new document is in force at once, and a document without rules limits nothing', () => {
  let rules: DocumentRules | undefined
  const { writeRefusal } = createProjectRules(() => rules)
  assert.equal(writeRefusal('c/x', undefined, map), undefined)
  rules = RULES
  assert.equal(writeRefusal('c/x', undefined, map), 'Namespace c has no Project.')
  rules = { trustVersion: 1 }
  assert.equal(writeRefusal('c/x', undefined, map), undefined)
})
