/** `flotilla guard list` and `release`: changes that wait for a person because they would remove or add too much. */
import type { Client } from '../../../client/client.ts'
import { clientOver } from '../../../client/create-client.ts'
import { compact } from '../../../core/compact.ts'
import { settleAll } from '../../../core/async/settle-all.ts'
import { isApiError } from '../../../core/errors.ts'
import { nameSome, plural } from '../../../core/text/name-some.ts'
import { systemClock } from '../../../core/time/system-clock.ts'
import { apiVersionOf } from '../../../kinds/meta.ts'
import type { KubeObject, ResourceType } from '../../../kinds/meta.ts'
import type { Placement } from '../../../kinds/native/placement.ts'
import { growthTokenIn } from '../../../plan/placement/growth-guard.ts'
import { explainCluster } from '../../../plan/placement/explain.ts'
import { questionOf } from '../../../plan/placement/read-objects.ts'
import { selectClusters } from '../../../plan/placement/select-clusters.ts'
import type { Connection } from '../../api/connect.ts'
import {
  APPLICATION_SETS,
  ASSIGNMENTS,
  BUNDLES,
  CLUSTERS,
  GIT_REPOS,
  listAll,
  PLACEMENTS,
  ROLLOUTS,
} from '../../api/flotilla-resources.ts'
import { readIfAllowed } from '../../api/read-if-allowed.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { requireConfirmation } from '../../input/require-confirmation.ts'
import { alignColumns } from '../../print/print-rollout.ts'
import { relativeTime } from '../../print/print-time.ts'
import type { Terminal } from '../../print/terminal.ts'
import { rolloutResume } from '../rollout/rollout.ts'
import {
  heldChangesIn,
  heldOfBinding,
  heldOfCluster,
  heldOfObject,
  heldByCondition,
  heldRemoval,
} from './held-changes.ts'
import type { BindingObject, GuardedKind, HeldChange } from './held-changes.ts'
import { readFleet } from './placement.ts'

export interface GuardInput {
  readonly connection: Connection
  readonly terminal: Terminal
  readonly flags: {
    readonly namespace?: string
    readonly output?: string
    readonly reason?: string
    readonly yes?: boolean
  }
  readonly confirm: (question: string) => Promise<boolean>
}

const RELEASE_DROP = 'flotilla.dev/release-drop'
const SHOWN_CLUSTERS = 20

/** A binding kind of Karmada; a hub without the dialect does not serve it. */
function bindingType(kind: string, scope: ResourceType['scope']): ResourceType<BindingObject> {
  return { group: 'work.karmada.io', version: 'v1alpha2', kind, plural: `${kind.toLowerCase()}s`, scope }
}
const RESOURCE_BINDINGS = bindingType('ResourceBinding', 'Namespaced')
const CLUSTER_RESOURCE_BINDINGS = bindingType('ClusterResourceBinding', 'Cluster')

/** Lists the changes that the guard stopped. */
export async function guardList(input: GuardInput): Promise<void> {
  const { terminal, flags } = input
  const client = clientOver(input.connection.rest)
  const within = flags.namespace === undefined ? {} : { namespace: flags.namespace }
  const [placements, bundles, rollouts, clusters, repos, sets, ...bindings] = await settleAll([
    listAll(client, PLACEMENTS, within),
    listAll(client, BUNDLES, within),
    listAll(client, ROLLOUTS, within),
    flags.namespace === undefined ? listAll(client, CLUSTERS) : [],
    readIfAllowed('gitrepos', listAll(client, GIT_REPOS, within)),
    readIfAllowed('applicationsets', listAll(client, APPLICATION_SETS, within)),
    readIfAllowed('ResourceBindings', listAll(client, RESOURCE_BINDINGS, within)),
    readIfAllowed(
      'ClusterResourceBindings',
      flags.namespace === undefined ? listAll(client, CLUSTER_RESOURCE_BINDINGS) : Promise.resolve([]),
    ),
  ])
  const ofKarmada = bindings.flatMap(({ items }) => items)
  const others = { repos: repos.items, sets: sets.items, bindings: ofKarmada }
  const held = heldChangesIn({ placements, bundles, rollouts, clusters, ...others })
  if (flags.output === 'json') return terminal.data(`${JSON.stringify(held, undefined, 2)}\n`)
  if (repos.refused !== undefined) terminal.say('GitRepos are not shown: you may not list them')
  if (sets.refused !== undefined) terminal.say('ApplicationSets are not shown: you may not list them')
  for (const { refused } of bindings) {
    if (refused !== undefined) terminal.say(`${refused} are not shown: you may not list them`)
  }
  if (held.length === 0) return terminal.say('No change waits for a release.')
  const now = systemClock.now()
  const rows = held.map((change) => [
    change.kind,
    change.namespace ?? '-',
    change.name,
    change.since === undefined ? '-' : relativeTime(change.since, now),
    change.message,
  ])
  terminal.data(`${alignColumns([['KIND', 'NAMESPACE', 'NAME', 'SINCE', 'CHANGE'], ...rows])}\n`)
  terminal.step('next', releaseCommand(held[0]!))
}

