import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../core/json.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import { unreachedText } from './unreached.ts'

test('an object that reaches no cluster says why', () => {
  const said = (
    kind: 'GitRepo' | 'HelmOp' | 'Bundle',
    spec: JsonObject,
    { groups = [], selected = 0 }: { groups?: string[]; selected?: number | undefined } = {},
  ) =>
    unreachedText(
      kind,
      { metadata: { name: 'a', namespace: 'shops' }, spec },
      {
        groups: groups.map((name) => ({ name, labels: {} })),
        placement: selected < 0 ? undefined : ({ status: { selected } } as Placement),
      },
    )
  assert.equal(said('GitRepo', {}, { selected: -1 }), 'No cluster is reached yet.')
  assert.equal(said('GitRepo', {}, { selected: 3 }), 'No cluster is reached yet.')
  assert.equal(
    said('GitRepo', {}),
    'No cluster is selected: a GitRepo without targets selects the clusters of ClusterGroup default in namespace shops, which does not exist.',
  )
  assert.match(
    said('HelmOp', { targets: [] }, { groups: ['default'] }),
    /^.* a HelmOp .* shops, which selects no cluster\.$/,
  )
  assert.match(said('Bundle', {}), /spec\.targets is empty/)
  const targets = [{ clusterGroup: 'prod' }, { clusterGroup: 'edge' }]
  assert.match(said('GitRepo', { targets }, { groups: ['edge'] }), /namespace shops has no ClusterGroup prod, which/)
  assert.match(
    said('Bundle', { targets: [{ clusterSelector: {} }] }),
    /no cluster of namespace shops matches the targets/,
  )
})
