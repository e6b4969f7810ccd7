/**
 * A GitRepo as users write it, from its commits to what each cluster should have, on the real controllers in virtual
 * time.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { Assignment } from '../../../kinds/native/assignment.ts'
import { Bundle } from '../../../kinds/native/bundle.ts'
import { Secret } from '../../../kinds/builtin/core.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { Placement } from '../../../kinds/native/placement.ts'
import { Source } from '../../../kinds/native/source.ts'
import { isBoundTo, URLS_ANNOTATION } from '../../../source/credentials.ts'
import { ALL_SCHEMES, parseSourceUrl } from '../../../source/source-url.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { parseObjectSet } from '../../../wire/document/signed-document.ts'
import { ClusterGroup, FleetBundle, GitRepo, GitRepoRestriction } from '../kinds.ts'

type Files = Readonly<Record<string, string>>

const cm = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "${value}"}\n`

const FILES: Files = {
  'web/fleet.yaml':
    'defaultNamespace: web\ntargetCustomizations:\n- {name: prod, clusterSelector: {matchLabels: {env: prod}}, yaml: {overlays: [prod]}}\n',
  'web/cm.yaml': cm('web', '1'),
  'web/overlays/prod/cm_patch.yaml': 'data: {v: prod}\n',
  'db/cm.yaml': cm('db', '1'),
  'db/fleet.yaml': '{}',
}

async function world(t: TestContext, files: Files = FILES) {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  let tip = { commit: 'c1', files }
  hub.serveSources(async ({ previous, spec, credentials }) => {
    const url = parseSourceUrl(spec.git?.url ?? spec.helm?.url ?? '', ALL_SCHEMES)
    if (credentials && !isBoundTo(credentials, url))
      return { kind: 'Failed', reason: 'CredentialsNotForUrl', message: `not for ${url.text}.`, retry: false }
    if (previous?.commit === tip.commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(tip.files).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    return {
      kind: 'New',
      artifact: { ...stored, revision: `main@sha1:${tip.commit}`, commit: tip.commit, fetchedBytes: 1, from: 'x' },
    }
  })
  for (const [name, env] of Object.entries({ c1: 'prod', c2: 'dev' })) {
    await hub.create(buildCluster(name, { labels: { env } }), Cluster)
    await hub.report(name, 'Ready')
  }
  const settle = async () => {
    for (let round = 0; round < 4; round++) {
      await hub.clock.advance(20_000)
      for (const { metadata } of (await hub.client.list(Cluster)).items) await hub.report(metadata.name, 'Ready')
    }
    await hub.clock.advance(20_000)
  }
  const repo = async (spec: Record<string, unknown> = {}, name = 'apps') => {
    const made = build(GitRepo, `fleet-default/${name}`, {
      spec: { repo: 'https://git.example.com/apps', branch: 'main', targets: [{ clusterSelector: {} }], ...spec },
    })
    await hub.create(made, GitRepo)
    await settle()
  }
  const edit = async (spec: Record<string, unknown>) => {
    const found = (await hub.find(GitRepo, 'fleet-default/apps'))!
    await hub.client.update(GitRepo, { ...found, spec: { ...found.spec, ...spec } })
    await settle()
  }
  const push = async (commit: string, next: Files) => {
    tip = { commit, files: next }
    await settle()
  }
  /** What each cluster should have: `namespace/name value`. */
  const delivered = async (): Promise<Record<string, string[]>> => {
    const rows: Record<string, string[]> = {}
    const parse = async (digest: `sha256:${string}`) =>
      JSON.parse(new TextDecoder().decode(await hub.blobs.get(digest))) as unknown
    for (const { metadata, spec } of (await hub.client.list(Assignment)).items) {
      for (const { bundle, set } of spec.entries) {
        const { objects } = (await parse(set)) as { objects: { digest: `sha256:${string}` }[] }
        for (const { digest } of objects) {
          const object = (await parse(digest)) as { metadata: { name: string; namespace: string }; data: { v: string } }
          const row = `${bundle.split('/')[1]}: ${object.metadata.namespace}/${object.metadata.name} ${object.data.v}`
          rows[metadata.name] = [...(rows[metadata.name] ?? []), row].sort()
        }
      }
    }
    return rows
  }
  const status = async (name = 'apps') => (await hub.find(GitRepo, `fleet-default/${name}`))?.status
  const condition = async (type: string, name = 'apps') => {
    const found = (await status(name))?.conditions?.find((one) => one.type === type)
    return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
  }
  const bundles = async () =>
    (await hub.client.list(Bundle, { namespace: 'fleet-default' })).items.map(({ metadata }) => metadata.name).sort()
  return { hub, repo, edit, push, settle, delivered, status, condition, bundles }
}

