import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import type { ClusterInputs } from '../../../core/cluster-inputs.ts'
import type { JsonObject } from '../../../core/json.ts'
import { renderVariants } from '../../../render/bundle/render-variants.ts'
import { extractSecretData } from '../../../render/secret-values.ts'
import { readIdentities } from '../../../render/sops/age.ts'
import { AGE_KEY, encryptSops } from '../../../testing/sops/encrypt-sops.ts'
import { renderEncrypted } from '../../../testing/sops/encrypted-content.ts'
import { buildForCluster, buildWithoutKeys } from './flux-builder.ts'

const cm = (name: string, value: string, annotations = '{}') =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: a, annotations: ${annotations}}\ndata: {v: "${value}"}\n`

const cluster = (name: string, labels: Record<string, string> = {}): ClusterInputs => ({
  name,
  id: `id-${name}`,
  labels,
  annotations: {},
  claims: {},
  values: {},
})

function render(files: Record<string, string>, options: JsonObject, clusters = [cluster('c1')]) {
  const recipe = { bundle: 'flux-system/x', builder: { name: 'flux', options } }
  return renderVariants(
    { recipe, clusters, frozen: {} },
    {
      files: new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)])),
      entropy: { randomBytes: () => new Uint8Array(), now: () => 0, generateKey: () => '' },
      builders: { flux: buildForCluster },
    },
  ).variants
}

const own = (spec: JsonObject, more: JsonObject = {}) => ({ name: 'apps', namespace: 'flux-system', spec, ...more })

/** The objects as `name: value`, or the problem. */
function texts(variants: ReturnType<typeof render>): string[] {
  return variants.map(({ result }) => {
    if (result.ok === true)
      return result.objects.map((o) => `${o.metadata.name}: ${(o['data'] as { v: string }).v}`).join(', ')
    return result.ok === false ? result.problems[0]!.message : result.ok
  })
}

test('clusters with equal facts share a build, and only facts that are used count', () => {
  const files = { 'a.yaml': cm('x', '${CLUSTER_LABEL_env}') }
  const clusters = [
    cluster('c1', { env: 'p', z: '1' }),
    cluster('c2', { env: 'p', z: '2' }),
    cluster('c3', { env: 'd' }),
  ]
  const always = { postBuild: { substituteStrategy: 'Always' } }
  const variants = render(files, own(always), clusters)
  assert.deepEqual(texts(variants), ['x: p', 'x: d'])
  assert.deepEqual(
    variants.map((one) => one.clusters),
    [['c1', 'c2'], ['c3']],
  )
  assert.deepEqual(texts(render({ 'a.yaml': cm('x', '${CLUSTER_ID}') }, own(always))), ['x: id-c1'])
  assert.deepEqual(texts(render(files, own({}))), ['x: ${CLUSTER_LABEL_env}'], 'without variables nothing is replaced')
  const missing = texts(render(files, own(always), [cluster('c1')]))[0]!
  assert.match(missing, /variable not set \(strict mode\): "CLUSTER_LABEL_env"/)
})

test('ignore files of the source count, and included files are added', () => {
  const files = {
    'a.yaml': cm('a', '1'),
    'skip/b.yaml': cm('b', '1'),
    '.flotilla-include/0/lib/c.yaml': cm('c', '1'),
    '.flotilla-include/0/other/d.yaml': cm('d', '1'),
  }
  const ignoring = { 'a.yaml': cm('a', '1'), 'skip/b.yaml': cm('b', '1'), '.sourceignore': 'skip/\n' }
  assert.deepEqual(texts(render(ignoring, own({}))), ['a: 1'])
  const include = [{ at: '.flotilla-include/0', from: 'lib', to: 'vendor' }]
  assert.deepEqual(texts(render(files, own({}, { ignore: 'skip/', include }))), ['a: 1, c: 1'])
  assert.deepEqual(texts(render(files, own({ path: './vendor' }, { include }))), ['c: 1'])
})

test('settings of Flux on objects become those that agents read', () => {
  const key = 'kustomize.toolkit.fluxcd.io'
  const [variant] = render({ 'a.yaml': cm('a', '1', `{${key}/ssa: IfNotPresent, ${key}/prune: disabled}`) }, own({}))
  assert.equal(variant?.result.ok, true)
  const [object] = variant.result.ok ? variant.result.objects : []
  const { annotations = {}, labels } = object!.metadata
  assert.deepEqual(
    ['apply', 'prune', 'delete'].map((name) => annotations[`flotilla.dev/${name}`]),
    ['CreateOnly', 'Never', 'Orphan'],
  )
  assert.deepEqual(labels, { [`${key}/name`]: 'apps', [`${key}/namespace`]: 'flux-system' })
})

test('a path outside, a missing path and options that were not compiled are problems of the build', () => {
  const files = { 'a.yaml': cm('a', '1') }
  assert.match(texts(render(files, own({ path: '../../etc' })))[0]!, /kustomization path not found: stat etc: no such/)
  const wrong = /spec\.builder\.options is not what a Kustomization is compiled to/
  for (const options of [
    {},
    own({}, { include: [{}] }),
    own({}, { secrets: 1 }),
    { name: 'a', namespace: 'b', spec: [] },
  ]) {
    assert.match(texts(render(files, options))[0]!, wrong)
  }
})

test('a Secret in the repository is refused, also where variables make it', () => {
  const secret = (value: string) =>
    `apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: a}\nstringData: {p: ${value}}\n`
  assert.match(
    texts(render({ 'a.yaml': secret('open') }, own({})))[0]!,
    /^Secret s has its content \(p\) in the repository/,
  )
  const postBuild = { substitute: { word: 'open' } }
  const [replaced] = render({ 'a.yaml': secret('"${word}"') }, own({ postBuild }))
  assert.equal(replaced?.result.ok, true)
  assert.match(texts(render({ 'a.yaml': secret('open') }, own({ postBuild })))[0]!, /^Secret s has its content/)
})

test('without keys a build is the one of the hub, but for the values of encrypted Secrets', () => {
  const recipient = readIdentities(AGE_KEY)[0]!.recipient
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'db', namespace: 'apps' },
    stringData: { word: 'x' },
  }
  const encrypted = encryptSops(secret, recipient)
  const buildWith = (
    builder: typeof buildForCluster,
    files: Record<string, string>,
    sops?: { keys: Record<string, string>; checkMac: boolean },
  ) =>
    renderVariants(
      {
        recipe: { bundle: 'flux-system/x', builder: { name: 'flux', options: own({}) }, ...(sops && { sops }) },
        clusters: [cluster('c1')],
        frozen: {},
      },
      {
        files: new Map(Object.entries(files).map(([path, text]) => [path, utf8(text)])),
        entropy: { randomBytes: () => new Uint8Array(), now: () => 0, generateKey: () => '' },
        builders: { flux: builder },
      },
    ).variants[0]!.result
  const files = { 'cm.yaml': cm('x', '1'), 'db.yaml': encrypted }
  const whole = buildWith(buildForCluster, files, { keys: { 'a.agekey': AGE_KEY }, checkMac: true })
  const without = buildWith(buildWithoutKeys, files)
  assert.ok(whole.ok === true && without.ok === true)
  const bare = ({ objects }: typeof whole) => objects.map((object) => extractSecretData(object).object)
  assert.deepEqual(bare(without), bare(whole))
  assert.notDeepEqual(without.objects, whole.objects, 'the values stay encrypted')

  const generated = 'secretGenerator: [{name: g, files: [db.yaml]}]\n'
  assert.match(
    JSON.stringify(buildWith(buildWithoutKeys, { 'kustomization.yaml': generated, 'db.yaml': encrypted })),
    /Secret g-\w+ is made from a file that SOPS encrypted, and only the hub has the keys/,
  )
  const map = encryptSops({ ...secret, kind: 'ConfigMap', stringData: undefined, data: { word: 'x' } }, recipient)
  assert.match(
    JSON.stringify(buildWith(buildWithoutKeys, { 'cm.yaml': map })),
    /ConfigMap db is encrypted, and only values/,
  )
})

test('a build without keys leaves to the agent what the agent decrypts, so that it is not compared as if the hub had it', () => {
  const [identity] = readIdentities(AGE_KEY)
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'db' }, stringData: { password: 'x' } }
  const files = { 'secret.yaml': encryptSops(object, identity!.recipient) }
  for (const builder of [buildForCluster, buildWithoutKeys]) {
    assert.equal(renderEncrypted(files, { builder }).ok, 'prepared')
  }
})
