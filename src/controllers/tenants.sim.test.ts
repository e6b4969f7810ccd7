/**
 * Two tenants, each with a role in its own namespace and nothing else. The walk asks the API for each kind and verb
 * that discovery names; a kind of Flotilla that has no row in the table fails it. The confused deputies are tried by
 * name, as the user who would try them.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createClient } from '../client/create-client.ts'
import type { Client } from '../client/client.ts'
import { utf8 } from '../core/bytes.ts'
import { isApiError } from '../core/errors.ts'
import { installPolicies } from '../hub/home/kube-home.ts'
import { Namespace, Secret } from '../kinds/builtin/core.ts'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../kinds/builtin/rbac.ts'
import type { PolicyRule } from '../kinds/builtin/rbac.ts'
import { Approval } from '../kinds/native/approval.ts'
import { Bundle } from '../kinds/native/bundle.ts'
import { ClusterSetBinding } from '../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../kinds/native/cluster-set.ts'
import { Cluster } from '../kinds/native/cluster.ts'
import { Delivery } from '../kinds/native/delivery.ts'
import { JoinToken } from '../kinds/native/join-token.ts'
import { Override } from '../kinds/native/override.ts'
import { Placement } from '../kinds/native/placement.ts'
import { Project } from '../kinds/native/project.ts'
import { Rollout } from '../kinds/native/rollout.ts'
import { Source } from '../kinds/native/source.ts'
import { build, buildBundle, buildCluster, buildPlacement } from '../testing/fixtures/builders.ts'
import { buildProject } from '../testing/fixtures/projects.ts'
import { startControllersHome } from '../testing/hub/controllers-home.ts'
import type { ControllersHome } from '../testing/hub/controllers-home.ts'

const GROUPS = ['flotilla.dev/v1alpha1', 'fleet.cattle.io/v1alpha1']
const RBAC = 'rbac.authorization.k8s.io'
const OWN = 'flotilla.dev'

const ROLES: Readonly<Record<string, PolicyRule[]>> = {
  tokens: [{ apiGroups: [OWN], resources: ['jointokens'], verbs: ['create'] }],
  owner: [{ apiGroups: [OWN], resources: ['clustersets'], resourceNames: ['a'], verbs: ['get', 'update', 'bind'] }],
  operator: [{ apiGroups: [OWN], resources: ['clusters'], verbs: ['get', 'list', 'update', 'patch'] }],
}

let hub: ControllersHome

const clientOf = (user: string): Client => createClient({ clock: hub.clock, transport: hub.as(user) })

before(async () => {
  hub = await startControllersHome(['fleet'])
  await installPolicies(hub.client, new AbortController().signal)
  for (const team of ['team-a', 'team-b']) {
    await hub.client.create(Namespace, build(Namespace, team, {}))
    const limits = { kinds: ['ConfigMap'], targetNamespaces: [team], executors: { default: `${team}/deployer` } }
    await hub.client.create(Project, buildProject(team, [team], limits))
    for (const role of ['view', 'edit']) {
      await hub.client.create(
        RoleBinding,
        build(RoleBinding, `${team}/${role}`, {
          roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name: role },
          subjects: [{ apiGroup: RBAC, kind: 'User', name: `${role === 'edit' ? 'editor' : 'viewer'}-${team.at(-1)}` }],
        }),
      )
    }
  }
  for (const [name, rules] of Object.entries(ROLES)) {
    await hub.client.create(ClusterRole, build(ClusterRole, name, { rules }))
    await hub.client.create(
      ClusterRoleBinding,
      build(ClusterRoleBinding, name, {
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: RBAC, kind: 'User', name }],
      }),
    )
  }
  // Cluster store-1 is in a set that team-a may use and team-b may not.
  await hub.client.create(ClusterSet, build(ClusterSet, 'a', { spec: { access: 'Bound' } }))
  const binding = build(ClusterSetBinding, 'team-a/a', { spec: { clusterSet: 'a' } })
  await hub.client.create(ClusterSetBinding, binding)
  const labels = { 'flotilla.dev/cluster-set': 'a' }
  await hub.client.create(Cluster, buildCluster('store-1', { labels }))
  await hub.client.create(Placement, buildPlacement('team-b/stores', {}))
  await hub.clock.advance(3000)
})
after(() => hub.close())

interface Resource {
  readonly name: string
  readonly namespaced: boolean
  readonly verbs: readonly string[]
}

const METHODS: Readonly<Record<string, string>> = {
  get: 'GET',
  list: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
}
const LETTERS: Readonly<Record<string, string>> = {
  get: 'g',
  list: 'l',
  create: 'c',
  update: 'u',
  patch: 'p',
  delete: 'd',
  deletecollection: 'D',
}

const HEADERS = { accept: 'application/json', 'content-type': 'application/json' }

/** Whether the API lets a user try a verb: any answer but 403. Nothing is stored, and bodies are empty. */
async function mayTry(user: string, group: string, resource: Resource, at: { verb: string; namespace: string }) {
  const [plural = '', sub] = resource.name.split('/')
  const isNamed = sub !== undefined || !['list', 'create', 'deletecollection'].includes(at.verb)
  const parts = [
    `/apis/${group}`,
    ...(resource.namespaced ? [`namespaces/${at.namespace}`] : []),
    plural,
    ...(isNamed ? ['a'] : []),
    ...(sub === undefined ? [] : [sub]),
  ]
  const headers = at.verb === 'patch' ? { ...HEADERS, 'content-type': 'application/merge-patch+json' } : HEADERS
  const hasBody = ['create', 'update', 'patch'].includes(at.verb)
  const method = METHODS[at.verb]!
  const path = `${parts.join('/')}?dryRun=All`
  const request = { method, path, headers, ...(hasBody ? { body: utf8('{}') } : {}) }
  const { status } = await hub.as(user)(request, new AbortController().signal)
  return status !== 403
}

