/** The states of a bundle on a cluster, in API, CLI, console and metrics. */
export const BUNDLE_STATES = ['Ready', 'Progressing', 'Pending', 'Offline', 'Drifted', 'Failed', 'NotSelected'] as const

/** One of the seven states. */
export type BundleStateName = (typeof BUNDLE_STATES)[number]

/** The states of an object of a bundle on a cluster. `NotReported`: the agent says nothing about the object. */
export const OBJECT_ROW_STATES = [...BUNDLE_STATES, 'NotReported'] as const

/** A state of an object. */
export type ObjectStateName = (typeof OBJECT_ROW_STATES)[number]

/** What a cluster waits for. */
export const CLUSTER_WAITS = ['acceptance', 'connection', 'rollout'] as const
export type ClusterWait = (typeof CLUSTER_WAITS)[number]