test('an unedited GitRepo delivers to clusters, and its status says so', async (t) => {
  const { hub, repo, delivered, status, condition } = await world(t)
  await repo()
  assert.deepEqual(await delivered(), {
    c1: ['apps-db: default/db 1', 'apps-web: web/web prod'],
    c2: ['apps-db: default/db 1', 'apps-web: web/web 1'],
  })
  const shown = await status()
  assert.equal(shown?.commit, 'c1')
  assert.deepEqual(shown?.display, { readyBundleDeployments: '4/4', state: 'Ready' })
  assert.deepEqual([shown?.readyClusters, shown?.desiredReadyClusters, shown?.bundles], [2, 2, 2])
  assert.equal(await condition('Ready'), 'True Ready: 2 bundles ready on 2 clusters.')
  assert.equal(await condition('Exact'), 'True AllHasEffect: Everything that is said has its effect.')
  const row = await hub.find(FleetBundle, 'fleet-default/apps-web')
  assert.deepEqual(row?.status?.display, { readyClusters: '2/2', state: 'Ready' })
  assert.deepEqual(row?.metadata.labels, { 'fleet.cattle.io/repo-name': 'apps' })
  hub.writes.length = 0
  await hub.clock.advance(600_000)
  assert.deepEqual(
    hub.writes.filter((write) => write.includes('fleet.cattle.io') || write.includes('bundles')),
    [],
    'nothing is written while nothing changes',
  )
})

test('a mistyped path, a bad commit and an empty one take nothing away', async (t) => {
  const { repo, edit, push, delivered, condition, status, bundles } = await world(t)
  await repo()
  const before = await delivered()
  await edit({ paths: ['wbe'] })
  assert.equal(
    await condition('Ready'),
    'False NoBundles: No bundle is found at "wbe" of main@sha1:c1: spec.paths: "wbe" is not a directory of the repository. Nothing that is delivered is taken away.',
  )
  assert.deepEqual([await delivered(), await bundles()], [before, ['apps-db', 'apps-web']])
  await edit({ paths: [] })
  assert.match(await condition('Ready'), /^True/)
  const { 'db/cm.yaml': _cm, 'db/fleet.yaml': _fleet, ...withoutDb } = FILES
  await push('c2', { ...withoutDb, 'web/fleet.yaml': 'defaultNamespace: [' })
  assert.deepEqual([await delivered(), await bundles()], [before, ['apps-db', 'apps-web']])
  assert.match((await status())?.findings?.[0] ?? '', /^web\/fleet\.yaml:/)
  assert.match(await condition('Ready'), /^False NoBundles: .*Nothing that is delivered is taken away\.$/)
  await push('c2b', {
    ...withoutDb,
    'web/fleet.yaml': 'defaultNamespace: [',
    'new/fleet.yaml': '{}',
    'new/cm.yaml': cm('new', '1'),
  })
  assert.deepEqual(await bundles(), ['apps-db', 'apps-new', 'apps-web'], 'what can be read goes on, and nothing goes')
  assert.deepEqual((await delivered())['c2'], [
    'apps-db: default/db 1',
    'apps-new: default/new 1',
    'apps-web: web/web 1',
  ])
  assert.match(await condition('Ready'), /^False ErrApplied: web\/fleet\.yaml:/)
  const fixed = { ...withoutDb, 'web/cm.yaml': cm('web', '3') }
  await push('c3', { ...fixed, 'new/fleet.yaml': '{}', 'new/cm.yaml': cm('new', '1') })
  await push('c4', fixed)
  assert.deepEqual(await bundles(), ['apps-web'], 'a directory that is gone takes its bundle with it')
  assert.deepEqual((await delivered())['c2'], ['apps-web: web/web 3'])
})

