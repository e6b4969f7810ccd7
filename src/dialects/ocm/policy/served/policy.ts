// Tested by src/dialects/ocm/policy/served/policy.sim.test.ts
/** Compiles a Policy to Bundles of checks, and writes what the agents report into its status. */
import { findCondition } from '../../../../core/conditions.ts'
import { jsonEqual } from '../../../../core/json.ts'
import { compact } from '../../../../core/compact.ts'
import { plural } from '../../../../core/text/name-some.ts'
import type { KeyedThrottle } from '../../../../engine/keyed-throttle.ts'
import type { Context, Draft, Reconciler, Result } from '../../../../engine/reconciler.ts'
import type { ConfigMap } from '../../../../kinds/builtin/core.ts'
import { apiVersionOf, keyOf } from '../../../../kinds/meta.ts'
import type { KubeObject } from '../../../../kinds/meta.ts'
import { Bundle, REMOVAL_FINALIZER } from '../../../../kinds/native/bundle.ts'
import { Placement } from '../../../../kinds/native/placement.ts'
import { nextDeadlineMs } from '../../../../plan/fleet/duties.ts'
import type { Duty } from '../../../../plan/fleet/duties.ts'
import { bindPolicy } from './bind-policy.ts'
import type { BindingWorld, BoundPolicy } from './bind-policy.ts'
import { compilePolicy, enforcedBundle, policyBundle } from './compile-policy.ts'
import type { CompiledPolicy } from './compile-policy.ts'
import { queriesOf, readConfigMaps } from './hub-reads.ts'
import type { ConfigMapQuery, HubContent } from './hub-reads.ts'
import { Policy } from './kinds.ts'
import { clusterDuties, clusterRows, complianceOf, dutiesCondition } from './policy-status.ts'
import type { KnownCluster } from './policy-status.ts'

/** The annotation with the RolloutPlan of a Policy. */
const PLAN = 'flotilla.dev/rollout-plan'

/** ConfigMaps that templates of the hub read are not watched. */
const READ_AGAIN_MS = 30_000

/** Timers have a limit, and a deadline may be weeks away. */
const LONGEST_REST_MS = 86_400_000

/** A read with the rights of a ServiceAccount. */
export interface AccountRead {
  readonly account: { readonly namespace: string; readonly name: string }
  readonly namespace: string
  readonly name?: string
}

/** Ports of the reconciler. */
export interface PolicyPorts {
  worldOf(namespace: string): BindingWorld
  bundleOf(namespace: string, name: string): Bundle | undefined
  placementOf(namespace: string, name: string): Placement | undefined
  apply(object: Bundle | Placement, signal: AbortSignal): Promise<void>
  remove(object: Bundle | Placement, signal: AbortSignal): Promise<void>
  clusterOf(name: string): KnownCluster
  /** Whether a ServiceAccount may read a ConfigMap of the hub; without `name`, all of the namespace. */
  mayRead(read: AccountRead, signal: AbortSignal): Promise<boolean>
  /** Lists ConfigMaps of the hub. */
  configMapsOf(query: ConfigMapQuery, signal: AbortSignal): Promise<readonly ConfigMap[]>
  /** Milliseconds since 1970. */
  now(): number
  /** Counts the duties of a Policy. */
  count(key: string, duties: readonly Duty[]): void
  readonly pace: KeyedThrottle
}