/** The command that releases a change. */
function releaseCommand({ kind, name, namespace }: HeldChange): string {
  return `flotilla guard release ${kind} ${name}${namespace === undefined ? '' : ` -n ${namespace}`}`
}

/** Shows what a held change would do, and lets exactly this change through. */
export async function guardRelease(kind: GuardedKind, name: string, input: GuardInput): Promise<void> {
  const { terminal } = input
  const client = clientOver(input.connection.rest)
  const namespace = input.flags.namespace ?? input.connection.namespace ?? 'default'
  const { changes, effect } = await heldChanges(kind, { client, name, namespace })
  if (changes.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: `no change of ${kind} "${name}" waits for a release`,
      todo: 'list the changes that wait with "flotilla guard list"',
    })
  }
  for (const change of changes) terminal.say(change.message)
  for (const line of effect) terminal.say(line)
  await requireConfirmation(`release this change of ${kind} "${name}"`, input)
  for (const change of changes) await release(change, { client, input })
  terminal.step('next', 'flotilla guard list')
}

interface Asked {
  readonly client: Client
  readonly name: string
  readonly namespace: string
}

const THEN: Readonly<Record<Exclude<GuardedKind, 'rollout'>, string>> = {
  bundle: 'the hub makes a Release of it',
  placement: 'the Bundles are removed ring by ring',
  cluster: 'the Bundles are removed',
  gitrepo: 'the Bundles are removed ring by ring',
  applicationset: 'the Applications are deleted',
  resourcebinding: 'the clusters lose the object',
  clusterresourcebinding: 'the clusters lose the object',
}

function isGrowth({ token }: HeldChange): boolean {
  return token !== undefined && growthTokenIn(token) !== undefined
}

/** The held changes of an object, and lines about what they would do. */
async function heldChanges(
  kind: GuardedKind,
  asked: Asked,
): Promise<{ readonly changes: readonly HeldChange[]; readonly effect: readonly string[] }> {
  const { client, name, namespace } = asked
  switch (kind) {
    case 'placement': {
      const placement = await named(PLACEMENTS, asked)
      const changes = heldOfObject(kind, placement)
      const isDrop = changes.length > 0 && !changes.some(isGrowth)
      return { changes, effect: isDrop ? await placementEffect(client, placement) : [] }
    }
    case 'bundle': {
      // Also a Bundle that moved to another Placement, and one that is deleted and has left its removal.
      const removals = (await listAll(client, ROLLOUTS, { namespace })).filter(
        (one) => one.spec.removal?.bundle === name,
      )
      const moved = removals.flatMap(heldRemoval)
      if (moved.length > 0) return { changes: moved, effect: [] }
      return { changes: heldOfObject(kind, await named(BUNDLES, asked)), effect: [] }
    }
    case 'cluster':
      return { changes: heldOfCluster(await named(CLUSTERS, asked)), effect: [] }
    case 'gitrepo':
      return { changes: heldByCondition(kind, await named(GIT_REPOS, asked)), effect: [] }
    case 'applicationset':
      return { changes: heldByCondition(kind, await named(APPLICATION_SETS, asked)), effect: [] }
    case 'resourcebinding':
      return { changes: heldOfBinding(await named(RESOURCE_BINDINGS, asked)), effect: [] }
    case 'clusterresourcebinding':
      return { changes: heldOfBinding(await named(CLUSTER_RESOURCE_BINDINGS, asked)), effect: [] }
    case 'rollout':
      return { changes: heldRemoval(await named(ROLLOUTS, asked)), effect: [] }
  }
}

