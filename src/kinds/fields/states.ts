/** The states of a bundle on a cluster, in API, CLI, console and metrics. */
export const BUNDLE_STATES = ['Ready', 'Progressing', 'Pending', 'Offline', 'Drifted', 'Failed', 'NotSelected'] as const

/** One of the seven states. */
export type BundleStateName = (typeof BUNDLE_STATES)[number]

/** What a cluster waits for. */
export const CLUSTER_WAITS = ['acceptance', 'connection', 'rollout'] as const
export type ClusterWait = (typeof CLUSTER_WAITS)[number]