/** Reconciles Policies. */
export function policyReconciler(ports: PolicyPorts): Reconciler<Policy> {
  return {
    name: 'ocm-policy',
    async reconcile(draft: Draft<Policy>, context: Context): Promise<Result> {
      const policy = draft.next
      const { namespace = '', name } = policy.metadata
      // Its Bundles have it as owner and go with it.
      if (policy.metadata.deletionTimestamp) return {}
      const { conditions } = draft
      if (policy.spec.disabled) {
        await drop(policy, [policyBundle(name), enforcedBundle(name)], ports, context)
        conditions.set('Compiled', 'False', 'Disabled', 'spec.disabled is true: no cluster evaluates the Policy.')
        return show(draft, NOTHING, ports)
      }
      const world = ports.worldOf(namespace)
      const bound = bindPolicy(policy, world)
      if (bound.unknown !== undefined) {
        conditions.set(
          'Compiled',
          'False',
          'PlacementUnknown',
          `${bound.unknown}. The clusters keep what they evaluate.`,
        )
        return {}
      }
      if (!bound.isBound) {
        await drop(policy, [policyBundle(name), enforcedBundle(name)], ports, context)
        const isEmpty = (policy.spec['policy-templates'] ?? []).length === 0
        const nothing = isEmpty ? ' And spec.policy-templates is empty, so there is nothing to evaluate.' : ''
        conditions.set('Compiled', 'False', 'NotBound', `No PlacementBinding binds the Policy to clusters.${nothing}`)
        return show(draft, NOTHING, ports)
      }
      const parts = [
        { bundle: policyBundle(name), clusters: bound.clusters, enforces: false },
        { bundle: enforcedBundle(name), clusters: bound.enforced, enforces: true },
      ]
      const union = [...bound.clusters, ...bound.enforced].sort()
      let readsAgain = false
      const isShrinking = parts.some(({ bundle }) =>
        ports.placementOf(namespace, bundle)?.spec.clusters?.some((cluster) => !union.includes(cluster)),
      )
      for (const part of parts) {
        const compiled = compilePolicy(policy, { enforces: part.enforces, sets: world.sets })
        if (!compiled.ok) {
          const message = `${compiled.problem}. The clusters keep what they evaluate.`
          if (compiled.isSupported) conditions.set('Compiled', 'False', 'InvalidPolicy', message)
          else conditions.set('Compiled', 'False', 'NotSupported', message)
          return show(draft, { ...bound, clusters: union }, ports)
        }
        const read = await hubInput(policy, compiled.compiled, ports, context)
        if ('problem' in read) {
          conditions.set('Compiled', 'False', 'NotSupported', `${read.problem}. The clusters keep what they evaluate.`)
          return againWithin(show(draft, { ...bound, clusters: union }, ports), READ_AGAIN_MS)
        }
        readsAgain ||= read.content !== undefined
        const isThere = ports.bundleOf(namespace, part.bundle) !== undefined
        if (part.clusters.length === 0 && !isThere && part.enforces) continue
        const problem = await write(policy, part, { ...compiled.compiled, ...read }, { isShrinking, ports, context })
        if (problem !== undefined) {
          conditions.set('Compiled', 'False', 'NameTaken', problem)
          return {}
        }
      }
      const held = parts.map(({ bundle }) => problemOf(namespace, bundle, ports)).find((one) => one !== undefined)
      if (held !== undefined) conditions.set('Compiled', 'False', 'NotDelivered', held)
      else conditions.set('Compiled', 'True', 'Compiled', `The Policy is bound to ${plural(union.length, 'cluster')}.`)
      const result = show(draft, { ...bound, clusters: union }, ports)
      return readsAgain ? againWithin(result, READ_AGAIN_MS) : result
    },
  }
}

/** A result that asks for another pass after this time at the latest. */
function againWithin(result: Result, withinMs: number): Result {
  return { ...result, requeueAfterMs: Math.min(result.requeueAfterMs ?? withinMs, withinMs) }
}

/** The ConfigMaps that templates of the hub read, or why they cannot. */
async function hubInput(
  { metadata: { namespace: own = '' }, spec }: Policy,
  { hubReads }: CompiledPolicy,
  ports: Pick<PolicyPorts, 'configMapsOf' | 'mayRead'>,
  { signal }: Context,
): Promise<{ readonly content?: HubContent } | { readonly problem: string }> {
  if (hubReads.length === 0) return {}
  const account = accountOf(spec)
  // Without a ServiceAccount, the template itself is refused another namespace, in the words of the original.
  const reads = hubReads.filter(({ namespace }) => account !== undefined || namespace === '' || namespace === own)
  for (const { namespace, name } of account === undefined ? [] : reads) {
    const at = { account: { namespace: own, name: account! }, namespace: namespace || own, ...compact({ name }) }
    if (await ports.mayRead(at, signal)) continue
    const what = name === undefined ? 'list ConfigMaps' : `get ConfigMap ${name}`
    return { problem: `ServiceAccount ${own}/${account} may not ${what} in namespace ${at.namespace}` }
  }
  const namespaces = [...new Set(reads.map(({ namespace }) => namespace || own))].sort()
  const lists: (readonly ConfigMap[])[] = []
  for (const query of queriesOf(reads, own)) lists.push(await ports.configMapsOf(query, signal))
  const read = readConfigMaps(reads, lists.flat(), own)
  return 'problem' in read ? read : { content: { ...read, namespaces } }
}

