/** flotilla validate on files of a temporary directory, with and without a fleet. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { isObject } from '../../../core/json.ts'
import { CliError } from '../../errors/cli-error.ts'
import { validate } from './validate.ts'
import type { ValidateFlags } from './validate.ts'

const FLEET = `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores, namespace: shop}
spec: {clusterSelector: {matchLabels: {tier: store}}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Source
metadata: {name: apps, namespace: shop}
spec: {git: {url: https://git.example.com/apps.git}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: pos, namespace: shop}
spec:
  placement: stores
  source: {name: apps, path: apps/pos}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: till, namespace: shop}
spec:
  placement: stores
  source: {name: apps, path: apps/till}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: inline, namespace: shop}
spec:
  placement: stors
  vairants: []
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: greeting}
    dta: {hello: world}
`

const CLUSTERS = ['1', '2'].map(
  (n) => `---
apiVersion: flotilla.dev/v1alpha1
kind: Cluster
metadata: {name: s${n}, labels: {tier: store}}
spec: {}
status: {kubernetesVersion: v1.3${n}.0}
`,
)

const FILES = {
  'fleet/all.yaml': FLEET,
  'apps/pos/deploy.yaml': `# the till
apiVersion: apps/v1
kind: Deployment
metadata: {name: pos, namespace: pos}
spec:
  replica: 2
  template:
    spec:
      containers:
      - {name: pos, image: registry.example.com/pos}
---
apiVersion: policy/v1beta1
kind: PodDisruptionBudget
metadata: {name: pos, namespace: pos}
`,
  'apps/till/Chart.yaml': 'apiVersion: v2\nname: till\nversion: 1.0.0\n',
  'apps/till/templates/cm.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: till}\ndata: {v: {{ .Values.tills | quote }}}\n',
}

async function run(
  t: TestContext,
  files: Readonly<Record<string, string>>,
  flags: ValidateFlags = {},
  directories: readonly string[] = [''],
) {
  const root = mkdtempSync(join(tmpdir(), 'flotilla-validate-'))
  t.after(() => rmSync(root, { recursive: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  let out = ''
  let err = ''
  const code = await validate(
    directories.map((one) => join(root, one)),
    {
      terminal: {
        data: (text) => void (out += text),
        say: (text) => void (err += `${text}\n`),
        step: (_sign, text) => void (err += `${text}\n`),
      },
      stdin: (async function* () {})(),
      connect: async () => assert.fail('the hub was asked'),
      flags: { root, ...flags },
    },
  )
  return { out: out.replaceAll(`${relative('', root)}/`, ''), err, code }
}

test('without a fleet: what can be known is told with file and line', async (t) => {
  const { out, code } = await run(t, FILES)
  assert.equal(code, 1)
  assert.equal(
    out,
    `apps/pos/deploy.yaml:6:3: warning: Deployment pos/pos: there is no field replica in .spec; did you mean replicas? [unknown-field]
apps/pos/deploy.yaml:10:21: warning: Deployment pos/pos: the image registry.example.com/pos of container pos has no tag, which means latest; name a version, or a digest [unpinned-image]
apps/pos/deploy.yaml:12:1: warning: PodDisruptionBudget pos/pos: policy/v1beta1 is deprecated since Kubernetes 1.21 and not served from 1.25 on; write apiVersion: policy/v1 [deprecated-api]
fleet/all.yaml:14:1: warning: Bundle pos has no rollout strategy: a change goes to all its clusters in one ring, 10 at a time; set spec.rollout.plan to a RolloutPlan whose first ring is small [no-rollout-strategy]
fleet/all.yaml:21:1: warning: Bundle till has no rollout strategy: a change goes to all its clusters in one ring, 10 at a time; set spec.rollout.plan to a RolloutPlan whose first ring is small [no-rollout-strategy]
fleet/all.yaml:28:1: warning: Bundle inline has no rollout strategy: a change goes to all its clusters in one ring, 10 at a time; set spec.rollout.plan to a RolloutPlan whose first ring is small [no-rollout-strategy]
fleet/all.yaml:29:3: warning: Bundle shop/inline names Placement stors, which is not in these files; did you mean stores? [missing-reference]
fleet/all.yaml:30:3: error: Bundle shop/inline: there is no field vairants in .spec; did you mean variants? [unknown-field]
fleet/all.yaml:35:1: warning: ConfigMap default/greeting: there is no field dta; did you mean data? [unknown-field]
1 error, 8 warnings; checked 5 definitions, 3 bundles, 4 objects, no cluster known
see https://flotilla.dev/docs/lint.md#unknown-field and the other sections
`,
  )
})

test('with a fleet: its versions and labels count', async (t) => {
  const more = `---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: dcs, namespace: shop}
spec: {clusterSelector: {matchLabels: {tier: stor}}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Override
metadata: {name: hot, namespace: shop}
spec: {bundle: pos, clusters: [s1, s22], owner: ana, reason: x}
`
  const files = { ...FILES, 'fleet/clusters.yaml': CLUSTERS.join(''), 'fleet/more.yaml': more }
  const { out } = await run(t, files)
  const told = (check: string) => out.split('\n').filter((line) => line.endsWith(`[${check}]`))
  assert.deepEqual(told('removed-api'), [
    'apps/pos/deploy.yaml:12:1: error: PodDisruptionBudget pos/pos: policy/v1beta1 is not served since Kubernetes 1.25, and 2 clusters run that or a newer one (s1, s2); write apiVersion: policy/v1 [removed-api]',
  ])
  assert.deepEqual(told('unmatched-selector'), [
    'fleet/more.yaml:5:8: warning: Placement shop/dcs: the selector tier=stor matches none of 2 clusters: none meets tier in (stor); did you mean tier=store? [unmatched-selector]',
    'fleet/more.yaml:10:36: warning: Override shop/hot names cluster "s22", which does not exist; did you mean s2? [unmatched-selector]',
  ])
  assert.match(told('unknown-field')[0]!, /: error: /)
  assert.match(out, /checked 9 definitions, 3 bundles, 4 objects, for 2 clusters\n/)
})

test('two bundles with one object on a cluster, and a bundle that cannot be rendered for one', async (t) => {
  const fleet = `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: all}
spec: {clusterSelector: {}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: a}
spec: {placement: all, source: {name: here, path: a}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: b}
spec: {placement: all, templating: Enabled, source: {name: here, path: b}}
`
  const cm = (value: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {v: ${value}}\n`
  const files = {
    'fleet.yaml': fleet,
    'clusters.yaml': CLUSTERS.join(''),
    'a/cm.yaml': cm('"1"'),
    'b/cm.yaml': cm('"2"'),
  }
  assert.match(
    (await run(t, files)).out,
    /^b\/cm\.yaml:4:8: error: ConfigMap default\/x is in bundle default\/a and in bundle default\/b on s1, s2, with different fields; leave it in one of them \[overlapping-objects\]$/m,
  )
  const wanting = { ...files, 'b/cm.yaml': cm('"${ .Cluster.Labels.size }"') }
  const { out } = await run(t, wanting)
  assert.match(
    out,
    /b\/cm\.yaml:\d+:\d+: error: Bundle default\/b cannot be rendered for s1, s2: .*size.* \[cannot-render\]/,
  )
  const { 'clusters.yaml': _none, ...unknown } = wanting
  assert.match(
    (await run(t, unknown)).out,
    /fleet\.yaml:14:.*: note: Bundle default\/b: the content depends on the cluster \(labels\.size\), and no cluster is known: /,
  )
})

test('manifests without a bundle; strict; files that are no YAML; nothing at all', async (t) => {
  const manifests = {
    'a.yaml': 'apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec: {containers: [{name: c, image: nginx}]}\n',
  }
  assert.equal((await run(t, manifests)).code, 0)
  assert.equal((await run(t, manifests, { strict: true })).code, 1)
  const broken = await run(t, { 'a.yaml': 'a: [\n' })
  assert.equal(broken.code, 1)
  assert.match(broken.out, /^a\.yaml:\d+:\d+: error: .* \[unreadable-file\]$/m)
  const { out, err } = await run(t, {})
  assert.equal(out, 'no findings; checked 0 objects, no cluster known\n')
  assert.equal(err, 'no Flotilla objects and no manifests found\n')
  await assert.rejects(run(t, {}, {}, ['nowhere']), (error) => {
    assert.ok(error instanceof CliError)
    assert.equal(error.report.what, 'no such file or directory')
    return true
  })
})

test('kustomizations without a bundle are built: a file that is missing is told once, where it is missed', async (t) => {
  const files = {
    'base/kustomization.yaml': 'resources: [cm.yaml, gone.yaml]\n',
    'base/cm.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n',
    'prod/kustomization.yaml': 'resources: [../base]\nnamePrefix: p-\n',
    // These two are no builds of their own.
    'part/kustomization.yaml': 'kind: Component\nresources: [gone.yaml]\n',
    'over-a-chart/kustomization.yaml': 'patchesStrategicMerge: [gone.yaml]\n',
  }
  const { out, code } = await run(t, files)
  assert.equal(code, 1)
  const told = out.match(/^.*\[cannot-render\]$/gm) ?? []
  assert.equal(told.length, 1, out)
  assert.match(
    told[0],
    /^base\/kustomization\.yaml:1:1: error: cannot build kustomization base: .*\/base\/gone\.yaml: no such file/,
  )
  const { 'base/kustomization.yaml': _base, ...rest } = files
  const mended = await run(t, { ...rest, 'base/kustomization.yaml': 'resources: [cm.yaml]\n' })
  assert.deepEqual([mended.code, mended.out.match(/cannot-render/)], [0, null])
})

test('the other forms: JSON, markdown, SARIF, annotations', async (t) => {
  const files = { 'a|b.yaml': 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndta: {}\n' }
  const json = JSON.parse((await run(t, files, { output: 'json' })).out) as unknown
  assert.deepEqual(json, {
    checked: { objects: 0, bundles: 0, clusters: 0, contents: 1 },
    findings: [
      {
        check: 'unknown-field',
        severity: 'warning',
        message: 'ConfigMap x: there is no field dta',
        todo: 'did you mean data?',
        file: 'a|b.yaml',
        line: 4,
        column: 1,
        field: 'dta',
        docs: 'https://flotilla.dev/docs/lint.md#unknown-field',
      },
    ],
  })
  assert.equal(
    (await run(t, files, { output: 'markdown' })).out,
    `### flotilla validate: 1 warning; checked 1 object, no cluster known

| | where | what | check |
|---|---|---|---|
| warning | \`a\\|b.yaml:4\` | ConfigMap x: there is no field dta; did you mean data? | \`unknown-field\` |
`,
  )
  assert.equal(
    (await run(t, files, { output: 'github' })).out,
    '::warning file=a|b.yaml,line=4,col=1,title=unknown-field::ConfigMap x: there is no field dta; did you mean data?\n',
  )
  const sarif = JSON.parse((await run(t, files, { output: 'sarif' })).out) as { runs: { results: unknown[] }[] }
  const [result] = sarif.runs[0]!.results
  assert.ok(isObject(result))
  assert.equal(result['ruleId'], 'unknown-field')
  assert.deepEqual(result['locations'], [
    { physicalLocation: { artifactLocation: { uri: 'a%7Cb.yaml' }, region: { startLine: 4, startColumn: 1 } } },
  ])
})

test('fleet.yaml of a repository of Rancher Fleet is checked too', async (t) => {
  const cm = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'
  const files = {
    'a/fleet.yaml': 'defaultNamespce: x\n',
    'a/cm.yaml': cm,
    'b/fleet.yaml': 'downstreamResources: [{kind: Secret, name: s}]\n',
    'b/cm.yaml': cm.replace('name: a', 'name: b'),
  }
  const { out, code } = await run(t, files)
  assert.match(
    out,
    /a\/fleet\.yaml:1.*defaultNamespce is no field of Fleet and has no effect; did you mean "defaultNamespace"\?/,
  )
  assert.match(out, /b\/fleet\.yaml:1.*downstreamResources are objects of the hub/)
  assert.equal(code, 1)
})

test('directories of a repository of Rancher Fleet are rendered as the hub renders them', async (t) => {
  const files = {
    'app/fleet.yaml': 'defaultNamespace: shop\nhelm: {values: {replicas: many}}\n',
    'app/Chart.yaml': 'apiVersion: v2\nname: app\nversion: 1.0.0\n',
    'app/values.yaml': 'replicas: 1\n',
    'app/templates/web.yaml':
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: {{ .Values.replicas }}, selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: a, image: a:1}]}}}\n',
    'bad/fleet.yaml': 'defaultNamespace: shop\n',
    'bad/Chart.yaml': 'apiVersion: v2\nname: bad\nversion: 1.0.0\n',
    'bad/templates/x.yaml': '{{ .Values.missing.name }}\n',
    'overlay/fleet.yaml': 'kustomize: {dir: .}\n',
    'overlay/kustomization.yaml': 'resources: [gone.yaml]\n',
  }
  const { out, code } = await run(t, files)
  assert.match(out, /repository-bad: [^]*nil pointer evaluating interface \{\}\.name/)
  assert.match(out, /error: .*gone\.yaml/)
  assert.match(out, /error: Deployment shop\/web: \.spec\.replicas must be of type integer/, 'fleet.yaml has the value')
  assert.match(out, /checked 3 bundles/)
  assert.equal(code, 1)
})

test('plaintext Secrets, plans without a gate and switched off guards are findings, with what to write', async (t) => {
  const secret = 'apiVersion: v1\nkind: Secret\nmetadata: {name: db}\nstringData: {p: hunter2}\n'
  const objects = (annotations = '') => `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores, namespace: shop}
spec: {clusterSelector: {}, guard: {maxDropped: 100%}}
---
apiVersion: flotilla.dev/v1alpha1
kind: RolloutPlan
metadata: {name: plan, namespace: shop}
spec: {rings: [{name: all}]}
---
apiVersion: flotilla.dev/v1alpha1
kind: Source
metadata: {name: apps, namespace: shop${annotations}}
spec: {git: {url: https://git.example.com/apps.git}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: pos, namespace: shop}
spec: {placement: stores, rollout: {plan: plan}, source: {name: apps, path: pos}}
`
  const { out, code } = await run(t, { 'all.yaml': objects(), 'pos/s.yaml': secret })
  assert.match(out, /all\.yaml:4:\d+: warning: Placement stores has no guard.*\[unguarded-placement\]/)
  assert.match(
    out,
    /all\.yaml:9:\d+: warning: RolloutPlan plan has no gate.*for example soak: 30m \[plan-without-gate\]/,
  )
  assert.match(out, /error: Bundle shop\/pos cannot be rendered: Secret db has its content \(p\).*\[plaintext-secret\]/)
  assert.doesNotMatch(out, /hunter2/)
  assert.equal(code, 1)
  const allowed = await run(t, {
    'all.yaml': objects(', annotations: {flotilla.dev/secrets: Allow}'),
    'pos/s.yaml': secret,
  })
  assert.doesNotMatch(allowed.out, /plaintext-secret/)
  assert.equal(allowed.code, 0)
})

test('the Projects of the files are asked: about definitions, about rendered objects, and about namespaces without one', async (t) => {
  const files = (project: string) => ({
    'all.yaml': `${project}
---
apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: stores, namespace: shop}
spec: {clusterSelector: {}, clusterSets: [lab]}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: pos, namespace: shop}
spec:
  placement: stores
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: a, namespace: kube-system}
`,
  })
  const project = (spec: string) =>
    `apiVersion: flotilla.dev/v1alpha1\nkind: Project\nmetadata: {name: team}\nspec: ${spec}`
  const limited = project(
    "{namespaces: [shop], sources: [inline], kinds: ['*'], targetNamespaces: [shop], clusterSets: [stores], executors: {ownRights: true}}",
  )
  const { out, code } = await run(t, files(limited))
  assert.match(
    out,
    /error: Placement shop\/stores: Project team: spec\.clusterSets does not list lab \[project-refuses\]/,
  )
  assert.match(
    out,
    /error: Bundle shop\/pos: Project team: spec\.targetNamespaces does not list kube-system .*\[project-refuses\]/,
  )
  assert.equal(code, 1)
  const none = await run(t, files(project('{namespaces: [other]}')))
  assert.match(none.out, /error: Bundle shop\/pos: Namespace shop has no Project.*\[project-refuses\]/)
  assert.doesNotMatch((await run(t, files(''))).out, /project-refuses/)
})

const RULE = (action: string) => `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: greets}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
  validations: [{expression: "object.data.hello == 'people'", message: greet people}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: greets}
spec:
  policyName: greets
  validationActions: [${action}]
  matchResources: {objectSelector: {matchLabels: {flotilla.dev/rendered: "true"}}}
`

test('rules of the files are evaluated on what Bundles render, at the line of the object', async (t) => {
  const bundle = `apiVersion: flotilla.dev/v1alpha1
kind: Placement
metadata: {name: all, namespace: default}
spec: {clusterSelector: {}}
---
apiVersion: flotilla.dev/v1alpha1
kind: Bundle
metadata: {name: greeting, namespace: default}
spec:
  placement: all
  rollout: {concurrency: 1}
  manifests: |
    apiVersion: v1
    kind: ConfigMap
    metadata: {name: greeting}
    data: {hello: world}
`
  const override = `---
apiVersion: flotilla.dev/v1alpha1
kind: Override
metadata: {name: legacy, namespace: default}
spec: {bundle: greeting, policy: greets, owner: ana, reason: legacy, ticket: T-1, expiresAt: "2999-01-01T00:00:00Z"}
`
  const found = async (action: string, more = '') => {
    const files = { 'bundle.yaml': bundle + more, 'rule.yaml': RULE(action) }
    const { out, code } = await run(t, files, { output: 'json' })
    const { findings } = JSON.parse(out) as { findings: Record<string, unknown>[] }
    const rows = findings.filter((one) => one['check'] === 'rule-not-met')
    return [code, ...rows.map((one) => [one['severity'], one['message'], one['line']])]
  }
  const words = 'Bundle default/greeting: ConfigMap default/greeting: greet people [policy greets]'
  assert.deepEqual(await found('Deny'), [1, ['error', words, 13]])
  assert.deepEqual(await found('Warn'), [0, ['warning', words, 13]])
  assert.deepEqual(await found('Audit'), [0, ['note', words, 13]])
  const excepted = words.replace(']', ', excepted by Override legacy until 2999-01-01T00:00:00Z]')
  assert.deepEqual(await found('Deny', override), [0, ['note', excepted, 13]])
})
