import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { build, buildBundle, buildPlacement } from '../../../testing/fixtures/builders.ts'
import type { CompiledBundle } from '../compile/compile-bundle.ts'
import { desiredOf } from '../compile/desired-objects.ts'
import { GitRepo } from '../kinds.ts'
import { heldChange, heldObject, judgeAdded, judgeRemoved } from './guard-repository.ts'

const repo = (release?: string): GitRepo => {
  const made = build(GitRepo, 'ws/apps', { spec: {} })
  const annotations: Record<string, string> = release === undefined ? {} : { 'flotilla.dev/release-drop': release }
  return { ...made, metadata: { ...made.metadata, uid: 'u', generation: 1, annotations } }
}
const compiled = (name: string, reach: number): CompiledBundle => ({
  name,
  path: name,
  labels: {},
  annotations: {},
  spec: { placement: 'apps', source: { name: 'apps', path: name } },
  placement: { name: 'apps', spec: { clusterSelector: {} } },
  plan: { name: 'apps', spec: { rings: [], start: 'Automatic' } },
  charts: [],
  paused: false,
  reach,
})
const found = (objects: readonly (readonly [Kind, KubeObject])[]) => ({
  find: (kind: Kind, _namespace: string, name: string) =>
    objects.find(([one, object]) => one === kind && object.metadata.name === name)?.[1],
  madeFor: () => objects.map(([kind, object]) => ({ kind, object })),
})

test('new bundles count with all their clusters; clusters that join those that are there do not', () => {
  const bundles = [compiled('a', 600), compiled('b', 600)]
  const desired = desiredOf(repo(), bundles)
  const growth = (objects: readonly (readonly [Kind, KubeObject])[], release?: string) =>
    judgeAdded(repo(release), { bundles, desired }, found(objects))
  const fresh = growth([])
  assert.ok(fresh.kind === 'Held' && fresh.added === 1200)
  assert.equal(growth([], fresh.token).kind, 'Released')
  const placement = {
    ...(desired.find(({ kind }) => kind === Placement)!.object as Placement),
    status: { selected: 1 },
  }
  const own = [Placement, placement] as const
  const there = [own, [Bundle, buildBundle('ws/a')] as const, [Bundle, buildBundle('ws/b')] as const]
  assert.equal(growth(there).kind, 'Free', '599 clusters joined the same targets')
  const others = { ...placement, metadata: { ...placement.metadata, annotations: {} } }
  assert.equal(growth([[Placement, others], ...there.slice(1)]).kind, 'Held', 'other targets are a change')
  assert.equal(growth([own, [Bundle, buildBundle('ws/a')]]).kind, 'Free', '600 are not too many')
})

test('bundles that a commit removes count against those that are there; others’ and leaving ones do not', () => {
  const names = (...all: string[]) => all.map((name) => [Bundle, buildBundle(`ws/${name}`)] as const)
  const removed = (kept: readonly string[], objects: readonly (readonly [Kind, KubeObject])[], held?: string) => {
    const bundles = kept.map((name) => compiled(name, 1))
    return judgeRemoved(repo(), { desired: desiredOf(repo(), bundles), held }, found(objects))
  }
  assert.equal(removed(['a'], names('a', 'b')).kind, 'Free')
  const two = removed(['a'], names('a', 'b', 'c'))
  assert.ok(two.kind === 'Held')
  assert.match(two.message, /drop 2 of 3 bundles; at most 1 .* No longer in the repository: b, c\.$/)
  const all = removed(['z'], names('a'))
  assert.ok(all.kind === 'Held')
  assert.match(all.message, /No Bundle that the GitRepo has now would stay/)
  const told = heldChange(repo(), all).message
  assert.equal(removed(['z'], names('a', 'z'), told).kind, 'Held', 'it stays held after the new Bundle is there')
  const leaving = buildBundle('ws/b')
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  assert.equal(removed(['a'], [...names('a', 'c'), [Bundle, leaving]]).kind, 'Free')
})

test('a held change of what the GitRepo made is told as its own', () => {
  const held = {
    token: 'g2-grow-0a1b2c3d',
    dropping: 0,
    adding: 5,
    of: 1,
    allowed: 1,
    since: 'x',
    message: 'Too many.',
  }
  const placement = { ...buildPlacement('ws/apps'), status: { held } }
  assert.deepEqual(heldObject(repo(), found([[Placement, placement]]).madeFor()), {
    reason: 'GrowthHeld',
    message:
      'Placement apps: Too many. Let it through with: flotilla guard release gitrepo apps -n ws (token g2-grow-0a1b2c3d)',
  })
  assert.equal(heldObject(repo(), []), undefined)
})
