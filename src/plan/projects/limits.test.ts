import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { ObjectId } from '../objects/object-id.ts'
import { allLimitsOf, decideExecutor, limitsOf, lookupRefusal, objectRefusal, setExecutorRefusal } from './limits.ts'
import type { ProjectFacts } from './limits.ts'
import { everythingAllowed } from './project-of.ts'

const project = (spec: ProjectFacts['spec']): ProjectFacts => ({ metadata: { name: 'team-a' }, spec })
const refusal = (spec: ProjectFacts['spec'], id: ObjectId) => objectRefusal(allLimitsOf(project(spec)), id)

const map: ObjectId = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'x' }
const deployment: ObjectId = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'shop', name: 'web' }
const role: ObjectId = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'x' }
const namespace: ObjectId = { apiVersion: 'v1', kind: 'Namespace', name: 'shop' }
const ROLE = 'rbac.authorization.k8s.io/ClusterRole'

test('objects', () => {
  const cases: [string, ProjectFacts['spec'], ObjectId, string | undefined][] = [
    ['everything', everythingAllowed(['x']), role, undefined],
    ['nothing', {}, map, 'Project team-a: spec.kinds does not list ConfigMap'],
    ['a kind', { kinds: ['ConfigMap'], targetNamespaces: ['*'] }, map, undefined],
    [
      'another kind',
      { kinds: ['ConfigMap'], targetNamespaces: ['*'] },
      deployment,
      'Project team-a: spec.kinds does not list apps/Deployment',
    ],
    ['a namespace', { kinds: ['*'], targetNamespaces: ['sh*'] }, map, undefined],
    [
      'another namespace',
      { kinds: ['*'], targetNamespaces: ['team-*'] },
      map,
      'Project team-a: spec.targetNamespaces does not list shop (ConfigMap shop/x)',
    ],
    [
      'kube-system, where all kinds are allowed',
      { kinds: ['*'], targetNamespaces: ['team-*'] },
      { ...map, namespace: 'kube-system' },
      'Project team-a: spec.targetNamespaces does not list kube-system (ConfigMap kube-system/x)',
    ],
    [
      'no target namespaces',
      { kinds: ['*'] },
      map,
      'Project team-a: spec.targetNamespaces does not list shop (ConfigMap shop/x)',
    ],
    ['a Namespace is the place it is', { kinds: ['*'], targetNamespaces: ['shop'] }, namespace, undefined],
    [
      'another Namespace',
      { kinds: ['Namespace'], targetNamespaces: ['team-a'] },
      namespace,
      'Project team-a: spec.targetNamespaces does not list shop (Namespace shop)',
    ],
    [
      'a cluster-wide object by a wildcard',
      { kinds: ['*'], targetNamespaces: ['shop'] },
      role,
      `Project team-a: spec.targetNamespaces is limited, and spec.kinds does not list ${ROLE} by its full name (ClusterRole x has no namespace)`,
    ],
    ['a cluster-wide object by its name', { kinds: [ROLE], targetNamespaces: ['shop'] }, role, undefined],
    ['a cluster-wide object beside a wildcard', { kinds: ['*', ROLE], targetNamespaces: ['shop'] }, role, undefined],
    [
      'a cluster-wide object where all namespaces are allowed',
      { kinds: ['*'], targetNamespaces: ['*'] },
      role,
      undefined,
    ],
  ]
  for (const [name, spec, id, expected] of cases) assert.equal(refusal(spec, id), expected, name)
})

test('executors', () => {
  const deployer = { namespace: 'sys', name: 'deployer' }
  const decide = (executors: ProjectFacts['spec']['executors'], asked?: typeof deployer) =>
    decideExecutor(allLimitsOf(project(executors ? { executors } : {})), asked)
  assert.deepEqual(decide({ default: 'sys/deployer' }), { executor: deployer })
  assert.deepEqual(decide({ default: 'sys/deployer', ownRights: true }), { executor: deployer })
  assert.deepEqual(decide({ default: 'sys/deployer' }, deployer), { executor: deployer })
  assert.deepEqual(decide({ ownRights: true }), {})
  assert.deepEqual(decide({ allowed: ['sys/*'] }, deployer), { executor: deployer })
  assert.deepEqual(decide({ allowed: ['*'] }, deployer), { executor: deployer })
  assert.match(decide(undefined).refusal ?? '', /^Project team-a: spec\.executors\.ownRights is not true/)
  assert.match(decide({ allowed: ['*'] }).refusal ?? '', /so the Bundle must name spec\.executor$/)
  assert.equal(
    decide({ allowed: ['team/*'], ownRights: true }, deployer).refusal,
    'Project team-a: spec.executors.allowed does not list sys/deployer',
  )
})