/** The ServiceAccount whose rights templates of the hub have. */
function accountOf({ hubTemplateOptions }: Policy['spec']): string | undefined {
  return hubTemplateOptions?.serviceAccountName || undefined
}

interface Part {
  readonly bundle: string
  readonly clusters: readonly string[]
  readonly enforces: boolean
}

/** The checks, and the ConfigMaps that their templates read. */
type CompiledContent = CompiledPolicy & { readonly content?: HubContent }

interface Writing {
  readonly isShrinking: boolean
  readonly ports: PolicyPorts
  readonly context: Context
}

/** Writes the Placement and the Bundle where they differ; returns why it cannot. */
async function write(
  policy: Policy,
  part: Part,
  compiled: CompiledContent,
  { isShrinking, ports, context }: Writing,
): Promise<string | undefined> {
  const { namespace = '', uid = '' } = policy.metadata
  for (const object of [placementFor(policy, part, isShrinking), bundleFor(policy, part, compiled)]) {
    const present =
      object.kind === 'Bundle' ? ports.bundleOf(namespace, part.bundle) : ports.placementOf(namespace, part.bundle)
    if (present && !isOwnedBy(present, uid))
      return `${object.kind} ${part.bundle} exists and was not made for this Policy; rename one of them.`
    if (!present || !jsonEqual(withoutDefaults(present, object), object.spec)) await ports.apply(object, context.signal)
  }
  return undefined
}

/** The fields of a stored spec that the object sets; the others are defaults. */
function withoutDefaults(present: Bundle | Placement, object: Bundle | Placement): unknown {
  return Object.fromEntries(
    Object.keys(object.spec).flatMap((key) => {
      const value = (present.spec as Record<string, unknown>)[key]
      return value === undefined ? [] : [[key, value]]
    }),
  )
}

function isOwnedBy({ metadata }: KubeObject, uid: string): boolean {
  return (metadata.ownerReferences ?? []).some((owner) => owner.uid === uid)
}

function metadataFor(policy: Policy, { bundle }: Part) {
  const { namespace = '', name, uid = '' } = policy.metadata
  const owner = { apiVersion: apiVersionOf(Policy), kind: Policy.kind, name, uid, controller: true }
  return { namespace, name: bundle, ownerReferences: [owner] }
}

function placementFor(policy: Policy, part: Part, isShrinking: boolean): Placement {
  return {
    apiVersion: apiVersionOf(Placement),
    kind: 'Placement',
    metadata: metadataFor(policy, part),
    spec: {
      clusterSelector: {},
      clusters: [...part.clusters],
      // Open Cluster Management's own Placement has judged the taints.
      tolerations: [{ operator: 'Exists' }],
      // A cluster that moves between the two Bundles of a Policy is not lost; otherwise the guard decides.
      guard: { maxDropped: isShrinking ? '10%' : '100%' },
    },
  }
}

function bundleFor(
  policy: Policy,
  part: Part,
  { manifests, checks, hasHubTemplates, content }: CompiledContent,
): Bundle {
  const { name, namespace = '', labels = {}, annotations = {} } = policy.metadata
  const plan = annotations[PLAN]
  const hasAccount = accountOf(policy.spec) === undefined ? undefined : true
  const metadata = metadataFor(policy, part)
  return {
    apiVersion: apiVersionOf(Bundle),
    kind: 'Bundle',
    metadata: { ...metadata, finalizers: [REMOVAL_FINALIZER] },
    spec: compact({
      manifests,
      checks,
      placement: part.bundle,
      rollout: plan === undefined ? { concurrency: '100%' } : { plan },
      builder: hasHubTemplates
        ? {
            name: 'ocm-policy',
            options: compact({ metadata: { name, namespace, labels, annotations }, content, hasAccount }),
          }
        : undefined,
      // A cluster on which the binding no longer enforces keeps what was enforced.
      delete: part.enforces ? { unplaced: 'Orphan' as const } : undefined,
    }),
  }
}

