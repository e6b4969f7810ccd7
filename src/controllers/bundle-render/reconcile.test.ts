import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromUtf8, utf8 } from '../../core/bytes.ts'
import { digestOf } from '../../core/crypto/digest.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { Stalled, Waiting } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { Release } from '../../kinds/native/release.ts'
import { RolloutPlan } from '../../kinds/native/rollout-plan.ts'
import { Rollout } from '../../kinds/native/rollout.ts'
import { Source } from '../../kinds/native/source.ts'
import { renderVariants } from '../../render/bundle/render-variants.ts'
import { build, buildBundle, configMapManifest } from '../../testing/fixtures/builders.ts'
import { reconcileOnce } from '../../testing/reconcile-once.ts'
import { parseObjectSet } from '../../wire/document/signed-document.ts'
import type { ReleaseGatherPorts } from '../release-gather/ports.ts'
import { releaseGatherReconciler } from '../release-gather/reconcile.ts'
import { createReleaseMaker } from '../release-gather/release-maker.ts'
import type { BundleRenderPorts } from './ports.ts'
import { bundleRenderReconciler } from './reconcile.ts'
import { allowEverywhere } from '../../testing/fixtures/projects.ts'

const ENTROPY = { randomBytes: (n: number) => new Uint8Array(n), now: () => 0, generateKey: () => '' }

/** The maker of Releases, without other Bundles of the Source. */
function offersTo(create: (release: Release) => void, ports: Partial<ReleaseGatherPorts> = {}) {
  return createReleaseMaker({
    bundlesOf: () => [],
    isPlaced: () => true,
    released: () => 0,
    releaseNamed: () => undefined,
    createRelease: async (release) => create(release),
    enqueue: () => {},
    ...ports,
  })
}

function fixture(overrides: Partial<BundleRenderPorts> = {}) {
  const blobs = new Map<Digest, Uint8Array>()
  const releases: Release[] = []
  const log: string[] = []
  const reconciler = bundleRenderReconciler({
    projectOf: allowEverywhere,
    refusalOf: () => undefined,
    renderQuota: { take: () => 0 },
    render: async (request) => {
      log.push('render')
      return renderVariants(request, { files: new Map(), entropy: ENTROPY })
    },
    sourceOf: () => undefined,
    planOf: () => undefined,
    overridesOf: () => [],
    ruleBook: () => ({ rules: [], digest: digestOf('') }),
    selectedBy: () => [],
    treeOf: async () => undefined,
    configMapData: async () => undefined,
    secret: async () => undefined,
    frozenOf: async () => ({}),
    keepFrozen: async () => {},
    valuesKeyOf: async () => new Secret(new Uint8Array(32)),
    releasesOf: () => releases,
    rolloutOf: () => undefined,
    highestAssigned: () => 0,
    putBlob: async (bytes) => {
      log.push('blob')
      blobs.set(digestOf(bytes), bytes)
      return digestOf(bytes)
    },
    getBlob: async (digest) => blobs.get(digest),
    isDeciding: () => false,
    assignedTo: () => [],
    offers: offersTo((release) => {
      log.push(`create ${release.metadata.name}`)
      assert.ok(blobs.has(release.spec.bundles[0]!.set), 'the set is stored before the Release names it (I-27)')
      releases.push(release)
    }),
    ...overrides,
  })
  return { reconciler, releases, log, blobs }
}

const bundle = (generation = 1, spec: Partial<Bundle['spec']> = {}): Bundle => {
  const made = buildBundle('ns/hello', spec)
  return { ...made, metadata: { ...made.metadata, generation } }
}

test('renders, stores, releases, in this order; then rests', async () => {
  const { reconciler, log, releases, blobs } = fixture()
  const first = await reconcileOnce(reconciler, bundle())
  assert.deepEqual(log, ['render', 'blob', 'blob', 'create hello-g1'])
  const stored = [...blobs.values()].reduce((sum, { byteLength }) => sum + byteLength, 0)
  assert.equal(releases[0]!.spec.bundles[0]!.bytes, stored, 'the Release says how much a cluster fetches at most')
  assert.equal(first.draft.next.status?.release, 'hello-g1')
  assert.equal(first.condition('Rendered'), 'True Rendered: Rendered to 1 object.')
  assert.equal(first.commit, 'Status')
  const second = await reconcileOnce(reconciler, first.draft.next)
  assert.equal(log.length, 4)
  assert.equal(second.commit, 'Nothing')
})

