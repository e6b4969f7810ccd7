/** Keeps a Fleet Cluster and its Cluster of flotilla.dev equal, and shows the state in Fleet's words. */
import { findCondition } from '../../../core/conditions.ts'
import { jsonEqual } from '../../../core/json.ts'
import { formatTime } from '../../../core/time/time.ts'
import type { Context, Draft, Reconciler, Result } from '../../../engine/reconciler.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { stateOfCluster } from '../../../plan/fleet/cluster-badges.ts'
import { clusterHoldSentence, holdOfCluster } from '../../../plan/windows/cluster-hold.ts'
import { readFields } from '../../read-fields.ts'
import {
  COMMON_LABELS,
  commonLabels,
  desiredCluster,
  faceAlias,
  hasOwnAgent,
  mergeLabels,
  sharedLabels,
} from '../compile/cluster-face.ts'
import { CLUSTER } from '../fields.ts'
import type { FleetCluster } from '../kinds.ts'
import { fleetState } from '../status/states.ts'

/** The ports of the controller. */
export interface FleetClusterPorts {
  /** The Cluster with this alias of dialect fleet. */
  aliased(alias: string): Cluster | undefined
  named(name: string): Cluster | undefined
  /** Creates or updates a Cluster. */
  write(cluster: Cluster, isNew: boolean, signal: AbortSignal): Promise<void>
}

const FINALIZER = 'fleet.flotilla.dev/cluster'
const FORGET_AFTER = '5m'

export function fleetClusterReconciler(ports: FleetClusterPorts): Reconciler<FleetCluster> {
  return {
    name: 'fleet-cluster',
    async reconcile(draft: Draft<FleetCluster>, { clock, signal }: Context): Promise<Result> {
      const face = draft.next
      const own = ports.aliased(faceAlias(face)) ?? adoptable(face, ports)
      const now = formatTime(clock.now())
      if (face.metadata.deletionTimestamp) {
        if (own && !own.spec.decommission) await ports.write(left(own, face, now), false, signal)
        face.metadata.finalizers = (face.metadata.finalizers ?? []).filter((name) => name !== FINALIZER)
        return {}
      }
      if (!(face.metadata.finalizers ?? []).includes(FINALIZER)) {
        face.metadata.finalizers = [...(face.metadata.finalizers ?? []), FINALIZER]
        return {}
      }
      const findings = findingsOf(face, own)
      const refusal = findings.find(({ isRefused }) => isRefused)
      if (!own && (refusal || !face.spec?.kubeConfigSecret)) {
        return show(
          draft,
          undefined,
          findings.map(({ message }) => message),
        )
      }
      const shared = own ? sharedLabels(own.metadata.labels) : undefined
      const common = commonLabels(face)
      const labels = mergeLabels(common, face.metadata.labels ?? {}, shared ?? common)
      const name = own?.metadata.name ?? freeName(face, ports)
      if (!refusal) {
        const wanted = desiredCluster(face, own, { name, labels, now })
        if (!own || !isSame(own, wanted)) await ports.write(wanted, !own, signal)
      }
      if (!jsonEqual(face.metadata.labels ?? {}, labels) || !jsonEqual(common, labels)) {
        face.metadata.labels = { ...labels }
        face.metadata.annotations = { ...face.metadata.annotations, [COMMON_LABELS]: JSON.stringify(labels) }
        return {}
      }
      return show(
        draft,
        own,
        findings.map(({ message }) => message),
      )
    },
  }
}

/** A cluster that joined by pull under this name, in this workspace. */
function adoptable({ metadata }: FleetCluster, ports: FleetClusterPorts): Cluster | undefined {
  const found = ports.named(metadata.name)
  const isFree =
    found && !found.spec.kubeconfigSecret && !(found.spec.aliases ?? []).some((one) => one.dialect === 'fleet')
  return isFree && (found.metadata.labels?.['fleet.cattle.io/workspace'] ?? 'fleet-default') === metadata.namespace
    ? found
    : undefined
}

/** The second Cluster of a name has its workspace in front. */
function freeName({ metadata }: FleetCluster, ports: FleetClusterPorts): string {
  return ports.named(metadata.name) ? `${metadata.namespace ?? ''}-${metadata.name}` : metadata.name
}

function isSame(own: Cluster, wanted: Cluster): boolean {
  return jsonEqual(own.spec, wanted.spec) && jsonEqual(own.metadata.labels ?? {}, wanted.metadata.labels ?? {})
}

/** Deleting the Fleet Cluster ends its management; all that runs stays. */
function left(own: Cluster, face: FleetCluster, at: string): Cluster {
  const reason = `fleet.cattle.io Cluster ${faceAlias(face)} was deleted`
  return { ...own, spec: { ...own.spec, decommission: { policy: 'Orphan', at, reason, forgetAfter: FORGET_AFTER } } }
}

interface ClusterFinding {
  readonly message: string
  readonly isRefused: boolean
}

function findingsOf({ metadata, spec = {} }: FleetCluster, own: Cluster | undefined): ClusterFinding[] {
  const findings: ClusterFinding[] = []
  if (spec.kubeConfigSecret && own && hasOwnAgent(own))
    findings.push({ message: 'kubeConfigSecret has no effect: an agent in the cluster has joined', isRefused: false })
  readFields(spec, CLUSTER, {
    system: 'Fleet',
    report: (level, _path, message) => void findings.push({ message, isRefused: level === 'error' }),
  })
  const { kubeConfigSecretNamespace: elsewhere } = spec
  if (elsewhere !== undefined && elsewhere !== metadata.namespace) {
    const message = `kubeConfigSecretNamespace ${elsewhere} is refused: the Secret must be in namespace ${metadata.namespace ?? ''}`
    findings.push({ message, isRefused: true })
  }
  return findings
}

function show(draft: Draft<FleetCluster>, own: Cluster | undefined, findings: readonly string[]): Result {
  const status = (draft.next.status ??= {})
  const { total = 0, ready = 0 } = own?.status?.bundles ?? {}
  const state = own && stateOfCluster(own)
  const shown = displayState(own)
  if (own) status.cluster = own.metadata.name
  status.summary = { desiredReady: total, ready }
  status.display = { readyBundles: `${ready}/${total}`, state: shown }
  const lastSeen = own?.status?.lastSeen
  if (lastSeen !== undefined) status.agent = { lastSeen, namespace: 'flotilla-agent' }
  if (findings.length > 0) status.findings = [...findings]
  else delete status.findings
  if (findings.length > 0)
    draft.conditions.set('Exact', 'False', 'NotAllHasEffect', `${findings.join('; ')}.`.slice(0, 4096))
  else draft.conditions.set('Exact', 'True', 'AllHasEffect', 'Everything that is said has its effect.')
  const pushed = findCondition(own?.status?.conditions, 'Pushed')
  const why = pushed?.status === 'False' ? pushed.message : own?.status?.message
  const message = own
    ? (why ?? 'The cluster has not checked in yet.')
    : 'Waits for kubeConfigSecret, or for an agent that joins under this name: flotilla cluster add'
  const isReady = state === 'Ready' || state === 'NotSelected'
  const hold = own && holdOfCluster(own)
  const held = hold ? clusterHoldSentence(hold) : ''
  draft.conditions.set('Ready', isReady ? 'True' : 'False', isReady ? 'Ready' : 'NotReady', isReady ? held : message)
  return {}
}

function displayState(own: Cluster | undefined): string {
  if (!own?.status?.lastSeen) return 'WaitCheckIn'
  const state = stateOfCluster(own)
  if (state === undefined || state === 'NotSelected') return 'Ready'
  return fleetState(state) ?? 'Ready'
}
