import assert from 'node:assert/strict'
import {
  COMPONENT_BINDINGS,
  COMPONENT_ROLES,
  CONTROLLER_BINDINGS,
  CONTROLLER_ROLES,
} from '../../../apiserver/rbac/bootstrap-system-roles.ts'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../../kinds/builtin/rbac.ts'
import { configMap } from '../harness.ts'
import type { Api, ApiCase, Loose, Reply } from '../harness.ts'

/** Who may do what: roles, bindings, escalation, impersonation. */

const RBAC = 'rbac.authorization.k8s.io'
/** The path of questions about rights. */
export const ACCESS = '/apis/authorization.k8s.io/v1'
/** The path of questions about identity. */
export const IDENTITY = '/apis/authentication.k8s.io/v1'

/** Headers to impersonate a user. */
export const as = (user: string, more: Readonly<Record<string, string>> = {}) => ({ 'impersonate-user': user, ...more })

function role(name: string, rules: readonly object[], kind = 'Role'): object {
  return { apiVersion: `${RBAC}/v1`, kind, metadata: { name }, rules }
}

function binding(name: string, roleRef: { kind: string; name: string }, subjects: readonly object[]): object {
  return {
    apiVersion: `${RBAC}/v1`,
    kind: 'RoleBinding',
    metadata: { name },
    roleRef: { apiGroup: RBAC, ...roleRef },
    subjects,
  }
}