test('a Bundle that reaches all its clusters unchecked says so, until it is rolled out in steps', async () => {
  const at = (name: string) => ({ inputs: { name, labels: {}, annotations: {}, claims: {}, values: {} } })
  let selected = [at('s1')]
  const rings = [{ name: 'all', concurrency: 10 }]
  const plan = build(RolloutPlan, 'ns/plan', { spec: { rings, start: 'Automatic' } })
  const { reconciler } = fixture({ selectedBy: () => selected, planOf: () => plan })
  const open = bundle(1, { rollout: undefined })
  const alone = await reconcileOnce(reconciler, open)
  assert.equal(
    alone.draft.next.status?.conditions?.find(({ type }) => type === 'Unstaged'),
    undefined,
  )
  selected = [at('s1'), at('s2')]
  const found = await reconcileOnce(reconciler, open)
  assert.equal(
    found.condition('Unstaged'),
    'True NoRolloutStrategy: Bundle hello has no rollout strategy: a change goes to all its clusters in one ring, 10 at a time; set spec.rollout.plan to a RolloutPlan whose first ring is small [no-rollout-strategy].',
  )
  const planned = { ...found.draft.next, spec: { ...open.spec, rollout: { plan: 'plan' } } }
  assert.match(
    (await reconcileOnce(reconciler, planned)).condition('Unstaged'),
    /^True NoGate: RolloutPlan plan has no/,
  )
  const some = { ...found.draft.next, spec: { ...open.spec, rollout: { concurrency: 1 } } }
  assert.match((await reconcileOnce(reconciler, some)).condition('Unstaged'), /^False Staged/)
})

test('the annotation of the Source allows plaintext Secrets; without it they are refused, except where clusters have them', async () => {
  const text = 'apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {p: hunter2}\n'
  const artifact = {
    digest: digestOf('tree'),
    revision: 'main@sha1:1',
    identity: 'x',
    fetchedAt: 'x',
    files: 1,
    bytes: 1,
  }
  const source = build(Source, 'ns/apps', { spec: { git: { url: 'https://git.example/a' } } })
  source.status = { artifact } as never
  const { reconciler, releases } = fixture({
    sourceOf: () => source,
    treeOf: async () => ({ files: [{ path: 's.yaml', digest: digestOf(utf8(text)), size: 1 }] }) as never,
    render: async (request) => renderVariants(request, { files: new Map([['s.yaml', utf8(text)]]), entropy: ENTROPY }),
  })
  const plain = bundle(1, { manifests: undefined, source: { name: 'apps' } })
  const refused = await reconcileOnce(reconciler, plain)
  assert.match(refused.condition('Rendered'), /^False PlaintextSecret: .*annotate the Source/)
  assert.equal(releases.length, 0)
  source.metadata.annotations = { 'flotilla.dev/secrets': 'Allow' }
  const allowed = await reconcileOnce(reconciler, refused.draft.next)
  assert.equal(allowed.condition('Rendered'), 'True Rendered: Rendered to 1 object.')
  assert.equal(releases.length, 1)
  source.metadata.annotations = {}
  const kept = await reconcileOnce(reconciler, allowed.draft.next)
  assert.match(
    kept.condition('PlaintextSecret'),
    /^True AlreadyDelivered: 1 Secret is in the repository as plaintext: db\./,
  )
  assert.match(kept.condition('Rendered'), /^True Rendered/)
  assert.equal(releases.length, 1, 'the same content is no new Release')
  const rests = await reconcileOnce(reconciler, kept.draft.next)
  assert.equal(rests.commit, 'Nothing')
})

