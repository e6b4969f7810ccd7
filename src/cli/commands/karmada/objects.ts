/** `flotilla karmada get`, `describe` and `explain`: objects of the hub that run on clusters. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { findObject } from '../../../client/find-object.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import { nameSome } from '../../../core/text/name-some.ts'
import type { Kind } from '../../../kinds/define-kind.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import { ClusterSetBinding } from '../../../kinds/native/cluster-set-binding.ts'
import { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import { asPlacementSet } from '../../../plan/placement/read-objects.ts'
import { contentRefusals } from '../../../plan/projects/decide.ts'
import { allLimitsOf, decideExecutor } from '../../../plan/projects/limits.ts'
import { placementReach } from '../../../plan/projects/placement-question.ts'
import { indexProjects, projectOf } from '../../../plan/projects/project-of.ts'
import type { Connection } from '../../api/connect.ts'
import { readProjects } from '../../repository/fleet-facts.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'

/** Flags of the commands. */
export interface KarmadaFlags {
  readonly namespace?: string
  readonly allNamespaces?: boolean
  readonly output?: string
}

export interface KarmadaInput {
  readonly connection: Pick<Connection, 'rest' | 'namespace'>
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly flags: KarmadaFlags
}

const dialect = async () => {
  const [kinds, templates, claims] = await Promise.all([
    import('../../../dialects/karmada/served/kinds.ts'),
    import('../../../dialects/karmada/templates/template-kinds.ts'),
    import('../../../dialects/karmada/served/decide-claim.ts'),
  ])
  return { ...kinds, ...templates, ...claims }
}
type Dialect = Awaited<ReturnType<typeof dialect>>
type Binding = Awaited<ReturnType<typeof bindingsOf>>[number]

/** The kind that a word names: `deploy`, `deployment` or `deployments`. */
export function templateKindNamed(word: string, kinds: readonly Kind[]): Kind {
  const name = word.toLowerCase()
  const found = kinds.find(
    ({ kind, plural, shortNames }) => kind.toLowerCase() === name || plural === name || shortNames.includes(name),
  )
  if (found) return found
  throw new CliError(EXIT.usage, {
    what: `${JSON.stringify(word)} is not a kind of templates`,
    todo: `use one of ${kinds.map(({ plural }) => plural).join(', ')}`,
  })
}

/** Prints a row for each object and cluster. */
export async function karmadaGet(
  word: string | undefined,
  name: string | undefined,
  input: KarmadaInput,
): Promise<void> {
  const { flags, terminal } = input
  const parts = await dialect()
  const kind = word === undefined ? undefined : templateKindNamed(word, parts.TEMPLATE_KINDS)
  const bindings = (await bindingsOf(parts, input, kind)).filter(
    ({ spec }) =>
      (kind === undefined || spec.resource.kind === kind.kind) && (name === undefined || spec.resource.name === name),
  )
  if (flags.output === 'json') {
    const rows = bindings.flatMap((binding) => rowsOf(binding).map((row) => ({ ...addressOf(binding), ...row })))
    terminal.data(`${JSON.stringify(rows, undefined, 2)}\n`)
    return
  }
  if (bindings.length === 0) {
    const where = flags.allNamespaces ? 'any namespace' : `namespace ${namespaceOf(input)}`
    terminal.say(`no objects with a binding found in ${where}`)
    return
  }
  const isWide = flags.allNamespaces === true
  const lines = bindings.flatMap((binding) =>
    rowsOf(binding).map(({ cluster, replicas, ready, applied, health }) => [
      ...(isWide ? [binding.metadata.namespace ?? ''] : []),
      `${binding.spec.resource.kind.toLowerCase()}/${binding.spec.resource.name}`,
      cluster,
      replicas,
      ready,
      applied,
      health,
    ]),
  )
  const heads = [...(isWide ? ['NAMESPACE'] : []), 'NAME', 'CLUSTER', 'REPLICAS', 'READY', 'APPLIED', 'HEALTH']
  terminal.data(`${alignColumns([heads, ...lines])}\n`)
}

/** An object on a cluster, as a row. */
interface Row {
  readonly cluster: string
  readonly replicas: string
  readonly ready: string
  readonly applied: string
  readonly health: string
}

const NONE = '-'

function rowsOf({ spec, status }: Binding): readonly Row[] {
  const items = new Map((status?.aggregatedStatus ?? []).map((item) => [item.clusterName, item]))
  const targets = [...new Set([...(spec.clusters ?? []).map((one) => one.name), ...items.keys()])].toSorted()
  if (targets.length === 0) return [{ cluster: NONE, replicas: NONE, ready: NONE, applied: NONE, health: NONE }]
  return targets.map((cluster): Row => {
    const item = items.get(cluster)
    const target = spec.clusters?.find(({ name }) => name === cluster)
    const ready = item?.status?.['readyReplicas'] ?? item?.status?.['numberReady']
    return {
      cluster,
      replicas: target?.replicas === undefined || spec.replicas === undefined ? NONE : `${target.replicas}`,
      ready: typeof ready === 'number' ? `${ready}` : NONE,
      applied: item?.applied === true ? 'True' : 'False',
      health: item?.health ?? 'Unknown',
    }
  })
}

