/**
 * Two tenants on one hub, each with a role in its own namespace and nothing else, and the other users whose rights
 * concern tenants. The same on the embedded API and on a kube-apiserver.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import type { Transport } from '../../core/http.ts'
import { Namespace } from '../../kinds/builtin/core.ts'
import { ClusterRole, ClusterRoleBinding, Role, RoleBinding } from '../../kinds/builtin/rbac.ts'
import type { PolicyRule } from '../../kinds/builtin/rbac.ts'
import { ClusterSetBinding } from '../../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../../kinds/native/cluster-set.ts'
import { Cluster } from '../../kinds/native/cluster.ts'
import { Placement } from '../../kinds/native/placement.ts'
import { Project } from '../../kinds/native/project.ts'
import { build, buildCluster, buildPlacement } from '../fixtures/builders.ts'
import { buildProject } from '../fixtures/projects.ts'

/** A hub that serves the tenants. */
export interface TenancyWorld {
  /** The API as an administrator. */
  readonly admin: Client
  /** The API as a user, who has only the rights that roles give. */
  as(user: string): { readonly transport: Transport; readonly client: Client }
  /** Lets a short time pass: virtual time, or that of the machine. */
  pass(): Promise<void>
  /** Answers of the API as an administrator, for discovery. */
  read(path: string): Promise<unknown>
}

const RBAC = 'rbac.authorization.k8s.io'
const OWN = Cluster.group
const LOOKS = 200

/** Teams; the last letter of each names its users: `viewer-a` and `editor-a`. */
export const TEAMS = ['team-a', 'team-b'] as const

/** Cluster roles of users who are no tenants. */
const ROLES: Readonly<Record<string, PolicyRule[]>> = {
  tokens: [{ apiGroups: [OWN], resources: ['jointokens'], verbs: ['create'] }],
  owner: [{ apiGroups: [OWN], resources: ['clustersets'], resourceNames: ['a'], verbs: ['get', 'update', 'bind'] }],
  operator: [{ apiGroups: [OWN], resources: ['clusters'], verbs: ['get', 'list', 'update', 'patch'] }],
}

/** Roles of single users in namespace team-b. */
const LOCAL: Readonly<Record<string, PolicyRule[]>> = {
  binder: [{ apiGroups: [OWN], resources: ['clustersetbindings'], verbs: ['create'] }],
  fetcher: [{ apiGroups: [OWN], resources: ['sources'], verbs: ['get', 'list', 'create', 'delete'] }],
  'self-approver': [{ apiGroups: [OWN], resources: ['approvals'], verbs: ['create'] }],
  'fleet-user': [
    { apiGroups: ['fleet.cattle.io'], resources: ['*'], verbs: ['*'] },
    {
      apiGroups: ['work.open-cluster-management.io', 'cluster.open-cluster-management.io'],
      resources: ['*'],
      verbs: ['*'],
    },
  ],
}

/** Waits for an answer that `look` gives. */
export async function eventually<T>(world: TenancyWorld, what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let at = 0; at < LOOKS; at++) {
    const found = await look()
    if (found !== undefined) return found
    await world.pass()
  }
  throw new Error(`not seen: ${what}`)
}

/** Lets the time of the machine pass, for worlds without a virtual clock. */
export const passRealTime = (): Promise<void> => sleep(150)

/**
 * Makes the teams, their Projects, roles and users, and Cluster store-1 in a set that team-a may use and team-b may
 * not.
 */
export async function prepareTenants({ admin }: TenancyWorld): Promise<void> {
  for (const team of TEAMS) {
    await admin.create(Namespace, build(Namespace, team, {}))
    const limits = { kinds: ['ConfigMap'], targetNamespaces: [team], executors: { default: `${team}/deployer` } }
    await admin.create(Project, buildProject(team, [team], limits))
    for (const role of ['view', 'edit']) {
      const name = `${role === 'edit' ? 'editor' : 'viewer'}-${team.at(-1)}`
      await bindLocally(admin, `${team}/${role}`, { kind: 'ClusterRole', name: role }, name)
    }
  }
  for (const [name, rules] of Object.entries(ROLES)) {
    await admin.create(ClusterRole, build(ClusterRole, name, { rules }))
    const roleRef = { apiGroup: RBAC, kind: 'ClusterRole', name }
    await admin.create(ClusterRoleBinding, build(ClusterRoleBinding, name, { roleRef, subjects: [subject(name)] }))
  }
  for (const [name, rules] of Object.entries(LOCAL)) {
    await admin.create(Role, build(Role, `team-b/${name}`, { rules }))
    await bindLocally(admin, `team-b/${name}`, { kind: 'Role', name }, name)
  }
  await admin.create(ClusterSet, build(ClusterSet, 'a', { spec: { access: 'Bound' } }))
  await admin.create(ClusterSetBinding, build(ClusterSetBinding, 'team-a/a', { spec: { clusterSet: 'a' } }))
  const labels = { 'flotilla.dev/cluster-set': 'a' }
  await admin.create(Cluster, buildCluster('store-1', { labels }))
  await admin.create(Placement, buildPlacement('team-b/stores', {}))
}

const subject = (name: string) => ({ apiGroup: RBAC, kind: 'User', name })

async function bindLocally(
  admin: Client,
  key: string,
  role: { readonly kind: string; readonly name: string },
  user: string,
): Promise<void> {
  const spec = { roleRef: { apiGroup: RBAC, ...role }, subjects: [subject(user)] }
  await admin.create(RoleBinding, build(RoleBinding, key, spec))
}

/** The message of a refusal; fails when the API accepts. */
export async function refusalOf(attempt: Promise<unknown>): Promise<string> {
  const [outcome] = await Promise.allSettled([attempt])
  if (outcome.status === 'fulfilled') throw new Error('the API accepted it')
  if (!isApiError(outcome.reason, 'Forbidden', 'Invalid')) throw outcome.reason
  return outcome.reason.message
}
