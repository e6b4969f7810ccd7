/** Sources on the real engine in virtual time: when they are asked, what their status says, and what it never loses. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { digestOf } from '../../core/crypto/digest.ts'
import { ConfigMap, Secret } from '../../kinds/builtin/core.ts'
import { Source } from '../../kinds/native/source.ts'
import type { FetchOutcome, FetchRequest } from '../../source/fetch-request.ts'
import { build } from '../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../testing/hub/controllers-home.ts'
import { POLL_ANNOTATION } from './reconcile.ts'

const URL = 'https://git.example.com/apps.git'

function fetched(commit: string): FetchOutcome {
  const artifact = {
    revision: `main@sha1:${commit}`,
    commit,
    digest: digestOf(commit),
    files: 2,
    bytes: 20,
    fetchedBytes: 9,
    from: URL,
  }
  return { kind: 'New', artifact }
}

async function world(t: TestContext) {
  const hub = await startControllersHome()
  t.after(() => hub.close())
  let tip: FetchOutcome | ((request: FetchRequest) => FetchOutcome | Promise<FetchOutcome>) = fetched('c1')
  hub.serveSources(async (request) => {
    const outcome = typeof tip === 'function' ? await tip(request) : tip
    const isSame = outcome.kind === 'New' && outcome.artifact.commit === request.previous?.commit
    return isSame ? { kind: 'Same' } : outcome
  })
  const create = (name = 'apps', spec: Partial<Source['spec']> = {}) =>
    hub.create(build(Source, `default/${name}`, { spec: { git: { url: URL }, interval: '1m', ...spec } }), Source)
  const source = async (name = 'apps') => (await hub.find(Source, `default/${name}`))!
  const condition = async (type: string, name = 'apps') => {
    const found = (await source(name)).status?.conditions?.find((one) => one.type === type)
    return found ? `${found.status} ${found.reason}: ${found.message}` : '-'
  }
  const edit = async (change: (source: Source) => void, name = 'apps') => {
    const next = structuredClone(await source(name))
    change(next)
    await hub.client.update(Source, next)
    await hub.clock.advance(100)
  }
  return { hub, create, source, condition, edit, serve: (next: typeof tip) => (tip = next) }
}

test('a source is fetched at once, then asked about once a minute; nothing is written while nothing changes', async (t) => {
  const { hub, create, source, condition } = await world(t)
  await create()
  await hub.clock.advance(100)
  assert.equal(await condition('Ready'), 'True Fetched: main@sha1:c1 is stored: 2 files.')
  const { artifact } = (await source()).status!
  assert.deepEqual([artifact?.commit, artifact?.bytes, artifact?.from], ['c1', 20, URL])
  hub.writes.length = 0
  const before = hub.fetches.length
  await hub.clock.advance(600_000)
  const asked = hub.fetches.length - before
  assert.ok(asked >= 8 && asked <= 12, `${asked} questions in ten minutes`)
  assert.deepEqual(hub.writes, [])
})

test('failures are shown, waited out, and take nothing away; a restart neither', async (t) => {
  const { hub, create, source, condition, serve } = await world(t)
  await create()
  await hub.clock.advance(100)
  serve({ kind: 'Failed', reason: 'HostNotFound', message: 'The name of the host is not known.', retry: true })
  await hub.clock.advance(120_000)
  assert.equal(
    await condition('Ready'),
    'False HostNotFound: The name of the host is not known. Bundles go on with main@sha1:c1.',
  )
  hub.writes.length = 0
  const before = hub.fetches.length
  await hub.clock.advance(3_600_000)
  assert.ok(hub.fetches.length - before < 15, `${hub.fetches.length - before} questions to a dead host in an hour`)
  assert.deepEqual(hub.writes, [], 'the same failure is said once')
  await hub.restart()
  await hub.clock.advance(20_000)
  assert.equal((await source()).status?.artifact?.commit, 'c1')
  serve(fetched('c2'))
  await hub.clock.advance(1_300_000)
  assert.equal(await condition('Ready'), 'True Fetched: main@sha1:c2 is stored: 2 files.')
})

test('a rewritten history is held, with the way to release it', async (t) => {
  const { hub, create, source, condition, edit, serve } = await world(t)
  await create()
  await hub.clock.advance(100)
  const message = 'main is at c9 now, which does not descend from c1'
  serve(({ spec }) =>
    spec.accept === 'c9'
      ? fetched('c9')
      : { kind: 'Held', revision: 'main@sha1:c9', reason: 'HistoryRewritten', message },
  )
  await hub.clock.advance(120_000)
  const words = `HistoryRewritten: ${message}. Bundles go on with main@sha1:c1. To take it: flotilla source accept apps, or set spec.accept to c9.`
  assert.equal(await condition('Ready'), `False ${words}`)
  assert.equal(await condition('Held'), `True ${words}`)
  const { held, artifact } = (await source()).status!
  assert.deepEqual([held?.accept, artifact?.commit], ['c9', 'c1'])
  await edit((next) => (next.spec.accept = 'c9'))
  assert.equal(await condition('Ready'), 'True Fetched: main@sha1:c9 is stored: 2 files.')
  assert.equal(await condition('Held'), '-')
  assert.equal((await source()).status?.held, undefined)
})

test('suspended sources are not fetched; a hint fetches at once', async (t) => {
  const { hub, create, condition, edit, source } = await world(t)
  await create()
  await hub.clock.advance(100)
  await edit((next) => (next.spec.suspend = true))
  const before = hub.fetches.length
  await hub.clock.advance(600_000)
  assert.equal(hub.fetches.length, before)
  assert.match(
    await condition('Ready'),
    /^True Suspended: spec\.suspend is true, so the Source is not fetched\. Bundles go on with main@sha1:c1\.$/,
  )
  await edit((next) => (next.spec.suspend = false))
  assert.equal(hub.fetches.length, before + 1)
  await edit((next) => (next.metadata.annotations = { [POLL_ANNOTATION]: 'now' }))
  assert.equal(hub.fetches.length, before + 2)
  assert.equal(hub.fetches.at(-1)?.isHinted, true)
  assert.equal((await source()).status?.hint, 'now')
  await hub.clock.advance(1000)
  assert.equal(hub.fetches.length, before + 2, 'a hint is served once')
})

test('a server that never answers delays only its own sources', async (t) => {
  const { hub, create, condition, serve } = await world(t)
  serve(({ spec }) => (spec.git!.url.includes('dead') ? new Promise<FetchOutcome>(() => {}) : fetched('c1')))
  for (let n = 0; n < 30; n++) await create(`dead-${n}`, { git: { url: `https://dead.example.com/${n}` } })
  await create('alive')
  await hub.clock.advance(1000)
  assert.match(await condition('Ready', 'alive'), /^True Fetched/)
  assert.equal(await condition('Ready', 'dead-1'), 'Unknown Fetching: The first fetch is on its way.')
})

test('credentials and mirrors come from their objects; what is wrong with them is said', async (t) => {
  const { hub, create, condition, edit } = await world(t)
  await create('apps', { credentials: 'git' })
  await hub.clock.advance(100)
  assert.equal(
    await condition('Ready'),
    'False SecretNotFound: spec.credentials names Secret git, which does not exist. There is no artifact yet.',
  )
  const data = { username: 'YW5h', password: 'cHc=' }
  await hub.create(
    build(Secret, 'default/git', { data }, { annotations: { 'flotilla.dev/urls': 'https://git.example.com/' } }),
    Secret,
  )
  const mirrors = build(ConfigMap, 'flotilla-system/source-mirrors', {
    data: { 'mirrors.yaml': '- {from: "https://github.com/", to: "https://mirror.example.com/gh/"}\n' },
  })
  await hub.create(mirrors, ConfigMap)
  await edit((next) => (next.metadata.annotations = { [POLL_ANNOTATION]: '1' }))
  const asked = hub.fetches.at(-1)!
  assert.deepEqual(asked.credentials, {
    secret: 'default/git',
    urls: ['https://git.example.com/'],
    username: 'ana',
    password: 'pw',
  })
  assert.deepEqual(asked.mirrors, [{ from: 'https://github.com/', to: 'https://mirror.example.com/gh/' }])
  const found = await hub.client.get(ConfigMap, { namespace: 'flotilla-system', name: 'source-mirrors' })
  await hub.client.update(ConfigMap, { ...found, data: { 'mirrors.yaml': '- {from: "https://github.com/"}\n' } })
  await edit((next) => (next.metadata.annotations = { [POLL_ANNOTATION]: '2' }))
  assert.match(await condition('Ready'), /^False BadMirrors: mirrors\.yaml: rule 1 needs "from" and "to"/)
})

test('keys of ssh servers that the hub knows serve Secrets that have none', async (t) => {
  const { hub, create } = await world(t)
  const key = Buffer.from('k').toString('base64')
  await hub.create(build(Secret, 'default/plain', { data: { 'ssh-privatekey': key } }), Secret)
  await hub.create(build(Secret, 'default/whole', { data: { 'ssh-privatekey': key, known_hosts: key } }), Secret)
  const known = build(ConfigMap, 'flotilla-system/source-known-hosts', { data: { known_hosts: 'host ssh-ed25519 A' } })
  await hub.create(known, ConfigMap)
  await create('plain', { credentials: 'plain' })
  await create('whole', { credentials: 'whole' })
  await hub.clock.advance(100)
  const hosts = (secret: string) =>
    hub.fetches.find(({ credentials }) => credentials?.secret === `default/${secret}`)?.credentials?.knownHosts
  assert.deepEqual([hosts('plain'), hosts('whole')], ['host ssh-ed25519 A', 'k'])
})

test('content that was refused is not fetched again until it changes', async (t) => {
  const { hub, create, condition, serve } = await world(t)
  const failure: FetchOutcome = {
    kind: 'Failed',
    reason: 'FileTooLarge',
    message: '"x" is too large.',
    retry: false,
    commit: 'c1',
  }
  serve(failure)
  await create()
  await hub.clock.advance(180_000)
  assert.match(await condition('Stalled'), /^True FileTooLarge: "x" is too large\. There is no artifact yet\./)
  assert.deepEqual(hub.fetches.at(-1)?.refused, failure)
  serve(fetched('c2'))
  await hub.clock.advance(120_000)
  assert.match(await condition('Ready'), /^True Fetched/)
  assert.equal(await condition('Stalled'), '-')
})

test('a fetch that was interrupted is tried again alone, and each time it takes more of them to be trusted again', async (t) => {
  const { hub, create, condition, serve } = await world(t)
  let interruptions = 1
  serve(({ isAlone }) => {
    if (isAlone || interruptions === 0) return fetched('c1')
    interruptions -= 1
    return { kind: 'Interrupted' }
  })
  await create()
  await hub.clock.advance(100)
  assert.match(await condition('Ready'), /^True Fetched/)
  const alone = () => hub.fetches.map(({ isAlone }) => (isAlone ? 'alone' : 'shared')).join(' ')
  assert.equal(alone(), 'shared alone')
  await hub.clock.advance(70_000)
  assert.equal(alone(), 'shared alone shared')
  interruptions = 1
  await hub.clock.advance(70_000)
  assert.equal(alone(), 'shared alone shared shared alone')
  await hub.clock.advance(140_000)
  assert.equal(alone(), 'shared alone shared shared alone alone shared')
})

test('a source whose fetch had to be stopped says so and is tried alone and seldom, also after a restart of the hub', async (t) => {
  const { hub, create, condition, edit, serve } = await world(t)
  const message = 'The hub stopped the fetch because it did not end within 80 s.'
  serve(({ spec, isAlone }) => {
    if (!spec.git!.url.includes('poison')) return fetched('c1')
    return isAlone ? { kind: 'Failed', reason: 'FetchStopped', message, retry: true } : { kind: 'Interrupted' }
  })
  const poison = 'https://poison.example.com/a.git'
  const asked = () => hub.fetches.filter(({ spec }) => spec.git!.url === poison)
  await create('poison', { git: { url: poison } })
  await create()
  await hub.clock.advance(1000)
  assert.match(await condition('Ready'), /^True Fetched/)
  assert.equal(await condition('Ready', 'poison'), `False FetchStopped: ${message} There is no artifact yet.`)
  assert.equal(await condition('Stalled', 'poison'), '-')
  const first = asked().length
  await hub.clock.advance(3_600_000)
  const tries = asked().length - first
  assert.ok(tries >= 3 && tries <= 5, `${tries} tries in an hour`)

  const [before, all] = [asked().length, hub.fetches.length]
  await hub.restart()
  await hub.clock.advance(230_000)
  assert.equal(asked().length, before, 'the others come first')
  assert.ok(hub.fetches.length > all)
  await hub.clock.advance(80_000)
  assert.equal(asked().length, before + 1)
  await edit((next) => (next.metadata.annotations = { [POLL_ANNOTATION]: 'now' }), 'poison')
  assert.equal(asked().length, before + 2, 'a person may ask at once')
  assert.deepEqual(
    asked().map(({ isAlone }) => isAlone ?? false),
    [
      false,
      ...asked()
        .slice(1)
        .map(() => true),
    ],
    'it is with the others once and never again',
  )

  serve(fetched('c2'))
  await edit((next) => (next.metadata.annotations = { [POLL_ANNOTATION]: 'again' }), 'poison')
  assert.match(await condition('Ready', 'poison'), /^True Fetched/)
  await hub.clock.advance(120_000)
  assert.equal(asked().at(-1)?.isAlone, undefined, 'what was put right is fetched with the others again')
})
