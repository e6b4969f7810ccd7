import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../core/json.ts'
import { memoryObjects } from './memory-objects.ts'
import type { MemoryKind } from './memory-objects.ts'
import { hubNamespaceOf, resolveDocument } from './policy-document.ts'
import type { DocumentSetting } from './policy-document.ts'

const KINDS: MemoryKind[] = [
  { group: '', version: 'v1', kind: 'ConfigMap', plural: 'configmaps', namespaced: true },
  { group: '', version: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true },
  { group: '', version: 'v1', kind: 'Node', plural: 'nodes', namespaced: false },
]
const OBJECTS: JsonObject[] = [
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'one' }, data: { port: '80' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace: 'two' }, data: { port: '81' } },
  { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n', labels: { 'node-role.kubernetes.io/infra': '' } } },
]

const SETTING: DocumentSetting = {
  objects: memoryObjects(KINDS, OBJECTS),
  entropy: { randomBytes: (length) => new Uint8Array(length), now: () => 0, generateKey: () => '' },
}

function resolved(value: string, setting: Partial<DocumentSetting> = {}): string {
  const text = `kind: ConfigurationPolicy\nspec:\n  object-templates:\n  - v: '${value}'\n`
  const out = resolveDocument(text, { ...SETTING, ...setting })
  return /- v:? ?(.*)\n/.exec(out)?.[1] ?? 'nothing'
}

test('values are texts unless a function makes them more', () => {
  for (const [template, wanted] of [
    ['{{ "x" | upper }}', 'X'],
    ['{{ fromConfigMap "one" "a" "port" }}', '"80"'],
    ['{{ fromConfigMap "one" "a" "port" | toInt }}', '80'],
    ['{{ "true" | toBool }}', 'true'],
    ['{{ "7" | atoi }}', '"7"'],
    ['{{ (lookup "v1" "ConfigMap" "one" "a").data.port }}', '"80"'],
    ['{{ len (lookup "v1" "ConfigMap" "" "").items }}', '"2"'],
    ['{{ lookup "v1" "ConfigMap" "one" "gone" | empty }}', '"true"'],
    ['{{ hasNodesWithExactRoles "infra" }}', '"true"'],
    ['{{ .ObjectName }}', '""'],
    ['{{ skipObject }}', 'nothing'],
    ['{{ skipObject false }}', '""'],
  ] as const) {
    assert.equal(resolved(template), wanted, template)
  }
})

test('a template that fails says why', () => {
  for (const [template, message] of [
    ['{{ fromSecret "one" "x" "k" }}', /failed to get the secret x from one: secrets "x" not found$/],
    ['{{ lookup "nope/v1" "X" "" "" }}', /one or more API resources are not installed on the API server$/],
    ['{{ env "HOME" }}', /function .env. is considered a security risk$/],
    ['{{ nosuch }}', /function "nosuch" not defined$/],
    ['{{hub 1 hub}}', /^unresolved hub template/],
    ['{{ "x" | protect }}', /not enabled in this mode$/],
    ['{{ indent 2000000000 "x" }}', /limited to 10000 spaces$/],
  ] as const) {
    assert.throws(() => resolved(template), { message }, template)
  }
})

test('a template that never ends is stopped', () => {
  const deep = '{{ range until 2000 }}{{ range until 2000 }}{{ end }}{{ end }}'
  assert.throws(() => resolved(deep), /takes more than 1000000 steps/)
})

test('templates of the hub see one namespace and the own ManagedCluster', () => {
  const hub = {
    objects: SETTING.objects,
    clusterName: 'lyon',
    namespace: 'one',
    managedCluster: { metadata: { labels: { env: 'prod' } } },
  }
  assert.equal(resolved('{{hub .ManagedClusterName hub}}-{{hub .ManagedClusterLabels.env hub}}', { hub }), 'lyon-prod')
  assert.equal(resolved('{{hub fromConfigMap "" "a" "port" hub}}', { hub }), '"80"')
  assert.throws(() => resolved('{{hub fromConfigMap "two" "b" "port" hub}}', { hub }), /restricted to one$/)
  assert.throws(
    () => resolved('{{hub lookup "v1" "Node" "" "n" hub}}', { hub }),
    /lookup of cluster-scoped resource 'Node\/n' is not allowed$/,
  )
})

test('the namespace of hub templates is that of the Policy', () => {
  const policy = { kind: 'Policy', metadata: { namespace: 'one' } }
  assert.equal(hubNamespaceOf(policy, ''), 'one')
  assert.throws(() => hubNamespaceOf(policy, 'two'), /must match$/)
  assert.throws(() => hubNamespaceOf({ kind: 'ConfigurationPolicy' }, ''), /must be provided/)
  assert.equal(hubNamespaceOf({ spec: { hubTemplateOptions: { serviceAccountName: 'x' } } }, 'two'), '')
})

test('local objects are found before those of the cluster', () => {
  const local = [{ ...OBJECTS[0], data: { port: '8080' } }]
  assert.equal(resolved('{{ fromConfigMap "one" "a" "port" }}', { local }), '"8080"')
  assert.equal(resolved('{{ fromConfigMap "two" "b" "port" }}', { local }), '"81"')
})

test('only known documents are read', () => {
  assert.throws(() => resolveDocument('a: 1', SETTING), /^PolicyTemplateError: invalid YAML/)
  assert.throws(() => resolveDocument('- a', SETTING), /cannot unmarshal array/)
  assert.equal(resolveDocument("a: '{{ 1 }}'", { ...SETTING, skipValidation: true }), 'a: "1"\n')
  assert.equal(resolveDocument('object-templates-raw: |\n  - a: {{ 1 }}\n', SETTING), 'object-templates:\n  - a: 1\n')
})
