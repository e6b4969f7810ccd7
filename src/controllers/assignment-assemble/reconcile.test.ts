import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { formatTime } from '../../core/time/time.ts'
import { ApiError, Stalled } from '../../core/errors.ts'
import { keyPairFromSeed } from '../../core/crypto/key-pair.ts'
import { Assignment } from '../../kinds/native/assignment.ts'
import { Override } from '../../kinds/native/override.ts'
import type { AdmittedRemoval, AssembledEntry, AssembleInput } from '../../plan/document/assemble-document.ts'
import { createVirtualClock } from '../../sim/kernel/virtual-clock.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { buildTrust } from '../../testing/fixtures/wire-builders.ts'
import { compileWindow } from '../../plan/windows/window-rules.ts'
import type { CompiledWindow } from '../../plan/windows/window-rules.ts'
import type { ClusterDocument } from '../../wire/document/cluster-document.ts'
import { LIMITS } from '../../wire/limits.ts'
import { signDocument } from '../../wire/document/signed-document.ts'
import { writePublicKey } from '../../wire/trust/trust-bundle.ts'
import { createKeyedThrottle } from '../../engine/keyed-throttle.ts'
import type { ProjectOfNamespace } from '../caches/namespace-projects.ts'
import type { AssignmentAssemblePorts } from './ports.ts'
import { assignmentAssembleReconciler } from './reconcile.ts'
import { allowEverywhere, buildProject } from '../../testing/fixtures/projects.ts'

const { signer } = buildTrust().trust

const entry = (bundle: string, generation: number): AssembledEntry => ({
  bundle,
  generation,
  set: digestOf(`${bundle}${generation}`),
  rollout: 'ns/r',
})

function fixture(overrides: Partial<AssignmentAssemblePorts> = {}) {
  const clock = createVirtualClock()
  const signed: ClusterDocument[] = []
  const log: string[] = []
  const world: {
    assignment?: Assignment
    admissions: AssembledEntry[]
    epoch?: number
    trustVersion?: number
    ahead?: readonly string[]
    removals?: readonly AdmittedRemoval[]
    removed?: NonNullable<AssembleInput['removed']>
    windows?: readonly CompiledWindow[]
    drift?: readonly Override[]
  } = { admissions: [] }
  const stored = new Map<string, Uint8Array>()
  const write = (verb: string) => async (assignment: Assignment) => {
    assert.ok(stored.has(assignment.spec.document), 'the envelope is stored before it is named (I-27)')
    log.push(`${verb} ${assignment.spec.revision}`)
    world.assignment = assignment
  }
  const reconciler = assignmentAssembleReconciler({
    projectOf: allowEverywhere,
    factsOf: async () => undefined,
    freezeOf: () => undefined,
    assignmentOf: () => world.assignment,
    wellOf: () => new Set(),
    admissionsOf: () => world.admissions,
    removalsOf: () => world.removals ?? [],
    removedOf: () => world.removed ?? [],
    begun: () => undefined,
    windows: () => world.windows ?? [],
    windowEntryOf: (named) => named,
    driftDecisionsOf: () => world.drift ?? [],
    sign: async (document) => {
      signed.push(document)
      return signDocument(signer, document)
    },
    putBlob: async (bytes) => {
      stored.set(digestOf(bytes), bytes)
      return digestOf(bytes)
    },
    seal: async () => undefined,
    requiredBy: async () => [],
    getBlob: async (digest) => stored.get(digest),
    createAssignment: write('create'),
    updateAssignment: write('update'),
    deleteAssignment: async () => void log.push('delete'),
    epoch: () => world.epoch ?? 3,
    trustVersion: () => world.trustVersion ?? 7,
    clustersAhead: () => world.ahead ?? [],
    pace: createKeyedThrottle(clock, 1000),
    ...overrides,
  })
  return { clock, signed, log, world, reconciler, stored }
}

