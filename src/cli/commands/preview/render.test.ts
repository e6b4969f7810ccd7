/** flotilla render on files of a temporary directory. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { CliError } from '../../errors/cli-error.ts'
import { render } from './render.ts'
import type { RenderFlags } from './render.ts'

const BUNDLE = `apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: pos, namespace: shop}
spec:
  placement: stores
  source: {name: apps, path: pos}
  helm: {values: {tills: 1, color: red}}
  variants:
  - {name: prod, clusterSelector: {matchLabels: {env: prod}}, helm: {values: {tills: 3}}}
`

async function run(t: TestContext, flags: Partial<RenderFlags>, more = '', bundle = BUNDLE) {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-render-'))
  t.after(() => rmSync(root, { recursive: true }))
  const files = {
    'bundle.yaml': `${bundle}${more}`,
    'pos/Chart.yaml': 'apiVersion: v2\nname: pos\nversion: 1.0.0\n',
    'pos/templates/cm.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: pos}\ndata: {v: "{{ .Values.tills }} {{ .Values.color }}"}\n',
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  let out = ''
  let err = ''
  const terminal = { data: (text: string) => void (out += text), say: (text: string) => void (err += `${text}\n`) }
  await render({
    terminal,
    stdin: (async function* () {})(),
    connect: async () => assert.fail('the hub was asked'),
    flags: { filename: [join(root, 'bundle.yaml')], root, ...flags },
  })
  return { out, err }
}

test('the objects of a cluster, and where each value came from', async (t) => {
  const { out, err } = await run(t, { label: ['env=prod'], explain: true })
  assert.equal(
    out,
    '---\napiVersion: v1\ndata:\n  v: 3 red\nkind: ConfigMap\nmetadata:\n  name: pos\n  namespace: default\n',
  )
  assert.equal(
    err,
    'cluster example, style Helm\n  value color: from bundle\n  value tills: from variant prod\n  read labels.env: prod\n',
  )
  assert.equal((await run(t, { output: 'name', label: ['env=dev'] })).out, 'v1 ConfigMap default/pos\n')
  const two = await run(t, { label: ['region=eu,env=prod'], explain: true })
  assert.equal(two.out, out, 'one flag takes several labels, as kubectl does')
})

test('values of Secrets are not shown', async (t) => {
  const more = `---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: db, namespace: shop}
spec:
  placement: stores
  manifests: |
    {apiVersion: v1, kind: Secret, metadata: {name: db}, stringData: {password: "\${ .Inputs.db.p }"}}
  templating: Enabled
  inputs: [{name: db, secret: {name: of-hub}}]
---
apiVersion: v1
kind: Secret
metadata: {name: of-hub, namespace: shop}
stringData: {p: hunter2}
`
  for (const output of ['yaml', 'json'] as const) {
    const { out, err } = await run(t, { bundle: 'db', output }, more)
    assert.match(out, /password"?: ['"]?\[sealed\]/)
    assert.ok(!out.includes('hunter2') && !out.includes('aHVudGVyMg'))
    assert.equal(err, 'the values of 1 Secret are not shown\n')
  }
})

test('clusters and overrides from files; mistakes are reported as errors', async (t) => {
  const more = `---
apiVersion: flotilla.dev/v1alpha1
kind: Cluster
metadata: {name: s1, labels: {env: prod}}
spec: {id: c-1, identityKey: x, sealingKey: x}
---
apiVersion: flotilla.dev/v1alpha1
kind: Override
metadata: {name: hot, namespace: shop}
spec: {bundle: pos, clusters: [s1], helm: {values: {color: blue}}, owner: ana, reason: x}
`
  assert.match((await run(t, { cluster: 's1' }, more)).out, /v: 3 blue/)
  const report = async (flags: Partial<RenderFlags>) => {
    try {
      await run(t, flags)
      return assert.fail('it was not refused')
    } catch (error) {
      assert.ok(error instanceof CliError)
      return error.report
    }
  }
  assert.deepEqual(await report({ bundle: 'x' }), {
    what: 'no such Bundle in the files',
    why: 'the files have pos',
    todo: 'give a file with a Bundle with -f FILE, and choose one of several with --bundle NAME',
  })
  assert.deepEqual(await report({ label: ['env'] }), {
    what: 'invalid --label "env": must be KEY=VALUE, or several with commas',
  })
})

test('a GitRepo of Rancher Fleet is rendered as its directories say', async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-render-'))
  t.after(() => rmSync(root, { recursive: true }))
  const files = {
    'gitrepo.yaml':
      'apiVersion: fleet.cattle.io/v1alpha1\nkind: GitRepo\nmetadata: {name: apps, namespace: fleet-default}\nspec: {repo: "https://git.example.com/apps", paths: [apps]}\n',
    'apps/web/fleet.yaml':
      'defaultNamespce: web\ntargetCustomizations:\n- {name: prod, clusterSelector: {matchLabels: {env: prod}}, namespace: prod}\n',
    'apps/web/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n',
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  let out = ''
  let err = ''
  await render({
    terminal: { data: (text: string) => void (out += text), say: (text: string) => void (err += `${text}\n`) },
    stdin: (async function* () {})(),
    connect: async () => assert.fail('the hub was asked'),
    flags: { filename: [join(root, 'gitrepo.yaml')], root, label: ['env=prod'], output: 'name' },
  })
  assert.equal(out, 'v1 ConfigMap prod/web\n')
  assert.equal(
    err,
    'apps/web/fleet.yaml:1: defaultNamespce is no field of Fleet and has no effect; did you mean "defaultNamespace"?\n',
  )
})

test('what a cluster renders is shown with the objects of the files for those of the cluster', async (t) => {
  const inCluster = BUNDLE.replace('helm: {', 'render: {at: Agent}\n  helm: {valuesFrom: [{kind: Secret, name: db}], ')
  const secret = '---\napiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {values.yaml: "color: blue"}\n'
  const { out, err } = await run(t, { label: ['env=prod'], explain: true }, secret, inCluster)
  assert.match(out, /v: 3 blue/)
  assert.match(err, /the agent renders this Bundle in the cluster/)
  assert.match(
    err,
    /value \(all of Secret db, key values\.yaml\): from Secret db, key values\.yaml, read in the cluster, which bundle names/,
  )
  await assert.rejects(run(t, { label: ['env=prod'] }, '', inCluster), (caught) => {
    assert.ok(caught instanceof CliError)
    assert.equal(caught.report.what, 'helm.valuesFrom: key values.yaml of Secret default/db is not in the files')
    return true
  })
})
