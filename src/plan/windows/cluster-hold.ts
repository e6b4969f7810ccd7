/** Holds of a whole cluster: a hold, a cordon, or the freeze label. */
import type { Labels } from '../../core/text/label-selector.ts'

/** The label that freezes a cluster: `maintenance=frozen`. */
const FREEZE_LABEL = 'maintenance'

/** The taint that Placements see on a cordoned cluster. */
export const CORDON_TAINT = 'flotilla.dev/cordoned'

/** A Cluster as holds read it. */
export interface HoldableCluster {
  readonly metadata: { readonly name: string; readonly labels?: Labels }
  readonly spec: { readonly hold?: HoldSpec | undefined; readonly cordon?: HoldSpec | undefined }
}

interface HoldSpec {
  readonly reason: string
  /** RFC 3339. */
  readonly since: string
  readonly by?: string | undefined
}

/** A hold of a whole cluster. */
export interface ClusterHold {
  readonly badge: 'Held' | 'Cordoned' | 'Frozen'
  /** Cause, start and author, for example `on hold since 2026-11-16T08:00:00Z by ana: fire`. */
  readonly message: string
  readonly since?: string
  /** The command that ends the hold. */
  readonly command: string
}

/**
 * The hold of a cluster; undefined when there is none. Of several, the hold that lasts longest: cordon, hold, label.
 */
export function holdOfCluster({ metadata, spec }: HoldableCluster): ClusterHold | undefined {
  const { name, labels = {} } = metadata
  const { cordon, hold } = spec
  if (cordon) {
    return { badge: 'Cordoned', ...describeHold('cordoned', cordon), command: `flotilla cluster uncordon ${name}` }
  }
  if (hold) return { badge: 'Held', ...describeHold('on hold', hold), command: `flotilla cluster release ${name}` }
  if (!isFrozen(labels)) return undefined
  return {
    badge: 'Frozen',
    message: `frozen by its label ${FREEZE_LABEL}=frozen`,
    command: `kubectl label clusters.flotilla.dev ${name} ${FREEZE_LABEL}-`,
  }
}

/** Whether a cluster has the freeze label. */
export function isFrozen(labels: Labels): boolean {
  return labels[FREEZE_LABEL] === 'frozen'
}

/** The hold as sentences, for messages of the hub and of the agent. */
export function clusterHoldSentence({ message, command }: ClusterHold): string {
  return `The cluster is ${message}. End this with \`${command}\`.`
}

function describeHold(word: string, { reason, since, by }: HoldSpec): Pick<ClusterHold, 'message' | 'since'> {
  const author = by === undefined ? '' : ` by ${by}`
  return { message: `${word} since ${since}${author}: ${reason}`, since }
}
