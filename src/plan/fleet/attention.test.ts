import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bundle } from '../../kinds/native/bundle.ts'
import type { Placement } from '../../kinds/native/placement.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Source } from '../../kinds/native/source.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import { compact } from '../../core/compact.ts'
import { build, buildCluster, buildPlacement } from '../../testing/fixtures/builders.ts'
import { attentionItems } from './attention.ts'
import type { AttentionFacts } from './attention.ts'

const lastTransitionTime = '2026-01-01T00:00:00Z'
type Words = readonly [type: string, status: 'True' | 'False' | 'Unknown', reason: string, message?: string]
const conditions = (...all: readonly Words[]) =>
  all.map(([type, status, reason, message = `${reason} it is.`]) => ({
    type,
    status,
    reason,
    message,
    lastTransitionTime,
  }))

const bundle = (name: string, ...all: readonly Words[]): Bundle => ({
  ...build(Bundle, `shop/${name}`, { spec: { placement: 'stores', manifests: '' } }),
  status: { conditions: conditions(...all) },
})
const source = (name: string, ...all: readonly Words[]): Source => ({
  ...build(Source, `shop/${name}`, { spec: { git: { url: 'https://git.example/a' } } }),
  status: { conditions: conditions(...all) },
})
const rollout = (name: string, phase: 'Failed' | 'Completed', ...all: readonly Words[]): Rollout => ({
  ...build(Rollout, `shop/${name}`, {
    spec: { release: name, rings: [{ name: 'all', concurrency: 1 }], paused: false },
  }),
  status: { phase, conditions: conditions(...all) },
})
const placement = (name: string, ...all: readonly Words[]): Placement => ({
  ...buildPlacement(`shop/${name}`),
  status: { conditions: conditions(...all) },
})

const NOTHING: AttentionFacts = { rollouts: [], sources: [], bundles: [], placements: [] }
const told = (facts: Partial<AttentionFacts>) =>
  attentionItems({ ...NOTHING, ...facts }).map(
    ({ kind, name, reason, command }) => `${kind} ${name} ${reason}: ${command}`,
  )

test('what is in order, on its way, or as a person wants it, needs no person', () => {
  assert.deepEqual(
    told({
      rollouts: [rollout('web-g1', 'Completed', ['Ready', 'True', 'RolledOut'])],
      sources: [
        source('a', ['Ready', 'True', 'Fetched']),
        source('b', ['Ready', 'Unknown', 'Fetching']),
        source('c', ['Ready', 'False', 'Suspended']),
      ],
      bundles: [
        bundle('a', ['Rendered', 'True', 'Rendered'], ['Ready', 'True', 'RolledOut']),
        bundle('b', ['Rendered', 'True', 'Rendered'], ['Ready', 'False', 'RollingOut']),
        bundle('c', ['Ready', 'False', 'Gathering']),
        bundle('none', ['Ready', 'False', 'NoClusters'], ['Unplaced', 'True', 'NoClusters']),
        bundle('d', ['Rendered', 'True', 'Rendered'], ['Ready', 'False', 'RolloutPaused']),
        { ...bundle('gone', ['Ready', 'False', 'RenderFailed']), metadata: { name: 'gone', deletionTimestamp: 'x' } },
      ],
      placements: [placement('a', ['Ready', 'True', 'Decided'])],
    }),
    [],
  )
})