async function resourcesOf(group: string): Promise<readonly Resource[]> {
  const answer = (await hub.rest.json({ method: 'GET', path: `/apis/${group}` })) as { resources: Resource[] }
  return answer.resources.filter(({ verbs }) => verbs.some((verb) => METHODS[verb]))
}

/** The verbs that a user may try on each resource, as letters; resources without any are left out. */
async function walk(user: string, namespace: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const group of GROUPS) {
    for (const resource of await resourcesOf(group)) {
      let letters = ''
      for (const verb of resource.verbs.filter((one) => METHODS[one])) {
        if (await mayTry(user, group, resource, { verb, namespace })) letters += LETTERS[verb]
      }
      if (letters !== '') found[rowName(group, resource)] = [...letters].toSorted().join('')
    }
  }
  return found
}

const rowName = (group: string, { name }: Resource) => (group === GROUPS[0] ? name : `fleet ${name}`)

/**
 * What view and edit in a namespace allow there. No row may be missing: a new kind needs a decision. Kinds of dialects
 * have no row, because these roles allow nothing on them.
 */
const IN_OWN_NAMESPACE: Readonly<Record<string, readonly [view: string, edit: string]>> = {
  clusters: ['', ''],
  'clusters/status': ['', ''],
  clustersets: ['', ''],
  clustersetbindings: ['', ''],
  projects: ['', ''],
  'projects/status': ['', ''],
  jointokens: ['', ''],
  'jointokens/status': ['', ''],
  sources: ['', ''],
  'sources/status': ['g', 'g'],
  bundles: ['gl', 'Dcdglpu'],
  'bundles/status': ['g', 'g'],
  overrides: ['', ''],
  deliveries: ['gl', 'gl'],
  'deliveries/status': ['g', 'g'],
  placements: ['gl', 'Dcdglpu'],
  'placements/status': ['g', 'g'],
  placementdecisions: ['gl', 'gl'],
  releases: ['gl', 'gl'],
  'releases/status': ['g', 'g'],
  rolloutplans: ['gl', 'gl'],
  rollouts: ['gl', 'glpu'],
  'rollouts/status': ['g', 'g'],
  approvals: ['gl', 'gl'],
  windows: ['', ''],
  'windows/status': ['g', 'g'],
  clusterwindows: ['', ''],
  'clusterwindows/status': ['', ''],
  assignments: ['', ''],
  clusterreports: ['', ''],
}

const column = (index: 0 | 1) =>
  Object.fromEntries(
    Object.entries(IN_OWN_NAMESPACE)
      .filter(([, row]) => row[index] !== '')
      .map(([name, row]) => [name, row[index]]),
  )

