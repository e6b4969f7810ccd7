/** Sources of Applications as content of Bundles: files that options name, overrides, the build environment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { application, HERE, imported } from '../../../testing/fixtures/argo-applications.ts'

const CHART = "repoURL: 'https://git.example.com/apps.git', path: charts/web, targetRevision: main"
const CONFIG = "repoURL: 'https://git.example.com/config.git', targetRevision: main"

const helm = (options: string, paths?: readonly string[]) =>
  imported(application(`source: {${CHART}, helm: {${options}}}, ${HERE}`), paths ? { paths } : {})

test('patterns of values files: in lexical order, and a named file keeps its place', () => {
  const paths = ['charts/web/env/b.yaml', 'charts/web/env/a.yaml', 'charts/web/env/eu/c.yaml', 'charts/web/x.txt']
  const files = (text: string) => helm(`valueFiles: [${text}]`, paths).bundles['web']?.helm?.valuesFiles
  assert.deepEqual(files("'env/*.yaml'"), ['env/a.yaml', 'env/b.yaml'])
  assert.deepEqual(files("'env/**/*.yaml', env/a.yaml"), ['env/b.yaml', 'env/eu/c.yaml', 'env/a.yaml'])
  assert.deepEqual(files("'{env,none}/b.yaml', 'env/[a-b].yaml'"), ['env/b.yaml', 'env/a.yaml'])
  assert.deepEqual(files("'/charts/**/c.yaml'"), ['env/eu/c.yaml'])
  assert.deepEqual(helm("valueFiles: ['none/*.yaml']", paths).problems, [
    'Application web: helm.valueFiles: none/*.yaml matches no file; set ignoreMissingValueFiles if that may be',
  ])
  const lenient = helm("ignoreMissingValueFiles: true, valueFiles: ['none/*.yaml']", paths)
  assert.deepEqual([lenient.problems, lenient.bundles['web']?.helm?.valuesFiles], [[], undefined])
  assert.match(helm("valueFiles: ['[a.yaml']", paths).problems[0]!, /is not a valid pattern/)
  assert.match(helm('valueFiles: [../../../x.yaml]', paths).problems[0]!, /is outside the repository/)
})

test('patterns of another source read its files', () => {
  const text = application(
    `sources: [{${CHART}, helm: {valueFiles: ['$config/site/*.yaml']}}, {${CONFIG}, ref: config}], ${HERE}`,
  )
  const clone = (name: string, ...paths: string[]) => ({
    url: `https://git.example.com/${name}.git`,
    files: new Map(paths.map((path) => [path, new Uint8Array()])),
  })
  const { bundles, problems } = imported(text, {
    clones: [clone('apps', 'charts/web/Chart.yaml'), clone('config', 'site/2.yaml', 'site/1.yaml')],
  })
  assert.deepEqual(problems, [])
  assert.deepEqual(bundles['web']?.helm?.valuesFiles, ['.refs/config/site/1.yaml', '.refs/config/site/2.yaml'])
  assert.deepEqual(bundles['web']?.source?.include, [{ source: 'config', at: '.refs/config' }])
})

test('file parameters are the whole texts, over the parameters', () => {
  const files = { 'charts/web/Chart.yaml': '', 'charts/web/motd.txt': '{a, b}\\c\n', 'lua/x.lua': 'return 1,2' }
  const text = application(
    `source: {${CHART}, helm: {parameters: [{name: motd, value: 'no'}], fileParameters: [{name: motd, path: motd.txt}, {name: a.b, path: /lua/x.lua}]}}, ${HERE}`,
  )
  const { bundles, problems } = imported(text, { files })
  assert.deepEqual(problems, [])
  assert.deepEqual(bundles['web']?.helm?.values, { motd: '{a, b}\\c\n', a: { b: 'return 1,2' } })
  assert.deepEqual(helm('fileParameters: [{name: x, path: none.txt}]', ['charts/web/Chart.yaml']).problems, [
    'Application web: helm.fileParameters: x is the file none.txt, and there is no such text file',
  ])
  assert.match(helm('fileParameters: [{name: x, path: none.txt}]').problems[0]!, /is known with --root DIR/)
})

test('options of templates are those of the Bundle', () => {
  const { bundles, problems, notes } = helm(
    "skipCrds: true, skipSchemaValidation: true, skipTests: true, namespace: tpl, kubeVersion: '1.30', apiVersions: [a.io/v1]",
  )
  assert.deepEqual([problems, notes], [[], []])
  assert.deepEqual(bundles['web']?.helm, {
    namespace: 'tpl',
    skipCrds: true,
    skipSchemaValidation: true,
    kubeVersion: '1.30',
    apiVersions: ['a.io/v1'],
  })
})

test('the build environment', () => {
  const value = (text: string) => {
    const { bundles, problems } = helm(`parameters: [{name: v, value: '${text}'}]`, ['charts/web/Chart.yaml'])
    return problems[0] ?? bundles['web']?.helm?.values?.['v']
  }
  assert.equal(value('$ARGOCD_APP_NAME-${ARGOCD_APP_NAMESPACE}'), 'web-shop')
  assert.equal(value('$ARGOCD_APP_SOURCE_PATH@$ARGOCD_APP_SOURCE_TARGET_REVISION'), 'charts/web@main')
  assert.equal(value('a$$b$NONE'), 'a$b')
  assert.match(
    String(value('$ARGOCD_APP_REVISION')),
    /ARGOCD_APP_REVISION is the commit of the repository, which is not known/,
  )
})

test('overrides of a kustomization go to the builder; without any, the kustomization is built as it is', () => {
  const made = (options: string) => {
    const { bundles, problems } = imported(application(`source: {${CHART}, kustomize: {${options}}}, ${HERE}`))
    assert.deepEqual(problems, [])
    const { builder, style } = bundles['web']!
    return builder?.options ?? style
  }
  assert.equal(made("namePrefix: '', images: [], version: v5"), 'Kustomize')
  assert.equal(made('forceCommonLabels: true'), 'Kustomize')
  assert.deepEqual(
    made(`namePrefix: a-, images: ['x=$ARGOCD_APP_NAME:1'], replicas: [{name: web, count: 3}], commonLabels: {app: $ARGOCD_APP_NAME},
      commonAnnotations: {a: $ARGOCD_APP_NAME}, patches: [{patch: x, target: {kind: Service}}]`),
    {
      kustomize: {
        namePrefix: 'a-',
        images: ['x=web:1'],
        replicas: [{ name: 'web', count: 3 }],
        commonLabels: { app: 'web' },
        commonAnnotations: { a: '$ARGOCD_APP_NAME' },
        patches: [{ patch: 'x', target: { kind: 'Service' } }],
      },
    },
  )
  assert.deepEqual(made('commonAnnotations: {a: $ARGOCD_APP_NAME}, commonAnnotationsEnvsubst: true'), {
    kustomize: { commonAnnotations: { a: 'web' } },
  })
})
