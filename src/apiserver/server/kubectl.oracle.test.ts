import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, it } from 'node:test'
import { kubeconfigOf, startApiHome } from '../../testing/control-plane/embedded-api.ts'
import type { ApiHome } from '../../testing/control-plane/embedded-api.ts'
import { needBinary } from '../../testing/testenv.ts'

describe('the real kubectl against our server', { timeout: 120_000 }, () => {
  let home: ApiHome
  let folder: string

  before(async () => {
    home = await startApiHome()
    folder = await mkdtemp(join(tmpdir(), 'flotilla-kubectl-'))
    await writeFile(join(folder, 'kubeconfig'), home.kubeconfig)
    await file('ns.yaml', 'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n')
    assert.equal((await kubectl('apply', '-f', 'ns.yaml')).out, 'namespace/shop created\n')
  })
  after(async () => {
    await home?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  const file = (name: string, text: string) => writeFile(join(folder, name), text)
  const argumentsOf = (args: readonly string[]) => [
    '--kubeconfig',
    join(folder, 'kubeconfig'),
    '--cache-dir',
    join(folder, 'cache'),
    ...args,
  ]

  interface Outcome {
    readonly code: number
    readonly out: string
    readonly err: string
  }

  function kubectl(...args: readonly string[]): Promise<Outcome> {
    return new Promise((resolve) => {
      execFile(needBinary('kubectl'), argumentsOf(args), { cwd: folder, timeout: 60_000 }, (error, out, err) => {
        resolve({ code: error ? Number(error.code ?? 1) : 0, out, err })
      })
    })
  }

  async function ok(...args: readonly string[]): Promise<string> {
    const { code, out, err } = await kubectl(...args)
    assert.equal(code, 0, `kubectl ${args.join(' ')}: ${err}${out}`)
    return out
  }

  /** Waits for something other processes do; the deadline only ends a test that would hang. */
  async function until(what: string, isTrue: () => boolean | Promise<boolean>): Promise<void> {
    for (let tries = 0; tries < 400; tries += 1) {
      if (await isTrue()) return
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    assert.fail(`gave up waiting: ${what}`)
  }

  const bundle = (placement: string, extra = '') =>
    `apiVersion: flotilla.dev/v1alpha1\nkind: Bundle\nmetadata: {name: web, namespace: shop${extra}}\n` +
    `spec:\n  manifests: |\n    apiVersion: v1\n    kind: ConfigMap\n    metadata: {name: a}\n  placement: ${placement}\n`

  it('version, api-resources, get --raw', async () => {
    assert.match(await ok('version'), /Server Version: v1\.\d+\.0\+flotilla/)
    const resources = await ok('api-resources')
    assert.match(resources, /^bundles +\w+ +flotilla\.dev\/v1alpha1 +true +Bundle$/m)
    assert.match(resources, /^configmaps +cm +v1 +true +ConfigMap$/m)
    assert.match(await ok('api-resources', '--categories', 'flotilla', '-o', 'name'), /^clusters\.flotilla\.dev$/m)
    assert.equal(await ok('get', '--raw', '/readyz'), 'ok')
  })

  it('explain', async () => {
    const text = await ok('explain', 'bundle.spec')
    assert.match(text, /KIND: +Bundle/)
    assert.match(text, /placement\t<string> -required-/)
    assert.match(await ok('explain', 'rollouts', '--recursive'), /admissions\t<\[\]Object>/)
  })

  it('apply, get in every form, apply again, prune of dropped fields', async () => {
    await file('bundle.yaml', bundle('p', ', labels: {tier: front, old: x}'))
    assert.equal(await ok('apply', '-f', 'bundle.yaml'), 'bundle.flotilla.dev/web created\n')
    assert.equal(await ok('apply', '-f', 'bundle.yaml'), 'bundle.flotilla.dev/web unchanged\n')
    assert.match(await ok('-n', 'shop', 'get', 'bundles'), /^NAME .* AGE\nweb /)
    assert.match(await ok('-n', 'shop', 'get', 'bundles', '-o', 'wide'), /^NAME /)
    assert.match(await ok('get', 'bundles', '-A'), /^NAMESPACE +NAME /)
    assert.match(await ok('-n', 'shop', 'get', 'bundle', 'web', '-o', 'yaml'), /^ {2}placement: p$/m)
    assert.equal(await ok('-n', 'shop', 'get', 'bundle', 'web', '-o', 'jsonpath={.spec.placement}'), 'p')
    const columns = ['-o', 'custom-columns=N:.metadata.name,P:.spec.placement', '--no-headers']
    assert.match(await ok('-n', 'shop', 'get', 'bundles', ...columns), /^web +p$/m)
    assert.match(
      await ok('-n', 'shop', 'get', 'bundles', '-l', 'tier=front', '-o', 'name'),
      /bundle\.flotilla\.dev\/web/,
    )
    await file('bundle.yaml', bundle('q', ', labels: {tier: front}'))
    assert.match((await kubectl('diff', '-f', 'bundle.yaml')).out, /^\+ {2}placement: q$/m)
    assert.equal(await ok('apply', '-f', 'bundle.yaml'), 'bundle.flotilla.dev/web configured\n')
    assert.equal(
      await ok('-n', 'shop', 'get', 'bundle', 'web', '-o', 'jsonpath={.metadata.labels}'),
      '{"tier":"front"}',
    )
  })

  it('an invalid object is refused in the words kubectl users know', async () => {
    await file('bad.yaml', bundle('p').replace('placement: p', 'plaement: p'))
    const strict = await kubectl('apply', '-f', 'bad.yaml')
    assert.equal(strict.code, 1)
    assert.match(strict.err, /unknown field "spec\.plaement"/)
    const invalid = await kubectl(
      'apply',
      '--validate=ignore',
      '-f',
      'bad.yaml',
      '-n',
      'shop',
      '--server-side',
      '--force-conflicts',
    )
    assert.equal(invalid.code, 1)
    assert.match(invalid.err, /Kind=Bundle\): \.spec\.plaement: field not declared in schema/)
    await file('new.yaml', bundle('p').replace('name: web', 'name: new').replace('placement: p', 'plaement: p'))
    const missing = await kubectl('create', '--validate=ignore', '-f', 'new.yaml')
    assert.match(missing.err, /The Bundle "new" is invalid: spec\.placement: Required value/)
  })

  it('server-side apply with conflicts', async () => {
    const map = (value: string) =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: shop}\ndata: {k: "${value}"}\n`
    await file('map.yaml', map('1'))
    assert.equal(await ok('apply', '--server-side', '-f', 'map.yaml'), 'configmap/c serverside-applied\n')
    await file('map.yaml', map('2'))
    const conflict = await kubectl('apply', '--server-side', '--field-manager=other', '-f', 'map.yaml')
    assert.equal(conflict.code, 1)
    assert.match(conflict.err, /Apply failed with 1 conflict: conflict with "kubectl": \.data\.k/)
    await ok('apply', '--server-side', '--field-manager=other', '--force-conflicts', '-f', 'map.yaml')
    assert.equal(await ok('-n', 'shop', 'get', 'cm', 'c', '-o', 'jsonpath={.data.k}'), '2')
  })

  it('label, annotate, patch in all types, edit of a Deployment', async () => {
    await file(
      'deploy.yaml',
      `apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: shop}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: c, image: "c:1", ports: [{containerPort: 80}]}]}
`,
    )
    assert.equal(await ok('apply', '-f', 'deploy.yaml'), 'deployment.apps/d created\n')
    assert.equal(await ok('apply', '-f', 'deploy.yaml'), 'deployment.apps/d unchanged\n')
    assert.equal(await ok('-n', 'shop', 'label', 'deploy/d', 'x=y'), 'deployment.apps/d labeled\n')
    assert.equal(await ok('-n', 'shop', 'annotate', 'deploy/d', 'n=1'), 'deployment.apps/d annotated\n')
    await ok('-n', 'shop', 'set', 'image', 'deploy/d', 'c=c:2')
    await ok(
      '-n',
      'shop',
      'patch',
      'deploy',
      'd',
      '--type=json',
      '-p',
      '[{"op":"replace","path":"/spec/replicas","value":2}]',
    )
    await ok('-n', 'shop', 'patch', 'deploy', 'd', '--type=merge', '-p', '{"spec":{"paused":true}}')
    await ok(
      '-n',
      'shop',
      'patch',
      'deploy',
      'd',
      '-p',
      '{"spec":{"template":{"spec":{"containers":[{"name":"e","image":"e:1"}]}}}}',
    )
    const path = '-o=jsonpath={.spec.replicas} {.spec.paused} {.spec.template.spec.containers[*].image}'
    const shown = await ok('-n', 'shop', 'get', 'deploy', 'd', path)
    assert.deepEqual(shown.split(' ').sort(), ['2', 'c:2', 'e:1', 'true'])
  })

  it('get -w prints changes as they come', async () => {
    await file('watched.yaml', 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: watched, namespace: shop}\n')
    await ok('apply', '-f', 'watched.yaml')
    const args = argumentsOf(['-n', 'shop', 'get', 'cm', 'watched', '-w', '--output-watch-events'])
    const child = spawn(needBinary('kubectl'), args, { stdio: ['ignore', 'pipe', 'inherit'] })
    const seen: string[] = []
    createInterface({ input: child.stdout }).on('line', (line) => seen.push(line))
    try {
      await until('the object is shown', () => seen.some((line) => line.startsWith('ADDED')))
      await ok('-n', 'shop', 'delete', 'cm', 'watched')
      await until('its deletion is shown', () => seen.some((line) => line.startsWith('DELETED')))
      assert.match(seen[0]!, /^EVENT +NAME +DATA +AGE/)
    } finally {
      child.kill()
    }
  })

  it('wait for a condition and for deletion, delete', async () => {
    const waiting = kubectl('-n', 'shop', 'wait', '--for=condition=Ready', 'bundle/web', '--timeout=30s')
    const condition =
      '[{"type":"Ready","status":"True","reason":"R","message":"m","lastTransitionTime":"2026-01-01T00:00:00Z"}]'
    await ok(
      '-n',
      'shop',
      'patch',
      'bundle',
      'web',
      '--subresource=status',
      '--type=merge',
      '-p',
      `{"status":{"conditions":${condition}}}`,
    )
    assert.equal((await waiting).out, 'bundle.flotilla.dev/web condition met\n')
    await ok(
      '-n',
      'shop',
      'patch',
      'bundle',
      'web',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":["example.com/hold"]}}',
    )
    const deleting = kubectl('-n', 'shop', 'delete', 'bundle', 'web')
    const marked = () => kubectl('-n', 'shop', 'get', 'bundle', 'web', '-o', 'jsonpath={.metadata.deletionTimestamp}')
    await until('the object is marked', async () => (await marked()).out !== '')
    await ok('-n', 'shop', 'patch', 'bundle', 'web', '--type=merge', '-p', '{"metadata":{"finalizers":null}}')
    assert.match((await deleting).out, /bundle\.flotilla\.dev "web" deleted/)
    const dry = await kubectl('-n', 'shop', 'delete', 'cm', 'c', '--dry-run=server')
    assert.match(dry.out, /configmap "c" deleted.*\(server dry run\)/)
    assert.equal((await kubectl('-n', 'shop', 'get', 'cm', 'c')).code, 0)
  })

  it('create -f of 500 documents, and deleting a namespace with all that is in it', async () => {
    const documents = Array.from(
      { length: 500 },
      (_, n) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: m${n}, namespace: many}\n`,
    )
    await file('many.yaml', ['apiVersion: v1\nkind: Namespace\nmetadata: {name: many}\n', ...documents].join('---\n'))
    const created = await ok('create', '-f', 'many.yaml')
    assert.equal(created.trim().split('\n').length, 501)
    assert.equal((await ok('-n', 'many', 'get', 'cm', '-o', 'name', '--chunk-size=100')).trim().split('\n').length, 500)
    await ok('delete', 'ns', 'many')
    assert.match((await kubectl('get', 'ns', 'many')).err, /namespaces "many" not found/)
    assert.match((await kubectl('-n', 'many', 'get', 'cm')).err, /No resources found/)
  })

  it('create -f of a List, which kubectl checks against OpenAPI v2 in protobuf', async () => {
    const map = (name: string, more = '') =>
      `- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: ${name}, namespace: shop}\n${more}`
    const list = (...items: readonly string[]) => `apiVersion: v1\nkind: List\nitems:\n${items.join('')}`
    await file('list.yaml', list(map('one'), map('two', '  data: {a: b}\n')))
    assert.equal(await ok('create', '-f', 'list.yaml'), 'configmap/one created\nconfigmap/two created\n')
    assert.equal(await ok('delete', '-f', 'list.yaml', '-o', 'name'), 'configmap/one\nconfigmap/two\n')
    await file('bad-list.yaml', list(map('three', '  dta: {a: b}\n')))
    const refused = await kubectl('create', '-f', 'bad-list.yaml')
    assert.equal(refused.code, 1)
    assert.match(refused.err, /unknown field "dta" in io\.k8s\.api\.core\.v1\.ConfigMap/)
  })

  it('others than administrators are told what they may not do', async () => {
    await file('other', kubeconfigOf(home.url, home.ca, home.certificateFor('eve', ['visitors'])))
    const refused = await kubectl('--kubeconfig', join(folder, 'other'), '-n', 'shop', 'get', 'bundles')
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /bundles\.flotilla\.dev is forbidden: User "eve" cannot list resource "bundles" in API group "flotilla\.dev" in the namespace "shop"/,
    )
  })
})
