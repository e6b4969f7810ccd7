/** flotilla diff in a repository of Rancher Fleet, against the controllers that compile its GitRepo. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { GitRepo } from '../../../dialects/fleet/kinds.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { storeFiles } from '../../../source/store-files.ts'
import { build, buildCluster } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { diff } from './diff.ts'

const URL = 'https://git.example.com/apps'
const cm = (name: string, value: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {v: "${value}"}\n`
const FILES = {
  'web/fleet.yaml': 'defaultNamespace: web\n',
  'web/cm.yaml': cm('web', '1'),
  'db/fleet.yaml': 'defaultNamespace: db\n',
  'db/cm.yaml': cm('db', '1'),
}

async function world(t: TestContext) {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-fleet-'))
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
  write(FILES)
  git('add', '.')
  git('commit', '--quiet', '-m', 'first')
  const commit = git('rev-parse', 'HEAD')
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  hub.serveSources(async ({ previous, spec }) => {
    if (previous?.commit === commit) return { kind: 'Same' }
    const bytes = new Map(Object.entries(FILES).map(([path, text]) => [path, utf8(text)]))
    const stored = await storeFiles(bytes, spec, hub.blobs)
    const artifact = { ...stored, revision: `main@sha1:${commit}`, commit, fetchedBytes: 1, from: URL }
    return { kind: 'New', artifact }
  })
  for (const name of ['c1', 'c2']) {
    await hub.create(buildCluster(name), Cluster)
    await hub.report(name, 'Ready')
  }
  const spec = { repo: URL, branch: 'main', targets: [{ clusterSelector: {} }] }
  await hub.create(build(GitRepo, 'fleet-default/apps', { spec }), GitRepo)
  for (let round = 0; round < 5; round++) {
    await hub.clock.advance(20_000)
    for (const name of ['c1', 'c2']) await hub.report(name, 'Ready')
  }
  const run = async () => {
    let out = ''
    const terminal = { data: (text: string) => void (out += text), say: () => {}, step: () => {} }
    const code = await diff({
      terminal,
      connection: { rest: hub.rest },
      flags: { filename: [root], root, summary: true },
    })
    return { out, code }
  }
  return { root, write, run, git }
}

test('fleet.yaml files are compiled as the hub compiles them', async (t) => {
  const { root, write, run, git } = await world(t)
  assert.deepEqual(await run(), { out: 'no differences\n', code: 0 })

  write({ 'web/cm.yaml': cm('web', '2') })
  const content = await run()
  assert.equal(content.code, 1)
  assert.match(content.out, /^bundle fleet-default\/apps-web .*\n +2 {2}change {2}ConfigMap web\/web: data\.v 1→2 /m)
  git('checkout', '--quiet', '.')

  write({ 'web/fleet.yaml': 'defaultNamespace: shop\n' })
  const moved = await run()
  assert.equal(moved.code, 1, 'a change of fleet.yaml alone is a change')
  assert.match(moved.out, /^bundle fleet-default\/apps-web .*\n +2 {2}change {2}.*ConfigMap shop\/web/m)
  git('checkout', '--quiet', '.')

  write({ 'api/fleet.yaml': '{}', 'api/cm.yaml': cm('api', '1') })
  assert.match(
    (await run()).out,
    /^bundle fleet-default\/apps-api \(new\) .* 2 clusters selected \(\+2 gained, -0 lost\)/m,
  )
  rmSync(join(root, 'api'), { recursive: true })

  rmSync(join(root, 'db'), { recursive: true })
  const removed = await run()
  assert.equal(removed.code, 1)
  assert.match(removed.out, /^bundle fleet-default\/apps-db .*-2 lost\)\n +2 {2}lost {2}1 object is removed /m)
  git('checkout', '--quiet', '.')

  write({ 'db/fleet.yaml': 'defaultNamespace: [1\n' })
  const broken = await run()
  assert.equal(broken.code, 2)
  assert.match(broken.out, /^bundle fleet-default\/apps-db .*\n {2}not compared: db\/fleet\.yaml/m)
})
