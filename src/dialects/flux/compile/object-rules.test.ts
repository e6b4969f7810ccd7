import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readCases } from '../../../../test/recorded/recorded-case.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { applyHealthRules, compileHealthRules } from '../../../plan/health/health-rules.ts'
import { compileHealth, compileIgnore, healthProblem, ignoreProblem, qualifyFields } from './object-rules.ts'

test('fields at the top of the object are fields of `object`, except what a macro binds and names of types', () => {
  const table: readonly (readonly [flux: string, bundle: string])[] = [
    ["status.phase == 'Ready'", "object.status.phase == 'Ready'"],
    ['has(status.n) && spec.n > 0', 'has(object.status.n) && object.spec.n > 0'],
    [
      "status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')",
      "object.status.conditions.filter(e, e.type == 'Ready').all(e, e.status == 'True')",
    ],
    ['status.list.exists(status, status == "a")', 'object.status.list.exists(status, status == "a")'],
    ['[spec.a, {"k": data.b}["k"]] == []', '[object.spec.a, {"k": object.data.b}["k"]] == []'],
    ['type(status.n) == int', 'type(object.status.n) == int'],
    ["sets.contains(status.list, ['a'])", "sets.contains(object.status.list, ['a'])"],
    ['metadata.name.startsWith(kind)', 'object.metadata.name.startsWith(object.kind)'],
    ['status.a ? status.b : true', 'object.status.a ? object.status.b : true'],
    ['"status" in metadata.labels', '"status" in object.metadata.labels'],
  ]
  for (const [flux, bundle] of table) assert.equal(qualifyFields(flux), bundle)
})

test('agents judge objects by the rules as Flux judges them by the expressions', () => {
  const states = { Current: 'Ready', Failed: 'Failed', InProgress: 'Progressing', Unknown: 'Progressing' } as const
  // Agents check types before they evaluate, and know the functions of Kubernetes.
  const different: Readonly<Record<string, string>> = {
    'health-0263': 'the library base64 of CEL is missing',
    'health-0326': 'url() is a function of Kubernetes',
    'health-0357': '1 == 1.0 compares an int with a double',
  }
  const judged = { Ready: 0, Failed: 0, Progressing: 0, refused: 0 }
  const found: string[] = []
  for (const one of readCases('flux/health.jsonl.gz')) {
    const expected = one.expect as { readonly reader?: string; readonly status?: keyof typeof states }
    if (expected.reader !== 'expressions' || expected.status === undefined) continue
    if (healthProblem(one['exprs']) !== undefined) {
      // Flux has no result for the object either; the hub says so before any cluster.
      if (expected.status !== 'Unknown') found.push(one.id)
      judged.refused += 1
      continue
    }
    const object = one['object'] as UnknownObject
    const { metadata, apiVersion, kind } = object
    const compiled = compileHealthRules({ health: compileHealth(one['exprs'])! })
    assert.ok(compiled.ok, one.id)
    const rules = compiled.rulesFor({ apiVersion, kind, namespace: metadata.namespace ?? '', name: metadata.name })
    const { state } = applyHealthRules(object, rules!).health
    if (state !== states[expected.status]) found.push(one.id)
    judged[state] += 1
  }
  assert.deepEqual(found, Object.keys(different))
  assert.ok(judged.Ready > 40 && judged.Failed > 1 && judged.Progressing > 20, JSON.stringify(judged))
})

test('an object in progress is not failed, as in Flux', () => {
  const [rule] = compileHealth([
    {
      apiVersion: 'acme.io/v1',
      kind: 'Widget',
      inProgress: 'status.a || status.b',
      failed: 'status.a || status.c',
      current: 'true',
    },
  ])!
  assert.deepEqual(rule, {
    group: 'acme.io',
    kind: 'Widget',
    progressing: 'object.status.a || object.status.b',
    failed: '!(object.status.a || object.status.b) && (object.status.a || object.status.c)',
    ready: 'true',
  })
})

test('expressions that agents cannot evaluate are refused', () => {
  const entry = { apiVersion: 'acme.io/v1', kind: 'Widget' }
  assert.match(healthProblem([entry]) ?? '', /healthchecks\[0\]: expression Current not specified/)
  assert.match(healthProblem([{ ...entry, current: 'status.(' }]) ?? '', /failed to parse the expression Current/)
  assert.match(healthProblem([{ ...entry, current: '1 + "a"' }]) ?? '', /no matching overload/)
  assert.match(
    healthProblem(Array.from({ length: 2 }, () => ({ ...entry, current: 'true' }))) ?? '',
    /duplicate custom health check for GroupKind Widget\.acme\.io/,
  )
  const many = Array.from({ length: 65 }, (_, at) => ({ ...entry, kind: `W${at}`, current: 'true' }))
  assert.equal(healthProblem(many), 'healthCheckExprs has 65 entries; write at most 64')
  const long = `status.a == '${'x'.repeat(4090)}'`
  assert.match(healthProblem([{ ...entry, current: long }]) ?? '', /^healthCheckExprs\[0\] is too long/)
  assert.equal(healthProblem([{ ...entry, current: 'status.ok' }]), undefined)
  assert.equal(healthProblem(undefined), undefined)
  assert.equal(compileHealth(undefined), undefined)
})

test('rules of ignored fields name objects, and no patterns but all names', () => {
  const rules = [
    { paths: ['/spec/replicas'], target: { kind: 'Deployment', name: '.*' } },
    { paths: ['/data', 7], target: { version: 'v1', kind: 'ConfigMap', namespace: 'a', name: 'b' } },
    { paths: ['/metadata/annotations/x'] },
  ]
  assert.deepEqual(compileIgnore(rules), [
    { kind: 'Deployment', name: '*', pointers: ['/spec/replicas'] },
    { kind: 'ConfigMap', namespace: 'a', name: 'b', pointers: ['/data'] },
    { pointers: ['/metadata/annotations/x'] },
  ])
  assert.equal(compileIgnore([]), undefined)
  assert.equal(ignoreProblem(rules, 'ignore'), undefined)
  assert.equal(
    ignoreProblem([{ target: { name: 'web-[0-9]+' } }], 'ignore'),
    'ignore.target.name is "web-[0-9]+"; write a name or .*',
  )
})