function addressOf({ metadata, spec }: Binding) {
  return { namespace: metadata.namespace ?? '', kind: spec.resource.kind, name: spec.resource.name }
}

/** Prints the binding of an object: its policy, conditions, clusters and what waits. */
export async function karmadaDescribe(word: string, name: string, input: KarmadaInput): Promise<void> {
  const { terminal } = input
  const parts = await dialect()
  const kind = templateKindNamed(word, parts.TEMPLATE_KINDS)
  const binding = await bindingNamed(kind, name, { parts, input })
  const { metadata, spec, status } = binding
  const annotations = metadata.annotations ?? {}
  const policy = Object.entries(annotations).find(([key]) => key.endsWith('propagationpolicy.karmada.io/name'))
  const heads: [string, string][] = [
    ['Object:', `${kind.kind} ${metadata.namespace ? `${metadata.namespace}/` : ''}${name}`],
    ['Policy:', policy ? `${policy[0].startsWith('cluster') ? 'ClusterPropagationPolicy' : 'PropagationPolicy'} ${policy[1]}` : 'none: what was decided stays'], // prettier-ignore
    ...(spec.requiredBy ?? []).map((one): [string, string] => ['Needed by:', one.name]),
    ...(status?.conditions ?? []).map(({ type, status: is, reason, message }): [string, string] => [
      `${type}:`,
      `${is} ${reason}: ${message}`,
    ]),
    ...(spec.gracefulEvictionTasks ?? []).map((task): [string, string] => [
      'Leaves:',
      `${task.fromCluster}: ${task.reason ?? ''}, since ${task.creationTimestamp ?? 'now'}`,
    ]),
  ]
  const rows = rowsOf(binding).map((row) => [row.cluster, row.replicas, row.ready, row.applied, row.health])
  const messages = (status?.aggregatedStatus ?? []).flatMap(({ clusterName, appliedMessage }) =>
    appliedMessage === undefined ? [] : [`${clusterName}: ${appliedMessage}`],
  )
  const table = alignColumns([['CLUSTER', 'REPLICAS', 'READY', 'APPLIED', 'HEALTH'], ...rows])
  terminal.data(`${alignColumns(heads)}\n\n${table}\n${messages.map((line) => `\n${line}`).join('')}`)
  if (messages.length > 0) terminal.data('\n')
}

/** Prints why an object runs where it runs. */
export async function karmadaExplain(word: string, name: string, input: KarmadaInput): Promise<void> {
  const { connection, flags, terminal, signal } = input
  const parts = await dialect()
  const kind = templateKindNamed(word, parts.TEMPLATE_KINDS)
  const client = clientOver(connection.rest)
  const key = kind.scope === 'Namespaced' ? { namespace: namespaceOf(input), name } : { name }
  const template = await findObject(client, kind, key, signal)
  if (!template) throw notFound(kind, name, input)
  const { explainClusters, explainPolicies, explainProject } =
    await import('../../../dialects/karmada/served/explain-binding.ts')
  const inNamespace = kind.scope === 'Namespaced' ? { namespace: namespaceOf(input) } : undefined
  const [policies, overrides, clusters, reports, project, binding] = await Promise.all([
    both(client, [parts.PropagationPolicy, parts.ClusterPropagationPolicy], inNamespace),
    both(client, [parts.OverridePolicy, parts.ClusterOverridePolicy], inNamespace),
    listOf(client, Cluster, {}),
    listOf(client, ClusterReport, {}).catch((caught: unknown): ClusterReport[] => {
      // Without the right to read reports, the room of clusters is not shown.
      if (isApiError(caught, 'Forbidden')) return []
      throw caught
    }),
    projectFacts(client, template),
    bindingNamed(kind, name, { parts, input }).catch((caught: unknown) => {
      if (caught instanceof CliError) return undefined
      throw caught
    }),
  ])
  const reported = new Map(reports.map(({ metadata, spec }) => [metadata.name, spec]))
  const ids = new Map(clusters.map(({ metadata, spec }) => [metadata.name, spec.id]))
  const capacityOf = (cluster: string) => {
    const report = reported.get(cluster)
    return report?.clusterId === ids.get(cluster) ? report?.capacity : undefined
  }
  const facts = { template: template as never, binding, policies, overrides, clusters, capacityOf, ...project }
  const [explained, reached, refusals] = [explainPolicies(facts), explainClusters(facts), explainProject(facts)]
  if (flags.output === 'json') {
    terminal.data(`${JSON.stringify({ policies: explained, refusals, clusters: reached }, undefined, 2)}\n`)
    return
  }
  const policyRows = explained.map((one) => [one.policy, `${one.priority}`, one.selects, one.verdict])
  const hasRoom = reached.some(({ room }) => room !== undefined)
  const clusterRows = reached.map((one) => [
    one.cluster,
    one.replicas || NONE,
    ...(hasRoom ? [one.room === undefined ? NONE : `${one.room}`] : []),
    one.overrides.map((name) => (one.shadowed.includes(name) ? `${name} (no effect)` : name)).join(', ') || NONE,
    one.why,
  ])
  terminal.data(`${alignColumns([['POLICY', 'PRIORITY', 'SELECTS BY', 'VERDICT'], ...policyRows])}\n`)
  if (refusals.length > 0) terminal.data(`\nNot admitted: ${refusals.join(' ')}\n`)
  if (!binding) {
    terminal.say('no policy claims the object, so it runs nowhere')
    return
  }
  const shadowed = [...new Set(reached.flatMap((one) => one.shadowed))]
  if (shadowed.length > 0) {
    terminal.say(`warning: later override policies overwrite all that ${nameSome(shadowed)} changes on some clusters`)
  }
  terminal.data(
    `\n${alignColumns([['CLUSTER', 'REPLICAS', ...(hasRoom ? ['ROOM'] : []), 'OVERRIDES', 'REASON'], ...clusterRows])}\n`,
  )
}

