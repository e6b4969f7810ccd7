/** The words of Fleet's command, as scripts use them. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import { isObject } from '../../../core/json.ts'
import type { FleetBundle } from '../../../dialects/fleet/kinds.ts'
import { FleetBundle as FleetBundleKind } from '../../../dialects/fleet/kinds.ts'
import { ClusterRegistration } from '../../../dialects/fleet/registration-kinds.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { startControllersHome } from '../../../testing/hub/controllers-home.ts'
import { readYaml } from '../../../yaml/read/read-yaml.ts'
import { CliError } from '../../errors/cli-error.ts'
import { fleetApply, fleetCleanup, fleetDeploy, fleetTarget, fleetTest } from './fleet.ts'
import type { FleetFlags, FleetInput } from './fleet.ts'

const CM = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\ndata: {v: "${value}"}\n`
const TREE = {
  'web/fleet.yaml':
    'defaultNamespace: shop\nlabels: {team: a}\ntargetCustomizations:\n- {name: prod, clusterSelector: {matchLabels: {env: prod}}, helm: {values: {count: 3}}}\nhelm: {values: {count: 1}, valuesFiles: [more.yaml]}\n',
  'web/more.yaml': 'from: file\n',
  'web/Chart.yaml': 'apiVersion: v2\nname: web\nversion: 1.0.0\n',
  'web/templates/cm.yaml': CM('{{ .Values.count }} {{ .Values.from }}'),
  'db/cm.yaml': CM('db'),
  'targets.yaml': 'targets:\n- {name: all, clusterSelector: {}}\n',
}

function world(t: TestContext, tree: Record<string, string> = TREE) {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-fleet-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(tree)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const at = (path: string) => join(root, path)
  const run = async (
    command: (input: FleetInput) => Promise<void>,
    flags: FleetFlags,
    connect: FleetInput['connect'] = async () => assert.fail('the hub was asked'),
  ) => {
    let out = ''
    let err = ''
    const note = (text: string) => void (err += `${text}\n`)
    const terminal = {
      data: (text: string) => void (out += text),
      say: note,
      step: (_kind: string, text: string) => note(text),
    }
    const stdin = (async function* () {
      yield utf8('')
    })()
    await command({ terminal, stdin, connect, flags })
    return { out, err }
  }
  return { at, run }
}

const objectsOf = (text: string) =>
  readYaml(text)
    .map(({ value }) => value)
    .filter(isObject) as UnknownObject[]

test('apply -o prints one Bundle per directory, with its files and settings, and test reads it back', async (t) => {
  const { at, run } = world(t)
  const paths = [at('web'), at('db')]
  const { out } = await run((input) => fleetApply(['shop', ...paths], input), {
    output: '-',
    targetsFile: at('targets.yaml'),
    commit: 'abc',
    correctDrift: true,
  })
  const bundles = objectsOf(out) as (UnknownObject & Pick<FleetBundle, 'spec'>)[]
  assert.deepEqual(
    bundles.map(({ metadata }) => metadata.name),
    ['shop-web', 'shop-db'],
  )
  const [web] = bundles
  assert.deepEqual(web?.metadata.labels, { team: 'a', 'fleet.cattle.io/commit': 'abc' })
  assert.deepEqual(
    (web.spec['resources'] as { name: string }[]).map(({ name }) => name),
    ['Chart.yaml', 'more.yaml', 'templates/cm.yaml'],
  )
  assert.deepEqual(web?.spec['helm'], { values: { count: 1, from: 'file' } })
  assert.deepEqual(
    (web.spec['targets'] as { name: string }[]).map(({ name }) => name),
    ['prod', 'all'],
  )
  assert.deepEqual(web?.spec['targetRestrictions'], [{ name: 'all', clusterSelector: {} }])
  assert.deepEqual(web?.spec['correctDrift'], { enabled: true })

  await run((input) => fleetApply(['shop', ...paths], input), { output: at('b.yaml'), targetsFile: at('targets.yaml') })
  assert.equal(objectsOf(readFileSync(at('b.yaml'), 'utf8')).length, 2)
  const valuesFor = async (flags: FleetFlags) =>
    objectsOf((await run((input) => fleetTest([], input), { bundleFile: at('b.yaml'), ...flags })).out).map(
      (one) => (one['data'] as { v: string }).v,
    )
  assert.deepEqual(await valuesFor({ label: ['env=prod'] }), ['3 file', 'db'])
  assert.deepEqual(await valuesFor({ label: ['env=dev'] }), ['1 file', 'db'])
})

test('test renders a directory for a cluster, a group or a target, and fails when none selects it', async (t) => {
  const { at, run } = world(t)
  const render = async (flags: FleetFlags) => (await run((input) => fleetTest([at('web')], input), flags)).out
  assert.match(await render({ group: 'default', label: ['env=prod'] }), /v: 3 file/)
  assert.match(await render({ target: 'prod' }), /v: 3 file/)
  await assert.rejects(render({ label: ['env=prod'] }), /no match found/)
  await assert.rejects(render({ target: 'nope' }), /no target nope/)
  await assert.rejects(render({ label: ['env'] }), /invalid --label "env": must be KEY=VALUE/)
  await assert.rejects(
    run((input) => fleetTest([at('nowhere')], input), {}),
    /nowhere is not a directory/,
  )
})

test('target prints a BundleDeployment for each cluster of files that is selected', async (t) => {
  const { at, run } = world(t)
  const bundle = {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Bundle',
    metadata: { name: 'web', namespace: 'ws' },
    spec: {
      resources: [{ name: 'cm.yaml', content: CM('x') }],
      targets: [
        { clusterName: 'c3', doNotDeploy: true },
        { name: 'g', clusterGroup: 'prod' },
      ],
    },
  }
  const cluster = (name: string, namespace: string, env: string) => ({
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, namespace, labels: { env } },
  })
  const group = {
    apiVersion: 'fleet.cattle.io/v1alpha1',
    kind: 'ClusterGroup',
    metadata: { name: 'prod', namespace: 'ws' },
    spec: { selector: { matchLabels: { env: 'prod' } } },
  }
  writeFileSync(at('bundle.json'), JSON.stringify(bundle))
  const clusters = [cluster('c1', 'ws', 'prod'), cluster('c2', 'ws', 'dev'), cluster('c3', 'ws', 'prod')]
  const items = [...clusters, cluster('c4', 'other', 'prod'), group]
  writeFileSync(at('clusters.json'), JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))
  const { out, err } = await run(fleetTarget, { bundleFile: at('bundle.json'), filename: [at('clusters.json')] })
  const found = objectsOf(out)
  assert.deepEqual(
    found.map(({ kind, metadata }) => `${kind} ${metadata.namespace} ${metadata.name}`),
    ['BundleDeployment ws web.c1'],
  )
  assert.match(err, /1 cluster selected/)
  await assert.rejects(run(fleetTarget, { bundleFile: at('clusters.json') }), /has no Bundle of fleet.cattle.io/)
})

test('apply writes Bundles to the hub as a user of the workspace, cleanup deletes requests, deploy is refused', async (t) => {
  const hub = await startControllersHome(['fleet'])
  t.after(() => hub.close())
  const { at, run } = world(t)
  const connect = async () => ({ rest: hub.rest, namespace: 'default' })
  const { out } = await run((input) => fleetApply(['shop', at('db')], input), {}, connect)
  assert.match(out, /^bundle\.fleet\.cattle\.io\/shop-db serverside-applied\n$/)
  assert.equal((await hub.find(FleetBundleKind, 'fleet-default/shop-db'))?.metadata.name, 'shop-db')
  for (const name of ['a', 'b'])
    await hub.create(build(ClusterRegistration, `fleet-default/${name}`, { spec: {} }), ClusterRegistration)
  const cleaned = await run((input) => fleetCleanup('clusterregistration', input), {}, connect)
  assert.equal(cleaned.out.split('\n').length, 3)
  assert.deepEqual((await hub.client.list(ClusterRegistration)).items, [])
  assert.match((await run((input) => fleetCleanup('gitjob', input), {})).err, /nothing to clean up/)
  assert.throws(fleetDeploy, (error) => error instanceof CliError && /not supported/.test(error.report.what))
})
