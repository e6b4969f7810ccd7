import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterInputs } from '../../../core/cluster-inputs.ts'
import type { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../../kinds/builtin/admission.ts'
import { Override } from '../../../kinds/native/override.ts'
import type { UnknownObject } from '../../../kinds/meta.ts'
import { build } from '../../../testing/fixtures/builders.ts'
import { contentRules, denialsOf, describeFinding, judgeContent, judgeForClusters } from './content-rules.ts'
import type { ContentQuestion } from './content-rules.ts'
import { lineOfObject } from './locate-object.ts'
import { exceptionsInForce } from './rule-exceptions.ts'

type Spec = NonNullable<ValidatingAdmissionPolicy['spec']>

const policy = (name: string, expression: string, more: Partial<Spec> = {}): ValidatingAdmissionPolicy => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name, annotations: { 'policy.open-cluster-management.io/controls': 'CM-2 Baseline, AC-6 Least' } },
  spec: {
    matchConstraints: {
      resourceRules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['CREATE'], resources: ['*'] }],
    },
    validations: [{ expression, message: `${name} is not met` }],
    ...more,
  },
})

const RENDERED = { objectSelector: { matchLabels: { 'flotilla.dev/rendered': 'true' } } }

const binding = (
  policyName: string,
  actions: string[] = ['Deny'],
  matchResources: object = RENDERED,
): ValidatingAdmissionPolicyBinding => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: `${policyName}-${actions.join('')}` },
  spec: { policyName, validationActions: actions, matchResources },
})

const cluster = (name: string, labels: Record<string, string> = {}): ClusterInputs => ({
  name,
  labels,
  annotations: {},
  claims: {},
  values: {},
})

const object = (kind: string, apiVersion = 'v1', more: object = {}): UnknownObject => ({
  apiVersion,
  kind,
  metadata: { name: 'web', namespace: 'shop' },
  ...more,
})

const ask = (
  rules: ContentQuestion['rules'],
  objects: readonly UnknownObject[],
  more: Partial<ContentQuestion> = {},
) => ({
  origin: { bundle: 'shop/web', placement: 'stores' },
  objects,
  rules,
  exceptions: [],
  ...more,
})

const rule = (expression: string, more: Partial<Spec> = {}, actions = ['Deny']) =>
  contentRules([policy('rule', expression, more)], [binding('rule', actions)])

const texts = (question: ContentQuestion, inputs = cluster('a')) =>
  judgeContent(question, inputs).findings.map((one) => `${one.action} ${describeFinding(one)}`)

test('only bindings that require the label of rendered objects are rules', () => {
  const selectors: [object | undefined, boolean][] = [
    [{ objectSelector: { matchLabels: { 'flotilla.dev/rendered': 'true' } } }, true],
    [
      { objectSelector: { matchExpressions: [{ key: 'flotilla.dev/rendered', operator: 'In', values: ['true'] }] } },
      true,
    ],
    [undefined, false],
    [{}, false],
    [{ objectSelector: { matchLabels: { 'flotilla.dev/rendered': 'false' } } }, false],
    [{ objectSelector: { matchExpressions: [{ key: 'flotilla.dev/rendered', operator: 'Exists' }] } }, false],
    [
      {
        objectSelector: {
          matchExpressions: [{ key: 'flotilla.dev/rendered', operator: 'In', values: ['true', 'false'] }],
        },
      },
      false,
    ],
    [
      { objectSelector: { matchExpressions: [{ key: 'flotilla.dev/rendered', operator: 'NotIn', values: ['true'] }] } },
      false,
    ],
  ]
  for (const [match, isRule] of selectors) {
    const made = { ...binding('p'), spec: { ...binding('p').spec, matchResources: match as never } }
    assert.equal(contentRules([policy('p', 'true')], [made]).length, isRule ? 1 : 0, JSON.stringify(match))
  }
  assert.deepEqual(contentRules([], [binding('none')]), [], 'a binding of a policy that does not exist is no rule')
})

test('a rule reads the object, its mark and the facts of Bundle and cluster; an object cannot set its own facts', () => {
  const facts =
    "object.metadata.labels['flotilla.dev/rendered'] == 'true' && object.metadata.annotations['flotilla.dev/bundle'] == 'shop/web' && object.metadata.annotations['flotilla.dev/placement'] == 'stores' && object.metadata.annotations['flotilla.dev/cluster'] == 'a' && object.metadata.annotations['flotilla.dev/cluster-label.env'] == 'prod' && object.metadata.annotations['own'] == 'x' && !('flotilla.dev/cluster-label.zone' in object.metadata.annotations)"
  const liar = object('ConfigMap', 'v1', {
    metadata: {
      name: 'web',
      labels: { 'flotilla.dev/rendered': 'false' },
      annotations: {
        own: 'x',
        'flotilla.dev/bundle': 'other/b',
        'flotilla.dev/cluster': 'z',
        'flotilla.dev/cluster-label.env': 'dev',
        'flotilla.dev/cluster-label.zone': 'z',
      },
    },
  })
  assert.deepEqual(texts(ask(rule(facts), [liar]), cluster('a', { env: 'prod' })), [])
  assert.deepEqual(texts(ask(rule(facts), [liar]), cluster('a', { env: 'dev' })), [
    'Deny ConfigMap web: rule is not met [policy rule]',
  ])
  assert.deepEqual(liar.metadata.labels, { 'flotilla.dev/rendered': 'false' }, 'the object itself is not changed')
})