test('what lint finds in the content is a condition, for the versions of the clusters that get it, and holds nothing back', async () => {
  const at = (name: string, kubeVersion: string) => ({
    inputs: { name, labels: {}, annotations: {}, claims: {}, values: {}, kubeVersion },
  })
  const { reconciler, log } = fixture({ selectedBy: () => [at('s1', 'v1.24.0'), at('s2', 'v1.25.3')] })
  const pdb = 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x, namespace: shop}\n'
  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: nginx}]}\n'
  const other = 'apiVersion: example.com/v1\nkind: Other\nmetadata: {name: o}\n'
  const pass = await reconcileOnce(reconciler, bundle(1, { manifests: `${pod}---\n${pdb}---\n${other}` }))
  assert.equal(
    pass.condition('Linted'),
    'False ErrorsFound: PodDisruptionBudget shop/x: policy/v1beta1 is not served since Kubernetes 1.25, and one cluster runs that or a newer one (s2); write apiVersion: policy/v1 [removed-api]. ' +
      'Pod default/p: the image nginx of container c has no tag, which means latest; name a version, or a digest [unpinned-image].',
  )
  assert.equal(log.at(-1), 'create hello-g1')
  assert.equal(
    (await reconcileOnce(reconciler, bundle(2))).condition('Linted'),
    'True LintPassed: Lint has no findings in the rendered objects.',
  )
})

test('lint is renewed when a cluster is upgraded, without rendering again', async () => {
  let version = 'v1.24.9'
  const { reconciler, log } = fixture({
    selectedBy: () => [
      { inputs: { name: 's1', labels: {}, annotations: {}, claims: {}, values: {}, kubeVersion: version } },
    ],
  })
  const pdb = 'apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: x, namespace: shop}\n'
  const first = await reconcileOnce(reconciler, bundle(1, { manifests: pdb }))
  assert.match(first.condition('Linted'), /^False WarningsFound: .*\[deprecated-api\]/)
  assert.equal(first.draft.next.status?.linted, 'hello-g1 1.24')
  assert.equal((await reconcileOnce(reconciler, first.draft.next)).commit, 'Nothing')
  version = 'v1.24.17'
  assert.equal((await reconcileOnce(reconciler, first.draft.next)).commit, 'Nothing', 'a patch of it changes nothing')
  version = 'v1.25.0'
  const renders = log.filter((line) => line === 'render').length
  const second = await reconcileOnce(reconciler, first.draft.next)
  assert.match(second.condition('Linted'), /^False ErrorsFound: .*not served since Kubernetes 1\.25.*\[removed-api\]/)
  assert.equal(log.filter((line) => line === 'render').length, renders)
})

test('lint names an object that another bundle has on the same cluster', async () => {
  const other = fixture()
  const theirs = await reconcileOnce(other.reconciler, bundle(1, { manifests: configMapManifest('a', { v: '2' }) }))
  const { set } = theirs.draft.next.status!.revision!
  const inputs = { name: 's1', labels: {}, annotations: {}, claims: {}, values: {} }
  const { reconciler, blobs } = fixture({
    selectedBy: () => [{ inputs }],
    assignedTo: () => [{ bundle: 'ns/zebra', set }],
  })
  for (const [digest, bytes] of other.blobs) blobs.set(digest, bytes)
  const clash = await reconcileOnce(reconciler, bundle(1, { manifests: configMapManifest('a', { v: '1' }) }))
  assert.equal(
    clash.condition('Linted'),
    'False ErrorsFound: ConfigMap default/a is in bundle ns/hello and in bundle ns/zebra on s1, with different fields; leave it in one of them [overlapping-objects].',
  )
  const apart = await reconcileOnce(reconciler, bundle(2, { manifests: configMapManifest('b', { v: '1' }) }))
  assert.match(apart.condition('Linted'), /^True LintPassed/)
})

test('a newer hub does not render again what is released: its engine may write other bytes (I-28)', async () => {
  const older = fixture()
  const { draft } = await reconcileOnce(older.reconciler, bundle())
  const newer = fixture({ releasesOf: () => older.releases })
  assert.equal((await reconcileOnce(newer.reconciler, draft.next)).commit, 'Nothing')
  assert.deepEqual(newer.log, [])
})

