/** flotilla diff: a clone of a repository against a hub's API in memory. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { createMemoryBlobs } from '../../../blobs/memory-blobs.ts'
import type { Client } from '../../../client/client.ts'
import { createClient } from '../../../client/create-client.ts'
import { createRest } from '../../../client/rest.ts'
import { storeSet } from '../../../controllers/bundle-render/store-set.ts'
import { digestOf } from '../../../core/crypto/digest.ts'
import type { Digest } from '../../../core/crypto/digest.ts'
import { silentLogger } from '../../../core/log.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { systemIds } from '../../../core/system-ids.ts'
import { formatTime } from '../../../core/time/time.ts'
import { composeApi } from '../../../hub/compose/compose-api.ts'
import { inProcessTransport } from '../../../hub/compose/in-process-transport.ts'
import { HUB_USERS } from '../../../hub/ports.ts'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../kinds/builtin/admission.ts'
import { ConfigMap, Namespace, Secret } from '../../../kinds/builtin/core.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Release } from '../../../kinds/native/release.ts'
import { Source } from '../../../kinds/native/source.ts'
import { createMemoryStore } from '../../../store/memory-store.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { CliError } from '../../errors/cli-error.ts'
import { addressOf } from '../../repository/choose-sources.ts'
import { diff } from './diff.ts'
import type { DiffFlags } from './diff.ts'
import { validate } from './validate.ts'

const URL = 'https://git.example.com/platform/apps.git'

const files = (version: string, region = 'eu') => ({
  'pos/Chart.yaml': 'apiVersion: v2\nname: pos\nversion: 1.0.0\n',
  'pos/values.yaml': 'replicas: 2\n',
  'pos/templates/all.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: pos, namespace: pos}
spec:
  replicas: {{ .Values.replicas }}
  template: {spec: {containers: [{name: pos, image: "registry.example.com/pos:${version}"}]}}
---
apiVersion: v1
kind: Secret
metadata: {name: key, namespace: pos}
stringData: {password: "hunter-${version}", random: {{ randAlphaNum 12 | quote }}}
`,
  'region/cm.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: region}\ndata: {region: "\${ .Cluster.Labels.region }", note: ${region}}\n`,
  'other/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n',
})

const BUNDLES = {
  pos: {
    placement: 'stores',
    source: { name: 'apps', path: 'pos' },
    variants: [
      { name: 'hyper', clusterSelector: { matchLabels: { format: 'hyper' } }, helm: { values: { replicas: 5 } } },
    ],
  },
  region: { placement: 'stores', source: { name: 'apps', path: 'region' }, templating: 'Enabled' },
  other: { placement: 'stores', source: { name: 'apps', path: 'other' } },
  chart: { placement: 'stores', source: { name: 'redis' } },
} as const

/** A rule that denies more than two replicas on stores, and one that warns about everything. */
async function addRules(client: Client): Promise<void> {
  const resourceRules = [{ apiGroups: ['apps'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['*'] }]
  const objectSelector = { matchLabels: { 'flotilla.dev/rendered': 'true' } }
  const small = "object.metadata.annotations[?'flotilla.dev/cluster-label.format'].orValue('') == 'hyper'"
  for (const [name, expression, message, action] of [
    ['few', `${small} || object.spec.replicas <= 2`, 'at most two', 'Deny'],
    ['none', 'false', 'never', 'Warn'],
  ] as const) {
    const rule = { matchConstraints: { resourceRules }, validations: [{ expression, message }] }
    await client.create(ValidatingAdmissionPolicy, build(ValidatingAdmissionPolicy, name, { spec: rule }))
    const bound = { policyName: name, validationActions: [action], matchResources: { objectSelector } }
    const binding = build(ValidatingAdmissionPolicyBinding, name, { spec: bound })
    await client.create(ValidatingAdmissionPolicyBinding, binding)
  }
}

/** A clone with one commit that the hub has, and a hub with a few clusters. */
async function scene(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-diff-'))
  t.after(() => rmSync(root, { recursive: true }))
  const write = (all: Readonly<Record<string, string>>) => {
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', root, '-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args])
      .toString()
      .trim()
  git('init', '--quiet', '--initial-branch=main')
  git('remote', 'add', 'origin', URL)
  write(files('2.13.4'))
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  const commit = git('rev-parse', 'HEAD')

  const blobs = createMemoryBlobs()
  const api = composeApi({ store: createMemoryStore(), blobs, clock: systemClock, ids: systemIds, log: silentLogger })
  t.after(() => api.close())
  const transport = inProcessTransport(api.handle, HUB_USERS.admin)
  const client = createClient({ transport, clock: systemClock })
  const namespace = 'shop'
  await client.create(Namespace, build(Namespace, namespace, {}))
  await client.create(
    Source,
    build(Source, 'shop/apps', { spec: { git: { url: `${URL.slice(0, -4)}/`, ref: { branch: 'main' } } } }),
  )
  await client.create(
    Source,
    build(Source, 'shop/redis', { spec: { helm: { url: 'https://charts.example.com', chart: 'redis' } } }),
  )
  const source = await client.get(Source, { name: 'apps', namespace })
  const digest = digestOf('x')
  const artifact = {
    revision: `main@sha1:${commit}`,
    commit,
    digest,
    files: 5,
    bytes: 1,
    fetchedBytes: 1,
    fetchMs: 1,
    fetchedAt: formatTime(systemClock.now()),
    from: URL,
    identity: digest,
    selection: digest,
  }
  await client.update(Source, { ...source, status: { ...source.status, artifact } }, { subresource: 'status' })
  await client.create(
    Placement,
    build(Placement, 'shop/stores', { spec: { clusterSelector: { matchLabels: { tier: 'store' } } } }),
  )
  for (const [name, spec] of Object.entries(BUNDLES)) {
    await client.create(Bundle, build(Bundle, `shop/${name}`, { spec: spec as never }))
    await release(client, name, { revision: artifact.revision, set: digest })
  }
  for (const [name, labels] of Object.entries<Record<string, string>>({
    s1: { region: 'eu' },
    s2: { region: 'eu' },
    s3: { region: 'us' },
    hyper: { region: 'us', format: 'hyper' },
    dc: { tier: 'dc', region: 'eu' },
  })) {
    const made = buildCluster(name)
    await client.create(Cluster, {
      ...made,
      metadata: { name, labels: { tier: 'store', ...labels } },
      spec: { ...made.spec, accepted: true },
    })
  }
  const rest = createRest({ transport, clock: systemClock })
  const run = async (flags: DiffFlags = {}) => {
    let out = ''
    let err = ''
    const code = await diff({
      terminal: {
        data: (text) => void (out += text),
        say: (text) => void (err += `${text}\n`),
        step: (_sign, text) => void (err += `${text}\n`),
      },
      connection: { rest },
      flags: { filename: [root], root, ...flags },
    })
    return { out, err, code }
  }
  return { root, write, git, client, rest, run, commit, blobs }
}