test('a document remembers those before it, newest first, as many as the wire allows', async () => {
  const { clock, signed, world, reconciler, stored } = fixture()
  const cluster = buildCluster('a')
  const digests: string[] = []
  for (let generation = 1; generation <= LIMITS.ancestors + 3; generation++) {
    world.admissions = [entry('ns/b', generation)]
    await reconcileOnce(reconciler, cluster, clock)
    digests.unshift(world.assignment!.spec.document)
    await clock.advance(1000)
  }
  assert.deepEqual(signed.at(-1)?.ancestors, digests.slice(1, LIMITS.ancestors + 1))
  assert.equal(signed[0]?.ancestors, undefined)
  // The bytes of the last one are gone: the chain goes on from its digest alone.
  stored.clear()
  world.admissions = [entry('ns/b', 1000)]
  await reconcileOnce(reconciler, cluster, clock)
  assert.deepEqual(signed.at(-1)?.ancestors, [digests[0]])
})

test('documents are numbered and chained', async () => {
  const { clock, signed, log, world, reconciler } = fixture()
  const cluster = buildCluster('a')
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, cluster, clock)
  const first = world.assignment!.spec.document
  await clock.advance(1000)
  world.admissions = [entry('ns/c', 1)]
  await reconcileOnce(reconciler, cluster, clock)
  assert.deepEqual(log, ['create 1', 'update 2'])
  assert.deepEqual(
    signed.map(({ epoch, revision, previous, rules }) => [epoch, revision, previous, rules.trustVersion]),
    [
      [3, 1, undefined, 7],
      [3, 2, first, 7],
    ],
  )
  assert.deepEqual(
    world.assignment?.spec.entries.map(({ bundle }) => bundle),
    ['ns/b', 'ns/c'],
    'what the admissions no longer say stays (I-08)',
  )
  assert.equal(world.assignment?.spec.previous, first)
})