test('a set is applied as the executor that it names, and without one only with own rights', () => {
  const deployer = { namespace: 'sys', name: 'deployer' }
  const refused = (executors: ProjectFacts['spec']['executors'] & {}, asked?: typeof deployer) =>
    setExecutorRefusal(allLimitsOf(project({ executors })), asked)
  assert.equal(refused({ ownRights: true }), undefined)
  assert.equal(refused({ default: 'sys/deployer' }, deployer), undefined)
  assert.equal(
    refused({ default: 'sys/deployer', ownRights: true }),
    'Project team-a: spec.executors.default is sys/deployer, and the content was rendered without it',
  )
  assert.match(refused({}, deployer) ?? '', /does not list sys\/deployer$/)
})

test('lookups', () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'db', isNamespaced: true }
  const node = { apiVersion: 'v1', kind: 'Node', name: '', isNamespaced: false }
  const place = { apiVersion: 'v1', kind: 'Namespace', name: 'shop', isNamespaced: false }
  const refused = (spec: ProjectFacts['spec'], what: typeof secret | typeof node) =>
    lookupRefusal(allLimitsOf(project(spec)), what)
  const shop = { kinds: ['*'], targetNamespaces: ['shop'] }
  assert.equal(refused({ kinds: [], targetNamespaces: ['*'] }, node), undefined)
  assert.equal(refused(shop, secret), undefined)
  assert.equal(refused(shop, place), undefined)
  assert.match(refused(shop, { ...place, name: 'other' }) ?? '', /does not list other, so Namespace/)
  assert.match(refused(shop, { ...place, name: '' }) ?? '', /so Namespace of all namespaces cannot be looked up/)
  assert.match(refused(shop, { ...secret, namespace: 'kube-system' }) ?? '', /does not list kube-system, so Secret/)
  assert.match(refused(shop, { ...secret, namespace: '' }) ?? '', /so Secret of all namespaces cannot be looked up/)
  assert.match(refused(shop, node) ?? '', /does not list Node by its full name/)
  assert.equal(refused({ ...shop, kinds: ['Node'] }, node), undefined)
})

test('a document carries limits only where the Project limits something', () => {
  assert.equal(limitsOf(project(everythingAllowed(['x']))), undefined)
  assert.deepEqual(limitsOf(project({})), {
    name: 'team-a',
    kinds: [],
    targetNamespaces: [],
    executors: [],
    ownRights: false,
  })
  const all = everythingAllowed(['x'])
  assert.deepEqual(limitsOf(project({ ...all, executors: { allowed: ['*'] } })), { name: 'team-a', ownRights: false })
  assert.deepEqual(limitsOf(project({ ...all, kinds: ['ConfigMap'] })), {
    name: 'team-a',
    kinds: ['ConfigMap'],
    ownRights: true,
  })
})

const kinds = fc.subarray(['*', 'ConfigMap', 'apps/*', 'apps/Deployment', ROLE])
const namespaces = fc.subarray(['*', 'shop', 'team-*'])
const ids = fc.constantFrom(map, deployment, role, namespace)

test('property: a longer list never refuses what a shorter list allows', () => {
  fc.assert(
    fc.property(fc.tuple(kinds, kinds), fc.tuple(namespaces, namespaces), ids, ([some, more], [places, others], id) => {
      if (refusal({ kinds: some, targetNamespaces: places }, id) !== undefined) return
      const wider = { kinds: [...some, ...more], targetNamespaces: [...places, ...others] }
      assert.equal(refusal(wider, id), undefined)
    }),
  )
})

test('property: what the limits of a document allow, the Project allows', () => {
  fc.assert(
    fc.property(kinds, namespaces, ids, (some, places, id) => {
      const spec = { ...everythingAllowed(['x']), kinds: some, targetNamespaces: places }
      const limits = limitsOf(project(spec))
      assert.equal(limits === undefined ? undefined : objectRefusal(limits, id), refusal(spec, id))
    }),
  )
})
