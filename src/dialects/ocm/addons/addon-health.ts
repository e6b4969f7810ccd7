/** Whether an add-on is available, by its lease or by its workloads. Pure. */
import { parseTime } from '../../../core/time/time.ts'
import type { ManifestWork } from '../works/kinds.ts'
import type { WorkCondition } from '../works/work-status.ts'

/** An add-on whose lease is older is not available: five times a lease of a minute, as in Open Cluster Management. */
const LEASE_MS = 5 * 60_000

type Values = Readonly<Record<string, number | string | undefined>>

/** The condition Available of an add-on. */
export function addonHealth(
  addon: string,
  mode: 'Lease' | 'Customized',
  work: ManifestWork | undefined,
  now: number,
): WorkCondition {
  const type = 'Available'
  const manifests = work?.status?.resourceStatus?.manifests ?? []
  const reported = manifests.map(({ resourceMeta, statusFeedback }) => ({
    kind: resourceMeta.kind ?? '',
    name: `${resourceMeta.namespace ?? ''}/${resourceMeta.name ?? ''}`,
    plain: resourceMeta.name,
    values: Object.fromEntries(
      (statusFeedback?.values ?? []).map(({ name, fieldValue }) => [name, fieldValue.integer ?? fieldValue.string]),
    ) as Values,
  }))
  const unknown = (reason: string, message: string): WorkCondition => ({ type, status: 'Unknown', reason, message })
  if (mode === 'Lease') {
    const lease = reported.find(({ kind, plain }) => kind === 'Lease' && plain === addon)
    const renewed = parseTime(String(lease?.values['renewTime'] ?? ''))
    if (renewed === undefined)
      return unknown(
        'ManagedClusterAddOnLeaseNotFound',
        `The status of ${addon} add-on is unknown: its lease is not reported.`,
      )
    return now < renewed + LEASE_MS
      ? { type, status: 'True', reason: 'ManagedClusterAddOnLeaseUpdated', message: `${addon} add-on is available.` }
      : {
          type,
          status: 'False',
          reason: 'ManagedClusterAddOnLeaseUpdateStopped',
          message: `${addon} add-on is not available.`,
        }
  }
  const probed = reported.filter(({ kind }) => kind === 'Deployment' || kind === 'DaemonSet')
  const silent = probed.find(({ values }) => Object.keys(values).length === 0)
  if (probed.length === 0 || silent)
    return unknown('NoProbeResult', `The probe result of ${silent?.name ?? `${addon} add-on`} is not reported.`)
  const down = probed.find(({ kind, values }) => !isUp(kind, values))
  if (down)
    return {
      type,
      status: 'False',
      reason: 'ProbeUnavailable',
      message: `${down.kind} ${down.name} has too few ready pods.`,
    }
  return { type, status: 'True', reason: 'ProbeAvailable', message: `${addon} add-on is available.` }
}

function isUp(kind: string, values: Values): boolean {
  const count = (name: string): number => Number(values[name] ?? 0)
  if (kind === 'DaemonSet') return count('NumberReady') >= count('DesiredNumberScheduled')
  return count('Replicas') === 0 || count('ReadyReplicas') >= 1
}
