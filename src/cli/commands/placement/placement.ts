/** `flotilla explain` and `flotilla simulate placement`: the decisions of the hub, computed from its objects. */
import { nameSome } from '../../../core/text/name-some.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { findCondition } from '../../../core/conditions.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Bundle } from '../../../kinds/native/bundle.ts'
import type { ClusterSetBinding } from '../../../kinds/native/cluster-set-binding.ts'
import type { ClusterSet } from '../../../kinds/native/cluster-set.ts'
import type { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import type { PlacementCluster } from '../../../plan/placement/types.ts'
import { explainPlacement, placementView, simulateEdit } from '../../../plan/projects/placement-verdicts.ts'
import type { Explained, PlacementView } from '../../../plan/projects/placement-verdicts.ts'
import type { Connection } from '../../api/connect.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readProjects } from '../../repository/fleet-facts.ts'
import { CLUSTERS, clustersWith, listAll, flotillaResource } from '../../api/flotilla-resources.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import type { Terminal } from '../../print/terminal.ts'
import { readObjects } from '../objects/apply.ts'
import { bundleOutcomeLines, bundlesOnClusters } from './bundle-outcomes.ts'

export interface PlacementInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: {
    readonly namespace?: string
    readonly output?: string
    readonly filename?: string
    readonly selector?: string
  }
  readonly stdin?: AsyncIterable<Uint8Array>
}

const CLUSTER_SET = flotillaResource<ClusterSet>('ClusterSet', 'Cluster')
const BINDING = flotillaResource<ClusterSetBinding>('ClusterSetBinding', 'Namespaced')
const PLACEMENT = flotillaResource<Placement>('Placement', 'Namespaced')
const BUNDLE = flotillaResource<Bundle>('Bundle', 'Namespaced')
const DECISION = flotillaResource<PlacementDecision>('PlacementDecision', 'Namespaced')

