import assert from 'node:assert/strict'
import { test } from 'node:test'
import { redacted } from './redact.ts'

test('content, values, token hashes and passwords in addresses are left out, and the rest stays', () => {
  const object = {
    kind: 'Bundle',
    metadata: {
      name: 'web',
      managedFields: [{}],
      annotations: {
        'kubectl.kubernetes.io/last-applied-configuration': 'secret',
        note: 'hunter2',
        'flotilla.dev/placement': 'all',
        'evilflotilla.dev/x': 'hunter2',
      },
    },
    spec: {
      manifests: 'password: hunter2',
      helm: { values: { password: 'hunter2' } },
      git: { url: 'https://user:hunter2@git.example/fleet' },
      variants: [{ name: 'a', kustomize: { patches: ['hunter2'] } }],
      count: 3,
      nothing: null,
    },
  }
  const shown = redacted(object)
  assert.doesNotMatch(JSON.stringify(shown), /hunter2|secret/)
  assert.deepEqual(shown, {
    kind: 'Bundle',
    metadata: {
      name: 'web',
      annotations: {
        note: '(left out: 7 characters)',
        'flotilla.dev/placement': 'all',
        'evilflotilla.dev/x': '(left out: 7 characters)',
      },
    },
    spec: {
      manifests: '(left out: 17 characters)',
      helm: { values: '(left out: 22 characters)' },
      git: { url: 'https://(left out)@git.example/fleet' },
      variants: [{ name: 'a', kustomize: { patches: '(left out: 11 characters)' } }],
      count: 3,
      nothing: null,
    },
  })
})