/** Rights are known a moment after they are written; the number of tries only ends a case that would hang. */
async function until(api: Api, ask: () => Promise<Reply>, status: number): Promise<Reply> {
  for (let tries = 0; ; tries += 1) {
    const reply = await ask()
    if (reply.status === status || tries > 100) {
      assert.equal(reply.status, status, `${api.namespace}: ${reply.text}`)
      return reply
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** A rule to start from. */
export const READ_MAPS = [{ verbs: ['get', 'list'], apiGroups: [''], resources: ['configmaps'] }]

/** Gives a user some rules in the namespace of the case. */
export async function grant(api: Api, user: string, rules: readonly object[]): Promise<void> {
  await api.ok('POST', api.path(Role), role('given', rules))
  await api.ok(
    'POST',
    api.path(RoleBinding),
    binding('given', { kind: 'Role', name: 'given' }, [{ kind: 'User', name: user }]),
  )
}

/** What a SubjectAccessReview says about a user in the namespace of the case. */
export async function review(
  api: Api,
  user: string,
  attributes: object,
  groups: readonly string[] = [],
): Promise<Loose> {
  const spec = { user, groups, resourceAttributes: { namespace: api.namespace, ...attributes } }
  return (await api.ok('POST', `${ACCESS}/subjectaccessreviews`, { spec })).status
}

/** Waits until a review says so. */
export async function untilAllowed(api: Api, user: string, attributes: object, allowed = true): Promise<Loose> {
  for (let tries = 0; ; tries += 1) {
    const status = await review(api, user, attributes)
    if (status.allowed === allowed || tries > 100) {
      assert.equal(status.allowed, allowed, JSON.stringify(status))
      return status
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const list = (api: Api, plural: string, headers: Readonly<Record<string, string>>) =>
  api.send('GET', `/api/v1/namespaces/${api.namespace}/${plural}`, { headers })

/** The cases. */
export const RBAC_CASES: readonly ApiCase[] = [
  {
    title: 'a user without a role may do nothing, with the messages of Kubernetes',
    async run(api) {
      const user = `no-role-${api.namespace}`
      const refused = await list(api, 'configmaps', as(user))
      assert.equal(refused.status, 403)
      assert.equal(
        refused.body.message,
        `configmaps is forbidden: User "${user}" cannot list resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
      )
      assert.deepEqual(refused.body.details, { kind: 'configmaps' })
      const one = await api.send('GET', '/api/v1/namespaces/x', { headers: as(user) })
      assert.equal(
        one.body.message,
        `namespaces "x" is forbidden: User "${user}" cannot get resource "namespaces" in API group "" in the namespace "x"`,
      )
      const everywhere = await api.send('GET', '/api/v1/configmaps', { headers: as(user) })
      assert.match(everywhere.body.message, / in API group "" at the cluster scope$/)
      const path = await api.send('GET', '/nothing/here', { headers: as(user) })
      assert.equal(path.status, 403)
      assert.equal(path.body.message, `forbidden: User "${user}" cannot get path "/nothing/here"`)
      assert.equal((await api.send('GET', '/version', { headers: as(user) })).status, 200)
    },
  },
  {
    title: 'a role and a binding allow exactly what they say, and end with the binding',
    async run(api) {
      const user = `reader-${api.namespace}`
      await grant(api, user, READ_MAPS)
      await until(api, () => list(api, 'configmaps', as(user)), 200)
      assert.equal((await list(api, 'secrets', as(user))).status, 403)
      assert.equal((await api.send('GET', '/api/v1/configmaps', { headers: as(user) })).status, 403)
      const create = await api.send('POST', `/api/v1/namespaces/${api.namespace}/configmaps`, {
        body: configMap('a'),
        headers: as(user),
      })
      assert.equal(create.status, 403)
      await api.ok('DELETE', api.path(RoleBinding, 'given'))
      await until(api, () => list(api, 'configmaps', as(user)), 403)
    },
  },
  {
    title: 'resourceNames allow one object, also to be listed by its name',
    async run(api) {
      const user = `one-${api.namespace}`
      const at = `/api/v1/namespaces/${api.namespace}/configmaps`
      for (const name of ['mine', 'other']) await api.ok('POST', at, configMap(name))
      await grant(api, user, [{ ...READ_MAPS[0], resourceNames: ['mine'] }])
      await until(api, () => api.send('GET', `${at}/mine`, { headers: as(user) }), 200)
      assert.equal((await api.send('GET', `${at}/other`, { headers: as(user) })).status, 403)
      assert.equal((await list(api, 'configmaps', as(user))).status, 403)
      const byName = await api.send('GET', `${at}?fieldSelector=metadata.name%3Dmine`, { headers: as(user) })
      assert.equal(byName.status, 200)
    },
  },
  {
    title: 'rules about subresources, all resources and a subresource of all',
    async run(api) {
      const user = `subs-${api.namespace}`
      await grant(api, user, [
        { verbs: ['get'], apiGroups: ['x.example'], resources: ['*/status', 'things'] },
        { verbs: ['*'], apiGroups: ['y.example'], resources: ['*'] },
      ])
      const may = async (attributes: object) => (await review(api, user, attributes)).allowed
      await untilAllowed(api, user, { verb: 'get', group: 'x.example', resource: 'things' })
      assert.equal(await may({ verb: 'get', group: 'x.example', resource: 'any', subresource: 'status' }), true)
      assert.equal(await may({ verb: 'get', group: 'x.example', resource: 'any' }), false)
      assert.equal(await may({ verb: 'get', group: 'x.example', resource: 'things', subresource: 'scale' }), false)
      assert.equal(await may({ verb: 'fly', group: 'y.example', resource: 'any', subresource: 'wing' }), true)
      assert.equal(await may({ verb: 'get', group: 'z.example', resource: 'any' }), false)
    },
  },
  {
    title: 'subjects are users, groups and service accounts; the reason names the binding',
    async run(api) {
      const { namespace } = api
      await api.ok('POST', api.path(Role), role('r', READ_MAPS))
      const subjects = [
        { kind: 'User', name: `u-${namespace}` },
        { kind: 'Group', name: `g-${namespace}` },
        { kind: 'ServiceAccount', name: 'robot', namespace },
      ]
      const made = await api.ok('POST', api.path(RoleBinding), binding('b', { kind: 'Role', name: 'r' }, subjects))
      assert.deepEqual(made.subjects[0], { kind: 'User', apiGroup: RBAC, name: `u-${namespace}` })
      assert.deepEqual(made.subjects[2], { kind: 'ServiceAccount', name: 'robot', namespace })
      const wish = { verb: 'get', resource: 'configmaps' }
      const status = await untilAllowed(api, `u-${namespace}`, wish)
      assert.equal(status.reason, `RBAC: allowed by RoleBinding "b/${namespace}" of Role "r" to User "u-${namespace}"`)
      const robot = await review(api, `system:serviceaccount:${namespace}:robot`, wish)
      assert.equal(
        robot.reason,
        `RBAC: allowed by RoleBinding "b/${namespace}" of Role "r" to ServiceAccount "robot/${namespace}"`,
      )
      assert.equal((await review(api, 'member', wish, [`g-${namespace}`])).allowed, true)
      assert.equal((await review(api, 'robot', wish)).allowed, false)
    },
  },
  {
    title: 'a binding to a role that does not exist says so in the refusal',
    async run(api) {
      const user = `lost-${api.namespace}`
      await api.ok(
        'POST',
        api.path(RoleBinding),
        binding('lost', { kind: 'Role', name: 'nope' }, [{ kind: 'User', name: user }]),
      )
      const said = `: RBAC: role.rbac.authorization.k8s.io "nope" not found`
      for (let tries = 0; ; tries += 1) {
        const { body } = await list(api, 'secrets', as(user))
        if (body.message.endsWith(said)) break
        assert.ok(tries < 100, body.message)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  },
  {
    title: 'roles and bindings are validated in the words of the real server',
    async run(api) {
      const rules = [
        { verbs: [], apiGroups: [''], resources: ['configmaps'] },
        { verbs: ['get'], resources: ['x'] },
        { verbs: ['get'], apiGroups: [''] },
        { verbs: ['get'], nonResourceURLs: ['/x'] },
      ]
      const bad = await api.send('POST', api.path(Role), { body: role('y', rules) })
      assert.equal(bad.status, 422)
      assert.equal(
        bad.body.message,
        'Role.rbac.authorization.k8s.io "y" is invalid: [rules[0].verbs: Required value: verbs must contain at least one value, ' +
          'rules[1].apiGroups: Required value: resource rules must supply at least one api group, ' +
          'rules[2].resources: Required value: resource rules must supply at least one resource, ' +
          'rules[3].nonResourceURLs: Invalid value: ["/x"]: namespaced rules cannot apply to non-resource URLs]',
      )
      const subjects = [
        { kind: 'User', name: '' },
        { kind: 'Bar', name: 'a' },
        { kind: 'Group', name: 'g', apiGroup: 'x' },
      ]
      const lost = await api.send('POST', api.path(RoleBinding), {
        body: {
          ...binding('y', { kind: 'Foo', name: '' }, subjects),
          roleRef: { apiGroup: 'x', kind: 'Foo', name: '' },
        },
      })
      assert.equal(
        lost.body.message,
        'RoleBinding.rbac.authorization.k8s.io "y" is invalid: [roleRef.apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io", ' +
          'roleRef.kind: Unsupported value: "Foo": supported values: "Role", "ClusterRole", roleRef.name: Required value, ' +
          'subjects[0].name: Required value, subjects[1].kind: Unsupported value: "Bar": supported values: "ServiceAccount", "User", "Group", ' +
          'subjects[2].apiGroup: Unsupported value: "x": supported values: "rbac.authorization.k8s.io"]',
      )
      await api.ok('POST', api.path(RoleBinding), binding('z', { kind: 'ClusterRole', name: 'view' }, []))
      const moved = await api.send('PUT', api.path(RoleBinding, 'z'), {
        body: binding('z', { kind: 'ClusterRole', name: 'edit' }, []),
      })
      assert.equal(moved.status, 422)
      assert.match(moved.body.message, /roleRef: Invalid value: \{.*"Name":"edit"\}: cannot change roleRef$/)
      const named = await api.send('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', {
        body: role('a%b', [], 'ClusterRole'),
      })
      assert.match(named.body.message, /metadata\.name: Invalid value: "a%b": may not contain '%'/)
      const odd = role(`Odd:Name_${api.namespace}`, [], 'ClusterRole')
      await api.ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterroles', odd)
    },
  },
  {
    title: 'a user cannot grant more than they have, unless they may escalate or bind',
    async run(api) {
      const user = `maker-${api.namespace}`
      await grant(api, user, [
        { verbs: ['create', 'update'], apiGroups: [RBAC], resources: ['roles', 'rolebindings'] },
        ...READ_MAPS,
        { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a'] },
        { verbs: ['escalate'], apiGroups: [RBAC], resources: ['roles'], resourceNames: ['free'] },
        { verbs: ['bind'], apiGroups: [RBAC], resources: ['clusterroles'], resourceNames: ['admin'] },
      ])
      const post = (path: string, body: unknown) => api.send('POST', path, { body, headers: as(user) })
      await until(api, () => post(api.path(Role), role('less', READ_MAPS)), 201)
      const more = await post(
        api.path(Role),
        role('more', [
          { verbs: ['get', 'delete'], apiGroups: [''], resources: ['configmaps', 'secrets'] },
          { verbs: ['get'], apiGroups: [''], resources: ['pods'], resourceNames: ['a', 'b'] },
        ]),
      )
      assert.equal(more.status, 403)
      assert.equal(
        more.body.message,
        `roles.rbac.authorization.k8s.io "more" is forbidden: user "${user}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n` +
          '{APIGroups:[""], Resources:["configmaps"], Verbs:["delete"]}\n' +
          '{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}\n' +
          '{APIGroups:[""], Resources:["secrets"], Verbs:["get" "delete"]}',
      )
      const put = await api.send('PUT', api.path(Role, 'less'), {
        body: role('less', [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }]),
        headers: as(user),
      })
      assert.equal(put.status, 403)
      const subjects = [{ kind: 'User', name: user }]
      const all = await post(
        api.path(RoleBinding),
        binding('all', { kind: 'ClusterRole', name: 'cluster-admin' }, subjects),
      )
      assert.equal(all.status, 403)
      assert.match(
        all.body.message,
        /not currently held:\n\{APIGroups:\["\*"\], Resources:\["\*"\], Verbs:\["\*"\]\}\n\{NonResourceURLs:\["\*"\], Verbs:\["\*"\]\}$/,
      )
      const nope = await post(api.path(RoleBinding), binding('nope', { kind: 'Role', name: 'nope' }, subjects))
      assert.equal(nope.status, 404)
      assert.equal(nope.body.message, 'rolebindings.rbac.authorization.k8s.io "nope" not found')
      const secrets = [{ verbs: ['get'], apiGroups: [''], resources: ['secrets'] }]
      assert.equal((await post(api.path(Role), role('free', secrets))).status, 403, 'a new object has no name yet')
      await api.ok('POST', api.path(Role), role('free', READ_MAPS))
      const freed = await api.send('PUT', api.path(Role, 'free'), { body: role('free', secrets), headers: as(user) })
      assert.equal(freed.status, 200, freed.text)
      const bound = await post(
        api.path(RoleBinding),
        binding('bound', { kind: 'ClusterRole', name: 'admin' }, subjects),
      )
      assert.equal(bound.status, 201, bound.text)
    },
  },
  {
    title: 'only who may do everything uses aggregation',
    async run(api) {
      const user = `agg-${api.namespace}`
      const name = `agg-${api.namespace}`
      const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles'
      await api.ok(
        'POST',
        roles,
        role(name, [{ verbs: ['create'], apiGroups: [RBAC], resources: ['clusterroles'] }], 'ClusterRole'),
      )
      await api.ok('POST', '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
        ...binding(name, { kind: 'ClusterRole', name }, [{ kind: 'User', name: user }]),
        kind: 'ClusterRoleBinding',
      })
      const aggregating = {
        ...role(`${name}-x`, [], 'ClusterRole'),
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: name } }] },
      }
      const saidNo = 'must have cluster-admin privileges to use the aggregationRule'
      for (let tries = 0; ; tries += 1) {
        const { body } = await api.send('POST', roles, { body: aggregating, headers: as(user) })
        if (String(body.message).endsWith(saidNo)) break
        assert.ok(tries < 100, body.message)
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    },
  },
  {
    title: 'an aggregating role follows the roles it selects',
    async run(api) {
      const label = `agg-${api.namespace}`
      const part = (name: string, verb: string) => ({
        ...role(name, [{ verbs: [verb], apiGroups: ['x.example'], resources: ['things'] }], 'ClusterRole'),
        metadata: { name, labels: { part: label } },
      })
      await api.ok('POST', api.path(ClusterRole), {
        ...role(label, [], 'ClusterRole'),
        // It selects itself, too, and must not keep its own rules alive.
        metadata: { name: label, labels: { part: label } },
        aggregationRule: { clusterRoleSelectors: [{ matchLabels: { part: label } }] },
      })
      const verbs = async () => {
        const { rules } = await api.ok('GET', api.path(ClusterRole, label))
        return (rules ?? []).flatMap((rule: Loose) => rule.verbs).join(' ')
      }
      const untilVerbs = async (wanted: string) => {
        for (let tries = 0; (await verbs()) !== wanted; tries += 1) {
          assert.ok(tries < 100, `has ${await verbs()}, wants ${wanted}`)
          await new Promise((resolve) => setTimeout(resolve, 50))
        }
      }
      await api.ok('POST', api.path(ClusterRole), part(`${label}-1`, 'get'))
      await untilVerbs('get')
      await api.ok('POST', api.path(ClusterRole), part(`${label}-2`, 'list'))
      await untilVerbs('get list')
      await api.ok('DELETE', api.path(ClusterRole, `${label}-1`))
      await untilVerbs('list')
    },
  },
  {
    title: 'the roles clients expect exist',
    async run(api) {
      const { items } = await api.ok('GET', api.path(ClusterRole))
      const names = new Set(items.map((item: Loose) => item.metadata.name))
      for (const name of ['cluster-admin', 'admin', 'edit', 'view', 'system:discovery', 'system:basic-user']) {
        assert.ok(names.has(name), name)
      }
      assert.ok(names.size > 10)
      for (const { name, rules } of [...COMPONENT_ROLES, ...CONTROLLER_ROLES]) {
        assert.deepEqual((await api.ok('GET', api.path(ClusterRole, name))).rules, rules, name)
      }
      for (const { name, role, subjects } of [...COMPONENT_BINDINGS, ...CONTROLLER_BINDINGS]) {
        const binding = await api.ok('GET', api.path(ClusterRoleBinding, name))
        assert.deepEqual([binding.roleRef.name, binding.subjects], [role, subjects])
      }
      const admin = await api.ok('GET', api.path(ClusterRole, 'cluster-admin'))
      assert.deepEqual(admin.rules, [
        { verbs: ['*'], apiGroups: ['*'], resources: ['*'] },
        { verbs: ['*'], nonResourceURLs: ['*'] },
      ])
      assert.equal(admin.metadata.labels['kubernetes.io/bootstrapping'], 'rbac-defaults')
    },
  },
  {
    title: 'impersonation: user, group, uid and extra arrive, the authenticated group comes last',
    async run(api) {
      const who = async (headers: Readonly<Record<string, string>>) => {
        const reply = await api.send('POST', `${IDENTITY}/selfsubjectreviews`, { body: {}, headers })
        assert.equal(reply.status, 201, reply.text)
        return reply.body.status.userInfo
      }
      const more = { 'impersonate-group': 'dev', 'impersonate-uid': 'u1', 'impersonate-extra-acme.com%2fproject': 'p' }
      assert.deepEqual(await who(as('bob', more)), {
        username: 'bob',
        uid: 'u1',
        groups: ['dev', 'system:authenticated'],
        extra: { 'acme.com/project': ['p'] },
      })
      assert.deepEqual((await who(as('system:serviceaccount:a:b'))).groups, [
        'system:serviceaccounts',
        'system:serviceaccounts:a',
        'system:authenticated',
      ])
      const anonymous = await api.send('POST', `${IDENTITY}/selfsubjectreviews`, {
        body: {},
        headers: as('system:anonymous'),
      })
      assert.equal(anonymous.status, 403)
    },
  },
  {
    title: 'impersonation of a group or uid without a user is refused',
    async run(api) {
      const group = await api.send('GET', '/api/v1/namespaces', { headers: { 'impersonate-group': 'b' } })
      assert.equal(group.status, 400)
      assert.match(group.body.message, /Groups:\[\]string\{"b"\}.* without impersonating a user name$/)
      const uid = await api.send('GET', '/api/v1/namespaces', { headers: { 'impersonate-uid': 'b' } })
      assert.equal(uid.status, 400)
      assert.match(uid.body.message, /UID:"b".* without impersonating a user name$/)
    },
  },
]
