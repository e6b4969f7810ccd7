/** `flotilla access`: who may do what on which clusters, from roles, Projects and ClusterSets together. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import type { ClusterRole, ClusterRoleBinding, Role, RoleBinding, Subject } from '../../../kinds/builtin/rbac.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import type { ClusterSetBinding } from '../../../kinds/native/cluster-set-binding.ts'
import type { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { accessRows, rowsOfCluster } from '../../../plan/projects/access.ts'
import type { AccessRow, AccessWorld } from '../../../plan/projects/access.ts'
import type { Connection } from '../../api/connect.ts'
import { CLUSTERS, flotillaResource, listAll, PROJECTS } from '../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of `access`. */
export interface AccessFlags {
  readonly user?: string
  readonly group?: readonly string[]
  readonly serviceAccount?: string
  readonly cluster?: string
  readonly system?: boolean
  readonly output?: string
}

/** What the command receives. */
export interface AccessInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: AccessFlags
}

// The parts of Kubernetes have names of their own, or accounts in kube-system.
const SYSTEM = /^\S+ (system:|kube-system\/)/

/** Prints one row for each subject and namespace. */
export async function access({ connection, terminal, flags }: AccessInput): Promise<void> {
  const world = await readWorld(clientOver(connection.rest))
  const asked = askedSubjects(flags)
  const all = accessRows(world, asked)
  const isHidden = ({ subject }: AccessRow) => !asked && flags.system !== true && SYSTEM.test(subject)
  const shown = all.filter((row) => !isHidden(row))
  const rows = flags.cluster === undefined ? shown : rowsOfCluster(shown, knownCluster(flags.cluster, world))
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(rows, undefined, 2)}\n`)
  if (rows.length === 0) terminal.say('No role gives any of them a right on Flotilla objects.')
  else terminal.data(tableOf(rows, world.clusters.length))
  const hidden = all.length - shown.length
  if (hidden > 0) terminal.say(`${hidden} rows of subjects of the system are not shown; use --system.`)
  terminal.say(
    'Members of the group system:masters may do everything. Kinds of dialects are not counted. The rights of an executor, and the local limits of an agent, are set in the cluster.',
  )
}

function tableOf(rows: readonly AccessRow[], total: number): string {
  const lines = rows.map(({ subject, namespace, may, project, refusal, clusters, as }) => [
    subject,
    namespace ?? '(all)',
    may.join(', '),
    project ?? (refusal ? `none (${refusal.reason})` : '-'),
    clusters.length === 0 ? 'none' : clusters.length === total ? `all ${total}` : nameSome(clusters),
    as ?? '-',
  ])
  return `${alignColumns([['SUBJECT', 'NAMESPACE', 'MAY', 'PROJECT', 'CLUSTERS', 'AS'], ...lines])}\n`
}

/** The subjects that a caller with these names is; undefined without names. */
function askedSubjects({ user, group, serviceAccount }: AccessFlags): ((subject: Subject) => boolean) | undefined {
  if (user === undefined && group === undefined && serviceAccount === undefined) return undefined
  const users = new Set(user === undefined ? [] : [user])
  const groups = new Set([...(group ?? []), 'system:authenticated'])
  const [namespace, name, ...more] = (serviceAccount ?? '').split('/')
  if (serviceAccount !== undefined) {
    if (!namespace || !name || more.length > 0) {
      throw new CliError(EXIT.usage, {
        what: `invalid --service-account ${JSON.stringify(serviceAccount)}: must be NAMESPACE/NAME`,
      })
    }
    users.add(`system:serviceaccount:${namespace}:${name}`)
    for (const implied of ['system:serviceaccounts', `system:serviceaccounts:${namespace}`]) groups.add(implied)
  }
  return (subject) => {
    if (subject.kind === 'User') return users.has(subject.name)
    if (subject.kind === 'Group') return groups.has(subject.name)
    return serviceAccount !== undefined && subject.namespace === namespace && subject.name === name
  }
}

function knownCluster(name: string, { clusters }: AccessWorld): string {
  const names = clusters.map(({ metadata }) => metadata.name)
  if (names.includes(name)) return name
  throw new CliError(EXIT.notFound, {
    what: `cluster "${name}" not found`,
    todo: didYouMean(name, names) ?? 'list clusters with "flotilla get clusters"',
  })
}

async function readWorld(client: Client): Promise<AccessWorld> {
  const [roles, clusterRoles, roleBindings, clusterRoleBindings, projects, sets, setBindings, clusters] =
    await settleAll([
      listAll(client, rbac<Role>('Role', 'Namespaced')),
      listAll(client, rbac<ClusterRole>('ClusterRole', 'Cluster')),
      listAll(client, rbac<RoleBinding>('RoleBinding', 'Namespaced')),
      listAll(client, rbac<ClusterRoleBinding>('ClusterRoleBinding', 'Cluster')),
      listAll(client, PROJECTS),
      listAll(client, flotillaResource<ClusterSet>('ClusterSet', 'Cluster')),
      listAll(client, flotillaResource<ClusterSetBinding>('ClusterSetBinding', 'Namespaced')),
      listAll(client, CLUSTERS),
    ])
  return { roles, clusterRoles, roleBindings, clusterRoleBindings, projects, sets, setBindings, clusters }
}

function rbac<T extends KubeObject>(kind: string, scope: ResourceType['scope']): ResourceType<T> {
  const [group, version] = ['rbac.authorization.k8s.io', 'v1']
  return { ...flotillaResource<T>(kind, scope), group, version }
}
