// Tested by src/cli/commands/handover/handover.test.ts
/** Where clusters are in a handover, from the Clusters and the reports of their agents. */
import type { Client } from '../../../client/client.ts'
import { isApiError } from '../../../core/errors.ts'
import type { ClusterReport } from '../../../kinds/native/cluster-report.ts'
import type { Cluster } from '../../../kinds/native/cluster.ts'
import { readComparison } from '../../../plan/handover/comparison.ts'
import { REPORTS } from '../../api/flotilla-resources.ts'

type Handover = NonNullable<Cluster['spec']['handover']>

/** A cluster in a handover. */
export interface HandoverState {
  readonly cluster: string
  readonly step: Handover['step']
  /** `Waiting`: the agent has not answered this step yet. */
  readonly state: 'Waiting' | 'Working' | 'Complete' | 'Failed'
  readonly since: string
  readonly by?: string
  readonly message?: string
  /** Counts of the comparison, as the agent last reported them for this step. */
  readonly objects?: number
  readonly differing?: number
  /** Objects that the peer lists and that no Bundle has. */
  readonly left?: number
  readonly leftObjects?: readonly string[]
  /** The differences by Bundle. */
  readonly differences?: Readonly<Record<string, string>>
}

/** The state of a cluster; undefined without a handover from the system. */
export async function handoverState(
  client: Pick<Client, 'get'>,
  from: string,
  cluster: Cluster,
): Promise<HandoverState | undefined> {
  const { handover } = cluster.spec
  if (handover?.from !== from) return undefined
  const { name } = cluster.metadata
  const report = await client.get(REPORTS, { name }).catch((caught: unknown) => {
    if (isApiError(caught, 'NotFound')) return undefined
    throw caught
  })
  return stateOf(name, handover, report)
}

/** The state of a cluster from what is stored. A report counts only for the step that it answers. */
export function stateOf(
  cluster: string,
  { from, step, since, by }: Handover,
  report: Pick<ClusterReport, 'spec'> | undefined,
): HandoverState {
  const base = { cluster, step, since, ...(by === undefined ? {} : { by }) }
  if (step === 'Done') return { ...base, state: 'Complete', message: `Flotilla manages the cluster` }
  const reported = report?.spec.handover
  const isAnswer = reported?.from === from && reported.step === step && reported.since === since
  if (!isAnswer) return { ...base, state: 'Waiting', message: 'waiting for the agent' }
  const { from: _from, step: _step, since: _since, ...rest } = reported
  const differences: Record<string, string> = {}
  for (const { bundle, message } of report?.spec.bundles ?? []) {
    const read = readComparison(message)
    if (read && read.differing > 0) differences[bundle] = read.text
  }
  return { ...base, ...rest, ...(Object.keys(differences).length > 0 ? { differences } : {}) }
}