test('a release that was deleted is made again', async () => {
  const { reconciler, releases, log } = fixture()
  const first = await reconcileOnce(reconciler, bundle())
  releases.length = 0
  await reconcileOnce(reconciler, first.draft.next)
  assert.equal(log.at(-1), 'create hello-g1')
})

test('a bundle that is being deleted is left alone', async () => {
  const { reconciler, log } = fixture()
  const leaving = bundle()
  leaving.metadata.deletionTimestamp = '2026-01-01T00:00:00Z'
  assert.equal((await reconcileOnce(reconciler, leaving)).commit, 'Nothing')
  assert.deepEqual(log, [])
})

test('what cannot be rendered stalls with the reason, and keeps the last release', async () => {
  const { reconciler, log } = fixture()
  const pass = await reconcileOnce(reconciler, bundle(2, { manifests: 'a: [' }))
  assert.ok(pass.error instanceof Stalled)
  assert.match(
    pass.condition('Rendered'),
    /^False RenderFailed: Cannot render spec.manifests: line \d+, column \d+: .* Clusters keep what they run\.$/,
  )
  assert.deepEqual(log, ['render'])
})

test('the rollout is told in kstatus words', async () => {
  const table: [NonNullable<Rollout['status']>['phase'] | undefined, string, string][] = [
    [undefined, 'False RollingOut', 'Reconciling'],
    ['Pending', 'False RollingOut', 'Reconciling'],
    ['Progressing', 'False RollingOut', 'Reconciling'],
    ['Completed', 'True RolledOut', ''],
    ['Failed', 'False RolloutFailed', 'Stalled'],
    ['Paused', 'False RolloutPaused', ''],
  ]
  for (const [phase, ready, kstatus] of table) {
    const rollout = build(Rollout, 'ns/hello-g1', { spec: { release: 'hello-g1', rings: [], paused: false } })
    if (phase) rollout.status = { phase }
    const { reconciler } = fixture({ rolloutOf: () => rollout })
    const pass = await reconcileOnce(reconciler, bundle())
    assert.ok(pass.condition('Ready').startsWith(ready), `${phase}`)
    for (const type of ['Reconciling', 'Stalled'])
      assert.equal(pass.condition(type) !== '-', type === kstatus, `${phase} ${type}`)
  }
})

test('the release is found by the name of the bundle inside it', async () => {
  const set = digestOf('x')
  const other = build(Release, 'ns/hello-g4', {
    spec: { bundles: [{ name: 'hello', generation: 4, set, placement: 'p' }] },
  })
  const { reconciler, log } = fixture({ releasesOf: () => [other] })
  await reconcileOnce(reconciler, bundle(2))
  assert.equal(log.at(-1), 'create hello-g5')
})

test('options travel in the set: another option is another digest, none keeps the old one', async () => {
  const digestFor = async (spec: Partial<Bundle['spec']>) => {
    const { reconciler, releases } = fixture()
    await reconcileOnce(reconciler, bundle(1, spec))
    return releases[0]!.spec.bundles[0]!.set
  }
  const plain = await digestFor({})
  assert.equal(await digestFor({ rollout: { concurrency: 3 } }), plain)
  const pruned = await digestFor({ prune: { mode: 'Last' } })
  assert.notEqual(pruned, plain)
  assert.notEqual(await digestFor({ prune: { mode: 'Never' } }), pruned)
})

test('an annotation that cannot be read stalls, naming object, annotation and the words to use', async () => {
  const { reconciler } = fixture()
  const manifests = configMapManifest('a', {}).replace(
    '"name": "a"',
    '"name": "a", "annotations": {"flotilla.dev/wave": "first"}',
  )
  const pass = await reconcileOnce(reconciler, bundle(1, { manifests }))
  assert.match(
    pass.condition('Rendered'),
    /RenderFailed: Cannot render spec.manifests: ConfigMap default\/a: annotation flotilla.dev\/wave is "first"; write a whole number such as "-1" or "10"\. Clusters keep/,
  )
})