async function drop(policy: Policy, names: readonly string[], ports: PolicyPorts, { signal }: Context): Promise<void> {
  const { namespace = '', uid = '' } = policy.metadata
  for (const name of names) {
    const bundle = ports.bundleOf(namespace, name)
    if (bundle && isOwnedBy(bundle, uid)) {
      if (!bundle.metadata.deletionTimestamp) await ports.remove(bundle, signal)
      continue
    }
    const placement = ports.placementOf(namespace, name)
    if (placement && isOwnedBy(placement, uid) && !placement.metadata.deletionTimestamp)
      await ports.remove(placement, signal)
  }
}

/** Why a Bundle of the Policy does not reach its clusters. */
function problemOf(namespace: string, name: string, ports: PolicyPorts): string | undefined {
  const held = ports.placementOf(namespace, name)?.status?.held
  if (held) return `Placement ${name}: ${held.message ?? 'the guard stopped a change'}`
  const conditions = ports.bundleOf(namespace, name)?.status?.conditions
  const stalled = findCondition(conditions, 'Stalled')
  if (stalled?.status === 'True') return `Bundle ${name}: ${stalled.message}`
  const rendered = findCondition(conditions, 'Rendered')
  // Clusters with a mistake of their own, for example in what a template of the hub reads.
  return rendered?.reason === 'PartlyRendered' ? `Bundle ${name}: ${rendered.message}` : undefined
}

/** What the status of a Policy is about. */
type Bound = Pick<BoundPolicy, 'clusters' | 'placement' | 'duties' | 'badTime'>

const NOTHING: Bound = { clusters: [], placement: [], duties: new Map() }

/** Shows the states and duties of the clusters; a change of rows alone is written in intervals. */
function show({ next, seen, conditions }: Draft<Policy>, bound: Bound, ports: PolicyPorts): Result {
  const { namespace = '', name } = next.metadata
  const bundles = [policyBundle(name), enforcedBundle(name)].map((bundle) => `${namespace}/${bundle}`)
  const clusters = bound.clusters.map(ports.clusterOf)
  const status = clusterRows(bundles, clusters)
  const compliant = complianceOf(status.map((row) => row.compliant))
  const nowMs = ports.now()
  const key = keyOf(next)
  const duties = clusterDuties(seen.status?.duties ?? [], { bundles, clusters, demands: bound.duties }, nowMs)
  ports.count(key, duties)
  if (bound.badTime !== undefined) conditions.set('DutiesMet', 'Unknown', 'InvalidTime', `${bound.badTime}.`)
  else if (duties.length === 0) conditions.remove('DutiesMet')
  else {
    const { reason, message } = dutiesCondition(duties, nowMs)
    if (reason === 'Overdue') conditions.set('DutiesMet', 'False', 'Overdue', message)
    else if (reason === 'InTime') conditions.set('DutiesMet', 'True', 'InTime', message)
    else conditions.set('DutiesMet', 'True', 'Met', message)
  }
  const deadlineMs = nextDeadlineMs(duties, nowMs)
  const later = deadlineMs === undefined ? {} : { requeueAfterMs: Math.min(deadlineMs, LONGEST_REST_MS) }
  const shown = compact({
    compliant,
    placement: [...bound.placement],
    status,
    duties: duties.length > 0 ? duties : undefined,
  })
  const { conditions: _conditions, ...before } = seen.status ?? {}
  if (jsonEqual(before, shown)) return later
  const waitMs = ports.pace.waitMs(key)
  if (waitMs > 0 && before.compliant === compliant && before.status?.length === status.length)
    return { requeueAfterMs: waitMs }
  ports.pace.note(key)
  next.status = { ...shown, ...compact({ conditions: next.status?.conditions }) } as NonNullable<Policy['status']>
  return later
}