/** Explains the decision for each cluster, or all checks of a cluster. */
export async function explain(words: readonly string[], input: PlacementInput): Promise<void> {
  const { terminal, connection, flags } = input
  const [first = '', cluster] = words
  const client = clientOver(connection.rest)
  const namespace = flags.namespace ?? connection.namespace ?? 'default'
  const placement = await placementFor(first, { client, namespace, terminal }).catch((caught: unknown) => {
    // `explain placement NAME`, as kubectl would accept it.
    const [kind] = /^(?:placement|bundle)(?=s?$)/.exec(first) ?? []
    if (!(caught instanceof CliError) || kind === undefined || cluster === undefined) throw caught
    throw new CliError(EXIT.usage, {
      what: `placement "${first}" not found in namespace "${namespace}"`,
      todo: `join the kind and the name: "flotilla explain ${kind}/${cluster}"`,
    })
  })
  const fleet = await readFleet(client, placement).catch((caught: unknown) => {
    if (!isApiError(caught, 'Forbidden')) throw caught
    return undefined
  })
  if (!fleet) return await explainDecisions(placement, cluster, input)
  const { clusters } = fleet
  const { problem, explain: explained } = explainPlacement(placement, fleet, await readProjects(client))
  if (cluster === undefined) {
    const among = await clustersWith(client, flags.selector)
    const asked = clusters.filter((one) => among?.has(one.name) ?? true)
    const verdicts = asked.map(explained)
    if (flags.output === 'json') return terminal.data(`${JSON.stringify(verdicts, undefined, 2)}\n`)
    terminal.data(wholeText(placement, problem, verdicts))
    return
  }
  const subject = clusters.find((one) => one.name === cluster)
  if (!subject) {
    throw new CliError(EXIT.notFound, {
      what: `cluster "${cluster}" not found`,
      todo:
        didYouMean(
          cluster,
          clusters.map((one) => one.name),
        ) ?? 'list clusters with "flotilla get clusters"',
    })
  }
  const verdict = explained(subject)
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(verdict, undefined, 2)}\n`)
  terminal.data(terminal.command(oneText(placement, verdict)))
  const runs = await bundleOutcomeLines(client, placement, { cluster, isSelected: verdict.selected })
  terminal.data(terminal.command(runs))
}

/** The decisions without their checks, for users who may not list Clusters. */
async function explainDecisions(
  { metadata, status }: Placement,
  cluster: string | undefined,
  { connection, terminal, flags }: PlacementInput,
): Promise<void> {
  const { namespace = 'default', name } = metadata
  const pages = await listAll(clientOver(connection.rest), DECISION, { namespace })
  const decisions = pages
    .filter(({ spec }) => spec.placement === name)
    .flatMap(({ spec }) => spec.decisions)
    .filter((decision) => cluster === undefined || decision.cluster === cluster)
  if (flags.output === 'json') terminal.data(`${JSON.stringify(decisions, undefined, 2)}\n`)
  else {
    const ready = findCondition(status?.conditions, 'Ready')
    const lines = decisions.map(
      ({ cluster: one, state, reason }) => `${one}  ${state}${reason === '' ? '' : `  ${reason}`}`,
    )
    const none = cluster === undefined ? 'no cluster is selected' : `${cluster}  NotSelected`
    terminal.data(
      `${[`placement ${name}: ${ready?.message ?? 'pending'}`, ...(lines.length > 0 ? lines : [none])].join('\n')}\n`,
    )
  }
  terminal.say(
    'the checks are not shown: you may not list clusters, clustersets and placementdecisions of all namespaces',
  )
}

/** The Placement of this name, or the Placement of the Bundle of this name. */
async function placementFor(
  word: string,
  { client, namespace, terminal }: { readonly client: Client; readonly namespace: string; readonly terminal: Terminal },
): Promise<Placement> {
  const [, kind, name = word] = /^(placement|bundle)s?(?:\.flotilla\.dev)?\/([^/]+)$/.exec(word) ?? []
  if (name.includes('/')) {
    throw new CliError(EXIT.usage, {
      what: `invalid argument ${JSON.stringify(word)}: must be NAME, placement/NAME or bundle/NAME`,
    })
  }
  const ofBundle = async (): Promise<Placement | undefined> => {
    const bundle = await client.get(BUNDLE, { name, namespace }).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
    if (!bundle) return undefined
    terminal.say(`bundle "${name}" uses placement "${bundle.spec.placement}"`)
    return await placementNamed(client, namespace, bundle.spec.placement)
  }
  if (kind === 'bundle') return (await ofBundle()) ?? (await placementNamed(client, namespace, name))
  return await placementNamed(client, namespace, name).catch(async (caught: unknown) => {
    if (!(caught instanceof CliError) || kind === 'placement') throw caught
    const found = await ofBundle()
    if (found) return found
    throw caught
  })
}

/** Shows the clusters that an edited or new Placement would gain and lose. Stores nothing. */
export async function simulatePlacement(input: PlacementInput): Promise<void> {
  const { terminal, connection, flags } = input
  const objects = await readObjects([flags.filename!], input.stdin ?? noInput())
  const edited = objects.map(({ object }) => object).find((object) => object.kind === 'Placement')
  if (!edited) {
    throw new CliError(EXIT.usage, { where: flags.filename!, what: 'no Placement found' })
  }
  const namespace = flags.namespace ?? edited.metadata.namespace ?? connection.namespace ?? 'default'
  const client = clientOver(connection.rest)
  // A server-side dry run validates the edit and sets the defaults.
  const placement = await client.apply(
    PLACEMENT,
    { ...edited, metadata: { ...edited.metadata, namespace } } as unknown as Placement,
    { fieldManager: 'flotilla-cli', force: true, dryRun: true },
  )
  const present = await client.get(PLACEMENT, { name: placement.metadata.name, namespace }).catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  })
  const view = await readFleet(client, placement)
  const projects = await readProjects(client)
  const bundles = await bundlesOnClusters(client, placement)
  const simulated = simulateEdit({ present, edited: placement }, { view, projects, bundles })
  if ('problem' in simulated) {
    throw new CliError(EXIT.failed, {
      what: `placement "${placement.metadata.name}" ${simulated.isRefused ? 'would not be decided' : 'selects no clusters'}`,
      why: simulated.problem,
      todo: `${simulated.isRefused ? 'change the file or the Project' : 'correct the file'}; the hub would keep the last decisions`,
    })
  }
  const { selected, guard, message } = simulated
  const gained = simulated.gained.map(({ cluster }) => cluster)
  const lost = simulated.lost.map(({ cluster }) => cluster)
  const whys = new Map([...simulated.gained, ...simulated.lost].map(({ cluster, why }) => [cluster, why]))
  const why = (name: string): string => whys.get(name) ?? ''
  const evicted = new Set(simulated.lost.filter(({ removed }) => removed).map(({ cluster }) => cluster))
  if (flags.output === 'json') {
    const rows = {
      selected,
      gained,
      lost: simulated.lost,
      guard,
    }
    return terminal.data(`${JSON.stringify(rows, undefined, 2)}\n`)
  }
  const lines = [
    `placement ${placement.metadata.name}: ${selected} selected (+${gained.length} gained, -${lost.length} lost)`,
    ...byReason(gained, why).map(({ names, reason }) => `  + ${names}  ${reason}`),
    ...byReason(lost, (name) => `${why(name)}; its Bundles ${evicted.has(name) ? 'are removed' : 'stay'}`).map(
      ({ names, reason }) => `  - ${names}  ${reason}`,
    ),
  ]
  terminal.data(`${lines.join('\n')}\n`)
  if (guard.kind === 'Held') {
    terminal.step('warn', `${guard.message} The hub would guard the change until a user releases it.`)
    terminal.step(
      'next',
      `flotilla guard release placement ${placement.metadata.name} -n ${namespace}   (after "flotilla apply")`,
    )
  } else if (selected === 0) terminal.step('warn', message)
  if (selected === 0) {
    for (const hint of nearLabels(placement, view.clusters)) terminal.say(`hint: ${hint}`)
  }
}

/** Clusters with the same reason on one line, in the order of the first of each reason. */
function byReason(
  names: readonly string[],
  reasonOf: (name: string) => string,
): readonly { readonly names: string; readonly reason: string }[] {
  const groups = new Map<string, string[]>()
  for (const name of names) {
    const reason = reasonOf(name)
    groups.set(reason, [...(groups.get(reason) ?? []), name])
  }
  return [...groups].map(([reason, group]) => ({
    names: group.length <= MAX_NAMED ? group.join(', ') : `${group.length} clusters (${nameSome(group)})`,
    reason,
  }))
}

const MAX_NAMED = 5

/** Values of `matchLabels` that no cluster has, with the nearest value. */
function nearLabels({ spec }: Placement, clusters: readonly PlacementCluster[]): readonly string[] {
  return Object.entries(spec.clusterSelector?.matchLabels ?? {}).flatMap(([key, value]) => {
    const values = new Set(clusters.flatMap(({ labels }) => labels[key] ?? []))
    const near = values.has(value) ? undefined : didYouMean(value, [...values])
    return near === undefined ? [] : [`no cluster has the label ${key}=${value}; ${near}`]
  })
}

function oneText(placement: Placement, verdict: Explained): string {
  const { metadata } = placement
  const marks = { Pass: '✔', Stop: '✗', NotAsked: '–' } as const
  const rows = verdict.checks.map(
    ({ name, outcome, wanted, observed }) => [marks[outcome], name, wanted, observed] as const,
  )
  const widths = [1, 2].map((i) => Math.max(...rows.map((row) => row[i]!.length)))
  const decides = verdict.checks.findIndex(({ outcome }) => outcome === 'Stop')
  const lines = rows.map(([mark, name, wanted, observed], i) =>
    `  ${mark} ${name.padEnd(widths[0]!)}  ${wanted.padEnd(widths[1]!)}  ${observed}${i === decides ? '   ← decides' : ''}`.trimEnd(),
  )
  const parts = verdict.rank?.parts.map(({ name, weight, score }) => `${name} ${score}×${weight}`)
  return [
    `${verdict.held ? 'HELD' : verdict.selected ? 'SELECTED' : 'NOT SELECTED'}   placement ${metadata.name}, generation ${metadata.generation ?? 1}: ${verdict.message}`,
    ...lines,
    ...(parts ? [`    score ${verdict.rank!.score} = ${parts.join(' + ')}`] : []),
    ...(verdict.held
      ? [
          'The guard stopped the change that drops the cluster; the cluster stays selected until the change is released:',
          `  flotilla guard release placement ${metadata.name} -n ${metadata.namespace ?? 'default'}`,
        ]
      : []),
    ...(verdict.wouldChange.length > 0
      ? [`The cluster would ${verdict.selected ? 'not ' : ''}be selected with: ${verdict.wouldChange.join(', or ')}`]
      : []),
    '',
  ].join('\n')
}

function wholeText(placement: Placement, problem: string | undefined, verdicts: readonly Explained[]): string {
  const width = Math.max(7, ...verdicts.map(({ cluster }) => cluster.length))
  const ready = findCondition(placement.status?.conditions, 'Ready')
  const order = [...verdicts].sort(
    (a, b) => Number(b.selected) - Number(a.selected) || (a.cluster < b.cluster ? -1 : 1),
  )
  const words = order.map(
    ({ cluster, selected, held, message }) =>
      `${cluster.padEnd(width)}  ${held ? 'Held       ' : selected ? 'Selected   ' : 'NotSelected'}  ${message}`,
  )
  const title = problem ?? ready?.message ?? 'pending'
  return [`placement ${placement.metadata.name}: ${title}`, ...words, ''].join('\n')
}

/** Reads what the decisions of a Placement follow from. */
export async function readFleet(client: Client, placement: Placement): Promise<PlacementView> {
  const [clusters, sets, bindings, decisions] = await settleAll([
    listAll(client, CLUSTERS),
    listAll(client, CLUSTER_SET),
    listAll(client, BINDING, { namespace: placement.metadata.namespace ?? 'default' }),
    listAll(client, DECISION),
  ])
  return placementView(placement, { clusters, sets, bindings, decisions }, systemClock.now())
}

async function placementNamed(client: Client, namespace: string, name: string): Promise<Placement> {
  try {
    return await client.get(PLACEMENT, { name, namespace })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const { items } = await client.list(PLACEMENT, { namespace })
    throw new CliError(EXIT.notFound, {
      what: `placement "${name}" not found in namespace "${namespace}"`,
      todo:
        fieldHint(name) ??
        didYouMean(
          name,
          items.map(({ metadata }) => metadata.name),
        ) ??
        'list Placements with "flotilla get placements -A"',
    })
  }
}

/** `explain rollout.spec` means the fields of a kind, as in kubectl. */
function fieldHint(name: string): string | undefined {
  return name.includes('.') ? `for fields of a kind use "kubectl explain ${name}"` : undefined
}

async function* noInput(): AsyncIterable<Uint8Array> {}