test('groups, names of others, and what has no effect', async (t) => {
  const { hub, repo, delivered, condition, settle, status } = await world(t, {
    'a/fleet.yaml': 'helm: {maxHistory: 3}\n',
    'a/cm.yaml': cm('a', '1'),
  })
  await hub.create(build(Source, 'fleet-default/taken', { spec: { git: { url: 'https://x/y' } } }), Source)
  await repo({ targets: [{ clusterGroup: 'prod' }] })
  assert.deepEqual(await delivered(), {}, 'there is no such group yet')
  await hub.create(
    build(ClusterGroup, 'fleet-default/prod', { spec: { selector: { matchLabels: { env: 'prod' } } } }),
    ClusterGroup,
  )
  await settle()
  assert.deepEqual(await delivered(), { c1: ['apps-a: default/a 1'] })
  const group = await hub.find(ClusterGroup, 'fleet-default/prod')
  assert.deepEqual([group?.status?.clusterCount, group?.status?.display?.readyClusters?.split('/')[1]], [1, '1'])
  assert.match(await condition('Exact'), /^False NotAllHasEffect: a\/fleet\.yaml:1: helm\.maxHistory has no effect/)
  assert.equal((await status())?.findings?.length, 1)
  await repo({}, 'taken')
  assert.equal(
    await condition('Ready', 'taken'),
    'False NameTaken: Source taken of flotilla.dev is there already and was not made for this GitRepo; rename one of them.',
  )
  await hub.create(
    build(GitRepo, 'fleet-default/unsafe', { spec: { repo: 'https://x/y', insecureSkipTLSVerify: true } }),
    GitRepo,
  )
  await settle()
  assert.match(
    await condition('Ready', 'unsafe'),
    /^False Refused: spec\.insecureSkipTLSVerify would accept content from any server/,
  )
})

test('clusters of another workspace are not reached', async (t) => {
  const { hub, repo, delivered } = await world(t, { 'a.yaml': cm('a', '1') })
  await hub.create(buildCluster('local', { labels: { 'fleet.cattle.io/workspace': 'fleet-local' } }), Cluster)
  await hub.report('local', 'Ready')
  await repo()
  assert.deepEqual(Object.keys(await delivered()).sort(), ['c1', 'c2'])
  const placement = await hub.find(Placement, 'fleet-default/apps')
  assert.equal(placement?.status?.selected, 2)
})

test('what was made of a GitRepo goes with it; what others made stays', async (t) => {
  const { hub, repo, settle, bundles, delivered } = await world(t)
  await repo()
  await hub.create(build(Source, 'fleet-default/own', { spec: { git: { url: 'https://x/y' } } }), Source)
  await hub.client.delete(GitRepo, { namespace: 'fleet-default', name: 'apps' })
  await settle()
  assert.deepEqual([await bundles(), await delivered()], [[], {}])
  const left = async (type: typeof Source) => (await hub.client.list(type, { namespace: 'fleet-default' })).items
  assert.deepEqual(
    (await left(Source)).map(({ metadata }) => metadata.name),
    ['own'],
  )
  assert.equal((await hub.client.list(Placement, { namespace: 'fleet-default' })).items.length, 0)
  assert.equal((await hub.client.list(FleetBundle, { namespace: 'fleet-default' })).items.length, 0)
})

test('options of a customization reach its clusters and no other clusters', async (t) => {
  const { hub, repo } = await world(t, {
    'a/fleet.yaml':
      'targetCustomizations:\n- {name: prod, clusterSelector: {matchLabels: {env: prod}}, keepResources: true}\n',
    'a/cm.yaml': cm('a', '1'),
  })
  await repo()
  const kept: Record<string, unknown> = {}
  for (const { metadata, spec } of (await hub.client.list(Assignment)).items) {
    for (const { set } of spec.entries) {
      const { options } = JSON.parse(new TextDecoder().decode(await hub.blobs.get(set))) as {
        options: { delete?: object }
      }
      kept[metadata.name] = options.delete
    }
  }
  assert.deepEqual(kept, { c1: { unplaced: 'Orphan', bundleDeleted: 'Orphan' }, c2: undefined })
})

test('a cluster is meant by its name in Fleet as soon as it has one', async (t) => {
  const { hub, repo, settle, delivered } = await world(t, { 'a.yaml': cm('a', '1') })
  await repo({ targets: [{ clusterName: 'berlin' }] })
  assert.deepEqual(await delivered(), {})
  const found = (await hub.find(Cluster, 'c2'))!
  await hub.client.update(Cluster, {
    ...found,
    spec: { ...found.spec, aliases: [{ dialect: 'fleet', name: 'fleet-default/berlin' }] },
  })
  await settle()
  assert.deepEqual(await delivered(), { c2: ['apps: default/a 1'] })
})

