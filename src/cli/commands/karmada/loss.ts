// Tested by src/cli/commands/karmada/loss.test.ts
/** `flotilla simulate loss`: what the hub would do with the objects of clusters that are lost. */
import { clientOver } from '../../../client/create-client.ts'
import { plural, nameSome } from '../../../core/text/name-some.ts'
import type { Clock } from '../../../core/time/clock.ts'
import { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import { Cluster } from '../../../kinds/native/cluster.ts'
import type { ResourceType, KubeObject } from '../../../kinds/meta.ts'
import type { Client } from '../../../client/client.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import type { Terminal } from '../../print/terminal.ts'
import { isApiError } from '../../../core/errors.ts'

/** Inputs of the command. */
export interface LossInput {
  readonly connection: Pick<Connection, 'rest'>
  readonly terminal: Terminal
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly flags: { readonly selector: string; readonly output?: string }
}

/** Prints each object with a copy on a cluster that is lost, and where its replicas go. */
export async function simulateLosses({ connection, terminal, clock, signal, flags }: LossInput): Promise<void> {
  const client = clientOver(connection.rest)
  const [kinds, face, loss] = await Promise.all([
    import('../../../dialects/karmada/served/kinds.ts'),
    import('../../../dialects/karmada/served/cluster-face.ts'),
    import('../../../dialects/karmada/failover/simulate-loss.ts'),
  ])
  const all = (await listAll(client, Cluster, signal)).filter((one) => one.spec.accepted && !face.isLeaving(one))
  const selected = await listAll(client, Cluster, signal, flags.selector)
  const names = new Set(selected.map(({ metadata }) => metadata.name))
  const lost = all.filter(({ metadata }) => names.has(metadata.name))
  if (lost.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no accepted cluster has the labels "${flags.selector}"`,
      todo: 'list the labels of clusters with "flotilla get clusters --show-labels"',
    })
  }
  const [bindings, reports] = await Promise.all([
    bindingsOf(client, [kinds.ResourceBinding, kinds.ClusterResourceBinding], signal),
    listAll(client, ClusterReport, signal),
  ])
  const capacityOf = new Map(reports.map(({ spec }) => [spec.clusterId, spec.capacity]))
  const away = new Set(
    all.filter((one) => names.has(one.metadata.name) || face.isUnreachable(one)).map(({ metadata }) => metadata.name),
  )
  const held = face.heldByLoss(away.size, all.length)
  const clusters = all.map((one) =>
    face.schedulerCluster(away.has(one.metadata.name) ? face.outOfReach(one) : one, capacityOf.get(one.spec.id)),
  )
  const outcomes = bindings.flatMap((binding) => {
    const outcome = loss.simulateLoss(binding, { clusters, lost: away, held, now: clock.now() })
    const isHit = outcome?.from.some(({ name }) => names.has(name))
    const { kind, namespace, name } = binding.spec.resource
    return outcome && isHit ? [{ object: `${kind.toLowerCase()}/${name}`, namespace: namespace ?? '', ...outcome }] : []
  })
  const clusterNames = lost.map(({ metadata }) => metadata.name)
  if (flags.output === 'json') {
    terminal.data(`${JSON.stringify({ clusters: clusterNames, objects: outcomes }, undefined, 2)}\n`)
    return
  }
  const shares = (targets: readonly { readonly name: string; readonly replicas?: number }[]) =>
    targets.map(({ name, replicas }) => (replicas === undefined ? name : `${name}=${replicas}`)).join(' ') || NONE
  const rows = outcomes.map((one) => [
    one.namespace || NONE,
    one.object,
    shares(one.from),
    one.outcome === 'Stays' ? NONE : shares(one.after),
    `${one.outcome}${one.isLast ? ', no copy left until then' : ''}${one.why === undefined ? '' : `: ${one.why}`}`,
  ])
  const moves = outcomes.filter(({ outcome }) => outcome === 'Moves').length
  const gone = outcomes.filter(({ outcome, isLast }) => isLast && outcome === 'Stays').length
  if (rows.length > 0) {
    terminal.data(`${alignColumns([['NAMESPACE', 'OBJECT', 'LOST', 'AFTERWARDS', 'OUTCOME'], ...rows])}\n`)
  }
  terminal.say(
    `${plural(lost.length, 'cluster')} of ${all.length} lost (${nameSome(clusterNames)}): ${plural(outcomes.length, 'object')} affected, ${moves} moved, ${gone} without a copy in reach`,
  )
}

const NONE = '-'

async function bindingsOf<T extends KubeObject>(
  client: Client,
  types: readonly ResourceType<T>[],
  signal: AbortSignal,
): Promise<readonly T[]> {
  const lists = types.map((type) =>
    listAll(client, type, signal).catch((caught: unknown) => {
      if (!isApiError(caught, 'NotFound')) throw caught
      throw new CliError(EXIT.notFound, {
        what: 'this hub serves no templates, so it moves no replicas',
        todo: 'start the hub with --hub-templates',
      })
    }),
  )
  return (await Promise.all(lists)).flat()
}

async function listAll<T extends KubeObject>(
  client: Client,
  type: ResourceType<T>,
  signal: AbortSignal,
  labelSelector?: string,
): Promise<readonly T[]> {
  const found: T[] = []
  let next: string | undefined
  do {
    const options = { limit: 500, ...(next ? { continue: next } : {}), ...(labelSelector ? { labelSelector } : {}) }
    const page = await client.list(type, options, signal)
    found.push(...page.items)
    next = page.continue
  } while (next)
  return found
}