interface Released {
  readonly set: Digest
  readonly revision?: string
  readonly name?: string
  readonly generation?: number
  readonly rollBack?: Release['spec']['rollBack']
  readonly reverted?: string[]
}

/** Makes a Release of a Bundle, and the status that the hub writes then. */
async function release(client: Client, bundle: string, released: Released): Promise<void> {
  const { set, revision, name = `${bundle}-g1`, generation = 1, rollBack, reverted } = released
  const entry = { name: bundle, generation, set, placement: 'stores', ...(revision ? { revision } : {}) }
  const spec = { bundles: [entry], ...(rollBack ? { rollBack } : {}) }
  await client.create(Release, build(Release, `shop/${name}`, { spec }))
  const found = await client.get(Bundle, { name: bundle, namespace: 'shop' })
  const lastTransitionTime = formatTime(systemClock.now())
  const condition = (type: string, reason: string) => ({
    type,
    status: 'True' as const,
    reason,
    message: '',
    lastTransitionTime,
  })
  const status = {
    observedGeneration: found.metadata.generation ?? 1,
    release: name,
    revision: { generation, set },
    ...(revision ? { sourceRevision: revision } : {}),
    ...(reverted ? { reverted } : {}),
    conditions: [condition('Rendered', 'Rendered'), condition('Ready', 'RolledOut')],
  }
  await client.update(Bundle, { ...found, status }, { subresource: 'status' })
}