test('Secrets as Fleet’s users have them are sent to the server of the GitRepo, and to no other', async (t) => {
  const { hub, repo, settle, condition } = await world(t, {
    'a/fleet.yaml': 'helm: {repo: "https://charts.example.com/x", chart: c, version: 1.0.0}\n',
    'b/fleet.yaml': 'helm: {repo: "https://elsewhere.example.com/x", chart: c, version: 1.0.0}\n',
  })
  const secret = (name: string, type: string | undefined, annotations: Record<string, string> = {}) =>
    hub.create(
      build(
        Secret,
        `fleet-default/${name}`,
        { ...(type ? { type } : {}), data: { username: 'YW5h', password: 'cHc=' } },
        { annotations },
      ),
      Secret,
    )
  const urls = async (name: string) =>
    (await hub.find(Secret, `fleet-default/${name}`))?.metadata.annotations?.[URLS_ANNOTATION]
  const sent = (url: string) =>
    hub.fetches.findLast(({ spec }) => (spec.git?.url ?? spec.helm?.url) === url)?.credentials?.urls
  await secret('login', 'kubernetes.io/basic-auth')
  await secret('charts', 'Opaque')
  const spec = { clientSecretName: 'login', helmSecretName: 'charts', helmRepoURLRegex: 'https://charts[.]' }
  await repo(spec)
  assert.deepEqual(
    [await urls('login'), sent('https://git.example.com/apps')],
    ['https://git.example.com/', ['https://git.example.com/']],
  )
  assert.deepEqual(
    [await urls('charts'), sent('https://charts.example.com/x'), sent('https://elsewhere.example.com/x')],
    ['https://charts.example.com/', ['https://charts.example.com/'], undefined],
  )
  await repo({ repo: 'https://evil.example.com/apps', clientSecretName: 'login' }, 'evil')
  assert.equal(await urls('login'), 'https://git.example.com/', 'who came first decides')
  assert.deepEqual(sent('https://evil.example.com/apps'), ['https://git.example.com/'])
  assert.match(await condition('Ready', 'evil'), /^False GitUpdating: not for https:\/\/evil\.example\.com\/apps\./)

  await secret('own', 'kubernetes.io/basic-auth', { [URLS_ANNOTATION]: 'https://git.example.com/other/' })
  await secret('database', 'Opaque')
  await repo({ clientSecretName: 'own' }, 'owned')
  await repo({ clientSecretName: 'database' }, 'opaque')
  assert.deepEqual([await urls('own'), await urls('database')], ['https://git.example.com/other/', undefined])

  await repo({ repo: 'https://late.example.com/apps', clientSecretName: 'late' }, 'late')
  await secret('late', 'kubernetes.io/basic-auth')
  for (let round = 0; round < 12 && (await urls('late')) === undefined; round++) await settle()
  assert.equal(await urls('late'), 'https://late.example.com/', 'also a Secret that comes later')
})

const held =
  /^True (\w+): (.*) Let it through with: flotilla guard release gitrepo apps -n fleet-default \(token (\S+)\)$/

