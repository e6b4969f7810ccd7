import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  isApplicationNamespacePermitted,
  isDestinationPermitted,
  isKindPermitted,
  isSourcePermitted,
} from './project-permissions.ts'
import { projectProblem } from './validate-project.ts'

test('sources', () => {
  const spec = { sourceRepos: ['https://github.com/acme/*'] }
  assert.equal(isSourcePermitted(spec, 'https://github.com/acme/x'), true)
  assert.equal(isSourcePermitted(spec, 'https://GITHUB.com/acme/x.git'), true)
  assert.equal(isSourcePermitted(spec, 'https://github.com/acme/x/y'), false)
  assert.equal(
    isSourcePermitted({ sourceRepos: ['*', '!https://github.com/acme/secret'] }, 'https://github.com/acme/secret'),
    false,
  )
  assert.equal(isSourcePermitted({}, 'https://github.com/acme/x'), false)
})

test('destinations by server or name', () => {
  const spec = {
    destinations: [
      { server: 'https://a', namespace: '*' },
      { server: '*', namespace: '!kube-system' },
    ],
  }
  assert.equal(isDestinationPermitted(spec, { server: 'https://a', namespace: 'default' }), true)
  assert.equal(isDestinationPermitted(spec, { server: 'https://a', namespace: 'kube-system' }), false)
  assert.equal(isDestinationPermitted(spec, { name: 'a', namespace: 'default' }), false)
  const own = { ...spec, permitOnlyProjectScopedClusters: true }
  assert.equal(isDestinationPermitted(own, { server: 'https://a', namespace: 'default' }), false)
  assert.equal(
    isDestinationPermitted(own, { server: 'https://a', namespace: 'default' }, [{ name: 'a', server: 'https://a' }]),
    true,
  )
})

test('kinds: cluster-wide ones need a permission, namespaced ones only with a list', () => {
  const role = { group: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'x' }
  const config = { group: '', kind: 'ConfigMap', name: 'x' }
  assert.equal(isKindPermitted({}, role, false), false)
  assert.equal(isKindPermitted({ clusterResourceWhitelist: [{ group: '*', kind: '*' }] }, role, false), true)
  assert.equal(
    isKindPermitted({ clusterResourceWhitelist: [{ group: '*', kind: '*', name: 'y' }] }, role, false),
    false,
  )
  assert.equal(isKindPermitted({}, config, true), true)
  assert.equal(isKindPermitted({ namespaceResourceWhitelist: [] }, config, true), false)
  assert.equal(isKindPermitted({ namespaceResourceBlacklist: [{ group: '', kind: 'ConfigMap' }] }, config, true), false)
})

test('namespaces of Applications', () => {
  const spec = { sourceNamespaces: ['team-*', '/^x[0-9]$/', '/(/'] }
  const permitted = ['argocd', '', 'team-a', 'x1', 'x10', '('].map((one) =>
    isApplicationNamespacePermitted(spec, one, 'argocd'),
  )
  assert.deepEqual(permitted, [true, true, true, true, false, false])
})

test('projects that Argo CD refuses', () => {
  for (const [spec, problem] of [
    [{ destinations: [{ server: '!*' }] }, /invalid format/],
    [{ destinations: [{ server: 'a' }, { server: 'a' }] }, /already added/],
    [{ sourceRepos: ['!*'] }, /invalid format/],
    [{ sourceNamespaces: ['a', 'a'] }, /already added/],
    [{ roles: [{ name: '-' }] }, /invalid role name/],
    [{ roles: [{ name: 'a', policies: ['p, x'] }] }, /invalid policy rule/],
    [{ roles: [{ name: 'a', groups: ['a,b'] }] }, /not valid/],
    [{ syncWindows: [{ kind: 'x' }] }, /can only be allow or deny/],
    [{ destinationServiceAccounts: [{ server: '*', namespace: '*' }] }, /defaultServiceAccount/],
  ] as const) {
    assert.match(projectProblem('p', spec) ?? '', problem)
  }
  const policies = ['p, proj:p:ci, applications, sync, p/*, allow']
  assert.equal(
    projectProblem('p', { roles: [{ name: 'ci', policies, groups: ['ops'] }], sourceRepos: ['*'] }),
    undefined,
  )
})