test('failed rollouts come first, then sources, bundles and placements, each with its command', () => {
  assert.deepEqual(
    told({
      rollouts: [rollout('web-g2', 'Failed', ['Ready', 'False', 'TooManyFailed'])],
      sources: [
        source('git', ['Ready', 'False', 'AuthFailed']),
        source('forced', ['Ready', 'False', 'HistoryRewritten'], ['Held', 'True', 'HistoryRewritten']),
      ],
      bundles: [
        bundle('broken', ['Rendered', 'False', 'RenderFailed'], ['Ready', 'False', 'RenderFailed']),
        bundle('partly', ['Rendered', 'True', 'PartlyRendered'], ['Ready', 'False', 'RollingOut']),
        bundle('lost', ['Ready', 'False', 'SourceNotFound']),
        bundle('empty', ['Ready', 'False', 'NoClusters']),
        bundle('ended', ['Rendered', 'True', 'Rendered'], ['Ready', 'False', 'RolloutAborted']),
        bundle('failed', ['Rendered', 'True', 'Rendered'], ['Ready', 'False', 'RolloutFailed']),
        bundle('back', ['Ready', 'False', 'HeldBack'], ['Reverted', 'True', 'MarkedBad']),
      ],
      placements: [placement('stores', ['Ready', 'False', 'DropHeld'])],
    }),
    [
      'FailedRollout web-g2 TooManyFailed: flotilla rollout status web-g2 -n shop',
      'FailingSource git AuthFailed: flotilla source poll git -n shop',
      'FailingSource forced HistoryRewritten: flotilla source accept forced -n shop',
      'UnbuiltBundle broken RenderFailed: flotilla events --for bundle/broken -n shop',
      'UnbuiltBundle partly PartlyRendered: flotilla events --for bundle/partly -n shop',
      'UnbuiltBundle lost SourceNotFound: flotilla get sources -n shop',
      'UnbuiltBundle empty NoClusters: flotilla explain stores -n shop',
      'UnbuiltBundle ended RolloutAborted: flotilla rollout history ended -n shop',
      'HeldPlacement stores DropHeld: flotilla explain stores -n shop',
      'HeldBack back HeldBack: flotilla rollout history back -n shop',
    ],
  )
})

test('plaintext Secrets and settings that let one mistake reach all clusters need a person', () => {
  const leaving = bundle('leaving', ['Unstaged', 'True', 'NoGate'])
  assert.deepEqual(
    told({
      bundles: [
        bundle('a', ['PlaintextSecret', 'True', 'AlreadyDelivered'], ['Unstaged', 'True', 'NoRolloutStrategy']),
        bundle('b', ['PlaintextSecret', 'False', 'NoneFound'], ['Unstaged', 'False', 'Staged']),
        { ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } },
      ],
      placements: [
        placement('all', ['Ready', 'True', 'Decided'], ['Unguarded', 'True', 'GuardOff']),
        placement('some', ['Ready', 'True', 'Decided'], ['Unguarded', 'False', 'Guarded']),
      ],
    }),
    [
      'PlaintextSecret a PlaintextSecret: flotilla get bundle a -o yaml -n shop',
      'OpenDefault a NoRolloutStrategy: flotilla get bundle a -o yaml -n shop',
      'OpenDefault all GuardOff: flotilla get placement all -o yaml -n shop',
    ],
  )
})

test('changes that a guard stopped: of a repository, of a removal, and of a cluster', () => {
  const repo = (name: string, ...all: readonly Words[]) => ({
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'GitRepo',
    metadata: { name, namespace: 'shop' },
    status: { conditions: conditions(...all) },
  })
  const removal = (name: string, paused: boolean, asks?: string): Rollout => ({
    ...build(Rollout, `shop/${name}`, {
      spec: {
        release: name,
        rings: [{ name: 'all', concurrency: 1 }],
        paused,
        removal: compact({
          bundle: 'web',
          cause: 'bundleDeleted' as const,
          policy: 'Delete' as const,
          clusters: [] as string[],
          reason: 'The Bundle was deleted.',
          asks,
        }),
      },
    }),
  })
  const cluster: Cluster = {
    ...buildCluster('store-1'),
    status: { conditions: conditions(['Assigned', 'False', 'DropHeld']) },
  }
  assert.deepEqual(
    told({
      repositories: [repo('a', ['Held', 'True', 'GrowthHeld']), repo('b', ['Held', 'False', 'Free']), repo('c')],
      rollouts: [removal('r1', true, 'It removes 9 of 9.'), removal('r2', false, 'It does.'), removal('r3', true)],
      clusters: [cluster, buildCluster('store-2')],
    }),
    [
      'HeldChange a GrowthHeld: flotilla guard release gitrepo a -n shop',
      'HeldChange r1 DropHeld: flotilla guard release rollout r1 -n shop',
      'HeldChange store-1 DropHeld: flotilla guard release cluster store-1',
    ],
  )
})
