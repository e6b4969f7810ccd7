import assert from 'node:assert/strict'
import { test } from 'node:test'
import { utf8 } from '../../../core/bytes.ts'
import type { JsonObject } from '../../../core/json.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { renderVariants } from '../../../render/bundle/render-variants.ts'
import { buildApplication } from './argo-builder.ts'

type Labels = Record<string, string>
interface Built {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels }
  readonly spec?: {
    readonly replicas?: number
    readonly selector?: { readonly matchLabels: Labels }
    readonly template?: {
      readonly metadata: { readonly labels: Labels }
      readonly spec: { readonly containers: readonly { readonly image: string }[] }
    }
  }
}

function build(files: Record<string, string>, options: JsonObject, path = 'app'): readonly UnknownObject[] | string {
  const recipe = { bundle: 'argocd/web', path, builder: { name: 'argo', options } }
  const cluster = { name: 'c1', id: 'c1', labels: {}, annotations: {}, claims: {}, values: {} }
  const [variant] = renderVariants(
    { recipe, clusters: [cluster], frozen: {} },
    {
      files: new Map(Object.entries(files).map(([name, text]) => [name, utf8(text)])),
      entropy: { randomBytes: () => new Uint8Array(), now: () => 0, generateKey: () => '' },
      builders: { argo: buildApplication },
    },
  ).variants
  const result = variant!.result
  if (result.ok === true) return result.objects
  return result.ok === false ? result.problems[0]!.message : result.ok
}

const KUSTOMIZED = {
  'app/kustomization.yaml':
    'resources: [../base]\nimages: [{name: web, newName: mirror/web, newTag: "1"}]\ncommonAnnotations: {own: a}\nlabels: [{pairs: {own: l}}]\n',
  'base/kustomization.yaml': 'resources: [web.yaml]\n',
  'base/web.yaml': `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web, image: web:0}]}}}
`,
  'debug/kustomization.yaml': 'apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\nnameSuffix: -debug\n',
}

const problem = (options: JsonObject, files: Record<string, string> = KUSTOMIZED): string => {
  const built = build(files, options)
  return typeof built === 'string' ? built : ''
}

const one = (kustomize: JsonObject) => {
  const built = build(KUSTOMIZED, { kustomize })
  assert.ok(typeof built !== 'string')
  return built[0] as unknown as Built
}

test('names, namespace, replicas, patches and components', () => {
  const web = one({
    namePrefix: 'a-',
    nameSuffix: '-z',
    namespace: 'shop',
    replicas: [{ name: 'web', count: '3' }],
    components: ['../debug', '../none'],
    ignoreMissingComponents: true,
    patches: [{ target: { kind: 'Deployment' }, patch: '- {op: add, path: /metadata/labels, value: {p: q}}' }],
  })
  assert.deepEqual(
    [web.metadata.name, web.metadata.namespace, web.metadata.labels, web.spec?.replicas],
    ['a-web-debug-z', 'shop', { own: 'l', p: 'q' }, 3],
  )
  assert.match(problem({ kustomize: { components: ['../none'] } }), /none: no such file or directory/)
  assert.match(
    problem({ kustomize: { replicas: [{ name: 'web', count: '25%' }] } }),
    /kustomize.replicas: count of web must be a number, found "25%"/,
  )
})

test('images as kustomize edit reads them', () => {
  const image = (text: string) => one({ images: [text] }).spec?.template?.spec.containers[0]?.image
  assert.equal(image('web=ghcr.io/acme/web:2'), 'ghcr.io/acme/web:2')
  assert.equal(image('web:2'), 'web:2')
  assert.equal(image('web=*:2'), 'mirror/web:2')
  assert.equal(image('web=ghcr.io/acme/web:*'), 'ghcr.io/acme/web:1')
  assert.equal(image(`web@sha256:${'a'.repeat(64)}`), `web@sha256:${'a'.repeat(64)}`)
  assert.equal(image('localhost:5000/other:2'), 'mirror/web:1')
  for (const text of ['web', 'a=b=c', '=x:1'])
    assert.match(problem({ kustomize: { images: [text] } }), /invalid format of image/, text)
})

test('labels reach selectors unless they may not; a label that is there needs force', () => {
  const labels = (options: JsonObject) => {
    const { metadata, spec } = one({ commonLabels: { app: 'x' }, ...options })
    return [metadata.labels?.['app'], spec?.selector?.matchLabels['app'], spec?.template?.metadata.labels['app']]
  }
  assert.deepEqual(labels({}), ['x', 'x', 'x'])
  assert.deepEqual(labels({ labelWithoutSelector: true }), ['x', 'web', 'web'])
  assert.deepEqual(labels({ labelWithoutSelector: true, labelIncludeTemplates: true }), ['x', 'web', 'x'])
  assert.equal(
    problem({ kustomize: { commonAnnotations: { own: 'b' } } }),
    'annotation own already in kustomization file',
  )
  assert.equal(
    problem({ kustomize: { commonLabels: { own: 'b' }, labelWithoutSelector: true } }),
    'label own already in kustomization file',
  )
  assert.equal(
    one({ commonLabels: { own: 'b' }, labelWithoutSelector: true, forceCommonLabels: true }).metadata.labels?.['own'],
    'b',
  )
  assert.match(
    problem({ kustomize: { commonLabels: { a: 'b' }, labelIncludeTemplates: true } }),
    /labelIncludeTemplates has no meaning without/,
  )
})

const cm = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`
const DIRECTORY = {
  'app/a.yaml': cm('a'),
  'app/b.json': '{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}}',
  'app/sub/c.yml': cm('c'),
  'app/skip.yaml': '# +argocd:skip-file-rendering\nnot: {{ yaml',
  'app/d.txt': cm('d'),
  'other/e.yaml': cm('e'),
}

test('a directory: its own files, those below with recurse, patterns in which a star crosses slashes', () => {
  const names = (directory: JsonObject, files: Record<string, string> = DIRECTORY) => {
    const built = build(files, { directory })
    return typeof built === 'string' ? built : built.map(({ metadata }) => metadata.name)
  }
  assert.deepEqual(names({}), ['a', 'b'])
  assert.deepEqual(names({ recurse: true }), ['a', 'b', 'c'])
  assert.deepEqual(names({ recurse: true, include: '*.y*ml' }), ['a', 'c'])
  assert.deepEqual(names({ recurse: true, exclude: '{a.yaml,sub/*}' }), ['b'])
  assert.deepEqual(names({ disableExtensionFilter: true }), ['a', 'b', 'd'])
  assert.equal(names({ include: '[a' }), 'directory.include "[a" is not a valid pattern')
  assert.equal(names({}, { 'app/x.jsonnet': '{}' }), 'app/x.jsonnet: jsonnet is not evaluated; keep its output in git')
  assert.deepEqual(names({ exclude: '*.jsonnet' }, { ...DIRECTORY, 'app/x.jsonnet': '{}' }), ['a', 'b'])
  assert.equal(names({}, { 'other/x.yaml': cm('x') }), 'app: app path does not exist')
})

test('options that no Application compiles to are refused', () => {
  for (const options of [
    {},
    { kustomize: {}, directory: {} },
    { kustomize: { images: [1] } },
    { kustomize: { commonLabels: { a: 1 } } },
    { kustomize: { replicas: [{ count: 1 }] } },
    { directory: { recurse: 'yes' } },
    { plugin: {} },
  ])
    assert.match(problem(options, DIRECTORY), /is not what an Application is compiled to/)
})
