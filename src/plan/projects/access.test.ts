import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { PolicyRule, Subject } from '../../kinds/builtin/rbac.ts'
import { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../../kinds/native/cluster-set.ts'
import { build, buildCluster } from '../../testing/fixtures/builders.ts'
import { buildProject } from '../../testing/fixtures/projects.ts'
import { accessRows, rowsOfCluster } from './access.ts'
import type { AccessRow, AccessWorld } from './access.ts'

const EDIT: PolicyRule = { apiGroups: ['flotilla.dev'], resources: ['bundles', 'placements'], verbs: ['*'] }
const ROLES = [
  build(ClusterRole, 'edit', { rules: [EDIT] }),
  build(ClusterRole, 'cluster-admin', { rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }] }),
]
const user = (name: string): Subject => ({ kind: 'User', name })
const bind = (at: string, subject: Subject, role = 'edit', kind = 'ClusterRole') =>
  build(RoleBinding, at, { roleRef: { kind, name: role }, subjects: [subject] })
const CLUSTERS = ['a', 'b', 'c'].map((name) =>
  buildCluster(name, { labels: name === 'c' ? {} : { 'flotilla.dev/cluster-set': name } }),
)
const SETS = [
  build(ClusterSet, 'a', { spec: { access: 'Bound' } }),
  build(ClusterSet, 'b', { spec: { access: 'Open' } }),
]
const world = (more: Partial<AccessWorld>): AccessWorld => ({
  roles: [],
  clusterRoles: ROLES,
  roleBindings: [],
  clusterRoleBindings: [],
  projects: [],
  sets: SETS,
  setBindings: [],
  clusters: CLUSTERS,
  ...more,
})
const text = ({ subject, namespace = '*', may, project = '-', clusters, as = '-' }: AccessRow) =>
  `${subject} in ${namespace}: ${may.join('+')}; ${project} ${clusters.join('')} as ${as}`

test('an editor reaches what the Project, the sets and the bindings of the namespace allow together', () => {
  const cases: [string, Partial<AccessWorld>, string][] = [
    ['no Project', {}, 'deliver+remove+place+read; -  as -'],
    [
      'everything, without a binding to the set of a',
      { projects: [buildProject('p', ['shop'])] },
      "deliver+remove+place+read; p bc as the agent's own rights, any executor",
    ],
    [
      'with a binding',
      {
        projects: [buildProject('p', ['shop'], { executors: { default: 'sys/x' } })],
        setBindings: [build(ClusterSetBinding, 'shop/a', { spec: { clusterSet: 'a' } })],
      },
      'deliver+remove+place+read; p abc as sys/x',
    ],
    [
      'a binding of another namespace',
      {
        projects: [buildProject('p', ['shop'], { clusterSets: ['a'], executors: {} })],
        setBindings: [build(ClusterSetBinding, 'other/a', { spec: { clusterSet: 'a' } })],
      },
      'deliver+remove+place+read; p  as no executor',
    ],
    [
      'one open set',
      { projects: [buildProject('p', ['shop'], { clusterSets: ['b'], executors: { allowed: ['team/*'] } })] },
      'deliver+remove+place+read; p b as team/*',
    ],
    [
      'two Projects',
      { projects: [buildProject('p', ['shop']), buildProject('q', ['shop'])] },
      'deliver+remove+place+read; -  as -',
    ],
  ]
  for (const [name, more, expected] of cases) {
    const rows = accessRows(world({ roleBindings: [bind('shop/x', user('ann'))], ...more }))
    assert.deepEqual(rows.map(text), [`User ann in shop: ${expected}`], name)
  }
})

test('rights of the whole hub reach all clusters; a reader reaches none', () => {
  const projects = [buildProject('p', ['shop'], { clusterSets: ['b'] })]
  const whole = (name: string, role: string) =>
    build(ClusterRoleBinding, name, { roleRef: { kind: 'ClusterRole', name: role }, subjects: [user(name)] })
  const clusterRoles = [
    ...ROLES,
    build(ClusterRole, 'reader', { rules: [{ ...EDIT, verbs: ['get'] }] }),
    build(ClusterRole, 'labels', {
      rules: [{ apiGroups: ['flotilla.dev'], resources: ['clusters'], verbs: ['patch'] }],
    }),
  ]
  const clusterRoleBindings = [
    whole('root', 'cluster-admin'),
    whole('ed', 'edit'),
    whole('eve', 'reader'),
    whole('lab', 'labels'),
  ]
  assert.deepEqual(accessRows(world({ projects, clusterRoles, clusterRoleBindings })).map(text), [
    'User ed in *: deliver+remove+place+read; - b as -',
    'User eve in *: read; -  as -',
    'User lab in *: change clusters; - abc as -',
    'User root in *: everything; - abc as -',
  ])
})

test('named objects, Roles, service accounts and Deliveries', () => {
  const roles = [
    build(Role, 'shop/one', {
      rules: [{ ...EDIT, resources: ['bundles'], verbs: ['update'], resourceNames: ['web'] }],
    }),
    build(Role, 'shop/works', { rules: [{ ...EDIT, resources: ['deliveries'], verbs: ['create'] }] }),
  ]
  const roleBindings = [
    bind('shop/a', { kind: 'ServiceAccount', name: 'ci' }, 'one', 'Role'),
    bind('shop/b', { kind: 'Group', name: 'ops' }, 'works', 'Role'),
    bind('shop/c', user('gone'), 'no-such-role'),
  ]
  const rows = accessRows(
    world({ roles, roleBindings, projects: [buildProject('p', ['shop'], { clusterSets: ['b'], executors: {} })] }),
  )
  assert.deepEqual(rows.map(text), [
    'Group ops in shop: deliver to named clusters; p abc as no executor',
    'ServiceAccount shop/ci in shop: deliver (web); p b as no executor',
  ])
  assert.deepEqual(
    rowsOfCluster(rows, 'a').map(({ subject }) => subject),
    ['Group ops'],
  )
})