test('hooks are marked in the set, tests are left out, and an unknown hook stalls', async () => {
  const job = (name: string, on: string) =>
    `---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: ${name}, annotations: {helm.sh/hook: ${on}}}\n`
  const stored: string[] = []
  const putBlob = async (bytes: Uint8Array) => {
    stored.push(fromUtf8(bytes))
    return digestOf(bytes)
  }
  const { reconciler } = fixture({ putBlob, offers: offersTo(() => {}) })
  const manifests = `${configMapManifest('a', {})}${job('migrate', 'pre-install')}${job('smoke', 'test')}`
  await reconcileOnce(reconciler, bundle(1, { manifests }))
  const set = parseObjectSet(utf8(stored.at(-1)!))
  assert.deepEqual(
    set.objects.map(({ name, hook }) => [name, hook?.on]),
    [
      ['migrate', ['pre-install']],
      ['a', undefined],
    ],
  )
  const wrong = await reconcileOnce(reconciler, bundle(2, { manifests: job('x', 'pre-instal') }))
  assert.match(wrong.condition('Rendered'), /annotation helm\.sh\/hook is "pre-instal"; write some of pre-install/)
})

test('content may be in ConfigMaps, as much of it as there are; a mistake says in which', async () => {
  const big = (name: string) => configMapManifest(name, { text: 'x'.repeat(900_000) })
  const maps: Record<string, Record<string, string>> = {
    one: { 'b.yaml': big('b'), 'a.yaml': big('a') },
    two: { c: big('c') },
  }
  const { reconciler } = fixture({ configMapData: async (_namespace, name) => maps[name] })
  const from = (manifestsFrom: NonNullable<Bundle['spec']['manifestsFrom']>) =>
    reconcileOnce(reconciler, bundle(1, { manifests: undefined, manifestsFrom }))
  const whole = await from([{ configMap: 'one' }, { configMap: 'two', key: 'c' }])
  assert.equal(whole.condition('Rendered'), 'True Rendered: Rendered to 3 objects.')
  assert.deepEqual(whole.result, { requeueAfterMs: 60_000 })
  maps['two'] = { c: 'kind: [' }
  const wrong = await from([{ configMap: 'one' }, { configMap: 'two' }])
  assert.match(
    wrong.condition('Rendered') ?? '',
    /^False RenderFailed: Cannot render spec.manifestsFrom: ConfigMap two, c, line \d+, column \d+: /,
  )
  for (const [names, missing] of [
    [[{ configMap: 'none' }], 'ConfigMap none'],
    [[{ configMap: 'two', key: 'd' }], 'key d of ConfigMap two'],
  ] as const) {
    const { error } = await from([...names])
    assert.ok(error instanceof Waiting)
    assert.equal(error.message, `spec.manifestsFrom names ${missing}, and that is not there.`)
  }
})

