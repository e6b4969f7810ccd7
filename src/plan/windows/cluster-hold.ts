/** Why a whole cluster is held as it is: by a person's hold, a cordon, or the label of a site. */
import type { Labels } from '../../core/text/label-selector.ts'

/** The label with which a site or a person holds a cluster as it is: `maintenance=frozen`. */
const FREEZE_LABEL = 'maintenance'

/** The taint that a cordoned cluster counts as having. */
export const CORDON_TAINT = 'flotilla.dev/cordoned'

/** What is looked at in a Cluster. */
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
  /** Why, since when and by whom. */
  readonly message: string
  readonly since?: string
  /** What would release it. */
  readonly releasedBy: string
}

/** Why a cluster is held; undefined when it is not. Of several, the one that a person set last to be undone. */
export function holdOfCluster({ metadata, spec }: HoldableCluster): ClusterHold | undefined {
  const { name, labels = {} } = metadata
  const { cordon, hold } = spec
  if (cordon) {
    return { badge: 'Cordoned', ...said('cordoned', cordon), releasedBy: `flotilla cluster uncordon ${name}` }
  }
  if (hold) return { badge: 'Held', ...said('held', hold), releasedBy: `flotilla cluster release ${name}` }
  if (!isFrozen(labels)) return undefined
  return {
    badge: 'Frozen',
    message: `frozen by its label ${FREEZE_LABEL}=frozen`,
    releasedBy: `taking the label off: kubectl label clusters.flotilla.dev ${name} ${FREEZE_LABEL}-`,
  }
}

/** Whether a cluster's labels hold it as it is. */
export function isFrozen(labels: Labels): boolean {
  return labels[FREEZE_LABEL] === 'frozen'
}

/** The hold as one sentence, for people at the hub and at the site. */
export function clusterHoldSentence({ message, releasedBy }: ClusterHold): string {
  return `The cluster is ${message}. Released by ${releasedBy}.`
}

function said(word: string, { reason, since, by }: HoldSpec): Pick<ClusterHold, 'message' | 'since'> {
  const who = by === undefined ? '' : ` by ${by}`
  return { message: `${word} since ${since}${who}: ${reason}`, since }
}
