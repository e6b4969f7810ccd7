import assert from 'node:assert/strict'
import { test } from 'node:test'
import { objectChanges } from '../../../../plan/objects/object-changes.ts'
import { changesText } from './print-changes.ts'

const container = (name: string, image: string) => ({ name, image })
const deployment = (replicas: number | undefined, labels: Record<string, string>, containers: readonly object[]) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop', labels },
  spec: { ...(replicas !== undefined && { replicas }), template: { spec: { containers } } },
})

test('fields are printed as flux prints them', () => {
  const before = deployment(undefined, { 'example.com/a': 'x', gone: 'y' }, [container('web', 'web:1')])
  const after = deployment(2, { 'example.com/a': 'z' }, [container('web', 'web:2'), container('log', 'log:1')])
  const changes = [
    { subject: 'Deployment/shop/web', action: 'drifted' as const, fields: objectChanges(before, after) },
    { subject: 'ConfigMap/shop/x', action: 'created' as const, fields: [] },
  ]
  assert.equal(
    changesText([{ clusters: ['a'], changes }], 1),
    `► Deployment/shop/web drifted

metadata.labels.example.com/a
  ± value change
    - x
    + z

spec.template.spec.containers.web.image
  ± value change
    - web:1
    + web:2

metadata.labels
  - one map entry removed:
    gone: y

spec.template.spec.containers
  + one list entry added:
    - name: log

spec
  + one map entry added:
    replicas: 2

► ConfigMap/shop/x created
`,
  )
})

test('values of Secrets are masked', () => {
  const secret = (word: string, more = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'x' },
    data: { word, ...more },
  })
  const fields = objectChanges(secret('YQ=='), secret('Yg==', { other: 'Yw==' }))
  const changes = [{ subject: 'Secret/x', action: 'drifted' as const, fields }]
  assert.equal(
    changesText([{ clusters: ['a'], changes }], 1),
    '► Secret/x drifted\n\ndata.word\n  ± value change\n    - ***** (before)\n    + ***** (after)\n\ndata\n  + one map entry added:\n    other: *****\n\n',
  )
})

test('groups have the names of their clusters where there are several', () => {
  const changes = [{ subject: 'ConfigMap/x', action: 'created' as const, fields: [] }]
  const groups = [
    { clusters: ['a', 'b'], changes },
    { clusters: ['c'], changes: [] },
  ]
  assert.equal(changesText(groups, 3), '# a, b (2 clusters)\n► ConfigMap/x created\n')
  assert.equal(changesText([{ clusters: ['a'], changes }], 1), '► ConfigMap/x created\n')
})