test('clusters with the same facts, as far as a rule read them, share one evaluation', () => {
  const prod =
    "!('flotilla.dev/cluster-label.env' in object.metadata.annotations) || object.metadata.annotations['flotilla.dev/cluster-label.env'] != 'prod'"
  const clusters = ['a', 'b', 'c', 'd'].map((name, at) =>
    cluster(name, at === 0 ? { env: 'prod', size: 's' } : at === 3 ? {} : { env: 'dev', size: `${at}` }),
  )
  const shared = judgeForClusters(ask(rule(prod), [object('Pod')]), clusters)
  assert.deepEqual(
    shared.map(({ reads, findings, clusters: own }) => [reads, findings.length, own.map(({ name }) => name)]),
    [
      [{ 'labels.env': 'prod' }, 1, ['a']],
      [{ 'labels.env': 'dev' }, 0, ['b', 'c']],
      [{ 'labels.env': null }, 0, ['d']],
    ],
  )
  const one = judgeForClusters(ask(rule('true'), [object('Pod')]), clusters)
  assert.deepEqual([one.length, one[0]!.reads], [1, {}])
  const all = judgeForClusters(ask(rule("object.metadata.annotations.all(k, k != 'x')"), [object('Pod')]), clusters)
  assert.equal(all.length, 4, 'an expression that reads all annotations reads all facts')
})

test('the kinds of resource rules: Kubernetes, definitions of the content, and plurals of other kinds', () => {
  const on = (resources: string[], apiGroups: string[], more: object = {}) =>
    rule('false', {
      matchConstraints: {
        resourceRules: [{ apiGroups, apiVersions: ['v1'], operations: ['CREATE'], resources, ...more }],
      },
    })
  const isAsked = (rules: ContentQuestion['rules'], objects: readonly UnknownObject[]) =>
    texts(ask(rules, objects)).length > 0
  assert.ok(isAsked(on(['deployments'], ['apps']), [object('Deployment', 'apps/v1')]))
  assert.ok(!isAsked(on(['deployments'], ['apps']), [object('StatefulSet', 'apps/v1')]))
  assert.ok(isAsked(on(['ingresses'], ['networking.k8s.io']), [object('Ingress', 'networking.k8s.io/v1')]))
  assert.ok(
    isAsked(on(['horizontalpodautoscalers'], ['autoscaling']), [object('HorizontalPodAutoscaler', 'autoscaling/v2')]),
  )
  assert.ok(isAsked(on(['policies'], ['x.example']), [object('Policy', 'x.example/v1')]))
  assert.ok(isAsked(on(['boxes'], ['x.example']), [object('Box', 'x.example/v1')]))
  assert.ok(!isAsked(on(['boxes'], ['x.example'], { scope: 'Cluster' }), [object('Box', 'x.example/v1')]))
  const definition = object('CustomResourceDefinition', 'apiextensions.k8s.io/v1', {
    spec: { group: 'x.example', names: { kind: 'Box', plural: 'boxen' }, scope: 'Cluster', versions: [{ name: 'v1' }] },
  })
  assert.ok(isAsked(on(['boxen'], ['x.example'], { scope: 'Cluster' }), [definition, object('Box', 'x.example/v1')]))
  for (const broken of [
    {},
    { spec: 3 },
    { spec: { group: 'g', names: 3, versions: [] } },
    { spec: { group: 'g', names: { kind: 'K', plural: 'ks' }, versions: [3] } },
  ])
    assert.ok(!isAsked(on(['ks'], ['g']), [object('CustomResourceDefinition', 'apiextensions.k8s.io/v1', broken)]))
})

test('a rule that cannot be evaluated denies, unless its failurePolicy is Ignore', () => {
  const cases: [string, Partial<Spec>, RegExp][] = [
    ['object.spec.none == 1', {}, /no such key: spec/],
    ["authorizer.group('').resource('pods').check('get').allowed()", {}, /rendered content has no caller/],
    ['true', { paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }, /spec\.paramKind is not supported/],
    ['object.nope(', {}, /spec\.validations\[0\]\.expression/],
  ]
  for (const [expression, more, words] of cases) {
    const [text = ''] = texts(ask(rule(expression, more), [object('Pod')]))
    assert.match(text, words, expression)
    assert.deepEqual(
      texts(ask(rule(expression, { ...more, failurePolicy: 'Ignore' }), [object('Pod')])),
      [],
      expression,
    )
  }
})