test('nothing changed, nothing told; then groups of clusters by what happens to them', async (t) => {
  const { write, run, client, commit, git } = await scene(t)
  assert.deepEqual(await run(), { out: 'no differences\n', err: '', code: 0 })

  write(files('2.14.0'))
  const summary = await run({ summary: true })
  assert.equal(summary.code, 1)
  const head = `bundle shop/pos  main@${commit.slice(0, 7)} → working directory     4 clusters selected (+0 gained, -0 lost)`
  const change = 'Deployment pos/pos: image 2.13.4→2.14.0; Secret pos/key: stringData.password changed'
  assert.match(summary.out, /^sizes: up to \d+ B of objects per cluster, \d+ B in all \(compressed, as differences\)$/m)
  assert.deepEqual(summary.out.split('\n').slice(0, 2), [head, `     4  change  ${change}  (hyper, s1 and 2 more)`])
  assert.equal(summary.out.match(/^bundle /gm)?.length, 1, 'a bundle whose path did not change is not even rendered')
  const whole = await run()
  assert.match(whole.out, /\n {6}~ Secret pos\/key\n {10}\.stringData\.password: changed \(value not shown\)\n/)
  for (const output of ['text', 'json', 'markdown'] as const) {
    assert.doesNotMatch((await run({ output })).out, /hunter/, 'values of Secrets are never told')
  }

  await client.create(
    ClusterReport,
    build(ClusterReport, 's2', {
      spec: {
        clusterId: 'c',
        epoch: 1,
        revision: 1,
        receivedAt: formatTime(systemClock.now()),
        bundles: [
          {
            bundle: 'shop/pos',
            generation: 1,
            set: digestOf('x'),
            state: 'Drifted',
            drift: [
              {
                object: 'Deployment pos/pos',
                fields: ['.spec.replicas (changed by kubectl-edit)'],
                since: formatTime(systemClock.now() - 2 * 86_400_000),
              },
            ],
          },
        ],
      },
    }),
  )
  write({
    'pos/values.yaml': 'replicas: 3\n',
    'region/cm.yaml': files('', 'x')['region/cm.yaml'].replace('region }', 'zone }'),
  })
  const lines = (await run({ summary: true })).out.split('\n')
  assert.deepEqual(
    lines.filter((line) => line.startsWith(' ')),
    [
      `     2  change              Deployment pos/pos: replicas 2→3, image 2.13.4→2.14.0; Secret pos/key: stringData.password changed  (s1, s3)`,
      `     1  change              ${change}  (hyper)`,
      '     1  would REVERT drift  Deployment pos/pos .spec.replicas (changed by kubectl-edit) (drifted 2d ago)  (s2)',
      '     4  cannot render  hyper, s1 and 2 more: region/cm.yaml:4:27: at <.Cluster.Labels.zone>: map has no entry for key "zone"  → flotilla get bundle region -n shop -o yaml | flotilla render -f - --cluster hyper --root ' +
        lines.find((line) => line.includes('cannot render'))!.split('--root ')[1]!,
    ],
  )
  const json = JSON.parse((await run({ output: 'json' })).out) as { totals: unknown }
  assert.deepEqual(json.totals, {
    bundles: 2,
    clusters: 4,
    gained: 0,
    lost: 0,
    revertsDrift: 1,
    denied: 0,
    cannotRender: 4,
  })
  const markdown = (await run({ output: 'markdown' })).out
  assert.match(markdown, /^### flotilla diff: 2 bundles on 4 clusters\n/)
  await addRules(client)
  const ruled = (await run({ output: 'markdown', bundle: 'pos' })).out
  assert.match(ruled, /\*\*Rules deny the content of 3 clusters\.\*\*/)
  assert.match(ruled, /\*\*denied: Deployment pos\/pos: at most two \\\[policy few\\\] \(s1, s2 and 1 more\)\*\*/)
  assert.match(ruled, /\*\*warning: Deployment pos\/pos: never \\\[policy none\\\]/)
  assert.match(ruled, /<!-- totals \{.*"denied":3/)
  assert.match(markdown, /\*\*4 clusters cannot be rendered\.\*\* \*\*Drift would be reverted on 1 cluster\.\*\*/)

  git('checkout', '--quiet', '-b', 'change')
  git('commit', '--quiet', '-am', 'second')
  git('checkout', '--quiet', 'main')
  assert.equal((await run()).out, 'no differences\n')
  const branch = await run({ branch: 'change', bundle: 'pos', summary: true })
  assert.match(branch.out, /^bundle shop\/pos {2}main@\w{7} → change /)
  assert.equal((await run({ branch: 'change', against: 'change' })).code, 0)
})

const DEPLOYMENT = (version: string, replicas = 2) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', namespace: 'shop' },
  spec: {
    replicas,
    template: { spec: { containers: [{ name: 'web', image: `registry.example.com/web:${version}` }] } },
  },
})