async function named<T extends KubeObject>(type: ResourceType<T>, { client, name, namespace }: Asked): Promise<T> {
  const within = type.scope === 'Namespaced' ? { namespace } : {}
  try {
    return await client.get(type, { name, ...within })
  } catch (caught) {
    if (!isApiError(caught, 'NotFound')) throw caught
    const others = (await listAll(client, type, within)).map(({ metadata }) => metadata.name)
    throw new CliError(EXIT.notFound, {
      what: `${type.kind.toLowerCase()} "${name}" not found${type.scope === 'Namespaced' ? ` in namespace "${namespace}"` : ''}`,
      todo: didYouMean(name, others) ?? 'list the changes that wait with "flotilla guard list"',
    })
  }
}

/** The clusters that a held change of a Placement drops, with the Bundles that each of them loses. */
async function placementEffect(client: Client, placement: Placement): Promise<readonly string[]> {
  const { namespace = 'default', name } = placement.metadata
  try {
    const [{ clusters, world }, bundles, assignments] = await settleAll([
      readFleet(client, placement),
      listAll(client, BUNDLES, { namespace }),
      listAll(client, ASSIGNMENTS),
    ])
    const selection = selectClusters(questionOf(placement), clusters, world)
    const own = new Set(
      bundles.filter(({ spec }) => spec.placement === name).map(({ metadata }) => `${namespace}/${metadata.name}`),
    )
    const lost = clusters.filter((one) => world.incumbents.has(one.name) && !selection.selected.has(one.name))
    const lines = lost.slice(0, SHOWN_CLUSTERS).map((cluster) => {
      const entries = assignments.find(({ metadata }) => metadata.name === cluster.name)?.spec.entries ?? []
      const loses = entries.map(({ bundle }) => bundle).filter((bundle) => own.has(bundle))
      const what = loses.length === 0 ? 'loses no Bundle' : `loses ${nameSome(loses)}`
      return `  - ${cluster.name}  ${explainCluster(selection, cluster, world).message}; ${what}`
    })
    const more = lost.length - lines.length
    return more > 0 ? [...lines, `  and ${plural(more, 'more cluster')}`] : lines
  } catch (caught) {
    // The person may release the change without the right to read the fleet; the message says what it would do.
    if (isApiError(caught, 'Forbidden')) return []
    throw caught
  }
}

/** Releases a change of a binding on its object, which people write: the hub alone writes bindings. */
async function releaseObject({ kind, name, namespace = '' }: HeldChange, client: Client, body: object): Promise<void> {
  const isCluster = kind === 'clusterresourcebinding'
  const type = isCluster ? CLUSTER_RESOURCE_BINDINGS : RESOURCE_BINDINGS
  const { resource } = (await client.get(type, isCluster ? { name } : { namespace, name })).spec
  const { TEMPLATE_KINDS } = await import('../../../dialects/karmada/templates/template-kinds.ts')
  const template = TEMPLATE_KINDS.find((one) => apiVersionOf(one) === resource.apiVersion && one.kind === resource.kind)
  if (!template) {
    throw new CliError(EXIT.failed, {
      what: `${resource.kind} ${JSON.stringify(resource.name)} is not of a kind that runs on clusters`,
      todo: 'delete the binding, or undo the change',
    })
  }
  const key = compact({ name: resource.name, namespace: resource.namespace })
  await client.patch(template, key, { type: 'merge', body })
}

async function release(
  change: HeldChange,
  { client, input }: { readonly client: Client; readonly input: GuardInput },
): Promise<void> {
  const { kind, name, namespace = 'default', token } = change
  if (kind === 'rollout') return rolloutResume(name, { ...input, flags: { ...input.flags, namespace } })
  const body = { metadata: { annotations: { [RELEASE_DROP]: token } } }
  const options = { type: 'merge', body } as const
  if (kind === 'placement') await client.patch(PLACEMENTS, { name, namespace }, options)
  else if (kind === 'bundle') await client.patch(BUNDLES, { name, namespace }, options)
  else if (kind === 'gitrepo') await client.patch(GIT_REPOS, { name, namespace }, options)
  else if (kind === 'applicationset') await client.patch(APPLICATION_SETS, { name, namespace }, options)
  else if (kind === 'cluster') await client.patch(CLUSTERS, { name }, options)
  else await releaseObject(change, client, body)
  const grows = kind === 'applicationset' ? 'the Applications are created' : 'the Bundles are rolled out ring by ring'
  const then = isGrowth(change) ? grows : THEN[kind]
  input.terminal.step('ok', `change of ${kind} "${name}" released; ${then}`)
}
