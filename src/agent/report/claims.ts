/**
 * The claims of a cluster: facts that the agent computes (names under `flotilla.dev/`, which no object can have), and
 * the ClusterClaims and ClusterProperties that users and add-ons create. The number is bounded; a claim counts the
 * claims that were left out.
 */
import type { Client } from '../../client/client.ts'
import type { Discovery } from '../../client/discovery.ts'
import { isObject } from '../../core/json.ts'
import { addQuantities, parseQuantity } from '../../core/text/quantity.ts'
import type { Quantity } from '../../core/text/quantity.ts'
import type { KubeObject, ResourceType } from '../../kinds/meta.ts'
import type { Claim } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { listAll } from './list-all.ts'
import { platformOf } from './platform.ts'
import type { NodeFacts } from './platform.ts'

/** The fields of a node that claims use. */
export interface Node extends KubeObject {
  spec?: { providerID?: string; unschedulable?: boolean }
  status?: {
    capacity?: Record<string, string>
    allocatable?: Record<string, string>
    conditions?: { type: string; status: string }[]
  }
}

const NODES: ResourceType<Node> = { group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' }

// Resources that Placements select by; names with a dot are names of GPU device plugins.
const COUNTED: Readonly<Record<string, string>> = {
  cpu: 'cpu',
  memory: 'memory',
  pods: 'pods',
  'nvidia.com/gpu': 'gpu',
  'amd.com/gpu': 'gpu',
  'gpu.intel.com/i915': 'gpu',
  'gpu.intel.com/xe': 'gpu',
}

/** Reads the claims of a cluster; kinds that the agent may not read are left out. */
export async function readClaims(
  ports: { readonly client: Client; readonly discovery: Discovery },
  version: string | undefined,
  signal: AbortSignal,
): Promise<Claim[]> {
  const nodes = await listAll(ports.client, NODES, signal)
  const declared = [
    // The newer standard comes first: of two objects with the same name, the first counts.
    ...(await declaredBy(ports, { apiVersion: 'about.k8s.io/v1alpha1', kind: 'ClusterProperty' }, signal)),
    ...(await declaredBy(
      ports,
      { apiVersion: 'cluster.open-cluster-management.io/v1alpha1', kind: 'ClusterClaim' },
      signal,
    )),
  ]
  return boundClaims(factsOf(version, nodes), declared)
}

/** Facts from the version and the nodes; without readable nodes, only facts from the version. */
export function factsOf(version: string | undefined, nodes: readonly Node[] | undefined): Claim[] {
  const facts = (nodes ?? []).map((node): NodeFacts => ({
    providerId: node.spec?.providerID ?? '',
    labels: node.metadata.labels ?? {},
  }))
  const claims: Record<string, string> = { platform: platformOf(version, facts) }
  if (version !== undefined) claims['kubernetes-version'] = version
  if (nodes) {
    claims['nodes'] = String(nodes.length)
    claims['nodes-ready'] = String(nodes.filter(isReady).length)
    for (const field of ['capacity', 'allocatable'] as const) {
      for (const [name, sum] of sums(nodes.map((node) => node.status?.[field] ?? {}))) claims[`${field}.${name}`] = sum
    }
  }
  return Object.entries(claims).map(([name, value]) => ({ name: `flotilla.dev/${name}`, value }))
}

/**
 * Facts first, then declared claims by name, up to the limit of a report. A value that is too long is left out and not
 * cut: a part of a value would be wrong.
 */
export function boundClaims(facts: readonly Claim[], declared: readonly Claim[]): Claim[] {
  const byName = new Map<string, Claim>()
  const sorted = declared.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const room = LIMITS.claims - facts.length - 1
  let dropped = 0
  for (const claim of sorted) {
    if (byName.has(claim.name)) continue
    const fits = claim.value.length <= LIMITS.claimValueChars && claim.name.length <= LIMITS.claimNameChars
    if (fits && byName.size < room) byName.set(claim.name, claim)
    else dropped += 1
  }
  const note = dropped === 0 ? [] : [{ name: 'flotilla.dev/claims-left-out', value: String(dropped) }]
  return [...facts, ...note, ...byName.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

async function declaredBy(
  { client, discovery }: { readonly client: Client; readonly discovery: Discovery },
  { apiVersion, kind }: { readonly apiVersion: string; readonly kind: string },
  signal: AbortSignal,
): Promise<Claim[]> {
  const type = await discovery.typeOf(apiVersion, kind, signal)
  const objects = type ? await listAll(client, type, signal) : undefined
  return (objects ?? []).flatMap((object) => {
    const spec = (object as { spec?: unknown }).spec
    const value = isObject(spec) ? spec['value'] : undefined
    return typeof value === 'string' ? [{ name: object.metadata.name, value }] : []
  })
}

function sums(maps: readonly Readonly<Record<string, string>>[]): [string, string][] {
  const totals = new Map<string, Quantity>()
  for (const map of maps) {
    for (const [resource, text] of Object.entries(map)) {
      const name = Object.hasOwn(COUNTED, resource) ? COUNTED[resource]! : undefined
      const quantity = parseQuantity(text)
      if (name === undefined || !quantity) continue
      totals.set(name, addQuantities(quantity, ...(totals.has(name) ? [totals.get(name)!] : [])))
    }
  }
  return [...totals].map(([name, total]) => [name, quantityText(name, total)])
}

// The format of kubelets: memory in Ki, CPU in thousandths where it is not whole.
function quantityText(name: string, { nano }: Quantity): string {
  const whole = nano / 1_000_000_000n
  if (name === 'memory') return `${whole / 1024n}Ki`
  const milli = nano / 1_000_000n
  return milli % 1000n === 0n ? String(whole) : `${milli}m`
}

function isReady({ status }: Node): boolean {
  return status?.conditions?.some(({ type, status: value }) => type === 'Ready' && value === 'True') ?? false
}