test('a commit that drops too many bundles waits, and its token is on the GitRepo', async (t) => {
  const files = (names: readonly string[]): Files =>
    Object.fromEntries(
      names.flatMap((name) => [
        [`${name}/fleet.yaml`, '{}'],
        [`${name}/cm.yaml`, cm(name, '1')],
      ]),
    )
  const { hub, repo, push, settle, condition } = await world(t, files(['a', 'b', 'c', 'd']))
  const bundles = async () =>
    (await hub.client.list(Bundle, { namespace: 'fleet-default' })).items.flatMap(({ metadata }) =>
      metadata.deletionTimestamp ? [] : [metadata.name],
    )
  const annotate = async (token: string) => {
    const found = (await hub.find(GitRepo, 'fleet-default/apps'))!
    const annotations = { ...found.metadata.annotations, 'flotilla.dev/release-drop': token }
    await hub.client.update(GitRepo, { ...found, metadata: { ...found.metadata, annotations } })
    await settle()
  }
  await repo()
  await push('c2', files(['a', 'b', 'c']))
  assert.deepEqual(await bundles(), ['apps-a', 'apps-b', 'apps-c'], 'one of them may go')
  assert.equal(await condition('Held'), '-')

  await push('c3', files(['a']))
  assert.deepEqual(await bundles(), ['apps-a', 'apps-b', 'apps-c'])
  const [, reason, words, token] = held.exec(await condition('Held')) ?? []
  assert.equal(reason, 'DropHeld')
  assert.equal(
    words,
    'The change would drop 2 of 3 bundles; at most 1 can be dropped at once. No longer in the repository: apps-b, apps-c.',
  )
  await annotate('g1-drop2-00000000')
  assert.deepEqual(await bundles(), ['apps-a', 'apps-b', 'apps-c'], 'a token of another change releases nothing')
  await annotate(token!)
  assert.deepEqual(await bundles(), ['apps-a'])
  assert.equal(await condition('Held'), '-')

  await push('c4', files(['z']))
  const [, , all, last] = held.exec(await condition('Held')) ?? []
  assert.match(all!, /would drop 1 of \d bundles\./)
  await annotate(last!)
  assert.deepEqual(await bundles(), ['apps-z'])
})

test('a GitRepo that would add too many bundles on clusters waits, and its token is on the GitRepo', async (t) => {
  const names = Array.from({ length: 501 }, (_, at) => `b${at}`)
  const { repo, edit, condition, bundles } = await world(
    t,
    Object.fromEntries(
      names.flatMap((name) => [[`${name}/cm.yaml`, cm(name, '1')] as const, [`${name}/fleet.yaml`, '{}']]),
    ),
  )
  await repo()
  assert.deepEqual(await bundles(), [], 'creation counts')
  const [, reason, words, token] = held.exec(await condition('Held')) ?? []
  assert.equal(reason, 'GrowthHeld')
  assert.match(words!, /^The change would add 1,002 bundles on clusters, and there is none yet/)
  assert.match(token!, /^g1-grow-/)
  assert.match(await condition('Ready'), /^False GrowthHeld: .*Nothing that is delivered is taken away/)
  await edit({ paths: ['b0', 'b1'] })
  assert.deepEqual(await bundles(), ['apps-b0', 'apps-b1'])
  assert.equal(await condition('Held'), '-')
})

test('plaintext Secrets of a repository are refused, allowed in words, and stay where clusters have them', async (t) => {
  const secret = (name: string) => `apiVersion: v1\nkind: Secret\nmetadata: {name: ${name}}\nstringData: {p: hunter2}\n`
  const { hub, repo, push, settle, condition } = await world(t, { 'db/fleet.yaml': '{}', 'db/s.yaml': secret('old') })
  const annotate = async (annotations: Record<string, string>) => {
    const found = (await hub.find(GitRepo, 'fleet-default/apps'))!
    await hub.client.update(GitRepo, { ...found, metadata: { ...found.metadata, annotations } })
    await settle()
  }
  const names = async () => {
    const { entries = [] } = (await hub.find(Assignment, 'c1'))?.spec ?? {}
    const sets = await Promise.all(entries.map(({ set }) => hub.blobs.get(set)))
    return sets.flatMap((bytes) => parseObjectSet(bytes!).objects.map(({ name }) => name))
  }
  const bundle = async (type: string) => {
    const found = (await hub.find(Bundle, 'fleet-default/apps-db'))?.status?.conditions?.find(
      (one) => one.type === type,
    )
    return `${found?.status} ${found?.reason}: ${found?.message}`
  }
  await repo()
  const words = /Secret old has its content \(p\) in the repository.*GitRepo.*flotilla\.dev\/secrets: Allow/
  assert.match(await condition('Ready'), words)
  assert.match(await bundle('Rendered'), /^False PlaintextSecret: Cannot render "db" of Source apps/)
  assert.deepEqual(await names(), [])

  await annotate({ 'flotilla.dev/secrets': 'Allow' })
  assert.deepEqual(await names(), ['old'])
  assert.match(await bundle('PlaintextSecret'), /^undefined/, 'what is allowed is no finding')

  await annotate({})
  await push('c2', { 'db/fleet.yaml': '{}', 'db/s.yaml': secret('old'), 'db/cm.yaml': cm('db', '1') })
  assert.deepEqual((await names()).sort(), ['db', 'old'], 'what clusters have stays, and the rest goes on')
  assert.match(
    await bundle('PlaintextSecret'),
    /^True AlreadyDelivered: 1 Secret is in the repository as plaintext: old\. Clusters already have them/,
  )

  await push('c3', {
    'db/fleet.yaml': '{}',
    'db/s.yaml': secret('old'),
    'db/t.yaml': secret('new'),
    'db/cm.yaml': cm('db', '1'),
  })
  assert.match(await bundle('Rendered'), /^False PlaintextSecret: .*Secret new has its content/)
  assert.deepEqual((await names()).sort(), ['db', 'old'])

  await push('c4', { 'db/fleet.yaml': '{}', 'db/cm.yaml': cm('db', '2') })
  assert.match(await bundle('PlaintextSecret'), /^False NoneFound/)
})