test('a change that drops more objects than its guard allows stops and asks; a person lets exactly this one through', async () => {
  const stored = new Map<Digest, Uint8Array>()
  const putBlob = async (bytes: Uint8Array) => {
    stored.set(digestOf(bytes), bytes)
    return digestOf(bytes)
  }
  let assigned: { generation: number; set: Digest } | undefined
  const store = () => ({
    inputs: { name: 'store-1', labels: {}, annotations: {}, claims: {}, values: {} },
    ...(assigned ? { assigned } : {}),
  })
  const made: Release[] = []
  const { reconciler } = fixture({
    putBlob,
    getBlob: async (digest) => stored.get(digest),
    selectedBy: () => [store()],
    releasesOf: () => made,
    offers: offersTo((release) => void made.push(release)),
  })
  const manifests = (count: number) =>
    Array.from({ length: count }, (_, i) => configMapManifest(`c${i}`, { x: '1' })).join('---\n')
  const first = await reconcileOnce(reconciler, bundle(1, { manifests: manifests(12) }))
  assigned = first.draft.next.status!.revision
  const small = bundle(2, { manifests: manifests(4) })
  const held = await reconcileOnce(reconciler, { ...small, status: first.draft.next.status! })
  assert.ok(held.error instanceof Stalled)
  assert.match(
    held.error.message,
    /^The change would drop 8 of 12 objects; at most 1 can be dropped at once\. On store-1: ConfigMap default\/c10, .* and 5 more\. Clusters keep what they run\. Let it through with: flotilla guard release bundle hello -n ns \(token g2-drop8-[0-9a-f]{8}\)$/,
  )
  assert.equal(made.length, 1)
  const token = /token (\S+)\)$/.exec(held.error.message)![1]!
  const { held: asked } = held.draft.next.status!
  assert.deepEqual([asked?.token, asked?.dropping, asked?.of, asked?.allowed], [token, 8, 12, 1])
  const again = { ...small, status: { ...held.draft.next.status!, held: { ...asked!, since: '2026-01-01T00:00:00Z' } } }
  const same = (await reconcileOnce(reconciler, again)).draft.next.status?.held
  assert.deepEqual([same?.token, same?.since], [token, '2026-01-01T00:00:00Z'], 'held since the first time')
  const back = bundle(3, { manifests: manifests(12) })
  const reverted = (await reconcileOnce(reconciler, { ...back, status: held.draft.next.status! })).draft.next
  assert.equal(reverted.status?.held, undefined, 'what was taken back is not held')
  const other = bundle(2, { manifests: manifests(3) })
  other.metadata.annotations = { 'flotilla.dev/release-drop': token }
  assert.ok((await reconcileOnce(reconciler, other)).error instanceof Stalled, 'not for a larger one')
  small.metadata.annotations = { 'flotilla.dev/release-drop': token }
  const through = (await reconcileOnce(reconciler, small)).draft.next.status
  assert.deepEqual(
    [through?.release, through?.held, through?.released?.token, through?.released?.dropped],
    ['hello-g2', undefined, token, 8],
  )
  const wide = bundle(3, { manifests: manifests(1), guard: { maxDropped: '100%' } })
  assert.equal((await reconcileOnce(reconciler, wide)).error, undefined)
})

test('a candidate of version 0.1 becomes a Release once, without being rendered again', async () => {
  const source = build(Source, 'ns/apps', {
    spec: { git: { url: 'https://x/y' } },
    status: { artifact: { revision: 'main@c2', digest: digestOf('tree'), fetchedAt: '2026-01-01T00:00:00Z' } as never },
  })
  const files = new Map([['a.yaml', configMapManifest('a', {})]])
  const render: BundleRenderPorts['render'] = async (request) => {
    rendered++
    return renderVariants(request, {
      files: new Map([...files].map(([name, text]) => [name, utf8(text)])),
      entropy: ENTROPY,
    })
  }
  let rendered = 0
  const made: Release[] = []
  const bundles: Bundle[] = []
  const blobs = new Map<Digest, Uint8Array>()
  const ports: ReleaseGatherPorts = {
    bundlesOf: () => bundles,
    isPlaced: () => true,
    released: () => Math.max(0, ...made.flatMap(({ spec }) => spec.bundles.map(({ generation }) => generation))),
    releaseNamed: () => undefined,
    createRelease: async (release) => void made.push(release),
    enqueue: () => {},
  }
  const maker = createReleaseMaker(ports)
  const { reconciler } = fixture({
    render,
    sourceOf: () => source,
    treeOf: async () => ({ files: [{ path: 'a.yaml', digest: digestOf('a'), size: 1 }] }) as never,
    releasesOf: () => made,
    getBlob: async (digest) => blobs.get(digest),
    offers: maker,
  })
  // The recipe of the Bundle, as version 0.1 recorded it.
  const plain = bundle(2, { manifests: undefined, source: { name: 'apps' } })
  const first = await reconcileOnce(reconciler, plain)
  const { recipe } = first.draft.next.status!
  assert.deepEqual([rendered, made.length], [1, 1])
  made.length = 0
  const variants = [{ when: { 'labels.env': 'dev' }, set: digestOf('d') }]
  const stored = utf8(JSON.stringify(variants))
  blobs.set(digestOf(stored), stored)
  const candidate = { generation: 3, set: digestOf('s'), placement: 'p', recipe: recipe!, variants: digestOf(stored) }
  const conditions = first.draft.next.status!.conditions!.filter(({ type }) => type === 'Rendered')
  const leftover: Bundle = { ...plain, status: { artifact: digestOf('tree'), candidate, conditions } }
  bundles.push(leftover)

  const waits = await reconcileOnce(reconciler, leftover)
  assert.match(waits.condition('Ready'), /^False Gathering/)
  assert.equal(waits.draft.next.status?.candidate, undefined)
  const gather = releaseGatherReconciler(ports, maker)
  await reconcileOnce(gather, source)
  await reconcileOnce(gather, source)
  assert.deepEqual(
    made.map(({ metadata, spec }) => [metadata.name, spec.bundles[0]?.set, spec.bundles[0]?.variants]),
    [['hello-g3', digestOf('s'), variants]],
  )
  const taken = await reconcileOnce(reconciler, waits.draft.next)
  assert.deepEqual([taken.draft.next.status?.release, taken.draft.next.status?.recipe], ['hello-g3', recipe])
  assert.equal(rendered, 1)
})