/** Bundle web of a commit with 1.1 and one with 1.2; release web-g2 with 1.2 was rolled back. */
async function rolledBack(t: TestContext) {
  const all = await scene(t)
  const { write, git, client, blobs } = all
  const text = (version: string, replicas?: number) => ({
    'web/web.yaml': `${JSON.stringify(DEPLOYMENT(version, replicas))}\n`,
  })
  const commit = (version: string): string => {
    write(text(version))
    git('add', '.')
    git('commit', '--quiet', '-m', version)
    return `main@sha1:${git('rev-parse', 'HEAD')}`
  }
  const [good, bad] = [commit('1.1'), commit('1.2')]
  const ports = { putBlob: (bytes: Uint8Array) => blobs.put(bytes), valuesKeyOf: async () => assert.fail('no secrets') }
  const set = async (version: string): Promise<Digest> => {
    const stored = await storeSet({ bundle: 'shop/web' }, [DEPLOYMENT(version)], ports)
    return 'set' in stored ? stored.set : assert.fail(stored.problem)
  }
  const [before, after] = [await set('1.1'), await set('1.2')]
  const spec = { placement: 'stores', source: { name: 'apps', path: 'web' } }
  await client.create(Bundle, build(Bundle, 'shop/web', { spec }))
  await release(client, 'web', { name: 'web-g1', generation: 1, set: before, revision: good })
  await release(client, 'web', { name: 'web-g2', generation: 2, set: after, revision: bad })
  const made = await client.get(Release, { name: 'web-g2', namespace: 'shop' })
  const mark = { bundle: 'web', by: 'admin', at: formatTime(systemClock.now()), reason: 'not good' }
  await client.update(Release, { ...made, status: { bad: [mark] } }, { subresource: 'status' })
  await release(client, 'web', {
    name: 'web-g2-undo-1',
    generation: 3,
    set: before,
    revision: bad,
    rollBack: { of: 'web-g2', scope: 'All', by: 'admin' },
    reverted: ['web-g2'],
  })
  const source = await client.get(Source, { name: 'apps', namespace: 'shop' })
  const artifact = { ...source.status!.artifact!, revision: bad, commit: bad.split(':')[1]! }
  await client.update(Source, { ...source, status: { ...source.status, artifact } }, { subresource: 'status' })
  const entry = { bundle: 'shop/web', generation: 3, set: before, rollout: 'shop/web-g2-undo-1' }
  for (const name of ['s1', 's2', 's3', 'hyper']) {
    await client.create(
      Assignment,
      build(Assignment, name, { spec: { clusterId: name, epoch: 1, revision: 1, document: before, entries: [entry] } }),
    )
  }
  return { ...all, text, good, bad }
}

test('after a rollback the comparison is with what the hub delivers, and says what comes back', async (t) => {
  const { write, run, text, client, git } = await rolledBack(t)
  const held = await run({ bundle: 'web', summary: true })
  assert.equal(held.code, 1)
  assert.match(held.out, /^bundle shop\/web {2}release web-g2-undo-1 → working directory /)
  assert.match(
    held.out,
    /^ {2}held back on 4 clusters: the content is that of web-g2, rolled back by admin: not good; .* flotilla release lift web-g2 -n shop$/m,
  )
  assert.doesNotMatch(held.out, /brings back|not received/)

  write(text('1.2', 3))
  const more = await run({ bundle: 'web', summary: true })
  assert.match(more.out, /^ +4 {2}change {2}Deployment shop\/web: replicas 2→3, image 1\.1→1\.2 /m)
  const told =
    /^ {2}this brings back web-g2, rolled back by admin: not good \(Deployment shop\/web: image 1\.1→1\.2\)$/m
  assert.match(more.out, told)
  assert.match(
    (await run({ bundle: 'web', output: 'markdown' })).out,
    /\*\*this brings back web-g2, rolled back by admin/,
  )

  write(text('1.3'))
  assert.doesNotMatch((await run({ bundle: 'web' })).out, /brings back|held back/)
  write(text('1.1'))
  assert.deepEqual(await run({ bundle: 'web' }), { out: 'no differences\n', err: '', code: 0 })
  git('checkout', '--quiet', '.')

  const web = await client.get(Bundle, { name: 'web', namespace: 'shop' })
  await client.update(Bundle, { ...web, spec: { ...web.spec, source: { name: 'apps', path: 'other' } } })
  const unknown = await run({ bundle: 'web' })
  assert.equal(unknown.code, 2)
  assert.match(
    unknown.out,
    /^ {2}not compared: the hub delivers release web-g2-undo-1, and no commit of this clone has its content for /m,
  )
})