describe('the walk of two tenants over the kinds of discovery', () => {
  test('each kind has a row', async () => {
    const found: string[] = []
    for (const one of await resourcesOf(GROUPS[0]!)) found.push(one.name)
    assert.deepEqual(found.toSorted(), Object.keys(IN_OWN_NAMESPACE).toSorted())
    assert.ok((await resourcesOf(GROUPS[1]!)).length > 4, 'kinds of a dialect are walked, too')
  })

  test('a viewer and an editor have their table in their own namespace, and nothing in the other', async () => {
    assert.deepEqual(await walk('viewer-a', 'team-a'), column(0))
    assert.deepEqual(await walk('editor-a', 'team-a'), column(1))
    for (const user of ['viewer-a', 'editor-a']) assert.deepEqual(await walk(user, 'team-b'), {})
    for (const user of ['viewer-b', 'editor-b']) assert.deepEqual(await walk(user, 'team-a'), {})
  })

  test('a maker of tokens, an owner of a set and an operator have what their role names', async () => {
    for (const namespace of ['team-a', 'team-b']) {
      assert.deepEqual(await walk('tokens', namespace), { jointokens: 'c' })
      assert.deepEqual(await walk('owner', namespace), { clustersets: 'gu' })
      assert.deepEqual(await walk('operator', namespace), { clusters: 'glpu' })
    }
  })
})

/** The message of a refusal; fails when the API accepts. */
async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const [outcome] = await Promise.allSettled([attempt])
  assert.ok(outcome.status === 'rejected', 'the API accepted it')
  assert.ok(isApiError(outcome.reason, 'Forbidden', 'Invalid'), String(outcome.reason))
  return outcome.reason.message
}

async function readyOf(kind: typeof Bundle | typeof Placement | typeof Source, key: string): Promise<string> {
  await hub.clock.advance(5000)
  const found = await hub.find(kind as typeof Bundle, key)
  const ready = found?.status?.conditions?.find(({ type }) => type === 'Ready')
  return `${ready?.status} ${ready?.reason}: ${ready?.message}`
}

let count = 0

/** Tries content as the editor of team-b; resolves to what the Bundle says. */
async function tryContent(manifest: string, more: Partial<Bundle['spec']> = {}): Promise<string> {
  const name = `x${++count}`
  const bundle = buildBundle(`team-b/${name}`, { manifests: manifest, placement: 'stores', ...more })
  await clientOf('editor-b').create(Bundle, bundle)
  const said = await readyOf(Bundle, `team-b/${name}`)
  await clientOf('editor-b').delete(Bundle, { namespace: 'team-b', name })
  return said
}

const manifest = (apiVersion: string, kind: string, metadata: string) =>
  `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: ${metadata}\n`