test('a candidate of version 0.1 of another recipe, or whose variants are gone, is rendered again', async () => {
  const { reconciler, log } = fixture()
  const first = await reconcileOnce(reconciler, bundle(2))
  const { recipe } = first.draft.next.status!
  const candidate = { generation: 9, set: digestOf('s'), placement: 'p', recipe: recipe! }
  for (const leftover of [
    { ...candidate, recipe: digestOf('another') },
    { ...candidate, variants: digestOf('gone') },
  ]) {
    const { reconciler: fresh, log: fresher } = fixture()
    const pass = await reconcileOnce(fresh, { ...bundle(2), status: { candidate: leftover } })
    assert.equal(fresher.at(-1), 'create hello-g2')
    assert.equal(pass.draft.next.status?.candidate, undefined)
  }
  assert.equal(log.at(-1), 'create hello-g2')
})

test('a new Bundle for too many clusters waits for a person; clusters that join later do not', async () => {
  const at = (name: string) => ({ inputs: { name, labels: {}, annotations: {}, claims: {}, values: {} } })
  let selected = Array.from({ length: 1001 }, (_, n) => at(`s${n}`))
  const { reconciler, releases } = fixture({ selectedBy: () => selected })
  const first = await reconcileOnce(reconciler, bundle())
  assert.ok(first.error instanceof Stalled)
  assert.match(
    first.error.message,
    /^The change would add 1,001 bundles on clusters, and there is none yet; .* flotilla guard release bundle hello -n ns \(token g1-grow-[0-9a-f]{8}\)$/,
  )
  assert.equal(first.error.reason, 'GrowthHeld')
  assert.equal(releases.length, 0)
  const { held } = first.draft.next.status!
  assert.deepEqual([held?.adding, held?.of, held?.allowed], [1001, 0, 1000])
  selected = [...selected, at('late')]
  const annotations = { 'flotilla.dev/release-drop': held!.token }
  const released = { ...first.draft.next, metadata: { ...first.draft.next.metadata, annotations } }
  const second = await reconcileOnce(reconciler, released)
  assert.equal(releases.length, 1)
  assert.equal(second.draft.next.status?.held, undefined)
  assert.equal(second.draft.next.status?.released?.token, held!.token)
  selected = [...selected, ...Array.from({ length: 3000 }, (_, n) => at(`j${n}`))]
  const third = await reconcileOnce(reconciler, second.draft.next)
  assert.equal(third.draft.next.status?.held, undefined)
  const early = fixture({ selectedBy: () => undefined, isDeciding: () => true })
  const waits = await reconcileOnce(early.reconciler, bundle())
  assert.ok(waits.error instanceof Waiting && waits.error.reason === 'PlacementPending')
  assert.equal(early.releases.length, 0, 'not before it is known how many clusters it reaches')
  const wide = bundle(1, { guard: { maxAdded: 5000 } })
  await reconcileOnce(fixture({ selectedBy: () => selected }).reconciler, wide)
})
