// Tested by src/cli/commands/handover/handover.test.ts
/** The clusters of a handover: by name, label, Placement, or ring of a Placement. */
import { clientOver } from '../../../client/create-client.ts'
import type { Client } from '../../../client/client.ts'
import { compact } from '../../../core/compact.ts'
import { isApiError } from '../../../core/errors.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import type { PlacementDecision } from '../../../kinds/native/placement-decision.ts'
import type { RolloutPlan } from '../../../kinds/native/rollout-plan.ts'
import { ringOf, ringStates } from '../../../plan/rollout/rings.ts'
import type { RingSpec } from '../../../plan/rollout/rings.ts'
import { CLUSTERS, flotillaResource, listAll, PLACEMENTS } from '../../api/flotilla-resources.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { didYouMean } from '../../errors/did-you-mean.ts'
import { resolveClusters } from '../cluster/resolve-clusters.ts'
import type { ResolveClustersInput } from '../cluster/resolve-clusters.ts'

/** How clusters are chosen. */
export interface ChooseInput extends ResolveClustersInput {
  readonly flags: ResolveClustersInput['flags'] & {
    readonly placement?: string
    /** `<plan>/<ring>`. */
    readonly ring?: string
    readonly namespace?: string
  }
}

const DECISIONS = flotillaResource<PlacementDecision>('PlacementDecision', 'Namespaced')
const PLANS = flotillaResource<RolloutPlan>('RolloutPlan', 'Namespaced')

/** The clusters that match all given choices, in order of name. */
export async function chooseClusters(names: readonly string[], input: ChooseInput): Promise<Cluster[]> {
  const { placement, ring, selector } = input.flags
  if (ring !== undefined && placement === undefined) {
    throw new CliError(EXIT.usage, {
      what: '--ring needs --placement',
      todo: 'name the Placement whose clusters the ring divides, for example --placement stores --ring edge/canary',
    })
  }
  if (names.length === 0 && selector === undefined && placement === undefined) {
    throw new CliError(EXIT.usage, {
      what: 'no clusters are chosen',
      todo: 'give names of clusters, -l KEY=VALUE, --placement NAME, or --placement NAME --ring PLAN/RING',
    })
  }
  const byName = names.length > 0 || selector !== undefined ? await resolveClusters(names, input) : undefined
  const members = placement === undefined ? undefined : await membersOf(placement, input)
  const chosen = (byName ?? members ?? []).filter(
    ({ metadata }) => members?.some((member) => member.metadata.name === metadata.name) ?? true,
  )
  if (chosen.length === 0) {
    throw new CliError(EXIT.notFound, {
      what: 'no cluster matches all of the given choices',
      todo: `list the selected clusters with "flotilla get placementdecisions -n ${namespaceOf(input)}"`,
    })
  }
  return chosen.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
}

async function membersOf(placement: string, input: ChooseInput): Promise<Cluster[]> {
  const client = clientOver(input.connection.rest)
  const namespace = namespaceOf(input)
  await found(client.get(PLACEMENTS, { name: placement, namespace }), `placement "${placement}"`, namespace)
  const groups = new Map<string, string[]>()
  for (const { spec } of await listAll(client, DECISIONS, { namespace })) {
    if (spec.placement !== placement) continue
    for (const { cluster, state, group } of spec.decisions)
      if (state === 'Selected') groups.set(cluster, group ? [group] : [])
  }
  const members = (await listAll(client, CLUSTERS)).filter(({ metadata }) => groups.has(metadata.name))
  return input.flags.ring === undefined ? members : ofRing(input.flags.ring, { members, groups, client, namespace })
}

async function ofRing(
  text: string,
  {
    members,
    groups,
    client,
    namespace,
  }: {
    readonly members: readonly Cluster[]
    readonly groups: ReadonlyMap<string, string[]>
    readonly client: Client
    readonly namespace: string
  },
): Promise<Cluster[]> {
  const [name = '', ring = '', more] = text.split('/')
  if (name === '' || ring === '' || more !== undefined) {
    throw new CliError(EXIT.usage, {
      what: `invalid --ring ${JSON.stringify(text)}`,
      todo: 'give the RolloutPlan and its ring, for example --ring edge/canary',
    })
  }
  const plan = await found(client.get(PLANS, { name, namespace }), `rolloutplan "${name}"`, namespace)
  // A ring's soak has no part in who its members are.
  const rings = plan.spec.rings.map(({ soak: _soak, ...spec }): RingSpec => compact(spec))
  const index = rings.findIndex((one) => one.name === ring)
  if (index < 0) {
    const known = rings.map((one) => one.name)
    throw new CliError(EXIT.notFound, {
      what: `rolloutplan "${name}" has no ring "${ring}"`,
      todo: didYouMean(ring, known) ?? `its rings are ${known.join(', ')}`,
    })
  }
  const asMember = ({ metadata }: Cluster) => ({
    name: metadata.name,
    labels: metadata.labels ?? {},
    groups: groups.get(metadata.name) ?? [],
  })
  const states = ringStates(rings, [], members.map(asMember))
  return members.filter((cluster) => ringOf(rings, states, asMember(cluster)) === index)
}

function namespaceOf({ flags, connection }: ChooseInput): string {
  return flags.namespace ?? connection.namespace ?? 'default'
}

async function found<T>(reading: Promise<T>, what: string, namespace: string): Promise<T> {
  return reading.catch((caught: unknown) => {
    if (!isApiError(caught, 'NotFound')) throw caught
    throw new CliError(EXIT.notFound, {
      what: `${what} not found in namespace "${namespace}"`,
      todo: 'choose another namespace with -n',
    })
  })
}