describe('confused deputies', () => {
  test('a Source with the Secret of another tenant: the name means a Secret of its own namespace', async () => {
    const secret = build(Secret, 'team-a/git', { stringData: { password: 'of-a' } })
    await hub.client.create(Secret, secret)
    const source = build(Source, 'team-b/theft', {
      spec: { git: { url: 'https://git.example.com/a' }, interval: '1m', credentials: 'git' },
    })
    assert.match(await refusalOf(clientOf('editor-b').create(Source, source)), /cannot create resource "sources"/)
    await hub.client.create(Source, source)
    assert.match(await readyOf(Source, 'team-b/theft'), /^False SecretNotFound/)
    assert.equal(hub.fetches.length, 0)
  })

  test('a set that is not bound, and a binding without the verb bind', async () => {
    const placement = build(Placement, 'team-b/theft', { spec: { clusterSelector: {}, clusterSets: ['a'] } })
    await clientOf('editor-b').create(Placement, placement)
    assert.match(await readyOf(Placement, 'team-b/theft'), /^True NoClusters/)
    const binding = build(ClusterSetBinding, 'team-b/a', { spec: { clusterSet: 'a' } })
    assert.match(await refusalOf(clientOf('editor-b').create(ClusterSetBinding, binding)), /cannot create resource/)
    const rules = [{ apiGroups: [OWN], resources: ['clustersetbindings'], verbs: ['create'] }]
    await hub.client.create(Role, build(Role, 'team-b/binder', { rules }))
    await hub.client.create(
      RoleBinding,
      build(RoleBinding, 'team-b/binder', {
        roleRef: { apiGroup: RBAC, kind: 'Role', name: 'binder' },
        subjects: [{ apiGroup: RBAC, kind: 'User', name: 'binder' }],
      }),
    )
    await hub.clock.advance(1000)
    assert.match(await refusalOf(clientOf('binder').create(ClusterSetBinding, binding)), /bind/)
  })

  test('content for the namespace of the agent, for kube-system and for another team', async () => {
    for (const namespace of ['flotilla-agent', 'kube-system', 'team-a']) {
      const said = await tryContent(manifest('v1', 'ConfigMap', `{ name: x, namespace: ${namespace} }`))
      assert.match(said, new RegExp(`^False ProjectRefuses: .*targetNamespaces does not list ${namespace}`))
    }
  })

  test('kinds without a namespace, and a hook', async () => {
    const role = manifest(`${RBAC}/v1`, 'ClusterRole', '{ name: all }')
    assert.match(await tryContent(role), /^False ProjectRefuses: .*spec\.kinds does not list/)
    const annotations = '{ flotilla.dev/hook: pre-install }'
    const hook = manifest('v1', 'ConfigMap', `{ name: x, namespace: team-a, annotations: ${annotations} }`)
    assert.match(await tryContent(hook), /^False ProjectRefuses: .*targetNamespaces does not list team-a/)
  })

  test('the executor of another team, also in a variant, and own rights', async () => {
    const executor = { namespace: 'team-a', name: 'deployer' }
    const own = manifest('v1', 'ConfigMap', '{ name: x, namespace: team-b }')
    const line = /Project team-b: spec\.executors\.allowed does not list team-a\/deployer/
    assert.match(await refusalOf(tryContent(own, { executor })), line)
    const variants = [{ name: 'all', clusterSelector: {}, options: { executor } }]
    const ofVariant = /Project team-b: spec\.executors\.allowed does not list the executor of a variant/
    assert.match(await refusalOf(tryContent(own, { variants })), ofVariant)
    assert.match(await tryContent(own), /^False RollingOut: Release x\d+-g1 is on its way/)
  })

  test('Overrides, Rollouts, Approvals, Deliveries and Projects are out of reach of an editor', async () => {
    const bob = clientOf('editor-b')
    const attempts: [string, Promise<unknown>][] = [
      ['overrides', bob.create(Override, build(Override, 'team-b/x', { spec: { bundle: 'x' } } as never))],
      ['rollouts', bob.create(Rollout, build(Rollout, 'team-b/x', { spec: { release: 'x' } } as never))],
      ['rollouts', bob.delete(Rollout, { namespace: 'team-b', name: 'x' })],
      ['approvals', bob.create(Approval, build(Approval, 'team-b/x', { spec: { rollout: 'x' } } as never))],
      ['deliveries', bob.create(Delivery, build(Delivery, 'team-b/x', { spec: {} } as never))],
      ['projects', bob.update(Project, buildProject('team-b', ['team-b']))],
      ['projects', bob.create(Project, buildProject('more', ['team-b']))],
      ['jointokens', bob.create(JoinToken, build(JoinToken, 'x', { spec: {} } as never))],
      ['clusters', bob.create(Cluster, buildCluster('store-1'))],
      ['clusters', bob.update(Cluster, buildCluster('store-1', { labels: { 'flotilla.dev/cluster-set': 'b' } }))],
    ]
    for (const [what, attempt] of attempts) {
      assert.match(await refusalOf(attempt), new RegExp(`cannot \\w+ resource "${what}"`), what)
    }
  })

  test('a token that accepts, and a cluster that is renamed or accepted, need the verb accept', async () => {
    const token = build(JoinToken, 'theft', {
      spec: { tokenHash: '0'.repeat(64), clusterName: 'x', accept: 'Auto', expiresAt: '2026-01-02T00:00:00Z' },
    } as never)
    assert.match(await refusalOf(clientOf('tokens').create(JoinToken, token)), /accept/)
    await hub.client.create(Cluster, buildCluster('waiting', { spec: { accepted: false } }))
    const change = (name: string, spec: object) =>
      clientOf('operator').patch(Cluster, { name }, { type: 'merge', body: { spec } })
    assert.match(await refusalOf(change('waiting', { accepted: true })), /accept/)
    assert.match(await refusalOf(change('store-1', { identityKey: 'z'.repeat(60) })), /identityKey/)
  })

  test('an exception of a window that is not theirs', async () => {
    await hub.client.create(
      Rollout,
      build(Rollout, 'team-b/r', {
        spec: { release: 'none', rings: [{ name: 'all', concurrency: 1 }], paused: false },
      }),
    )
    const change = (name: string) => ({ spec: { exceptions: [{ kind: 'Group', name }] } })
    const at = { namespace: 'team-b', name: 'r' }
    const attempt = clientOf('editor-b').patch(Rollout, at, { type: 'merge', body: change('emergency') })
    assert.match(await refusalOf(attempt), /may not use an exception/)
  })
})