/** What the Project of the object's namespace allows; nothing where the caller may not read Projects. */
async function projectFacts(client: Client, { apiVersion, kind, metadata }: KubeObject) {
  const projects = await readProjects(client)
  if (!projects) return {}
  const { CLUSTER_NAMESPACE } = await import('../../../dialects/karmada/served/delivery-label.ts')
  const namespace = metadata.namespace ?? CLUSTER_NAMESPACE
  const [sets, bindings] = await Promise.all([
    listOf(client, ClusterSet, {}),
    listOf(client, ClusterSetBinding, { namespace }),
  ])
  const found = projectOf(indexProjects(projects), namespace)
  const world = { sets: sets.map(asPlacementSet), bound: bindings.map(({ spec }) => spec.clusterSet) }
  const id = compact({ apiVersion, kind, namespace: metadata.namespace, name: metadata.name })
  if (!found.project) return { reach: placementReach(found, world) }
  const { refusal } = decideExecutor(allLimitsOf(found.project), undefined)
  const refusals = [...contentRefusals(found.project, [id]), ...(refusal === undefined ? [] : [refusal])]
  return { reach: placementReach(found, world), refusals }
}

async function both<T extends KubeObject>(
  client: Client,
  [own, cluster]: readonly [ResourceType<T>, ResourceType<T>],
  inNamespace: { readonly namespace: string } | undefined,
): Promise<T[]> {
  const lists = await Promise.all([
    inNamespace ? listOf(client, own, inNamespace) : [],
    listOf(client, cluster, {}).catch((caught: unknown) => {
      // An editor of a namespace may not read the policies of all namespaces.
      if (isApiError(caught, 'Forbidden')) return []
      throw caught
    }),
  ])
  return lists.flat()
}

async function listOf<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  where: { readonly namespace?: string },
): Promise<readonly T[]> {
  try {
    return (await client.list(type, where)).items
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw new CliError(EXIT.usage, {
      what: `the hub does not serve ${type.plural}.${type.group}`,
      todo: 'start it with --hub-templates',
    })
  }
}

async function bindingsOf(parts: Dialect, input: KarmadaInput, kind: Kind | undefined) {
  const client = clientOver(input.connection.rest)
  const where = input.flags.allNamespaces ? {} : { namespace: namespaceOf(input) }
  const namespaced = kind?.scope === 'Cluster' ? [] : await listOf(client, parts.ResourceBinding, where)
  if (kind?.scope === 'Namespaced' || !(input.flags.allNamespaces || kind)) return namespaced
  return [...namespaced, ...(await listOf(client, parts.ClusterResourceBinding, {}))]
}

async function bindingNamed(
  kind: Kind,
  name: string,
  { parts, input }: { readonly parts: Dialect; readonly input: KarmadaInput },
): Promise<Binding> {
  const one = { ...input, flags: { ...input.flags, allNamespaces: false } }
  const bindings = await bindingsOf(parts, one, kind)
  const found = bindings.find(({ spec }) => spec.resource.kind === kind.kind && spec.resource.name === name)
  if (found) return found
  throw notFound(kind, name, input)
}

function notFound({ kind, scope, plural }: Kind, name: string, input: KarmadaInput): CliError {
  const where = scope === 'Namespaced' ? ` in namespace ${namespaceOf(input)}` : ''
  return new CliError(EXIT.notFound, {
    what: `${kind} ${JSON.stringify(name)} not found${where}, or no policy claims it`,
    todo: `list what runs on clusters with "flotilla karmada get ${plural}"`,
  })
}

function namespaceOf({ flags, connection }: KarmadaInput): string {
  return flags.namespace ?? connection.namespace ?? 'default'
}