test('the rules of one content may cost so much together, and then deny', () => {
  const expensive = `object.data.all(a, object.data.all(b, object.data.all(c, a + b + c != 'x')))`
  const data = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`key-${at}`, 'v']))
  const objects = Array.from({ length: 20 }, (_, at) =>
    object('ConfigMap', 'v1', { metadata: { name: `c${at}` }, data }),
  )
  const found = texts(ask(rule(expensive), objects))
  assert.equal(found.length, 20)
  assert.match(found[0]!, /actual cost limit exceeded/, 'one expression')
  assert.match(found.at(-1)!, /running out of cost budget/, 'all together')
})

test('namespaces: of the content with their labels, of all others the name', () => {
  const only = (matchLabels: Record<string, string>) =>
    contentRules(
      [policy('rule', 'false')],
      [binding('rule', ['Deny'], { ...RENDERED, namespaceSelector: { matchLabels } })],
    )
  const shop = object('Namespace', 'v1', { metadata: { name: 'shop', labels: { tier: 'gold' } } })
  const about = (rules: ContentQuestion['rules'], objects: readonly UnknownObject[]) =>
    judgeContent(ask(rules, objects), cluster('a')).findings.map(({ object: { kind } }) => kind)
  assert.deepEqual(about(only({ tier: 'gold' }), [shop, object('Pod')]), ['Namespace', 'Pod'])
  assert.deepEqual(about(only({ tier: 'gold' }), [object('Pod')]), [])
  assert.deepEqual(about(only({ 'kubernetes.io/metadata.name': 'shop' }), [object('Pod')]), ['Pod'])
})

test('an exception covers a policy or a control on its clusters until it expires, and nothing else', () => {
  const override = (spec: Partial<Override['spec']>) =>
    build(Override, 'shop/why', {
      spec: {
        bundle: 'web',
        policy: 'rule',
        owner: 'ann',
        reason: 'r',
        ticket: 'T-1',
        expiresAt: '2026-02-01T00:00:00Z',
        ...spec,
      },
    })
  const now = Date.parse('2026-01-01T00:00:00Z')
  const denied = (spec: Partial<Override['spec']>, inputs = cluster('a', { env: 'dev' }), at = now) => {
    const exceptions = exceptionsInForce([override(spec)], at)
    return denialsOf(judgeContent(ask(rule('false'), [object('Pod')], { exceptions }), inputs).findings).length
  }
  assert.equal(denied({}), 0)
  assert.equal(denied({ control: 'AC-6 Least' }), 0)
  assert.equal(denied({ control: 'AC-7' }), 1)
  assert.equal(denied({ policy: 'other' }), 1)
  assert.equal(denied({ clusters: ['a'] }), 0)
  assert.equal(denied({ clusters: ['b'] }), 1)
  assert.equal(denied({ clusterSelector: { matchLabels: { env: 'dev' } } }), 0)
  assert.equal(
    denied({ clusterSelector: { matchExpressions: [{ key: 'env', operator: 'NotIn', values: ['dev'] }] } }),
    1,
  )
  assert.equal(denied({ anyOf: [{ clusters: ['b'] }, { clusters: ['a'] }] }), 0)
  assert.equal(denied({ anyOf: [{ clusters: ['b'] }] }), 1)
  assert.equal(denied({}, cluster('a'), Date.parse('2026-02-01T00:00:00Z')), 1, 'expired')
  assert.equal(denied({ expiresAt: 'soon' }), 1, 'no time is no exception')
  const { reads } = judgeContent(
    ask(rule('false'), [object('Pod')], { exceptions: exceptionsInForce([override({ clusters: ['b'] })], now) }),
    cluster('a'),
  )
  assert.deepEqual(reads, { name: 'a' }, 'what an exception asks of the cluster is read')
  const [text] = texts(ask(rule('false'), [object('Pod')], { exceptions: exceptionsInForce([override({})], now) }))
  assert.equal(
    text,
    'Deny Pod shop/web: rule is not met [policy rule, excepted by Override why until 2026-02-01T00:00:00Z]',
  )
})

test('the line of an object in a text', () => {
  const web = object('ConfigMap')
  const cases: [string, number | undefined][] = [
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web}\n', 1],
    ['a: 1\n---\n# x\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n', 4],
    ['apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: other}\n', undefined],
    ['kind: List\nitems:\n- kind: Secret\n  metadata: {name: web}\n- kind: ConfigMap\n  metadata: {name: web}\n', 5],
    ['kind: ConfigMap\nmetadata: {name: "{{ .Values.name }}"}\n', undefined],
    ['a: [', undefined],
    ['', undefined],
  ]
  for (const [text, line] of cases) assert.equal(lineOfObject(text, web), line, text)
})