test('without clientSecretName there is gitcredential, where it may be sent', async (t) => {
  const { hub, repo } = await world(t, { 'a.yaml': cm('a', '1') })
  const data = { username: 'YW5h', password: 'cHc=' }
  const spec = { type: 'kubernetes.io/basic-auth', data }
  await hub.create(build(Secret, 'fleet-default/gitcredential', spec), Secret)
  await repo()
  await repo({ repo: 'https://public.example.com/apps' }, 'public')
  const used = async (name: string) => (await hub.find(Source, `fleet-default/${name}`))?.spec.credentials
  assert.deepEqual([await used('apps'), await used('public')], ['gitcredential', undefined])
})

test('a GitRepoRestriction gives defaults, freezes what it refuses, and lets it go on when it is gone', async (t) => {
  const { hub, repo, push, settle, delivered, condition } = await world(t)
  const limits = {
    defaultServiceAccount: 'shop',
    allowedServiceAccounts: ['shop'],
    allowedRepoPatterns: ['^https://git\\.'],
  }
  await hub.create(build(GitRepoRestriction, 'fleet-default/team', limits), GitRepoRestriction)
  await repo()
  const executorOf = async () => (await hub.find(Bundle, 'fleet-default/apps-web'))?.spec.executor?.name
  assert.equal(await executorOf(), 'shop')
  const before = await delivered()
  assert.equal(before['c2']?.length, 2)

  const found = await hub.client.get(GitRepoRestriction, { namespace: 'fleet-default', name: 'team' })
  await hub.client.update(GitRepoRestriction, { ...found, allowedRepoPatterns: ['^https://other\\.'] })
  await settle()
  assert.match(
    await condition('Ready'),
    /^False Restricted: GitRepoRestrictions \(team\) of the namespace have no entry in allowedRepoPatterns that matches spec\.repo/,
  )
  await push('c2', { ...FILES, 'web/cm.yaml': cm('web', '2'), 'web/overlays/prod/cm_patch.yaml': '{}' })
  assert.deepEqual(await delivered(), before)
  assert.equal((await hub.find(Source, 'fleet-default/apps'))?.spec.suspend, true)

  await hub.client.delete(GitRepoRestriction, { namespace: 'fleet-default', name: 'team' })
  await settle()
  assert.deepEqual((await delivered())['c2'], ['apps-db: default/db 1', 'apps-web: web/web 2'])
  assert.equal((await hub.find(Source, 'fleet-default/apps'))?.spec.suspend, false)
  assert.equal(await executorOf(), undefined)
})

test('a commit whose fleet.yaml names a ServiceAccount that no restriction lists changes nothing', async (t) => {
  const { hub, repo, push, delivered, condition } = await world(t)
  const limits = { allowedServiceAccounts: ['shop'] }
  await hub.create(build(GitRepoRestriction, 'fleet-default/team', limits), GitRepoRestriction)
  await repo({ serviceAccount: 'shop' })
  const before = await delivered()
  const custom = 'targetCustomizations:\n- {name: all, clusterSelector: {}, serviceAccount: root}\n'
  await push('c2', { ...FILES, 'db/fleet.yaml': custom })
  assert.match(await condition('Ready'), /do not list ServiceAccount root of Bundle apps-db in allowedServiceAccounts/)
  assert.deepEqual(await delivered(), before)
  assert.equal((await hub.find(GitRepo, 'fleet-default/apps'))?.spec['serviceAccount'], 'shop')
})
