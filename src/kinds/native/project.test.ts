import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultObject, pruneObject, validateObject } from '../validation/validate-object.ts'
import { Project } from './project.ts'

function problems(spec: object): readonly string[] {
  const project = { apiVersion: 'flotilla.dev/v1alpha1', kind: 'Project', metadata: { name: 'x' }, spec }
  assert.deepEqual(pruneObject(Project, project), [])
  defaultObject(Project, project)
  return validateObject(Project, project).map(({ field }) => field)
}

test('lists take the patterns that their descriptions name, and nothing else', () => {
  const cases: [field: string, good: readonly string[], bad: readonly string[]][] = [
    ['namespaces', ['team-a'], ['*', 'Team', '']],
    [
      'sources',
      ['*', 'inline', 'https://git.example.com/team-a/*', 'git@host:team-a/*', '/srv/git/*', 'oci://r:5000/x_y/*'],
      ['', '^.*$', 'a|b', 'https://x/(a)', 'a b', 'a[b]', 'a+', '$x', 'a{1}', 'a?'],
    ],
    [
      'kinds',
      ['*', 'ConfigMap', 'apps/Deployment', 'apps/*', 'rbac.authorization.k8s.io/ClusterRole'],
      ['configmaps', 'apps/v1/Deployment', 'apps/', '/ConfigMap', 'Config*', '*/*', '*/Deployment'],
    ],
    ['targetNamespaces', ['*', 'team-*', '*-shop'], ['', 'Team', 'a/b', '-a']],
    ['clusterSets', ['*', 'stores'], ['st*', '']],
    ['plans', ['*', 'slow'], ['s*']],
    ['requiredLabels', ['team', 'example.com/cost-centre'], ['', '-x', 'a/b/c']],
  ]
  for (const [field, good, bad] of cases) {
    for (const text of good) assert.deepEqual(problems({ [field]: [text] }), [], `${field} ${text}`)
    for (const text of bad) assert.deepEqual(problems({ [field]: [text] }), [`spec.${field}[0]`], `${field} ${text}`)
  }
})

test('executors are ServiceAccounts', () => {
  const allowed = (text: string) => problems({ executors: { allowed: [text] } })
  for (const text of ['*', 'team-a/*', '*/deployer', 'team-a/deployer.v1']) assert.deepEqual(allowed(text), [], text)
  for (const text of ['deployer', 'a/b/c', 'A/b', '']) assert.equal(allowed(text).length, 1, text)
  assert.deepEqual(problems({ executors: { default: 'team-a/deployer', ownRights: true } }), [])
  assert.deepEqual(problems({ executors: { default: 'team-a/*' } }), ['spec.executors.default'])
})

test('everything is optional, and counts are not negative', () => {
  assert.deepEqual(problems({}), [])
  assert.deepEqual(problems({ quotas: { bundles: 0, sources: 0, bytes: 0 } }), [])
  assert.deepEqual(problems({ quotas: { bundles: -1 } }), ['spec.quotas.bundles'])
  assert.deepEqual(problems({ quotas: { rendersPerMinute: 0 } }), ['spec.quotas.rendersPerMinute'])
})