test('a change of trust or of timeline reaches every cluster in a document of its own', async () => {
  const { clock, signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  await clock.advance(1000)
  world.trustVersion = 8
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.deepEqual([signed.at(-1)?.revision, signed.at(-1)?.rules.trustVersion], [2, 8])
  assert.deepEqual(signed[1]?.content, signed[0]?.content)
  await clock.advance(1000)
  world.epoch = 4
  world.trustVersion = 1009
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.deepEqual([signed.at(-1)?.epoch, signed.at(-1)?.revision], [4, 3])
  await clock.advance(1000)
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.equal(signed.length, 3)
})

test('a hub that is behind its agents issues no documents', async () => {
  const { signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  world.ahead = ['x', 'y', 'z', 'w']
  const pass = await reconcileOnce(reconciler, buildCluster('a'))
  assert.ok(pass.error instanceof Stalled)
  assert.match(
    pass.error.message,
    /^The agents of x, y, z and 1 more hold documents of this hub .* start a new epoch with "flotilla hub new-epoch"\.$/,
  )
  assert.deepEqual(signed, [])
})

test('nothing new signs and writes nothing', async () => {
  const { clock, signed, world, reconciler } = fixture()
  assert.equal((await reconcileOnce(reconciler, buildCluster('a'), clock)).commit, 'Nothing')
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  await clock.advance(5000)
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  world.admissions = []
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.equal(signed.length, 1)
})

test('one revision per second', async () => {
  const { clock, log, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  await clock.advance(400)
  world.admissions = [entry('ns/b', 2)]
  assert.deepEqual((await reconcileOnce(reconciler, buildCluster('a'), clock)).result, { requeueAfterMs: 600 })
  await clock.advance(600)
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.deepEqual(log, ['create 1', 'update 2'])
})

test('a cluster that is not accepted, or leaving, gets no document', async () => {
  const { signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, buildCluster('a', { spec: { accepted: false } }))
  const leaving = buildCluster('a')
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  await reconcileOnce(reconciler, leaving)
  assert.deepEqual(signed, [])
})

test("a former cluster's assignment is replaced, not continued", async () => {
  const { signed, log, world, reconciler } = fixture()
  const spec = {
    clusterId: 'c-old',
    epoch: 1,
    revision: 9,
    document: digestOf('old'),
    entries: [{ ...entry('ns/z', 1) }],
  }
  world.assignment = build(Assignment, 'a', { spec })
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, buildCluster('a'))
  assert.deepEqual(log, ['delete', 'create 1'])
  assert.deepEqual(
    signed[0]?.content.entries.map(({ bundle }) => bundle),
    ['ns/b'],
  )
})

test('a lost compare-and-swap is the next pass, not a second truth', async () => {
  const { world, reconciler } = fixture({
    createAssignment: async () => {
      throw new ApiError('Conflict', 'another writer was faster')
    },
  })
  world.admissions = [entry('ns/b', 1)]
  const pass = await reconcileOnce(reconciler, buildCluster('a'))
  assert.ok(pass.error instanceof ApiError)
  assert.equal(world.assignment, undefined)
})

test('two contents of one generation stall with a way out', async () => {
  const { world, reconciler } = fixture()
  world.admissions = [{ ...entry('ns/b', 1), set: digestOf('other') }]
  const spec = { clusterId: 'c-a', epoch: 1, revision: 1, document: digestOf('d'), entries: [{ ...entry('ns/b', 1) }] }
  world.assignment = build(Assignment, 'a', { spec })
  const taken = await reconcileOnce(reconciler, buildCluster('a'))
  assert.ok(taken.error instanceof Stalled)
  assert.match(taken.error.message, /edit the Bundle to make a newer generation/)
})

const freeze = (reason: string, bundles = ['ns/*']) =>
  compileWindow({
    metadata: { name: 'season' },
    spec: {
      mode: 'Freeze',
      times: [{ from: '2026-11-20T00:00:00Z', until: '2026-12-01T00:00:00Z' }],
      bundles,
      reason,
    },
  })

test('a window edit signs the document again with the same content, and only where it concerns something', async () => {
  const { clock, signed, log, world, reconciler } = fixture()
  const cluster = buildCluster('a')
  const admission = { ...entry('ns/b', 1), startBy: '2026-11-16T12:00:00Z', catchUp: 'Hold' as const }
  world.admissions = [{ ...admission, admittedAt: '2026-11-16T11:00:00Z' }]
  await reconcileOnce(reconciler, cluster, clock)
  await clock.advance(1000)
  for (const windows of [[freeze('x', ['other/*'])], [freeze('x')], [freeze('x')], [freeze('y')], []]) {
    world.windows = windows
    await reconcileOnce(reconciler, cluster, clock)
    await clock.advance(1000)
  }
  assert.deepEqual(log, ['create 1', 'update 2', 'update 3', 'update 4'])
  assert.deepEqual(
    signed.map(({ rules, requires }) => [rules.windows?.[0]?.reason, requires.join(' ')]),
    [
      [undefined, 'sets/v1'],
      ['x', 'sets/v1 windows/v1'],
      ['y', 'sets/v1 windows/v1'],
      [undefined, 'sets/v1'],
    ],
  )
  for (const { content } of signed) assert.deepEqual(content, signed[0]!.content, 'start-by and catch-up are kept')
  assert.equal(signed[0]?.content.entries[0]?.catchUp, 'Hold')
})

test('window edits come at most once a second per cluster', async () => {
  const { clock, log, world, reconciler } = fixture()
  const cluster = buildCluster('a')
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, cluster, clock)
  world.windows = [freeze('x')]
  const { result } = await reconcileOnce(reconciler, cluster, clock)
  assert.deepEqual([result?.requeueAfterMs, log], [1000, ['create 1']])
})

test('limits of the cluster are a rule, and a changed one is a document of its own', async () => {
  const { clock, signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  for (const maxPrune of [5, 5, 2]) {
    await reconcileOnce(reconciler, buildCluster('a', { spec: { limits: { maxPrune } } }), clock)
    await clock.advance(1000)
  }
  assert.deepEqual(
    signed.map(({ rules, requires }) => [rules.limits?.maxPrune, requires.join(' ')]),
    [
      [5, 'sets/v1 limits/v1'],
      [2, 'sets/v1 limits/v1'],
    ],
  )
})

test('a hold of the cluster is a rule, and needs an agent that knows it', async () => {
  const { clock, signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  const hold = { reason: 'fire', since: '2026-11-16T08:00:00Z' }
  await reconcileOnce(reconciler, buildCluster('a', { spec: { hold } }), clock)
  assert.deepEqual(signed[0]?.rules.hold, {
    message: 'The cluster is on hold since 2026-11-16T08:00:00Z: fire. End this with `flotilla cluster release a`.',
  })
  assert.ok(signed[0]?.requires.includes('hold/v1'))
})

test('a handover of the cluster is a rule until it is done, and needs an agent that knows it', async () => {
  const { clock, signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  const since = '2026-11-16T08:00:00Z'
  for (const step of ['Compare', 'Take', 'Take', 'Done'] as const) {
    await reconcileOnce(reconciler, buildCluster('a', { spec: { handover: { from: 'ocm', step, since } } }), clock)
    await clock.advance(2000)
  }
  assert.deepEqual(
    signed.map(({ rules, requires }) => [rules.handover?.step, requires.join(' ')]),
    [
      ['Compare', 'sets/v1 handover/v1'],
      ['Take', 'sets/v1 handover/v1'],
      [undefined, 'sets/v1'],
    ],
  )
})

test('D10: a decision about drift reaches the document of its cluster at once, without an admission, and ends', async () => {
  const { clock, signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  const object = { kind: 'ConfigMap', namespace: 'pos', name: 'x' }
  const expiresAt = formatTime(clock.now() + 3_600_000)
  const drift = [{ ...object, action: 'Revert' as const }]
  const spec = { bundle: 'b', clusters: ['a'], owner: 'ana', reason: 'r', drift, expiresAt }
  world.drift = [build(Override, 'ns/revert', { spec })]
  await clock.advance(2000)
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.deepEqual(signed.at(-1)?.rules.drift, [{ bundle: 'ns/b', until: expiresAt, objects: [object] }])
  assert.deepEqual(signed.at(-1)?.content, signed[0]?.content, 'the content stays')
  assert.ok(!signed.at(-1)?.requires.some((feature) => feature.startsWith('drift')), 'agents of 0.1 go on')
  await clock.advance(2000)
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.equal(signed.length, 2, 'nothing more is written')
  await clock.advance(3_600_000)
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.deepEqual([signed.length, signed.at(-1)?.rules.drift], [3, undefined])
})

test('more windows than a document may have stop its document, and say so', async () => {
  const { clock, log, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  world.windows = Array.from({ length: LIMITS.windows + 1 }, () => freeze('x'))
  const { error } = await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.ok(error instanceof Stalled)
  assert.match(error.message, /65 windows and freezes concern it/)
  assert.deepEqual(log, [])
})

test('a cluster that would lose most of its bundles keeps them until a person says so; the rest goes on', async () => {
  const { clock, signed, world, reconciler } = fixture()
  const bundles = Array.from({ length: 12 }, (_, i) => `ns/b${i}`)
  world.admissions = bundles.map((bundle) => entry(bundle, 1))
  const cluster = buildCluster('a')
  await reconcileOnce(reconciler, cluster, clock)
  await clock.advance(1000)
  world.removals = bundles
    .slice(0, 7)
    .map((bundle) => ({ bundle, policy: 'Delete', cause: 'unplaced', rollout: 'ns/removal' }))
  world.admissions = [entry('ns/b11', 2)]
  const held = await reconcileOnce(reconciler, cluster, clock)
  assert.ok(held.error instanceof Stalled)
  assert.match(
    held.error.message,
    /^The change would drop 7 of 12 bundles; at most 6 can be dropped at once\. Its document keeps ns\/b0, ns\/b1, ns\/b2 and 4 more; everything else goes on\. Let them go with: flotilla guard release cluster a \(token g1-drop7-[0-9a-f]{8}\)$/,
  )
  assert.equal(signed.at(-1)?.content.entries.length, 12)
  assert.equal(signed.at(-1)?.content.entries.find(({ bundle }) => bundle === 'ns/b11')?.generation, 2)
  await clock.advance(1000)
  assert.ok((await reconcileOnce(reconciler, cluster, clock)).error instanceof Stalled, 'says so as long as it waits')
  assert.equal(signed.length, 2)
  const token = /token (\S+)\)$/.exec(held.error.message)![1]!
  const released = {
    ...cluster,
    metadata: { ...cluster.metadata, annotations: { 'flotilla.dev/release-drop': token } },
  }
  assert.equal((await reconcileOnce(reconciler, released, clock)).error, undefined)
  assert.deepEqual([signed.at(-1)?.content.entries.length, signed.at(-1)?.content.tombstones.length], [5, 7])
})

test('a document asks for a new sealing key while the retired one is the present one, and then no more', async () => {
  const { clock, signed, world, reconciler } = fixture()
  world.admissions = [entry('ns/b', 1)]
  const { spec } = buildCluster('a')
  const asked = { retiredSealingKey: { key: spec.sealingKey, at: '2026-01-02T00:00:00Z' } }
  const passes: [Partial<typeof spec>, string | undefined][] = [
    [{}, undefined],
    [asked, spec.sealingKey],
    [asked, spec.sealingKey],
    [
      { ...asked, sealingKey: writePublicKey(keyPairFromSeed('x25519', new Uint8Array(48).fill(5)).publicKey) },
      undefined,
    ],
  ]
  const issued: number[] = []
  for (const [more, rule] of passes) {
    await reconcileOnce(reconciler, buildCluster('a', { spec: more }), clock)
    assert.equal(signed.at(-1)?.rules.retireSealingKey, rule)
    issued.push(signed.length)
    await clock.advance(1000)
  }
  assert.deepEqual(issued, [1, 2, 2, 3], 'a wish that stands is no news')
})

test('a document asks for free resources as long as the Cluster says so, also on a cluster without content', async () => {
  const { clock, signed, world, reconciler } = fixture()
  world.admissions = []
  const asked: [string | undefined, true | undefined, number][] = [
    [undefined, undefined, 0],
    ['2026-01-02T00:00:00Z', true, 1],
    ['2026-01-02T00:00:00Z', true, 1],
    [undefined, undefined, 2],
  ]
  for (const [capacityAskedAt, rule, issued] of asked) {
    await reconcileOnce(reconciler, buildCluster('a', { spec: capacityAskedAt ? { capacityAskedAt } : {} }), clock)
    assert.deepEqual([signed.at(-1)?.rules.capacity, signed.length], [rule, issued])
    assert.deepEqual(signed.at(-1)?.requires ?? ['sets/v1'], ['sets/v1'], 'older agents follow the document, too')
    await clock.advance(1000)
  }
})

test('an admission that the Project no longer allows is not delivered; what is there stays, and the rest is delivered', async () => {
  const limited = buildProject('shop', ['ns'], { kinds: ['ConfigMap'], executors: { default: 'sys/deployer' } })
  const job = { apiVersion: 'batch/v1', kind: 'Job', namespace: 'x', name: 'y' }
  const executor = { namespace: 'sys', name: 'deployer' }
  const facts = new Map([
    [entry('ns/a', 1).set, { requires: [], objects: [job], executor }],
    [entry('ns/b', 1).set, { requires: [], objects: [{ ...job, apiVersion: 'v1', kind: 'ConfigMap' }], executor }],
    [entry('ns/c', 1).set, { requires: [], objects: [] }],
  ])
  const at = fixture({
    projectOf: () => ({ project: limited }),
    factsOf: async (set) => facts.get(set),
    freezeOf: (bundle) => (bundle === 'ns/d' ? 'Project shop: frozen.' : undefined),
  })
  const present = entry('ns/a', 1)
  const cluster = buildCluster('a')
  at.world.admissions = [present, entry('ns/b', 1), entry('ns/c', 1), entry('ns/d', 1)]
  const pass = await reconcileOnce(at.reconciler, cluster, at.clock)
  assert.ok(pass.error instanceof Stalled)
  assert.equal(
    pass.error.message,
    'ns/a, ns/c, ns/d not delivered: Project shop: spec.kinds does not list batch/Job. What the cluster runs stays.',
  )
  const { assignment } = at.world
  assert.deepEqual(
    assignment?.spec.entries.map(({ bundle }) => bundle),
    ['ns/b'],
  )
  assert.ok(assignment)
  at.world.assignment = { ...assignment, spec: { ...assignment.spec, entries: [{ ...present, rollout: 'ns/r' }] } }
  at.world.admissions = [present]
  await at.clock.advance(1000)
  await reconcileOnce(at.reconciler, cluster, at.clock)
  assert.deepEqual(
    at.world.assignment.spec.entries.map(({ bundle }) => bundle),
    ['ns/a'],
  )
})

test('a document carries the limits of Projects, and requires the feature only where a Project limits something', async () => {
  let found: ReturnType<ProjectOfNamespace> = {
    project: buildProject('shop', ['ns', 'other'], { kinds: ['ConfigMap'] }),
  }
  const { reconciler, world, signed, clock } = fixture({ projectOf: () => found })
  const isRequired = async () => {
    await clock.advance(1000)
    await reconcileOnce(reconciler, buildCluster('a'), clock)
    return signed.at(-1)?.requires.includes('projects/v1')
  }
  world.admissions = [entry('ns/a', 1), entry('other/b', 1)]
  assert.equal(await isRequired(), true)
  assert.deepEqual(signed.at(-1)?.rules.projects, [
    { name: 'shop', namespaces: ['ns', 'other'], kinds: ['ConfigMap'], ownRights: true },
  ])
  found = { project: buildProject('shop', ['ns', 'other']) }
  assert.equal(await isRequired(), false, 'a Project with everything allowed limits nothing')
  assert.equal(signed.at(-1)?.rules.projects, undefined)
  found = { refusal: { reason: 'NoProject', lines: ['Namespace ns has no Project.'] } }
  assert.equal(await isRequired(), true)
  const message = 'Namespace ns has no Project.'
  assert.deepEqual(signed.at(-1)?.rules.withoutProject, [
    { namespace: 'ns', message },
    { namespace: 'other', message },
  ])
  const issued = signed.length
  await isRequired()
  assert.equal(signed.length, issued, 'the same rules are no news')
})

test('a Delivery needs no Project', async () => {
  const refusal = { reason: 'NoProject', lines: ['Namespace ns has no Project.'] } as const
  const { reconciler, world, signed, clock } = fixture({ projectOf: () => ({ refusal }) })
  world.admissions = [entry('ns/delivery:d', 1)]
  await reconcileOnce(reconciler, buildCluster('a'), clock)
  assert.equal(signed[0]?.rules.withoutProject, undefined)
  assert.equal(signed[0]?.requires.includes('projects/v1'), false)
})

test('a full document leaves out new Bundles, goes on for the others, and takes a new one once there is room', async () => {
  const { clock, world, reconciler } = fixture()
  const cluster = buildCluster('a')
  const names = Array.from({ length: LIMITS.bundles }, (_, index) => `ns/b${index}`)
  world.admissions = names.map((name) => entry(name, 1))
  assert.equal((await reconcileOnce(reconciler, cluster, clock)).error, undefined)
  await clock.advance(1000)

  world.admissions = [...names.map((name) => entry(name, name === 'ns/b7' ? 2 : 1)), entry('other/new', 1)]
  const full = await reconcileOnce(reconciler, cluster, clock)
  assert.ok(full.error instanceof Stalled)
  assert.equal(full.error.reason, 'TooManyBundles')
  assert.equal(
    full.error.message,
    `Its document has the ${LIMITS.bundles} entries that one cluster may have and leaves out other/new; everything else goes on. Select the cluster with fewer Placements.`,
  )
  assert.equal(world.assignment?.spec.entries.find(({ bundle }) => bundle === 'ns/b7')?.generation, 2)
  assert.equal(world.assignment?.spec.revision, 2)
  await clock.advance(1000)

  // The document stays, and the cluster still says what it leaves out.
  const again = await reconcileOnce(reconciler, cluster, clock)
  assert.ok(again.error instanceof Stalled)
  assert.equal(world.assignment?.spec.revision, 2)

  world.removals = [{ bundle: 'ns/b8', policy: 'Delete', cause: 'bundleDeleted', rollout: 'ns/removal' }]
  world.admissions = world.admissions.filter(({ bundle }) => bundle !== 'ns/b8')
  assert.equal((await reconcileOnce(reconciler, cluster, clock)).error, undefined)
  assert.ok(world.assignment?.spec.entries.some(({ bundle }) => bundle === 'other/new'))
  assert.equal(world.assignment?.spec.entries.length, LIMITS.bundles)
})