test('definitions in the files count: clusters are gained and lost, bundles are new, content elsewhere is named', async (t) => {
  const { write, run } = await scene(t)
  const definition = (kind: string, name: string, spec: object) =>
    `apiVersion: flotilla.dev/v1alpha1\nkind: ${kind}\nmetadata: {name: ${name}, namespace: shop}\nspec: ${JSON.stringify(spec)}\n`
  write({
    'fleet/stores.yaml': definition('Placement', 'stores', { clusterSelector: { matchLabels: { region: 'eu' } } }),
    'fleet/more.yaml': [
      definition('Bundle', 'fresh', { placement: 'stores', manifests: files('')['other/cm.yaml'] }),
      definition('Bundle', 'chart', { ...BUNDLES.chart, helm: { values: { a: 1 } } }),
    ].join('---\n'),
  })
  const { out, code } = await run({ summary: true })
  assert.equal(code, 2, 'a bundle was not compared')
  assert.match(
    out,
    /^bundle shop\/other .* 3 clusters selected \(\+1 gained, -2 lost\)\n +1 {2}gained +1 object {2}\(dc\)\n +2 {2}lost +1 object is removed {2}\(hyper, s3\)\n +2 {2}unchanged\n/m,
  )
  assert.match(out, /^bundle shop\/fresh \(new\) .* 3 clusters selected \(\+3 gained, -0 lost\)\n/m)
  assert.match(
    out,
    /^bundle shop\/chart .*\n {2}not compared: the content comes from Source redis, which has another repository\n/m,
  )
})

test('how a bundle is applied is told, also for the clusters of one of its variants', async (t) => {
  const { write, run } = await scene(t)
  const [hyper] = BUNDLES.pos.variants
  const spec = {
    ...BUNDLES.pos,
    drift: { mode: 'Correct' },
    variants: [{ ...hyper, options: { delete: { unplaced: 'Orphan' } } }],
  }
  write({
    'fleet/pos.yaml': `apiVersion: flotilla.dev/v1alpha1\nkind: Bundle\nmetadata: {name: pos, namespace: shop}\nspec: ${JSON.stringify(spec)}\n`,
  })
  const { out, code } = await run({ summary: true })
  assert.equal(code, 1)
  const told = out.split('\n').filter((line) => line.includes('change'))
  assert.deepEqual(
    told.map((line) => line.trim().replace(/ {2,}/g, ' ')),
    [
      '3 change applied with +drift.mode=Correct (s1, s2 and 1 more)',
      '1 change applied with +delete.unplaced=Orphan, +drift.mode=Correct (hyper)',
    ],
  )
  assert.match((await run()).out, /~ apply options\n +\.drift\.mode: \+ Correct\n/)
})

test('an input that is a Secret is told by the name of its key', async (t) => {
  const { write, run, client } = await scene(t)
  const data = { password: Buffer.from('hunter2').toString('base64') }
  await client.create(Secret, build(Secret, 'shop/db', { data }))
  const text = (url: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: conn}\ndata: {url: "${url}"}\n`
  write({
    'fleet/db.yaml': `apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: db, namespace: shop}
spec:
  placement: stores
  templating: Enabled
  inputs: [{name: db, secret: {name: db, key: password}}]
  manifests: |
    ${text('db://${ .Inputs.db }').replaceAll('\n', '\n    ')}
`,
  })
  const { out, code } = await run({ output: 'json' })
  assert.equal(code, 1)
  assert.match(out, /"shop\/db"/)
  assert.doesNotMatch(out, /hunter2|cannot-render/)
})

test('of what clusters render, the files are compared, and it is said', async (t) => {
  const { write, run } = await scene(t)
  const bundle = {
    placement: 'stores',
    source: { name: 'apps', path: 'made' },
    render: { at: 'Agent' },
    helm: { valuesFrom: [{ kind: 'Secret', name: 'db' }] },
  }
  write({
    'made/Chart.yaml': 'apiVersion: v2\nname: made\nversion: 1.0.0\n',
    'made/templates/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
    'fleet/made.yaml': JSON.stringify({
      apiVersion: 'flotilla.dev/v1alpha1',
      kind: 'Bundle',
      metadata: { name: 'made', namespace: 'shop' },
      spec: bundle,
    }),
  })
  const { out } = await run({ bundle: 'made' })
  assert.match(out, /^ {2}rendered in the cluster: compared is what it is made of, the objects are known there alone$/m)
  assert.match(out, /File made\/templates\/cm\.yaml/)
  assert.match((await run({ bundle: 'made', output: 'markdown' })).out, /rendered in the cluster/)
})

test('manifests in ConfigMaps of the hub are compared with those of the files', async (t) => {
  const { write, run, client } = await scene(t)
  const text = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: made}\ndata: {v: "${value}"}\n`
  await client.create(ConfigMap, build(ConfigMap, 'shop/parts', { data: { 'a.yaml': text('1') } }))
  const spec = { placement: 'stores', manifestsFrom: [{ configMap: 'parts' }] }
  await client.create(Bundle, build(Bundle, 'shop/parts', { spec }))
  assert.match((await run({ bundle: 'parts' })).out, /^no differences\nnote: no Release yet: shop\/parts; /)
  await release(client, 'parts', { set: digestOf('x') })
  assert.equal((await run({ bundle: 'parts' })).out, 'no differences\n')
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'parts', namespace: 'shop' },
    data: { 'a.yaml': text('2') },
  }
  write({ 'fleet/parts.yaml': JSON.stringify(object) })
  assert.match(
    (await run({ bundle: 'parts', summary: true })).out,
    / 4 {2}change {2}ConfigMap default\/made: data\.v 1→2 /,
  )
})

