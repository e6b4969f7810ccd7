import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serverOfContext, withContext } from './kubeconfig-context.ts'

const OURS = { name: 'flotilla', cluster: { server: 'https://new' }, user: { tokenFile: '/t' }, isCurrent: false }
const THEIRS = {
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': 'prod',
  preferences: { colors: true },
  clusters: [
    { name: 'flotilla', cluster: { server: 'https://old' } },
    { name: 'prod', cluster: { server: 'https://prod' } },
  ],
  users: [{ name: 'ann', user: { token: 'x' } }],
  contexts: [
    { name: 'flotilla', context: { cluster: 'flotilla', user: 'ann', namespace: 'shop' } },
    { name: 'prod', context: { cluster: 'prod', user: 'ann' } },
  ],
}

test('an empty kubeconfig becomes a whole one, without a current context unless that is asked for', () => {
  const made = withContext({}, OURS)
  assert.deepEqual(made, {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': '',
    clusters: [{ name: 'flotilla', cluster: { server: 'https://new' } }],
    users: [{ name: 'flotilla', user: { tokenFile: '/t' } }],
    contexts: [{ name: 'flotilla', context: { cluster: 'flotilla', user: 'flotilla' } }],
  })
  assert.equal(withContext({}, { ...OURS, isCurrent: true })['current-context'], 'flotilla')
})

test('what others have stays: contexts, users, the current one, preferences, and a chosen namespace', () => {
  const made = withContext(THEIRS, OURS)
  assert.deepEqual(made, {
    ...THEIRS,
    clusters: [{ name: 'flotilla', cluster: { server: 'https://new' } }, THEIRS.clusters[1]],
    users: [...THEIRS.users, { name: 'flotilla', user: { tokenFile: '/t' } }],
    contexts: [
      { name: 'flotilla', context: { cluster: 'flotilla', user: 'flotilla', namespace: 'shop' } },
      THEIRS.contexts[1],
    ],
  })
  assert.deepEqual(withContext(made, OURS), made, 'a second time changes nothing')
})

test('where a context points to', () => {
  assert.equal(serverOfContext(THEIRS, 'flotilla'), 'https://old')
  assert.equal(serverOfContext(THEIRS, 'missing'), undefined)
  assert.equal(serverOfContext({ contexts: [{ name: 'a', context: { cluster: 'gone' } }] }, 'a'), '')
})