test('validate with a hub checks the content of its Bundles that follow this repository', async (t) => {
  const { root, write, rest } = await scene(t)
  write({
    'other/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\ndta: {}\n',
    'region/cm.yaml': files('')['region/cm.yaml'].replace('.region', '.zone'),
  })
  let out = ''
  const code = await validate([root], {
    terminal: { data: (text) => void (out += text), say: () => {}, step: () => {} },
    stdin: (async function* () {})(),
    connect: async () => ({ rest }),
    flags: { hub: true },
  })
  assert.match(
    out,
    /other\/cm\.yaml:4:1: warning: ConfigMap default\/other: there is no field dta; did you mean data\? \[unknown-field\]\n/,
  )
  assert.match(out, /; checked 3 bundles, 3 objects, for 5 clusters\n/)
  assert.match(
    out,
    /region\/cm\.yaml:4:27: error: Bundle shop\/region cannot be rendered for hyper, s1, s2 and 1 more: [^\n]*zone[^\n]*\n/,
  )
  assert.equal(code, 1)
})

test('what cannot be compared is an error, and never exits with 1', async (t) => {
  const { run, git, root, write } = await scene(t)
  const report = async (flags: DiffFlags) => {
    try {
      await run(flags)
      return assert.fail('it was not refused')
    } catch (error) {
      assert.ok(error instanceof CliError, String(error))
      return error.report
    }
  }
  assert.equal((await report({ source: 'app' })).todo, 'did you mean "apps"?')
  assert.match((await report({ branch: 'nowhere' })).todo ?? '', /^fetch it with "git fetch origin nowhere"/)
  assert.match((await report({ branch: '--help' })).what, /invalid revision "--help"/)
  assert.match((await report({ bundle: 'posh' })).what, /^bundle "posh" not found on the hub or in the files/)
  assert.equal((await run({ bundle: 'pos' })).code, 0)
  assert.equal((await run({ into: 'main' })).code, 0)
  assert.match((await report({ into: 'staging' })).what, /^no Source of the hub uses this repository/)
  git('remote', 'set-url', 'origin', 'https://git.example.com/other.git')
  assert.match((await report({})).todo ?? '', /^give the Source with --source; the hub has shop\/apps/)
  assert.equal((await run({ source: 'apps' })).code, 0)
  assert.match((await report({ root: tmpdir(), filename: [tmpdir()] })).what, /^not a git repository/)
  write({ 'pos/values.yaml': 'replicas: 2\n' })
  symlinkSync('/etc/hostname', join(root, 'other/link.yaml'))
  assert.match((await report({ source: 'apps' })).why ?? '', /link\.yaml.*out/)
})

test('the same repository under its many addresses', () => {
  for (const url of [
    URL,
    'https://git.example.com/platform/apps',
    'https://user:secret@git.example.com/platform/apps.git/',
    'git@git.example.com:platform/apps.git',
    'ssh://git@git.example.com:2222/platform/apps',
  ]) {
    assert.equal(addressOf(url), 'git.example.com/platform/apps', url)
  }
  assert.notEqual(addressOf('/srv/git/a.git'), addressOf('/srv/git/b.git'))
})
